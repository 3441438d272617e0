"""`to_table` and `from_table`: convert models of any family to tables and back."""

from collections.abc import Mapping
from os import PathLike, fsdecode
from typing import Any

from exset import api, bridge, formats
from exset.core.callers import public
from exset.core.errors import Findings, collect_findings, warn, with_source_name
from exset.core.limits import DEFAULT, Limits
from exset.core.protocols import Level, Model
from exset.grammars.tables.table import Table
from exset.io.files import FilePath


@public
def to_table(
    source: Model | FilePath,
    *,
    level: Level = "meant",
    format: str | None = None,
    strict: bool = False,
    findings: Findings | None = None,
    limits: Limits = DEFAULT,
    **options: object,
) -> Table:
    """Return a model, or a file, as a table: named columns, one row for each sample.

    `level`: "meant" gives dense arrays, with defaults applied. "said" keeps what the file says,
    such as ranges of units and shared lists, in nested columns.

    The `options` are the options of the format's reader (for a file) and those of the family:

    - an example set: `rows` ("event" or "example"); `defaults` (False: no values where the file has
      none); `inputs` and `targets`, the layouts of the network as in `to_arrays`
    - a sample list: `data`, `experiment`, `base`, `access` (see `SampleReader`)
    - a manifest: `contents`, `base`, `access`
    - cache blocks: `types`

    Pass the table to pandas, polars, pyarrow or duckdb, or use its methods `to_pandas` and
    `to_xarray`. Findings are reported as `load` does. Raises FormatError if no table can store the
    model, the errors of `load`, and TypeError for a wrong option.
    """
    found = collect_findings(strict, findings)
    if isinstance(source, str | bytes | PathLike):
        name = fsdecode(source)
        fmt = api.detect(name) if format is None else formats.get(format)
        model = api.read_whole(name, fmt, options, findings=found, limits=limits)
    else:
        name, model = formats.family_of(source).noun, source
    with with_source_name(name, formats.family_of(model).noun, findings=found) as named:
        table = bridge.to_table(model, level=level, findings=named, limits=limits, **options)
    if findings is None:
        warn(found)
    return table


@public
def from_table(
    table: object,
    *,
    family: str | None = None,
    lossy: bool = False,
    strict: bool = False,
    findings: Findings | None = None,
    limits: Limits = DEFAULT,
    **options: object,
) -> Any:
    """Make a model from a table. This is the inverse of `to_table`.

    `table`: a `Table`, a DataFrame or another Arrow table, or a dict of arrays and lists. `family`:
    "lens", "lbann" or "aeon"; by default the family in the table's metadata. If the table has no
    metadata, columns are recognised by their names, such as `inputs`, `targets`, `name`. With
    `lossy`, columns that the family cannot store are dropped, with a finding for each column.
    Raises FormatError for a table that the family cannot store, ValueError for an unknown family,
    and TypeError if `table` is no table.
    """
    found = collect_findings(strict, findings)
    with with_source_name("table", findings=found) as named:
        model = bridge.from_table(
            as_table(table), family=family, lossy=lossy, findings=named, limits=limits, **options
        )
    if findings is None:
        warn(found)
    return model


def as_table(data: object) -> Table:
    """Return `data` as a `Table`: an Arrow table such as a DataFrame, or a dict of columns.

    Return a `Table` unchanged.
    """
    if isinstance(data, Table):
        return data
    if isinstance(data, Mapping):
        return Table.of(data)
    return Table.from_arrow(data)
