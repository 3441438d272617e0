"""Change the inputs or targets of an example set by a function of dense arrays. Add noise to
inputs.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from exset.core.callers import public
from exset.core.errors import Findings, warn
from exset.core.limits import DEFAULT, Limits
from exset.grammars.columns.arrays import (
    Floats,
    Longs,
    bits,
    canonical_nan,
    constant,
    offsets_of,
    row_indices,
)
from exset.grammars.columns.inputs import check_kind, floats_in_shape, raw, real
from exset.grammars.columns.ragged import Ragged, Strings
from exset.grammars.lens.examples import ExampleSet, Ranges
from exset.runtime.lens.arrays import check_size
from exset.runtime.lens.fill import side_array
from exset.runtime.lens.layout_inference import layouts_of
from exset.runtime.lens.network_layout import Layout, LayoutLike, Side
from exset.runtime.lens.runs import Columns

Mapping: TypeAlias = Callable[[Floats], ArrayLike]
"""A function of the values of all events, [events, units], that returns an array of this shape."""


@public
def map_inputs(
    examples: ExampleSet,
    function: Mapping,
    *,
    group: str | None = None,
    inputs: LayoutLike | None = None,
    findings: Findings | None = None,
    limits: Limits = DEFAULT,
) -> ExampleSet:
    """Return a set with the inputs that a function computes.

    `function` is called once. It gets a copy of the inputs of all events as Lens presents them,
    float32 [events, units], and returns an array of the same shape. `group`: change only the units
    of this group, and call `function` with only these units. `inputs`, `findings`, `limits`: as for
    `to_arrays`. If an input is NaN, Lens lets the unit compute its own value. `function` gets NaN
    for such an input, and may return NaN.

    An event whose inputs change gets dense ranges. All other events keep their ranges as they are:
    sparse, or shared. Events that share a list still share it if their new inputs are equal. If
    targets use the same list, the targets do not change. Raises ValueError for another shape, and
    the errors of `to_arrays`.
    """
    return _mapped(examples, "inputs", function, group, inputs, findings, limits)


@public
def map_targets(
    examples: ExampleSet,
    function: Mapping,
    *,
    group: str | None = None,
    targets: LayoutLike | None = None,
    findings: Findings | None = None,
    limits: Limits = DEFAULT,
) -> ExampleSet:
    """Return a set with the targets that a function computes. See `map_inputs`."""
    return _mapped(examples, "targets", function, group, targets, findings, limits)


@public
def add_noise(
    examples: ExampleSet,
    deviation: float,
    *,
    seed: int,
    group: str | None = None,
    clip: tuple[float, float] | None = None,
    inputs: LayoutLike | None = None,
    findings: Findings | None = None,
    limits: Limits = DEFAULT,
) -> ExampleSet:
    """Return a set with Gaussian noise on the inputs. The same seed always gives the same noise.

    `deviation`: the standard deviation. `clip`: the lowest and the highest value of an input after
    the noise is added. Other arguments and errors are the same as for `map_inputs`. Every unit of
    every event gets different noise (NumPy's PCG64), even in events that share a list. NaN stays
    NaN, and an event without inputs stays without inputs.
    """
    check_kind("add_noise", examples, ExampleSet, "an ExampleSet")
    scale = real("deviation", deviation)
    if not 0 <= scale < np.inf:
        raise ValueError(f"deviation: must not be negative or infinite, but is {scale}")
    if clip is not None and not clip[0] <= clip[1]:
        raise ValueError(f"clip: {clip[0]} is more than {clip[1]}")
    random = np.random.default_rng(seed)

    def noisy(values: Floats) -> ArrayLike:
        changed = values + random.normal(0, scale, values.shape)
        if clip is not None:
            changed = np.clip(changed, *clip)
        return np.where((examples.events.inputs >= 0)[:, None], changed, values)

    return _mapped(examples, "inputs", noisy, group, inputs, findings, limits)


def _mapped(
    examples: ExampleSet,
    side: Side,
    function: Mapping,
    group: str | None,
    requested: LayoutLike | None,
    findings: Findings | None,
    limits: Limits,
) -> ExampleSet:
    caller = f"map_{side}"
    check_kind(caller, examples, ExampleSet, "an ExampleSet")
    found = Findings() if findings is None else findings
    other = 0  # the layout of the other side, which is not used
    pair = (requested, other) if side == "inputs" else (other, requested)
    layouts = layouts_of(examples, pair, found)
    layout = layouts[0] if side == "inputs" else layouts[1]
    if requested is None:
        values = examples.ranges.values.values.size
        check_size(values, side, layout, examples.num_events, limits)
    if group is not None and group not in layout.groups:
        there = ", ".join(layout.groups) or "none"
        raise ValueError(f"{caller}: no group of {side} is called {group!r}: there are {there}")
    before = side_array(np, examples, Columns.of(np, examples), side, layout, found, limits)
    if group is not None:
        before = np.ascontiguousarray(before[:, layout[group]])
    after = floats_in_shape(caller, function(before.copy()))
    if after.shape != before.shape:
        shapes = f"{before.shape}, not {after.shape}"
        raise ValueError(f"{caller}: the function must return an array of the shape {shapes}")
    if findings is None:
        warn(found)
    after = canonical_nan(after.reshape(-1)).reshape(after.shape)
    rows = np.flatnonzero((bits(after) != bits(before)).any(axis=1))
    if not rows.size:
        return examples
    return _with_values(examples, side, rows, after[rows], _replaced(layout, group))


@dataclass(frozen=True)
class _Replaced:
    """The groups whose ranges are replaced.

    names, sizes: the name and the number of units of each group. The name None means the whole
    network. network: whether ranges of the whole network are replaced, too.
    """

    names: list[str | None]
    sizes: list[int]
    network: bool
    """Whether ranges of the whole network are replaced, too."""


def _replaced(layout: Layout, group: str | None) -> _Replaced:
    if group is not None:
        return _Replaced([group], [layout.groups[group]], False)
    if not layout.groups:
        return _Replaced([None], [layout.units], True)
    sizes = {name: size for name, size in layout.groups.items() if size}
    return _Replaced([*sizes], [*sizes.values()], True)


def _with_values(
    examples: ExampleSet, side: Side, rows: Longs, values: Floats, replaced: _Replaced
) -> ExampleSet:
    """Return a set in which some events have new values on one side.

    The new values are dense ranges of the groups in `replaced`. Ranges of other groups stay, before
    the new ranges, because Lens applies ranges in order. side: "inputs" or "targets". rows: the
    indices of the events. values: [events, units], the units of the groups in `replaced`.
    """
    numbers, ranges, lists = getattr(examples.events, side), examples.ranges, examples.lists
    shares = _shares(numbers[rows], values)
    heads = np.flatnonzero(shares == np.arange(shares.size))
    groups, group = _numbered(examples.groups, replaced.names)
    count, width = heads.size, len(replaced.names)
    dense = Ranges.unchecked(
        group=np.tile(group, count),
        first=constant(0, count * width, np.int32),
        value=constant(0, count * width, np.float32),
        values=Ragged(
            np.ascontiguousarray(values[heads]).reshape(-1),
            offsets_of(np.tile(np.array(replaced.sizes, np.int64), count)),
        ),
        units=Ragged.empty(count * width, np.int32),
    )
    old = numbers[rows[heads]]
    length = np.where(old < 0, 0, lists[old + 1] - lists[old])
    kept = row_indices(np.where(old < 0, 0, lists[old]), length)
    of_list = np.repeat(np.arange(count), length)
    stays = ~np.isin(ranges.group[kept], [*group, -1] if replaced.network else group)
    row = np.concatenate([kept[stays], len(ranges) + np.arange(count * width)])
    of_list = np.concatenate([of_list[stays], np.repeat(np.arange(count), width)])
    order = np.argsort(of_list, kind="stable")
    ends = lists[-1] + np.cumsum(np.bincount(of_list, minlength=count))
    new = numbers.copy()
    new[rows] = lists.size - 1 + np.searchsorted(heads, shares)
    return examples.with_unchecked(
        events=examples.events.with_unchecked(**{side: new}),
        lists=np.concatenate([lists, ends]),
        ranges=Ranges.concat([ranges, dense]).take(
            np.concatenate([np.arange(len(ranges)), row[order]])
        ),
        groups=groups,
    ).normalized()


def _shares(numbers: Longs, values: Floats) -> Longs:
    """Return for each row the first row that has the same list and equal values.

    numbers: the list of each row. If no earlier row is equal, the result is the row itself.
    """
    _, first, codes = np.unique(numbers, return_index=True, return_inverse=True)
    head = first[codes].astype(np.int64)
    is_equal = (bits(values) == bits(values[head])).all(axis=1) & (numbers >= 0)
    return np.where(is_equal, head, np.arange(head.size))


def _numbered(
    groups: Strings, names: list[str | None]
) -> "tuple[Strings, np.ndarray[tuple[int], np.dtype[np.int32]]]":
    """Return the groups, with new ones of `names` added, and the index of each name in them."""
    numbers = {name: number for number, name in enumerate(groups)}
    found = []
    for name in names:
        key = raw("group", name)
        found.append(-1 if key is None else numbers.setdefault(key, len(numbers)))
    return Strings.of(numbers), np.array(found, np.int32)
