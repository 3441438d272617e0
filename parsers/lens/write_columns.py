"""Lens examples as text, columns at a time: the way for many of them.

A set is taken in parts, so that what is made up on the way takes little space.
"""

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from exset.core.kernels import Kernels
from exset.grammars.columns.arrays import Bytes, Flags, Floats, Ints, Longs, T, frozen, offsets_of
from exset.grammars.columns.ragged import Ragged, Strings
from exset.grammars.lens.examples import ExampleSet
from exset.parsers.lens import write_kernels as w
from exset.parsers.lens import write_plan_kernels
from exset.parsers.lens.write_checks import Planner
from exset.parsers.lens.write_fields import own_fields
from exset.parsers.lens.write_plan import NOTHING, uses
from exset.parsers.lens.write_plan_kernels import INPUTS, OWN, SETTINGS, TARGETS
from exset.parsers.lens.write_strings import quoted_group
from exset.parsers.shared.shortest import INTEGER_ROOM, REAL_ROOM

KERNELS: Final = Kernels(
    "exset.parsers.shared.shortest",
    "exset.parsers.lens.write_plan_kernels",
    "exset.parsers.lens.write_kernels",
)

_PART: Final = 1 << 16  # events taken at once
_BUFFER: Final = 1 << 20  # bytes; more for an example that needs more


def chunks(examples: ExampleSet, compact: bool, planner: Planner) -> Iterator[bytes]:
    """The text of the examples, in pieces of about a megabyte. Raises FormatError."""
    out = np.empty(_BUFFER, np.uint8)
    write = KERNELS.compiled(w.write)
    for start, end in _parts(examples.event_offsets):
        part = _Part(examples, start, end, compact, planner)
        columns = part.columns()
        if part.room > out.size:
            out = np.empty(part.room, np.uint8)
        example = 0
        while example < end - start:
            example, size = write(out, example, compact, *columns)
            yield out[:size].tobytes()


def _parts(event_offsets: Longs) -> Iterator[tuple[int, int]]:
    """Runs of examples: at least one, and no more events than a part has."""
    start, n = 0, event_offsets.size - 1
    while start < n:
        end = int(np.searchsorted(event_offsets, event_offsets[start] + _PART, side="right")) - 1
        end = max(end, start + 1)
        yield start, end
        start = end


