"""`split`: divide the contents of a file into disjoint parts, in order, at random, or by groups."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

from exset import formats
from exset.conditions import matcher
from exset.core.protocols import Selectable
from exset.core.text import counted, with_article

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

S = TypeVar("S", bound=Selectable)

_ROUNDING = 1e-9


def split(
    model: S,
    sizes: float | str | Sequence[float | str | None],
    *,
    seed: int | None = None,
    by: str | None = None,
    stratify: str | None = None,
) -> list[S]:
    """Divide a model into disjoint parts. Units keep their order in a part.

    `sizes`: the size of each part. A single size makes two parts, the second with all other units.
    A size is one of these:

    - a fraction of the units (a float up to 1), or a number of units (an int)
    - None: all other units
    - a pattern such as "s1_*" (`*`, `?` and `[...]`): all units with a matching name. The sizes
      without a pattern then divide the units that match no pattern. Names are the names of
      examples, `file/id` of samples, and the first fields of records.

    By default, a part begins where the part before it ends.

    - `seed`: draw units at random (NumPy's PCG64); the same seed draws the same units.
    - `by`: a field, such as "file" of a sample list. Units with the same value of the field, a
      group, stay together. The sizes of parts are then nearly the given ones. Each part gets at
      least one group if there are enough groups.
    - `stratify`: a field, such as "label" of a manifest. Each value of the field gets the same
      proportion in every part.

    Fields are those of `exset.edit.keep`. Raises ValueError for sizes that are too large and for an
    empty part. Raises TypeError for a model that cannot be split, such as a schema.
    """
    import numpy as np

    family = formats.family_of(model)
    if not isinstance(model, Selectable):
        raise TypeError(f"{with_article(family.noun)} cannot be split")
    if by is not None and stratify is not None:
        raise ValueError(
            "by and stratify cannot be combined: by keeps each group whole, stratify divides it"
        )
    if isinstance(sizes, str | float | int):
        sizes = [sizes, None]
    patterns = [size if isinstance(size, str) else None for size in sizes]
    part_of_unit = _named(model, patterns) if any(patterns) else np.full(len(model), -1)
    others = [part for part, pattern in enumerate(patterns) if pattern is None]
    if others or not sizes:
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
        part_of = np.empty(groups.size, np.int64)
        size = np.bincount(group, minlength=groups.size)
        part_of[order] = _parts_of_groups(size[order], ends)
        part_of_unit[units] = np.array([*others, -1])[part_of[group]]
    rows = [np.flatnonzero(part_of_unit == part) for part in range(len(sizes))]
    for part, each in enumerate(rows):
        if each.size == 0 and by is not None and part in others and 0 < size.size < len(others):
            raise ValueError(_too_few_groups(by, size, len(others)))
        if each.size == 0:
            raise ValueError(_empty(part, sizes[part], len(model)))
    return [model.select(each) for each in rows]


def _parts_of_groups(size: "NDArray[np.int64]", ends: Sequence[int]) -> "NDArray[np.int64]":
    """Return, for each group, the index of its part; `len(ends)` if it belongs to no part.

    size: the number of units of each group. ends: where each part ends. A group belongs to the part
    that contains its middle unit. A part without groups then gets a group from a part that has
    several groups: the group whose size is nearest.
    """
    import numpy as np

    middle = np.cumsum(size) - (size + 1) // 2
    part_of = np.searchsorted(ends, middle, side="right")
    for part, wanted in enumerate(np.diff(ends, prepend=0)):
        groups = np.bincount(part_of, minlength=len(ends) + 1)
        groups[-1] += 1  # no part needs these groups
        if wanted and groups[part] == 0 and (spare := np.flatnonzero(groups[part_of] > 1)).size:
            part_of[spare[np.argmin(np.abs(size[spare] - wanted))]] = part
    return part_of


def _too_few_groups(by: str, size: "NDArray[np.int64]", parts: int) -> str:
    """Return the message of the error that there are fewer groups than parts.

    by: what the groups are made by, such as a field. size: the number of units in each group.
    parts: the number of parts.
    """
    low, high = int(size.min()), int(size.max())
    items = counted(high, "item") if low == high else f"{low:,} to {counted(high, 'item')}"
    groups = counted(size.size, "group")
    needed = (
        f"a part would be empty: {parts:,} parts need {parts:,} groups, one for each value of {by}"
    )
    return f"{needed}, but there {'is' if size.size == 1 else 'are'} only {groups} of {items}"


def _empty(part: int, size: float | str | None, count: int) -> str:
    """Return the message of the error that the part with the index `part` would be empty.

    size: the size that the user gave for the part: a fraction, a pattern for names, or None for all
    other units. count: the number of all units.
    """
    if isinstance(size, str):
        why = f"no other item has a name that matches {size!r}"
    elif isinstance(size, float):
        why = f"{size:.3g} of {counted(count, 'item')} is less than one item"
    else:
        why = f"the other parts take all items ({count:,})"
    return f"part {part + 1} would be empty: {why}"


def bounds(count: int, sizes: Sequence[float | None]) -> list[int]:
    """Return where each part of `count` units ends. Raises ValueError as `split` does."""
    if not sizes:
        raise ValueError("no sizes are given")
    if sum(size is None for size in sizes) > 1:
        raise ValueError("only one part can have the rest")
    if any(size is not None and (size != size or size <= 0) for size in sizes):
        raise ValueError("a size must be more than 0")
    if any(isinstance(size, float) and size > 1 for size in sizes):
        raise ValueError("a fraction must not be more than 1: write a number of items as an int")
    exact = [count * size if isinstance(size, float) else size for size in sizes]
    total = sum(size for size in exact if size is not None)
    if total > count * (1 + 1e-9) + 1e-6:
        has_counts = any(isinstance(size, int) for size in sizes)
        share = "; for a fraction, write 0.8, or 80% on the command line" if has_counts else ""
        raise ValueError(f"the parts need more items than there are ({count:,}){share}")
    rest = count - total
    ends, at = [], 0.0
    for size in exact:
        at += rest if size is None else size
        # Halves go down, and not to even numbers: no part of exactly one unit may become empty.
        ends.append(min(math.ceil(at - 0.5 - _ROUNDING), count))
    return ends


def _shares(group: "NDArray[np.int64]") -> "NDArray[np.float64]":
    """Return, for each unit, its relative position in its group, from 0 to 1."""
    import numpy as np

    order = np.argsort(group, kind="stable")
    count = np.bincount(group)
    rank = np.empty(group.size, np.float64)
    rank[order] = np.arange(group.size) - np.repeat(np.cumsum(count) - count, count)
    return (rank + 0.5) / count[group]


def _named(model: Selectable, patterns: Sequence[str | None]) -> "NDArray[np.int64]":
    """Return, for each unit, the index of the first pattern that its name matches, or -1."""
    import numpy as np

    tests = [
        (part, matcher(pattern)) for part, pattern in enumerate(patterns) if pattern is not None
    ]
    parts = (
        next((part for part, matches in tests if matches(name)), -1)
        for name in formats.family_of(model).names_of(model)
    )
    return np.fromiter(parts, np.int64, len(model))
