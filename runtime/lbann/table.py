"""Sample lists as tables, with a row for each sample: its file, its id and its fields."""

from typing import Unpack

from exset.core.errors import Findings
from exset.core.limits import Limits
from exset.core.protocols import Level
from exset.grammars.lbann.sample_list import SampleList
from exset.grammars.tables.table import Table
from exset.runtime.lbann.table_options import Options


def to_table(
    samples: SampleList,
    /,
    *,
    level: Level,
    findings: Findings,
    limits: Limits,
    **options: Unpack[Options],
) -> Table:
    """Return a table with the columns `file` and `id`, and a column for each field of the samples.

    With the schemas `data` and `experiment`, the table has the fields that LBANN would load, after
    LBANN's transforms, and the packed groups. `keep_packed` and `fields` choose among them. Without
    schemas, the fields are all numbers and text in the HDF5 files. A field `images/view0` becomes
    the column `images.view0`. With `fields=()` no HDF5 file is opened. base, access: as for
    `SampleReader`. A SINGLE-SAMPLE list has the column `file` and, if it names a label file, the
    column `label`.

    Raises FormatError and LimitError, also for samples that differ in type. Raises OSError for
    files that cannot be opened, and TypeError for an unknown option.
    """
    if unknown := options.keys() - Options.__annotations__.keys():
        raise TypeError(f"to_table of a sample list has no option {min(unknown)!r}")
    from exset.runtime.lbann.table_chunks import layout_of, tables_of

    layout = layout_of(
        [samples], level=level, findings=findings, limits=limits, at_once=True, **options
    )
    [table] = tables_of([samples], layout, findings=findings, limits=limits)
    return table