class _Part:
    """Some examples of a set, as the kernels take them."""

    def __init__(
        self, examples: ExampleSet, start: int, end: int, compact: bool, planner: Planner
    ) -> None:
        self.set = examples
        self.start = start
        self.room = 0
        self.rows = slice(start, end)
        self.compact = compact
        self.planner = planner
        first, last = examples.event_offsets[start], examples.event_offsets[end]
        self.offsets = frozen(examples.event_offsets[start : end + 1] - first)
        self.events = examples.events.take(np.arange(first, last))
        # Only the window of lists that is used, their numbers counted from its first.
        used = [self.events.inputs, self.events.targets]
        stop = max(int(numbers.max()) for numbers in used) + 1
        begin = min(int(n.min(initial=stop, where=n >= 0)) for n in used)
        self.lists = slice(begin, stop)
        self.inputs, self.targets = (
            frozen(np.where(numbers < 0, NOTHING, numbers - begin)) for numbers in used
        )
        self.own, self.own_texts = own_fields(self.events, compact)
        self.own = _plain(self.own)

    def columns(self) -> tuple[Bytes, Longs, Longs, Longs, Longs, Longs, Longs, Ints, Ints]:
        """What `lens_writing.write` takes."""
        pool = _Pool()
        m, n = len(self.events), self.offsets.size - 1
        heads = np.empty((w.HEAD_ROWS, n), np.int64)
        heads[[w.NAME_BEGIN, w.NAME_END]] = pool.spans(self.set.name, self.rows)[:, :-1]
        heads[[w.PROC_BEGIN, w.PROC_END]] = pool.spans(self.set.proc, self.rows)[:, :-1]
        heads[w.FREQUENCY] = _bits(self.set.frequency[self.rows])
        heads[w.EVENTS_BEGIN], heads[w.EVENTS_END] = self.offsets[:-1], self.offsets[1:]
        following, is_first, script = self.script(heads)

        fields = np.empty((w.FIELD_ROWS, m + 1), np.int64)
        own = Strings.of(self.own_texts)
        fields[[w.OWN_BEGIN, w.OWN_END], :m] = pool.chosen(own, self.own)
        for row, name in ((w.ACTIVE_INPUT, "active_input"), (w.ACTIVE_TARGET, "active_target")):
            column, inherited = self.events.real(name), self.set.header.real(name)
            fields[row] = inherited.view(np.int32)
            if column.given.any():
                fields[row, :m][column.given] = _bits(column.values[column.given])

        lists = self.set.lists[self.lists.start : self.lists.stop + 1]
        rows = slice(int(lists[0]), int(lists[-1]))
        lists = _plain(lists - lists[0])
        of = self.set.ranges
        ranges = np.empty((w.RANGE_ROWS, rows.stop - rows.start + 1), np.int64)
        names = Strings.of(quoted_group(raw or b"") for raw in self.set.groups)
        ranges[[w.GROUP_BEGIN, w.GROUP_END], :-1] = pool.chosen(names, of.group[rows])
        ranges[w.FIRST, :-1] = of.first[rows]
        ranges[w.VALUE, :-1] = _bits(of.value[rows])
        values, ranges[w.VALUES] = _window(of.values, rows)
        units, ranges[w.UNITS] = _window(of.units, rows)
        heads[w.ROOM] = self.rooms(heads, fields, is_first, lists, ranges)
        self.room = int(heads[w.ROOM].max())
        return (
            pool.joined(),
            heads,
            fields,
            following,
            script,
            lists,
            ranges,
            _bits(values),
            _plain(units),
        )

    def rooms(
        self, heads: Longs, fields: Longs, is_first: Flags, lists: Longs, ranges: Longs
    ) -> Longs:
        """The bytes that each example takes at most."""
        of_ranges = w.RANGE_ROOM + ranges[w.GROUP_END, :-1] - ranges[w.GROUP_BEGIN, :-1]
        of_ranges += REAL_ROOM * np.diff(ranges[w.VALUES]) + INTEGER_ROOM * np.diff(ranges[w.UNITS])
        ends = offsets_of(of_ranges)[lists]
        of_lists = np.append(np.diff(ends), 0)  # and of none, at the end
        of_events = w.EVENT_ROOM + (fields[w.OWN_END] - fields[w.OWN_BEGIN])[:-1]
        # A list is written once, or as inputs and as targets.
        for row, numbers in ((INPUTS, self.inputs), (TARGETS, self.targets)):
            of_events += np.where(is_first[row], of_lists[numbers], 0)
        of_heads: Longs = w.HEAD_ROOM + heads[w.NAME_END] - heads[w.NAME_BEGIN]
        of_heads += heads[w.PROC_END] - heads[w.PROC_BEGIN]
        of_heads += np.diff(offsets_of(of_events)[self.offsets])
        return of_heads

    def script(self, heads: Longs) -> tuple[Longs, Flags, Longs]:
        """The chains of events and the script; tells the heads their steps, and ARE_SET."""
        m, n = len(self.events), self.offsets.size - 1
        numbers = max(self.lists.stop - self.lists.start, len(self.own_texts))
        last = np.empty((3, numbers), np.int64)
        following, is_first = np.empty((3, m), np.int64), np.empty((3, m), np.bool_)
        crossed, step_offsets = np.empty(n, np.bool_), np.empty(n + 1, np.int64)
        script = np.empty((4, 3 * m), np.int64)
        data = self.offsets, self.inputs, self.targets
        KERNELS.compiled(write_plan_kernels.link)(
            *data, self.own, last, following, is_first, crossed
        )
        size = KERNELS.compiled(write_plan_kernels.plan)(
            *data, following, is_first, crossed, script, step_offsets
        )
        heads[w.STEPS_BEGIN], heads[w.STEPS_END] = step_offsets[:-1], step_offsets[1:]
        heads[w.ARE_SET] = True
        steps: list[tuple[int, int, int, int]] = []
        for example in np.flatnonzero(crossed).tolist():
            heads[w.STEPS_BEGIN, example] = size + len(steps)
            more, heads[w.ARE_SET, example] = self.odd_steps(example, following, is_first)
            steps += more
            heads[w.STEPS_END, example] = size + len(steps)
        if steps:
            script = np.hstack([script[:, :size], np.array(steps, np.int64).T])
        return following, is_first, script

    def odd_steps(
        self, example: int, following: Longs, is_first: Flags
    ) -> tuple[list[tuple[int, int, int, int]], bool]:
        """The steps of a crossed example, and whether its event lists can come first."""
        start, end = self.offsets[example : example + 2].tolist()
        plan = self.planner.plan(self.start + example)
        settings = [
            (SETTINGS, NOTHING, event, OWN) for event in range(start, end) if is_first[OWN, event]
        ]
        active: list[int] = []
        if settings and not plan.is_crossed:
            event = settings[-1][2]
            while event >= 0:
                active.append(event - start)
                event = int(following[OWN, event])
        of_inputs = set(uses(self.inputs[start:end].tolist()).values())
        steps = [
            (
                ord(step.role.value),
                NOTHING if step.number == NOTHING else step.number - self.lists.start,
                start + step.event,
                NOTHING if step.listed is None else INPUTS if step.listed in of_inputs else TARGETS,
            )
            for step in plan.steps(tuple(active) or None)
        ]
        return (steps + settings if plan.is_crossed else settings + steps), not plan.is_crossed


