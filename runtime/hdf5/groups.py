"""Read HDF5 files that store each row as a group: `RUN_ID/000000123/field`, as for LBANN."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from exset.core.errors import Findings, FormatError, LimitError, Place
from exset.core.limits import limit_hint
from exset.grammars.columns.strings import Strings
from exset.grammars.tables.columns import text_or_bytes
from exset.grammars.tables.hdf5_findings import finding_at
from exset.grammars.tables.table import Table
from exset.runtime.hdf5.arrays import Claims
from exset.runtime.hdf5.file import File
from exset.runtime.hdf5.leaves import Leaves
from exset.runtime.hdf5.metadata import DEPTH, HAS_IDS, STORED
from exset.runtime.hdf5.names import with_column
from exset.runtime.hdf5.objects import DEEPEST, is_group
from exset.runtime.hdf5.stored_types import restored

_ROW: Final = 256
"""The bytes that a row takes in memory apart from its values, while it is read."""
_COMPARED: Final = 64
_FEW: Final = 2
"""Up to this number of similar groups may be groups of columns, such as `inputs` and `targets`."""


def read(file: File, stored: dict[str, Any], claims: Claims, findings: Findings) -> Table:
    """Return the table of a file, with a row for each group at the depth of the samples.

    A field `images/view0` becomes the column `images.view0`. The paths of the groups become the
    column `id`. stored: the metadata in the file. Raises FormatError for fields that differ in
    type.
    """
    [part] = parts(file, stored, claims, findings)
    if not part.is_unchanged:
        findings.add(finding_at("hdf5-changed", Place(file.path)))
    return part.table


@dataclass(frozen=True)
class Part:
    """A table of some of the groups of a file.

    has_id: whether the groups have a field `id`. is_unchanged: whether the columns have the types
    in the metadata; True if the file has no metadata.
    """

    table: Table
    has_id: bool
    is_unchanged: bool


def parts(
    file: File,
    stored: dict[str, Any],
    claims: Claims,
    findings: Findings,
    size: int | None = None,
) -> Iterator[Part]:
    """Yield the table of `read`, divided into parts of about `size` bytes. By default there is one
    part.
    """
    own = stored.get(STORED)
    own = own if isinstance(own, dict) else {}
    depth = own.get(DEPTH)
    if type(depth) is not int or not 0 < depth < DEEPEST:
        own, depth = {}, guess_sample(file, loosely=True).count("/") + 1
    metadata = {k: v for k, v in stored.items() if k not in ("columns", "rows", STORED)}
    types = stored.get("columns")
    paths: list[str] = []
    left_out: set[str] = set()
    leaves = Leaves(claims, findings, left_out)
    is_first = True
    for path, group in _samples(file, depth, findings):
        leaves.read(file, group, path, len(paths))
        paths.append(path)
        if size is not None and leaves.size + _ROW * len(paths) >= size:
            yield _part(paths, leaves, types, own, metadata)
            paths, leaves, is_first = [], Leaves(claims, findings, left_out), False
    if paths or is_first:
        yield _part(paths, leaves, types, own, metadata)


def _part(
    paths: list[str], leaves: Leaves, types: Any, own: dict[str, Any], metadata: dict[str, Any]
) -> Part:
    columns, rows = leaves.columns(len(paths)), len(paths)
    has_id = "id" in columns
    ids = text_or_bytes(Strings.of(paths))
    if own:
        known = {**columns, "id": ids} if own.get(HAS_IDS) else columns
        if (found := restored(known, types, own, rows)) is not None:
            return Part(Table(found, rows, metadata), has_id, True)
        if own.get(HAS_IDS):
            columns.pop("id", None)
    return Part(Table(with_column("id", ids, columns), rows, metadata), has_id, not own)


def has_samples(file: File) -> bool:
    """Return whether a file seems to have a group for each row.

    This is so if more than two groups have a field in common, or if the name of the first such
    group is a number.
    """
    try:
        sample = guess_sample(file, loosely=True)
    except LimitError:
        raise
    except FormatError:
        return False
    parent, _, name = sample.rpartition("/")
    return name.isdecimal() or len(file.names(file.find(parent), parent)) > _FEW


def guess_sample(file: File, *, loosely: bool = False) -> str:
    """Return the path of a group that is probably a sample.

    The search goes down from the root, always into the first group. It ends at the first group that
    contains a dataset, or whose groups have different fields. loosely: the search ends at the first
    group with at least as many datasets as groups, or whose groups have no field in common. Raises
    FormatError for a file without datasets, and for a file that is itself one sample.
    """
    path, group = "", file.find("")
    while True:
        names = file.names(group, path)
        step = max(1, len(names) // _COMPARED)
        children = [(name, file.find(name, group, path)) for name in names[::step]]
        groups = [pair for pair in children if is_group(pair[1])]
        if len(groups) < len(children) and not (loosely and 2 * len(groups) > len(children)):
            break
        children = groups
        too_deep = path.count("/") >= DEEPEST  # as in a circle of hard links
        if not children or too_deep or not _are_alike(file, path, children, loosely):
            break
        path, group = f"{path}/{children[0][0]}".lstrip("/"), children[0][1]
    is_empty = next(file.datasets(group, path), None) is None
    if is_empty or path == "":
        hint = "name a sample with --sample PATH"
        raise FormatError(
            "the file contains no sample" if is_empty else "the file itself looks like one sample",
            place=Place(file.path),
            hint=hint if is_empty else f"a sample must be a group in the file: {hint}",
            code="hdf5-no-sample",
        )
    return path


def _are_alike(file: File, path: str, groups: list[tuple[str, Any]], loosely: bool) -> bool:
    """Return whether groups have the same fields.

    loosely: return whether they have at least one field in common. A single group is always alike,
    but with `loosely` only if it has a field.
    """
    inside = (file.datasets(group, f"{path}/{name}") for name, group in groups)
    if len(groups) == 1:
        return not loosely or any(True for _ in next(inside))
    fields = [{field for field, _ in each} for each in inside]
    return bool(set.intersection(*fields)) if loosely else all(each == fields[0] for each in fields)


def _samples(file: File, depth: int, findings: Findings) -> Iterator[tuple[str, Any]]:
    """Yield (path, group) for each group at a depth, in the order of the file.

    Add a finding for each dataset that is not in a group at this depth.
    """
    left = file.limits.max_objects
    above: list[tuple[str, Any, Iterator[str]]] = []
    here: tuple[str, Any] | None = ("", file.find(""))
    while here is not None or above:
        if here is not None:
            above.append((*here, iter(file.names(here[1], here[0]))))
        where, group, names = above[-1]
        here = None
        for name in names:
            path = f"{where}/{name}" if where else name
            child = file.find(name, group, where)
            left -= 1
            if left < 0:
                message = f"the file has more than {file.limits.max_objects:,} groups"
                raise LimitError(message, place=Place(file.path), hint=limit_hint("max_objects"))
            if child is None or not is_group(child):
                problem = "it is not inside the group of a sample"
                findings.add(finding_at("hdf5-left-out", file.place(path), problem=problem))
            elif len(above) == depth:
                yield path, child
            else:
                here = path, child
                break
        else:
            above.pop()
