"""Sample lists as tables: a row for each sample, with its file, its id and its fields."""

import os
from typing import Any, Final, Unpack

from exset.core.errors import Findings, FormatError, LimitError, Place
from exset.core.limits import Limits, limit_hint
from exset.core.protocols import Level
from exset.grammars.columns.spans import Spans
from exset.grammars.columns.strings import Strings
from exset.grammars.lbann.list_types import Kind
from exset.grammars.lbann.sample_list import SampleList, file_of
from exset.grammars.tables.columns import Numbers, TableColumn, text_or_bytes
from exset.grammars.tables.table import Table
from exset.io import files
from exset.io.access import DEFAULT_ACCESS, Access
from exset.io.beneath import OutsideError, check_regular_file
from exset.runtime.hdf5.names import with_column
from exset.runtime.lbann.table_options import Options

FAMILY: Final = "lbann"
"""The name of the family in the metadata of tables."""


def to_table(
    samples: SampleList,
    /,
    *,
    level: Level,
    findings: Findings,
    limits: Limits,
    **options: Unpack[Options],
) -> Table:
    """Return a table with the columns `file`, `id` and a column for each field of the samples.

    With the schemas `data` and `experiment`, the table has the fields that LBANN would load, with
    its transforms, and the packed groups; `keep_packed` and `fields` choose among them. Without
    schemas, the fields are all numbers and text in the HDF5 files. A field `images/view0` is the
    column `images.view0`. With `fields=()` no HDF5 file is opened. base, access: as for
    `SampleReader`. A SINGLE-SAMPLE list has the columns `file` and, if it names a label file,
    `label`.

    Raises FormatError and LimitError, also for samples that differ in type, OSError for files that
    cannot be opened, and TypeError for an unknown option.
    """
    if unknown := options.keys() - Options.__annotations__.keys():
        raise TypeError(f"to_table of a sample list has no option {min(unknown)!r}")
    base, access = options.get("base", ""), options.get("access", DEFAULT_ACCESS)
    if samples.kind.is_exclusion:
        from exset.runtime.lbann.list_convert import recast

        kind = Kind(samples.kind.value.replace("EXCLUSION", "INCLUSION"))
        samples = recast(samples, kind, findings, base=base, access=access)
    check_expansion(samples, limits)
    if samples.kind.is_single:
        fields = _labels(samples, base, access, limits, findings)
    elif samples.has_integer_ids:
        fields = {}
    else:
        from exset.runtime.lbann.table_fields import fields_of

        fields = fields_of(samples, findings, limits, options)
    metadata = {**_metadata(samples, level), "fields": list(fields)}
    for name, column in _listed(samples).items():
        fields = with_column(name, column, fields)
    return Table(fields, len(samples), metadata)


def check_expansion(samples: SampleList, limits: Limits) -> None:
    """Raise LimitError for ranges of ids that expand to too many samples."""
    if len(samples) > limits.max_expand:
        message = f"the list has {len(samples):,} samples"
        place, hint = Place("sample list"), limit_hint("max_expand")
        raise LimitError(message, place=place, hint=hint)


def _listed(samples: SampleList) -> dict[str, TableColumn]:
    """Return the columns that the list itself gives: the files, and the ids if it has any."""
    columns: dict[str, TableColumn] = {}
    if samples.kind.is_single:
        pass
    elif isinstance(samples.ids, Spans):
        columns["id"] = Numbers.of(samples.ids.numbers())
    else:
        columns["id"] = text_or_bytes(samples.ids)
    paths = Strings.of(each.path for each in samples.files)
    columns["file"] = text_or_bytes(paths.take(file_of(samples)))
    return columns


def _metadata(samples: SampleList, level: Level) -> dict[str, Any]:
    """Return the metadata: kind, base directory, label file and counts of a list.

    `excluded` has the number of excluded samples for each file, with its path.
    """
    metadata: dict[str, Any] = {"family": FAMILY, "version": 1, "level": level}
    metadata |= {"kind": samples.kind.value, "base": os.fsdecode(samples.directory)}
    if samples.label_file is not None:
        metadata["labels"] = os.fsdecode(samples.label_file)
    if samples.kind.is_single and samples.has_integer_ids:
        metadata["ids"] = "integer"
    if excluded := {each.path: each.excluded for each in samples.files if each.excluded}:
        metadata["excluded"] = excluded
    return metadata


def _labels(
    samples: SampleList, base: str, access: Access, limits: Limits, findings: Findings
) -> dict[str, TableColumn]:
    """Return the column `label` of a list of images, if it names a label file."""
    if not samples.label_file:
        return {}
    from exset.parsers.lbann.labels import parse
    from exset.runtime.lbann.hdf5_probe import outside_roots

    path = os.path.join(base, os.fsdecode(samples.label_file))
    try:
        check_regular_file(path, access.roots)
        source = files.read(files.local(path), limits=limits, roots=access.roots)
    except OutsideError:
        raise FormatError.of(outside_roots(path)) from None
    labels = parse(source, limits=limits, findings=findings)
    values, present = labels.of(samples)
    return {"label": Numbers.of(values, present)}
