"""Write Lens examples as text: make columns for the kernels, and run the kernels.

A set is written in chunks, so that temporary columns take little space. For large sets the kernels
run compiled. For small sets they run as plain Python, over lists.
"""

import contextlib
from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from exset.core import threads
from exset.core.kernels import Kernels
from exset.grammars.columns import arrays
from exset.grammars.columns.arrays import Bytes, Flags, Floats, Ints, Longs, T
from exset.grammars.columns.ragged import Ragged, Strings
from exset.grammars.lens.columns import ExampleColumns
from exset.parsers.lens import write_kernels as k
from exset.parsers.lens import write_plan as p
from exset.parsers.lens.write_checks import Losses
from exset.parsers.lens.write_crossed import Step
from exset.parsers.lens.write_fields import own_fields
from exset.parsers.lens.write_strings import are_in_braces, quoted_group
from exset.parsers.shared import numerals

KERNELS: Final = Kernels(
    "exset.parsers.shared.shortest",
    "exset.parsers.lens.write_plan",
    "exset.parsers.lens.write_kernels",
    load_from=2_000_000,  # numbers: NumPy and lists are fast
    compile_from=20_000_000,
)

_EVENTS: Final = 1 << 15  # the most events of a chunk
_NUMBERS: Final = 1 << 20  # numbers of a chunk, about
_BUFFER: Final = 1 << 20  # bytes; more for an example that needs more

Columns = TypeVar("Columns", bound=tuple[object, ...])
ChunkColumns: TypeAlias = tuple[
    list[bytes] | None, k.Texts, k.Heads, k.ActiveValues, p.Chains, p.Script, k.Lists
]
"""The columns of a chunk, as `write_kernels.write` takes them."""


def chunks(
    examples: ExampleColumns, compact: bool, losses: Losses, *, compiled: bool
) -> Iterator[memoryview]:
    """Yield the text of the examples, about a megabyte at a time.

    Several threads write compiled chunks, each with its own findings. Raises FormatError for lists
    that text cannot share.
    """
    count = threads.count() if compiled else 1
    if count == 1:
        for start, end in _parts(examples):
            yield from _Chunk(examples, start, end, compact, losses, compiled).text()
        return

    def write(part: tuple[int, int]) -> tuple[list[memoryview], Losses]:
        found = losses.apart()
        return [*_Chunk(examples, *part, compact, found, True).text()], found

    with contextlib.closing(threads.ordered(write, _parts(examples), count)) as written:
        for texts, found in written:
            losses.add_all(found)
            yield from texts


def _room(size: int, compiled: bool) -> Bytes:
    return np.empty(size, np.uint8) if compiled else cast("Bytes", memoryview(bytearray(size)))


