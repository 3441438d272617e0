"""What a picture of examples shows: their events or ticks, row by row, no more than can be seen."""

from dataclasses import dataclass, fields, replace

import numpy as np

from exset.core.errors import Findings, LimitError, Place
from exset.core.limits import DEFAULT, Limits
from exset.core.text import safe
from exset.grammars.columns.arrays import Longs
from exset.grammars.lens.examples import ExampleSet
from exset.grammars.lens.normal_form import normal_form
from exset.runtime.lens.arrays import ExampleArrays, ticks_until, to_arrays
from exset.runtime.lens.fill import layouts_of
from exset.runtime.lens.network_layout import MODEL, LayoutLike

ROWS = 200
"""The most rows of a picture."""

CELLS = 10_000_000
"""The most numbers of a picture, so that what has very many units gets fewer rows."""

_COLUMNS = {each.name for each in fields(ExampleArrays) if not each.name.endswith("_layout")}

_NAME = 32
"""The most characters of a name."""


@dataclass(frozen=True, eq=False)
class PictureRows:
    """The rows of a picture, one row an event or a tick, and what is beside them."""

    arrays: ExampleArrays
    names: list[str]
    """Of each example that has a row; `arrays.example` counts in it."""
    ticks: int | None
    cut: str | None
    """What of it there is room for, in words; None if all is shown."""

    @property
    def labels(self) -> list[str]:
        """What stands at each row: the example's name at its first, its events where it has more.

        Nothing at the later ticks of an event.
        """
        example, event, tick = (
            each.tolist() for each in (self.arrays.example, self.arrays.event, self.arrays.tick)
        )
        several = {i for i, j in zip(example, event, strict=True) if j}
        labels = []
        for i, j, k in zip(example, event, tick, strict=True):
            name = self.names[i] if j == 0 and k == 0 else ""
            number = str(j) if i in several and k == 0 else ""
            labels.append(f"{name}  {number}".strip())
        return labels

    @property
    def heads(self) -> Longs:
        """The numbers of the rows with which examples begin: int64."""
        return np.flatnonzero((self.arrays.event == 0) & (self.arrays.tick == 0))


def picture_rows(
    examples: ExampleSet,
    which: Longs | None = None,
    inputs: LayoutLike | None = None,
    targets: LayoutLike | None = None,
    *,
    ticks: int | None = None,
    findings: Findings | None = None,
    limits: Limits = DEFAULT,
) -> PictureRows:
    """The first rows of the examples with these indices, or of all.

    `inputs`, `targets`: as in `to_arrays`; what is inferred is inferred from the whole set, so that
    pictures of different examples are alike. `ticks`: one row a tick, of so many in an interval, as
    in `by_tick`. Raises FormatError, LimitError, IndexError, and ValueError where there is nothing
    to be seen.
    """
    findings = Findings() if findings is None else findings
    layouts = layouts_of(examples, (inputs, targets), findings)
    units = layouts[0].units + layouts[1].units
    which = np.arange(len(examples))[slice(None) if which is None else which]
    if not which.size or not units:
        raise ValueError("there is nothing to draw: no " + ("units" if which.size else "examples"))
    if units > CELLS:
        raise LimitError(
            f"{units:,} units are too many for a picture",
            place=Place.of(MODEL),
            hint="say inputs=... and targets=... for some of the groups (--inputs GROUP=SIZE)",
        )
    rows = min(ROWS, CELLS // units)
    some = _events(examples.select(which[:rows]), rows)
    arrays = to_arrays(some, *layouts, findings=findings, limits=limits)
    if ticks is not None:
        arrays = _ticks(arrays, ticks, rows)
    total = int((examples.event_offsets[which + 1] - examples.event_offsets[which]).sum())
    cut = len(arrays) > rows or np.count_nonzero(arrays.tick == 0) < total
    arrays = _first(arrays, rows)
    shown = int(arrays.example[-1]) + 1
    what = "events" if ticks is None else "ticks"
    said = f"the first {len(arrays)} {what}: {shown} of {which.size:,} examples"
    names = [_name(examples, number) for number in which[:shown].tolist()]
    return PictureRows(arrays, names, ticks, said if cut else None)


def _events(examples: ExampleSet, most: int) -> ExampleSet:
    """The first events of a set, so many at most; the last example may lose some of its."""
    if examples.num_events <= most:
        return examples
    count = int(np.searchsorted(examples.event_offsets, most))
    examples = examples.select(slice(count))
    return normal_form(
        examples.with_columns(
            event_offsets=np.minimum(examples.event_offsets, most),
            events=examples.events.take(np.arange(most)),
        )
    )


def _ticks(arrays: ExampleArrays, ticks: int, most: int) -> ExampleArrays:
    """The rows of ticks; of an event that lasts longer than can be seen only the beginning."""
    if ticks < 1:
        raise ValueError(f"ticks must be at least 1, not {ticks}")
    seen = np.float32((most + 1) / ticks)
    arrays = replace(arrays, max_time=np.minimum(arrays.max_time, seen))
    if not np.isnan(arrays.max_time).any():
        before = np.cumsum(ticks_until(np, arrays.max_time, ticks)).searchsorted(most)
        arrays = _first(arrays, int(before) + 1)
    return arrays.by_tick(ticks)


def _first(arrays: ExampleArrays, rows: int) -> ExampleArrays:
    """The first rows, so many at most."""
    columns = {name: each[:rows] for name, each in vars(arrays).items() if name in _COLUMNS}
    return replace(arrays, **columns)


def _name(examples: ExampleSet, number: int) -> str:
    """The name of an example, made safe and not too long; its index, as Lens has it, if none."""
    name = examples.name.text(number)
    return shortened(str(number) if name is None else name)


def shortened(text: str, most: int = _NAME) -> str:
    """A name as it stands in a picture: safe to show, and of so many characters at most."""
    text = safe(text[: most + 1])
    return text if len(text) <= most else text[: most - 1] + "…"
