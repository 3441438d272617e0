"""Convert tables to sample lists. The columns `file` and `id` give the samples."""

from collections.abc import Mapping
from itertools import groupby
from typing import Any

from exset.core.errors import Findings, FormatError, Place
from exset.core.limits import Limits
from exset.core.text import safe
from exset.grammars.columns.strings import Strings
from exset.grammars.lbann.list_files import File
from exset.grammars.lbann.list_types import Kind
from exset.grammars.lbann.sample_list import SampleList
from exset.grammars.lbann.table_findings import finding_at
from exset.grammars.tables.columns import Numbers
from exset.grammars.tables.labels import path_column
from exset.grammars.tables.losses import Losses
from exset.grammars.tables.table import Table
from exset.runtime.lbann.table_options import FAMILY


def from_table(table: Table, /, *, findings: Findings, limits: Limits, lossy: bool) -> SampleList:
    """Return a list with a sample for each row. Consecutive rows with the same file become one
    record.

    The files are in the column `file`, or in another column of paths, such as `path`. The metadata
    have the type of the list and its base directory. By default, a table without the column `id`
    becomes a SINGLE-SAMPLE list, and a table with this column a CONDUIT_HDF5_INCLUSION list. Other
    columns are losses, unless they are fields that the HDF5 files already have. Raises FormatError
    for columns and values that a list cannot store.
    """
    metadata = table.metadata if table.metadata.get("family") == FAMILY else {}
    names = {name: _column_name(table, name) for name in ("file", "id")}
    if names["file"] not in table.columns:
        names["file"] = path_column(table) or "file"
    paths = _paths(table, names["file"])
    ids = _ids(table, names["id"])
    _report(table, {*names.values()}, metadata, Losses(lossy, findings))
    try:
        kind = Kind(metadata.get("kind", _default_kind(ids)))
        samples = _listed(kind, paths, ids, metadata)
    except ValueError as error:
        raise _refusal(str(error)) from None
    is_integer = isinstance(table.columns.get(names["id"]), Numbers)
    if kind.is_single:
        is_integer = metadata.get("ids") == "integer"
    return samples.with_integer_ids() if is_integer else samples


def _listed(
    kind: Kind, paths: list[str], ids: list[Any] | None, metadata: Mapping[str, Any]
) -> SampleList:
    base, prefix = _base(metadata, paths)
    excluded = metadata.get("excluded")
    others = excluded if isinstance(excluded, dict) and kind.has_excluded else {}
    files = []
    for path, rows in groupby(range(len(paths)), key=paths.__getitem__):
        name = path[len(prefix) :]
        if ids is None:
            files += [File(name) for _ in rows]
        else:
            files.append(File(name, [ids[row] for row in rows], others.get(path, 0)))
    labels = str(metadata.get("labels", "")) if kind.has_label_file else None
    return SampleList.of(kind, base, files, label_file=labels)


def _base(metadata: Mapping[str, Any], paths: list[str]) -> tuple[str, str]:
    """Return the base directory of the list, and the prefix to remove from all paths."""
    base = metadata.get("base")
    if isinstance(base, str) and base:
        prefix = base if base.endswith("/") else f"{base}/"
        if all(path.startswith(prefix) for path in paths):
            return base, prefix
    return ".", ""


def _column_name(table: Table, name: str) -> str:
    """Return `sample.NAME` if the table has this column, else NAME. name: `file` or `id`."""
    prefixed = f"sample.{name}"
    return prefixed if prefixed in table.columns else name


def _paths(table: Table, name: str) -> list[str]:
    column = table.columns.get(name)
    if not isinstance(column, Strings) or not column.present.all():
        raise _refusal("a sample list needs the column `file`, the path of a file in each row")
    return _texts(column)


def _ids(table: Table, name: str) -> list[Any] | None:
    """Return the ids in the column `name`, as text or as integers. Return None without this column.

    Raises FormatError for a column of another type, and for rows without an id.
    """
    column = table.columns.get(name)
    if column is None:
        return None
    if isinstance(column, Strings) and column.present.all():
        return [*_texts(column)]
    if (
        isinstance(column, Numbers)
        and column.values.dtype.kind in "iu"
        and not column.shape
        and column.present.all()
    ):
        return [*column.values.tolist()]
    raise _refusal("the column `id` must have text or an integer in each row")


def _texts(column: Strings) -> list[str]:
    """Return the strings of a column as text. Bytes that are not UTF-8 become lone surrogates."""
    rows = Strings.unchecked(**vars(column)).tolist()
    return [(each or b"").decode("utf-8", "surrogateescape") for each in rows]


def _default_kind(ids: list[Any] | None) -> Kind:
    return Kind.SINGLE_SAMPLE if ids is None else Kind.CONDUIT_HDF5_INCLUSION


def _report(table: Table, used: set[str], metadata: Mapping[str, Any], losses: Losses) -> None:
    """Report the columns that a list cannot store as losses, except the fields of its files.

    used: the columns that become part of the list. metadata: of the table; the member `fields`
    names the fields of the files.
    """
    fields = metadata.get("fields")
    known = {*fields} if isinstance(fields, list) else set()
    left = [name for name in table.columns if name not in used]
    for name in left:
        if name not in known:
            losses.report(name, f"a sample list has no column {safe(name)}")
    if count := sum(name in known for name in left):
        losses.findings.add(finding_at("lbann-fields-in-files", Place("table"), count=count))


def _refusal(message: str) -> FormatError:
    return FormatError(message, place=Place("table"), code="table-holds")
