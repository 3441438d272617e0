"""Find the cells of a dense array that the ranges of a set fill. The cells are stored as runs.

The array has one row for each event, and cells are numbered row by row. A run is consecutive cells.
A dense range is one run, with consecutive values. A sparse range is a run for each unit and each
span, all with the same value (Lens, example.c: loadDenseRange, loadSparseRange). There are no loops
over examples, and all columns are on the device.
"""

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType

from exset.core.errors import FormatError
from exset.grammars.columns.arrays import Floats, Ints, Longs, is_constant
from exset.grammars.lens.examples import ExampleSet
from exset.runtime.arrays import repeat, spread, to_device

Number = Longs | int


@dataclass(frozen=True)
class Columns:
    """The range lists and ranges of an example set, as arrays on a device.

    value: a single number if all values are equal.
    """

    lists: Longs
    group: Ints
    first: Ints
    value: Floats | float
    values: Floats
    value_offsets: Longs
    units: Ints
    unit_offsets: Longs

    @classmethod
    def of(cls, xp: ModuleType, examples: ExampleSet) -> "Columns":
        """Return the columns of a set, copied to the device."""
        ranges = examples.ranges
        same = is_constant(ranges.value) and len(ranges) > 0
        return cls(
            lists=to_device(xp, examples.lists),
            group=to_device(xp, ranges.group),
            first=to_device(xp, ranges.first),
            value=float(ranges.value[0]) if same else to_device(xp, ranges.value),
            values=to_device(xp, ranges.values.values),
            value_offsets=to_device(xp, ranges.values.offsets),
            units=to_device(xp, ranges.units.values),
            unit_offsets=to_device(xp, ranges.units.offsets),
        )


@dataclass(frozen=True)
class Uses:
    """Pairs of an event and a range that the event uses. They are sorted by event, then by the
    order in its list.

    row, range: the event and the range, int64 [k]. base: the cell of unit 0 of the range's group,
    int64 [k]. room: the size of this group, int64 [k], or one number for all pairs.
    """

    row: Longs
    range: Longs
    several: bool
    """Whether some event has more than one range."""
    base: Longs
    room: Number

    @classmethod
    def of(cls, xp: ModuleType, columns: Columns, numbers: Longs) -> "Uses":
        """Return all pairs of an event and a range. `base` and `room` are not yet set.

        xp: NumPy or CuPy. numbers: the index of each event's list, or -1.
        """
        row = xp.flatnonzero(numbers >= 0)
        begin = columns.lists[numbers[row]]
        count = columns.lists[numbers[row] + 1] - begin
        several = bool(count.size) and int(count.max()) > 1
        if several or (count.size and int(count.min()) == 0):
            row, begin = repeat(xp, row, count), spread(xp, begin, count)
        return cls(row, begin, several, row, 0)

    def take(self, which: Longs) -> "Uses":
        """Return the pairs with the indices `which`."""
        room = self.room if isinstance(self.room, int) else self.room[which]
        return Uses(self.row[which], self.range[which], self.several, self.base[which], room)


@dataclass(frozen=True)
class Runs:
    """Runs of consecutive cells, in the order of the uses of ranges. All arrays are int64 [k].

    start, length: the first cell and the number of cells of each run. source: for dense runs the
    index of the first value; for sparse runs the range, but undefined if all ranges have the same
    value. use: the index of the run's use of a range; undefined if each event has only one range.
    """

    start: Longs
    length: Longs | None
    """None if all runs have one cell."""
    source: Longs
    use: Longs

    @property
    def stop(self) -> Longs:
        """The cell after the last cell of each run: int64 [k]."""
        return self.start + (1 if self.length is None else self.length)

    def cells(self, xp: ModuleType) -> Longs:
        """Return the cells of all runs, one run after another."""
        return self.start if self.length is None else spread(xp, self.start, self.length)

    def each(self, xp: ModuleType, array: Longs) -> Longs:
        """Return an array in which each run's element of `array` is repeated for all cells of the
        run.
        """
        return array if self.length is None else repeat(xp, array, self.length)


