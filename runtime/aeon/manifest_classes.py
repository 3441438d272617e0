"""Group the records of a manifest by their class, and balance the classes."""

import numpy as np

from exset.core.errors import FormatError, Place
from exset.grammars.aeon.manifest import Manifest
from exset.grammars.columns.arrays import Longs


def column_groups(manifest: Manifest, column: int) -> Longs:
    """Return a group number for each record; records of a group have the same field in a column.

    Raises ValueError for an unknown column.
    """
    if not 0 <= column < manifest.width:
        there = f"columns 0 to {manifest.width - 1}" if manifest.width else "no columns"
        raise ValueError(f"column {column} is out of range: the manifest has {there}")
    seen: dict[bytes | None, int] = {}
    numbers = (seen.setdefault(field, len(seen)) for field in manifest.column(column))
    return np.fromiter(numbers, np.int64, len(manifest))


def label_groups(manifest: Manifest) -> Longs:
    """Return `column_groups` for the last column, which usually has the labels."""
    return column_groups(manifest, max(len(manifest.types), 1) - 1)


def labels(manifest: Manifest, column: str | None, name: str) -> list[str]:
    """Return each record's field in a column, given by its number, by default the last column.

    Raises FormatError for an unknown column and for an empty field; `name`: the file in messages.
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
    """Repeat records of small classes until all classes have the same number of records.

    by: the column of the class, by default the last one. Copies come after all records, in their
    order; with a seed, all records are shuffled reproducibly (NumPy's PCG64). Raises ValueError for
    an unknown column.
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
