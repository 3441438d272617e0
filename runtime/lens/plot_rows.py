"""Make the rows of a picture of examples. They are the first events or ticks, if not all fit."""

from dataclasses import dataclass, replace

import numpy as np

from exset.core.errors import Findings, LimitError, Place
from exset.core.limits import DEFAULT, Limits
from exset.grammars.columns.arrays import Longs, row_indices
from exset.grammars.lens.examples import ExampleSet
from exset.runtime.lens.arrays import ExampleArrays, arrays_of, ticks_until
from exset.runtime.lens.layout_inference import layouts_of
from exset.runtime.lens.network_layout import MODEL, LayoutLike
from exset.runtime.pictures.kinds import shortened

ROWS = 200
"""The most rows of a picture."""

CELLS = 10_000_000
"""The most cells of a picture: with very many units it has fewer rows."""


@dataclass(frozen=True, eq=False)
class PictureRows:
    """The rows of a picture, one row for each event or tick.

    names: the name of each example that has rows; `arrays.example` has indices into `names`. ticks:
    the number of ticks in an interval; None if rows are events. cut: a text that says which part is
    shown; None if everything is shown.
    """

    arrays: ExampleArrays
    names: list[str]
    ticks: int | None
    cut: str | None

    @property
    def labels(self) -> list[str]:
        """The label of each row: the example's name, in its first row only, and the index of the
        event.

        If an example has only one event, the index is left out. Only the first tick of an event has
        a label.
        """
        return self._labels(with_names=False)

    @property
    def full_labels(self) -> list[str]:
        """The label of each row, as in `labels`, but with the example's name for each event."""
        return self._labels(with_names=True)

    def _labels(self, with_names: bool) -> list[str]:
        arrays = self.arrays
        rows = [each.tolist() for each in (arrays.example, arrays.event, arrays.tick)]
        several = {example for example, event, _ in zip(*rows, strict=True) if event}
        labels = []
        for example, event, tick in zip(*rows, strict=True):
            name = "" if event and not with_names else self.names[example]
            number = str(event) if example in several else ""
            labels.append("" if tick else f"{name}  {number}".strip())
        return labels

    @property
    def heads(self) -> Longs:
        """The index of the first row of each example: int64."""
        return np.flatnonzero((self.arrays.event == 0) & (self.arrays.tick == 0))


def picture_rows(
    examples: ExampleSet,
    which: Longs | None = None,
    inputs: LayoutLike | None = None,
    targets: LayoutLike | None = None,
    *,
    ticks: int | None = None,
    most: int = ROWS,
    findings: Findings | None = None,
    limits: Limits = DEFAULT,
) -> PictureRows:
    """Return the first rows of the examples with the indices `which`, by default of all examples.

    inputs, targets: as in `to_arrays`. Layouts are inferred from the whole set, so that pictures of
    different examples have the same columns. ticks: make a row for each tick, as `by_tick` does.
    most: how many rows may be returned. Raises FormatError, LimitError, IndexError, and ValueError
    if there is nothing to draw.
    """
    findings = Findings() if findings is None else findings
    layouts = layouts_of(examples, (inputs, targets), findings)
    units = layouts[0].units + layouts[1].units
    which = np.arange(len(examples))[slice(None) if which is None else which]
    starts = examples.event_offsets[which]
    counts = examples.event_offsets[which + 1] - starts
    if not counts.any() or not units:
        raise ValueError("there is nothing to draw: no " + ("units" if which.size else "examples"))
    if units > CELLS:
        message = f"{units:,} units are too many for a picture"
        hint = "name some of the groups: <--inputs GROUP=SIZE or inputs={GROUP: SIZE}>"
        raise LimitError(message, place=Place(MODEL), hint=hint)
    room = min(most, CELLS // units)
    rows = row_indices(starts[:room], counts[:room])[:room]
    arrays = arrays_of(np, examples, layouts, findings, limits, rows)
    arrays = replace(arrays, example=np.repeat(np.arange(which[:room].size), counts[:room])[:room])
    if ticks is not None:
        arrays = _by_tick(arrays, ticks, room)
    is_cut = len(arrays) > room or np.count_nonzero(arrays.tick == 0) < counts.sum()
    arrays = arrays.take(slice(room))
    shown = int(arrays.example[-1]) + 1
    unit = "events" if ticks is None else "ticks"
    cut = f"the first {len(arrays)} {unit}: {shown} of {which.size:,} examples" if is_cut else None
    names = [_name(examples, number) for number in which[:shown].tolist()]
    return PictureRows(arrays, names, ticks, cut)


def _name(examples: ExampleSet, number: int) -> str:
    """Return the name of an example. If it has no name, return its index, as Lens does."""
    name = examples.name.text(number)
    return shortened(str(number) if name is None else name)


def _by_tick(arrays: ExampleArrays, ticks: int, room: int) -> ExampleArrays:
    """Return arrays with a row for each tick, for slightly more ticks than fit into the picture.

    room: how many rows fit into the picture.
    """
    if ticks < 1:
        raise ValueError(f"ticks must be at least 1, not {ticks}")
    longest = np.float32((room + 1) / ticks)
    arrays = replace(arrays, max_time=np.minimum(arrays.max_time, longest))
    if not np.isnan(arrays.max_time).any():
        before = np.cumsum(ticks_until(np, arrays.max_time, ticks)).searchsorted(room)
        arrays = arrays.take(slice(int(before) + 1))
    return arrays.by_tick(ticks)