Fail = Callable[[Uses, int, str], FormatError]
"""A function that returns the error for a use, by its index and the beginning of the message."""


def dense_runs(xp: ModuleType, columns: Columns, uses: Uses, fail: Fail) -> Runs:
    """Return the runs of dense ranges. If units are outside their group, raise the result of
    `fail`.
    """
    source = columns.value_offsets[uses.range]
    length = columns.value_offsets[uses.range + 1] - source
    which = xp.flatnonzero(length > 0)
    if which.size < length.size:
        uses, source, length = uses.take(which), source[which], length[which]
    first = columns.first[uses.range].astype(xp.int64)
    wrong = (first < 0) | (first + length > uses.room)
    if bool(wrong.any()):
        at = int(wrong.argmax())
        begin = int(first[at])
        end = begin + int(length[at]) - 1
        one, several = f"unit {begin} is outside of", f"units {begin} to {end} do not fit into"
        raise fail(uses, at, one if begin == end else several)
    return Runs(uses.base + first, length, source, which)


def sparse_runs(xp: ModuleType, columns: Columns, uses: Uses, fail: Fail) -> Runs:
    """Return the runs of sparse ranges. If units are outside their group, raise the result of
    `fail`.
    """
    begin = columns.unit_offsets[uses.range]
    count = columns.unit_offsets[uses.range + 1] - begin
    which = xp.flatnonzero(count > 0)
    if which.size < count.size:
        uses, begin, count = uses.take(which), begin[which], count[which]
    stored = columns.units[spread(xp, begin, count)]
    use = repeat(xp, xp.arange(count.size), count)
    negative = xp.flatnonzero(stored < 0)
    units = last = stored.astype(xp.int64)
    if negative.size:
        head = xp.cumsum(count) - count
        units, last, use = _spans(xp, units, negative, use, head, uses.room)
    room = uses.room if isinstance(uses.room, int) else uses.room[use]
    wrong = (units < 0) | (last >= room)
    if negative.size:
        # For `*` in a group without units, the last is -1, which is valid.
        wrong |= (last < units) & (last >= 0)
    if bool(wrong.any()):
        at = int(wrong.argmax())
        unit, end = int(units[at]), int(last[at])
        one, several = f"unit {unit} is outside of", f"units {unit} to {end} do not fit into"
        raise fail(uses, int(use[at]), one if unit == end else several)
    length = last - units + 1 if negative.size else None
    source = use if isinstance(columns.value, float) else uses.range[use]
    return Runs(uses.base[use] + units, length, source, which[use] if uses.several else use)


def _spans(
    xp: ModuleType, units: Longs, negative: Longs, use: Longs, head: Longs, room: Number
) -> tuple[Longs, Longs, Longs]:
    """Return three arrays for the units and spans: the first unit, the last unit, and the use of a
    range.

    A use is a reference of an event to a range. xp: the array library, such as NumPy. units: the
    numbers of all ranges. use: the use to which each number belongs. head: the index of the first
    number of each range. negative: the indices of negative numbers. room: the size of the groups.

    A negative number ends the span that the number before it starts. As the first number of a range
    it means `*`, all units from 0, and the rest of the range is ignored. After another negative
    number it is kept as a unit, which is outside any network.
    """
    ends = negative[negative > head[use[negative]]]
    ends = ends[units[ends - 1] >= 0]
    last = units.copy()
    last[ends - 1] = -units[ends]
    keep = xp.ones(units.size, xp.bool_)
    keep[ends] = False
    star = units[head] < 0
    if bool(star.any()):
        at = head[star]
        keep &= ~star[use]
        keep[at] = True
        units[at] = 0
        last[at] = (room if isinstance(room, int) else room[star]) - 1
    kept = xp.flatnonzero(keep)
    return units[kept], last[kept], use[kept]