def _plain(array: NDArray[T]) -> NDArray[T]:
    """The column with an element for each row, side by side: kernels are compiled for that."""
    return frozen(np.ascontiguousarray(array))


def _bits(array: Floats) -> Ints:
    return _plain(array).view(np.int32)


class _Pool:
    """One array of the bytes of many strings, which are spans of it."""

    def __init__(self) -> None:
        self._parts: list[Bytes] = []
        self._size = 0

    def spans(self, column: Strings, rows: slice | None = None) -> Longs:
        """Where strings begin and end: int64 [2, k + 1]; -1 for one not given, and at last."""
        rows = rows or slice(0, len(column))
        offsets = column.offsets[rows.start : rows.stop + 1]
        self._parts.append(column.data[int(offsets[0]) : int(offsets[-1])])
        spans = np.full((2, offsets.size), NOTHING, np.int64)
        is_given = column.given[rows]
        if is_given.any():
            offsets = offsets + (self._size - offsets[0])
            spans[0, :-1] = np.where(is_given, offsets[:-1], NOTHING)
            spans[1, :-1] = np.where(is_given, offsets[1:], NOTHING)
        self._size += self._parts[-1].size
        return spans

    def chosen(self, column: Strings, numbers: Longs | Ints) -> Longs:
        """Where strings of these numbers begin and end, -1 being none: int64 [2, numbers]."""
        spans = self.spans(column)
        return spans[:, numbers] if len(column) else spans

    def joined(self) -> Bytes:
        """The array."""
        return _plain(np.concatenate(self._parts))


def _window(column: Ragged[T], rows: slice) -> tuple[NDArray[T], Longs]:
    """Some of the rows: (values, offsets)."""
    offsets = column.offsets[rows.start : rows.stop + 1]
    values = column.values[int(offsets[0]) : int(offsets[-1])]
    return values, _plain(offsets - offsets[0])
