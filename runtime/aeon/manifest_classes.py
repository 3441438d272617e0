"""Records of a manifest by their class: which has which, and as many of each."""

import numpy as np

from exset.grammars.aeon.manifest import Manifest
from exset.grammars.columns.arrays import Longs


def column_groups(manifest: Manifest, column: int) -> Longs:
    """The number of the group of each record: those with the same field in a column.

    Raises ValueError for a column that there is not.
    """
    if not 0 <= column < manifest.width:
        there = f"columns 0 to {manifest.width - 1}" if manifest.width else "no columns"
        raise ValueError(f"there are {there}, not {column}")
    seen: dict[bytes | None, int] = {}
    numbers = (seen.setdefault(field, len(seen)) for field in manifest.column(column))
    return np.fromiter(numbers, np.int64, len(manifest))


def label_groups(manifest: Manifest) -> Longs:
    """As `column_groups` of the last column, which is where labels are."""
    return column_groups(manifest, max(len(manifest.types), 1) - 1)


def balanced(manifest: Manifest, by: int = -1, *, seed: int | None = None) -> Manifest:
    """The records, those of small classes repeated until all classes have as many.

    by: the column that says the class, by default the last. Copies come after the records, in
    their order; with a seed all are shuffled (NumPy's PCG64), the same way each time. Raises
    ValueError for a column that there is not.
    """
    if not len(manifest):
        return manifest
    group = column_groups(manifest, by if by >= 0 else by + manifest.width)
    count = np.bincount(group)
    most = int(count.max())
    order = np.argsort(group, kind="stable")
    begins = np.cumsum(count) - count
    # The class's records over and over; sorted by how often each came before, then by place.
    copies = np.concatenate(
        [np.resize(order[at : at + n], most) for at, n in zip(begins, count, strict=True)]
    )
    rounds = np.concatenate([np.arange(most) // n for n in count])
    rows = copies[np.lexsort((copies, rounds))]
    if seed is not None:
        rows = np.random.default_rng(seed).permutation(rows)
    return manifest.select(rows)
