"""`split`: divide a model into disjoint parts, in order or at random, by unit or by group."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

from exset import formats
from exset.core.protocols import Selectable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

S = TypeVar("S", bound=Selectable)


def split(
    model: S,
    sizes: Sequence[float | str | None],
    *,
    seed: int | None = None,
    by: str | None = None,
    stratify: str | None = None,
) -> list[S]:
    """Divide a model into disjoint parts.

    `sizes`: for each part a fraction of the units (a float up to 1), a number of units (an int), or
    None for the rest; or a pattern such as "s1_*" (`*`, `?` and `[...]`), for all units with a
    matching name: the other parts then share the other units. Names are the names of examples,
    `file/id` of samples, the first fields of records. `seed`: draw units at random (NumPy's PCG64),
    always the same for a seed; by default each part continues where the part before ends. `by`:
    keep groups together, such as "file" of a sample list; sizes are then met as nearly as groups
    allow. `stratify`: give each part an equal share of each group, such as "label" of a manifest.
    Units keep their order in a part. Raises ValueError for too large sizes and for an empty part.
    """
    import numpy as np

    if by is not None and stratify is not None:
        raise ValueError("groups are kept whole, or shared among the parts, not both")
    patterns = [size if isinstance(size, str) else None for size in sizes]
    part_of_unit = _named(model, patterns) if any(patterns) else np.full(len(model), -1)
    others = [part for part, pattern in enumerate(patterns) if pattern is None]
    if others or not sizes:
        family = formats.family_of(model)
        units = np.flatnonzero(part_of_unit < 0)
        ends = bounds(units.size, [size for size in sizes if not isinstance(size, str)])
        numbers = np.arange(units.size) if by is None else family.group_of(model, by)[units]
        groups, group = np.unique(numbers, return_inverse=True)
        order = np.arange(groups.size)
        if seed is not None:
            order = np.random.default_rng(seed).permutation(groups.size)
        if stratify is not None:
            shares = _shares(family.group_of(model, stratify)[units][order])
            order = order[np.argsort(shares, kind="stable")]
        size = np.bincount(group, minlength=groups.size)[order]
        # The middle of a group decides its part.
        middle = np.cumsum(size) - (size + 1) // 2
        part_of = np.empty(groups.size, np.int64)
        part_of[order] = np.searchsorted(ends, middle, side="right")
        part_of_unit[units] = np.array([*others, -1])[part_of[group]]
    return [_part(model, np.flatnonzero(part_of_unit == part), by) for part in range(len(sizes))]


def bounds(count: int, sizes: Sequence[float | None]) -> list[int]:
    """Return where each part of `count` units ends; raise ValueError as `split` does."""
    if not sizes:
        raise ValueError("no sizes are given")
    if sum(size is None for size in sizes) > 1:
        raise ValueError("only one part can have the rest")
    if any(size is not None and (size != size or size <= 0) for size in sizes):
        raise ValueError("a size must be more than 0")
    if any(isinstance(size, float) and size > 1 for size in sizes):
        raise ValueError("a fraction must not be more than 1; a number of units is an int")
    shares = [size for size in sizes if isinstance(size, float)]
    exact = [count * size if isinstance(size, float) else size for size in sizes]
    total = sum(size for size in exact if size is not None)
    if total > count * (1 + 1e-9) + 1e-6:
        counted = any(isinstance(size, int) for size in sizes)
        share = "; 0.8, or 80% on the command line, is a share" if counted else ""
        raise ValueError(f"the parts need more units than there are, {count:,}{share}")
    rest = count - total
    ends, at = [], 0.0
    for size in exact:
        at += rest if size is None else size
        ends.append(min(round(at), count))
    for size, start, end in zip(sizes, [0, *ends], ends, strict=False):
        if start == end and (size is not None or shares):
            raise ValueError(
                f"a part would be empty: there are too few units, {count:,}, to split so"
            )
    return ends


def _shares(group: "NDArray[np.int64]") -> "NDArray[np.float64]":
    """Return the relative position of each unit in its group, from 0 to 1."""
    import numpy as np

    order = np.argsort(group, kind="stable")
    count = np.bincount(group)
    rank = np.empty(group.size, np.float64)
    rank[order] = np.arange(group.size) - np.repeat(np.cumsum(count) - count, count)
    return (rank + 0.5) / count[group]


def _named(model: Selectable, patterns: Sequence[str | None]) -> "NDArray[np.int64]":
    """Return the number of the first pattern that matches each unit's name, or -1."""
    import re
    from fnmatch import translate

    import numpy as np

    family = formats.family_of(model)
    tests = [
        (part, re.compile(translate(pattern).encode("utf-8", "surrogateescape")))
        for part, pattern in enumerate(patterns)
        if pattern is not None
    ]
    parts = (
        next((part for part, test in tests if test.match(name)), -1)
        for name in family.names_of(model)
    )
    return np.fromiter(parts, np.int64, len(model))


def _part(model: S, rows: "NDArray[np.int64]", by: str | None) -> S:
    if not rows.size:
        raise ValueError(f"a part would be empty: there are too few of its {by or 'units'}")
    return model.select(rows)
