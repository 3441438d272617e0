"""Read and change the fields of a manifest, such as labels; balance the classes of its records."""

from collections.abc import Callable, Iterator

import numpy as np

from exset.core.errors import FormatError, Place
from exset.grammars.aeon.manifest import Manifest
from exset.grammars.columns.arrays import Longs
from exset.grammars.columns.strings import Strings


def column_groups(manifest: Manifest, column: int) -> Longs:
    """Return a group number for each record. Records with the same field in the column have the
    same number.

    Raises ValueError for an unknown column.
    """
    if not 0 <= column < manifest.width:
        there = f"columns 0 to {manifest.width - 1}" if manifest.width else "no columns"
        raise ValueError(f"column {column} is out of range: the manifest has {there}")
    seen: dict[bytes | None, int] = {}
    numbers = (seen.setdefault(field, len(seen)) for field in manifest.column(column))
    return np.fromiter(numbers, np.int64, len(manifest))


def label_fields(manifest: Manifest) -> Iterator[bytes]:
    """Yield the fields of the last column, which usually has the labels."""
    return (field or b"" for field in manifest.column(_last(manifest)) if len(manifest))


def numbered_column(manifest: Manifest, name: str) -> Iterator[bytes]:
    """Yield the fields of a column. name: the number of the column, from 0, as text.

    Raises ValueError for an unknown column.
    """
    if not (name.isdecimal() and int(name) < manifest.width):
        numbers = ", ".join(map(str, range(manifest.width)))
        raise ValueError(f"a manifest has no field {name!r}: choose one of name, label, {numbers}")
    return (field or b"" for field in manifest.column(int(name)))


def with_names(manifest: Manifest, change: Callable[[str], str]) -> Manifest:
    """Return a copy of a manifest in which `change` has replaced each field of the first column.

    `change` gets a field and returns the new field.
    """
    return _with_column(manifest, 0, change)


def with_labels(manifest: Manifest, change: Callable[[str], str]) -> Manifest:
    """Return a copy of a manifest in which `change` has replaced each field of the last column.

    `change` gets a field and returns the new field. Usually, the fields of the last column are the
    labels.
    """
    return _with_column(manifest, _last(manifest), change)


def _with_column(manifest: Manifest, index: int, change: Callable[[str], str]) -> Manifest:
    if not len(manifest):
        return manifest
    fields = manifest.fields.tolist()
    fields[index :: manifest.width] = manifest.column(index).changed(change)
    return manifest.with_columns(fields=Strings.of(fields))


def _last(manifest: Manifest) -> int:
    return max(len(manifest.types), 1) - 1


def labels(manifest: Manifest, column: str | None, name: str) -> list[str]:
    """Return the field of each record in a column.

    column: the number of the column as text; by default the last column. name: the name of the file
    in messages. Raises FormatError for an unknown column and for an empty field.
    """
    numbers = [str(number) for number in range(len(manifest.types))]
    which = column or (numbers[-1] if numbers else "")
    if which not in numbers:
        kinds = zip(numbers, manifest.types, strict=True)
        there = ", ".join(f"{number} ({kind})" for number, kind in kinds) or "none"
        message = f"{f'no column {column!r};' if column else 'which column?'} there are: {there}"
        raise FormatError(
            message,
            place=Place(name),
            hint="choose a column with <--column or column=...>",
            code="labels",
        )
    found = []
    for line, field in zip(manifest.lines.tolist(), manifest.column(int(which)), strict=True):
        if not field:
            place = Place(name, line=line)
            raise FormatError(
                f"the label is empty (column {which}; columns count from 0)",
                place=place,
                code="labels",
            )
        found.append(field.decode("utf-8", "surrogateescape"))
    return found


def balanced(manifest: Manifest, by: int = -1, *, seed: int | None = None) -> Manifest:
    """Return a manifest in which all classes have the same number of records, by repeating records.

    by: the column of the class, by default the last one. The copies come after all original
    records, in the order of the originals. With a seed, all records are shuffled reproducibly
    (NumPy's PCG64). Raises ValueError for an unknown column.
    """
    if not len(manifest):
        return manifest
    group = column_groups(manifest, by if by >= 0 else by + manifest.width)
    count = np.bincount(group)
    most = int(count.max())
    order = np.argsort(group, kind="stable")
    begins = np.cumsum(count) - count
    # Repeat the records of each class; then sort by repetition, then by position.
    copies = np.concatenate(
        [np.resize(order[at : at + n], most) for at, n in zip(begins, count, strict=True)]
    )
    rounds = np.concatenate([np.arange(most) // n for n in count])
    rows = copies[np.lexsort((copies, rounds))]
    if seed is not None:
        rows = np.random.default_rng(seed).permutation(rows)
    return manifest.select(rows)