def _parts(examples: ExampleColumns) -> Iterator[tuple[int, int]]:
    """Divide examples into chunks that have few events; yield the range (first, stop) of each.

    A chunk has at least one example.
    """
    ranges, offsets = examples.ranges, examples.event_offsets
    numbers = ranges.values.values.size + ranges.units.values.size
    events = max(1, min(_EVENTS, _NUMBERS * examples.num_events // max(numbers, 1)))
    start, n = 0, len(examples)
    while start < n:
        end = int(np.searchsorted(offsets, offsets[start] + events, side="right")) - 1
        end = max(end, start + 1)
        yield start, end
        start = end


class _Chunk:
    """Some consecutive examples, as columns for the kernels that write them."""

    def __init__(
        self,
        examples: ExampleColumns,
        start: int,
        end: int,
        compact: bool,
        losses: Losses,
        compiled: bool,
    ) -> None:
        self.set = examples
        self.rows = slice(start, end)
        self.compact = compact
        self.losses = losses
        self.compiled = compiled
        first, last = examples.event_offsets[start], examples.event_offsets[end]
        self.offsets = examples.event_offsets[start : end + 1] - first
        self.events = examples.events
        if end - start < len(examples):
            self.events = self.events.take(slice(first, last))
        own, self.own_texts = own_fields(self.events, compact)
        self.numbers = np.stack([own, self.events.inputs, self.events.targets])
        # Take the lists from the first used one to the last; number them from 0.
        used = self.numbers[p.INPUTS :]
        stop = int(used.max()) + 1
        begin = int(used.min(initial=stop, where=used >= 0))
        self.lists = slice(begin, stop)
        used[used >= 0] -= begin

    def text(self) -> Iterator[memoryview]:
        """Yield the text of the examples, about a megabyte at a time."""
        columns, write = self.columns(), KERNELS.choose(k.write, self.compiled)
        example, room = 0, _BUFFER
        while example < self.offsets.size - 1:
            out = _room(max(room, _BUFFER), self.compiled)
            example, size, room = write(out, example, self.compact, *columns)
            yield cast("memoryview", out[:size])

    def columns(self) -> ChunkColumns:
        """Return the arguments for `write_kernels.write`."""
        names, procs = self.set.name[self.rows], self.set.proc[self.rows]
        groups = Strings.of(quoted_group(raw or b"") for raw in self.set.groups)
        texts = _texts(names, procs, Strings.of(self.own_texts), groups)
        lists, items = self.range_lists()
        is_single = len(self.events) == self.offsets.size - 1 and not self.compiled
        chains, script, step, is_set = self.plan_single() if is_single else self.plan()
        heads = k.Heads(
            name_in_braces=are_in_braces(names),
            proc_in_braces=are_in_braces(procs),
            frequency=_bits(self.set.frequency[self.rows]),
            events=self.offsets,
            step=step,
            is_set=is_set,
        )
        actives = k.ActiveValues(self.active("active_input"), self.active("active_target"))
        return (
            items,
            self.as_arguments(texts),
            self.as_arguments(heads),
            self.as_arguments(actives),
            self.as_arguments(chains),
            self.as_arguments(script),
            self.as_arguments(lists),
        )

    def as_arguments(self, columns: Columns) -> Columns:
        """Return a tuple of columns in the form that the kernels take.

        Compiled kernels take contiguous read-only arrays, kernels in plain Python take lists.
        """
        make = type(columns)._make  # type: ignore[attr-defined]
        return cast(
            "Columns", make(map(self.column, cast("Sequence[NDArray[np.generic]]", columns)))
        )

    def column(self, column: NDArray[T]) -> NDArray[T]:
        """Return one column in the form that the kernels take; the bytes of texts stay bytes."""
        if self.compiled:
            return arrays.frozen(np.ascontiguousarray(column))
        if isinstance(column, list):
            return column
        return cast("NDArray[T]", bytes(column) if column.dtype == np.uint8 else column.tolist())

    def filled(self, value: int, n: int) -> Longs:
        """Return a column with n times `value`, which the kernels can change."""
        return np.full(n, value, np.int64) if self.compiled else cast("Longs", [value] * n)

    def unfilled(self, n: int) -> Longs:
        """Return a column of n numbers that the kernels set."""
        return np.empty(n, np.int64) if self.compiled else self.filled(0, n)

    def active(self, name: str) -> Ints:
        """Return the bits of the active value `name` of each event, and then those of the set."""
        column, inherited = self.events.real(name), self.set.header.real(name)
        bits = np.full(len(column) + 1, inherited.view(np.int32), np.int32)
        if column.present.any():
            bits[:-1][column.present] = _bits(column.values[column.present])
        return bits

    def range_lists(self) -> tuple[k.Lists, list[bytes] | None]:
        """Return the range lists that are used, and the numbers of each range as text.

        Compiled kernels convert the numbers themselves: for them, the second result is None.
        """
        ranges = self.set.ranges
        offsets = self.set.lists[self.lists.start : self.lists.stop + 1]
        rows = slice(int(offsets[0]), int(offsets[-1]))
        values, units = ranges.values[rows], ranges.units[rows]
        value_begins, unit_begins, items = values.offsets, units.offsets, None
        if not self.compiled:
            dense, sparse = numerals.real_rows(values), numerals.unit_rows(units)
            both = zip(dense, sparse, strict=True)
            items = [a or (b" *" if b == b"-1" else b) for a, b in both]
            values, units = Ragged.empty(0, np.float32), Ragged.empty(0, np.int32)
        lists = k.Lists(
            offsets=offsets - offsets[0],
            group=ranges.group[rows],
            first=ranges.first[rows],
            value=_bits(ranges.value[rows]),
            value_begins=value_begins,
            unit_begins=unit_begins,
            values=_bits(values.values),
            units=units.values,
        )
        return lists, items

    def plan(self) -> tuple[p.Chains, p.Script, Longs, Flags]:
        """Plan the order in which the data of the examples are written.

        Return the chains, the script, the first step of each example, and `Heads.is_set`.
        """
        m, n = len(self.events), self.offsets.size - 1
        size = max(self.lists.stop - self.lists.start, len(self.own_texts))
        offsets = self.column(self.offsets)
        numbers = self.column(self.numbers.reshape(-1))
        chains = p.Chains(numbers, self.filled(p.NOTHING, 3 * m), self.filled(0, 3 * m))
        crossed, last = self.filled(p.NOTHING, n), self.filled(p.NOTHING, 3 * size)
        KERNELS.choose(p.link, self.compiled)(offsets, chains, last, crossed)
        first = self.first_steps(crossed, chains)
        room = 3 * m + len(first.script.role)
        script = p.Script(*(self.unfilled(room) for _ in range(4)))
        turn, begins = self.filled(0, p.TURN_SIZE), self.filled(0, n + 1)
        KERNELS.choose(p.plan, self.compiled)(offsets, chains, crossed, first, turn, script, begins)
        return chains, script, np.asarray(begins), np.asarray(crossed) == p.NOTHING

    def plan_single(self) -> tuple[p.Chains, p.Script, Longs, Flags]:
        """Plan examples that all have one event, so that no range list needs an event list.

        The results are those of `plan`.
        """
        inputs, targets = self.numbers[p.INPUTS :]
        are_both = (inputs != p.NOTHING) & (inputs == targets)
        is_step = (self.numbers != p.NOTHING).T.copy()
        is_step[are_both, p.TARGETS] = False
        event, kind = np.nonzero(is_step)
        is_own = kind == p.OWN
        roles = np.array([p.SETTINGS, p.ROLE_INPUTS, p.ROLE_TARGETS])[kind]
        script = p.Script(
            role=np.where(~is_own & are_both[event], p.ROLE_BOTH, roles),
            number=self.numbers[kind, event],
            event=event,
            listed=np.where(is_own, p.OWN, p.NOTHING),
        )
        following = arrays.constant(p.NOTHING, is_step.size, np.int64)
        chains = p.Chains(self.numbers.reshape(-1), following, following)
        is_set = arrays.constant(True, len(self.events), np.bool_)
        return chains, script, arrays.offsets_of(is_step.sum(axis=1)), is_set

    def first_steps(self, crossed: Longs, chains: p.Chains) -> p.CrossedSteps:
        """Return the steps with which the text of each crossed example begins.

        In a crossed example, inputs and targets of different events share a list. `crossed` marks
        these examples. Each mark is replaced by the example's number in the result, or by NOTHING
        if the example needs no such steps. Lists that the steps write are no longer marked in
        `chains.is_first`. Raises FormatError for lists that text cannot share.
        """
        steps: list[Step] = []
        begins = [0]
        turns: list[int] = []
        for example in np.flatnonzero(np.asarray(crossed) != p.NOTHING).tolist():
            start = int(self.offsets[example])
            lists = self.losses.crossed_lists(self.set, self.rows.start + example)
            crossed[example] = len(begins) - 1 if lists.steps else p.NOTHING
            if not lists.steps:
                continue
            for role, number, event, listed in lists.steps:
                shift = 0 if number == p.NOTHING else self.lists.start
                steps.append((role, number - shift, event + start, listed))
            for kind, event in lists.written:
                chains.is_first[kind * len(self.events) + start + event] = 0
            begins.append(len(steps))
            turns += lists.turn(start)
        columns = np.array(steps, np.int64).reshape(-1, 4).T
        script = p.Script(*map(self.column, columns))
        return p.CrossedSteps(
            script, *(self.column(np.array(x, np.int64)) for x in (begins, turns))
        )


def _texts(*columns: Strings) -> k.Texts:
    """Return the bytes of all strings of all columns, joined, and where the strings of each
    begin.
    """
    data = np.concatenate([column.data for column in columns])
    starts = arrays.offsets_of(np.array([column.data.size for column in columns]))
    offsets = (column.offsets + start for column, start in zip(columns, starts, strict=False))
    return k.Texts(data, *offsets)


def _bits(array: Floats) -> Ints:
    return np.ascontiguousarray(array).view(np.int32)
