"""Build the tables of a parsed text: nest its nodes, and collect the columns of each table."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from exset.grammars.columns.arrays import Longs, offsets_of
from exset.parsers.custom import nesting as k
from exset.parsers.custom.doubles import KERNELS
from exset.parsers.custom.shape import Shape
from exset.parsers.custom.spans import Spans
from exset.parsers.engine.driver import grown, views
from exset.parsers.engine.expectation import CLOSERS
from exset.parsers.engine.lowering import name_of
from exset.parsers.engine.stream import ParseStream

_ROOM: Final = 1 << 10
_LOG: Final = 1 << 18
_NEVER: Final = 1 << 62


@dataclass
class Part:
    """The events of one kind, which become one array: see `nesting` for the events.

    A kind is: the rows of a table, the tokens of a terminal, or the parents of rows. first,
    second: of a row or a token, its first byte and the byte after its last; of a parent, the row
    below it and its own row. third: of a token, its row; of a parent, its table.
    """

    first: list[Longs] = field(default_factory=list)
    second: list[Longs] = field(default_factory=list)
    third: list[Longs] = field(default_factory=list)


class Builder:
    """Builds the rows of all tables from one parse: it nests the nodes, and collects their events.

    size: an upper bound of the bytes of the text. cut_from: after how many tokens to cut, which
    makes a chunk of all records so far; None for no cuts. record: the table of the records; if
    None, the records are the items of the outermost list.
    """

    def __init__(
        self,
        shape: Shape,
        terminals: tuple[str, ...],
        *,
        compiled: bool,
        size: int,
        cut_from: int | None = None,
        record: str | None = None,
    ) -> None:
        self.names = tuple(shape.children)
        self.events = _Events(shape, terminals)
        self._compiled = compiled
        self._dtype = np.int32 if size < 1 << 31 else np.int64
        self._cut_from = _NEVER if cut_from is None else cut_from
        self._record = -1 if record is None else self.names.index(record)
        lists = shape.outer_lists if record is None else shape.lists
        self._rules = _rules(shape, terminals, self.events, lists)
        self._work = _work(len(self.names), self.events.count)
        self._held: tuple[NDArray[np.int16], Longs] = np.empty(0, np.int16), np.empty(0, np.int64)
        self.parts: dict[int, Part] = {}
        self.position = 0
        """The byte after the last token."""

    def add(self, stream: ParseStream, *, end: int | None = None) -> Iterator[None]:
        """Add the tokens and steps of a stream; yield each time when a chunk is complete.

        `end`: the length of the text, with the last stream.
        """
        steps = np.concatenate([self._held[0], stream.steps])
        before = np.concatenate([np.zeros(len(self._held[1]), np.int64), stream.tokens_before])
        # Steps after the last token wait for the next one, at which empty nodes begin.
        now = len(steps) if end is not None else int(before.searchsorted(len(stream.kinds)))
        self._held = steps[now:], before[now:]
        tokens = stream.kinds, stream.starts, stream.ends
        state = self._work.state
        state[[k.TOKEN, k.STEP]] = 0
        while (why := self._nest((*tokens, steps[:now], before[:now]), end or 0)) != k.DONE:
            if why == k.SHORT:
                self._grow()
            else:
                self.collect()
            if why == k.FULL_LOG:
                self._make_log(int(state[k.COUNT]) + 1)
            elif why == k.CUT:
                self._move(stream, int(state[k.TOKEN]))
                yield
        self._move(stream, len(stream.ends))
        if end is not None:
            self.collect()

    def _move(self, stream: ParseStream, tokens: int) -> None:
        """Note that the first `tokens` tokens of a stream have been read."""
        if tokens:
            self.position = int(stream.ends[tokens - 1])

    def _nest(self, stream: tuple[NDArray[Any], ...], end: int) -> int:
        nest: Callable[..., int] = KERNELS.choose(k.nest, self._compiled)
        rules, work, limits = self._rules, self._work, (end, self._cut_from, self._record)
        if self._compiled:
            return nest(rules, work, *map(np.ascontiguousarray, stream), *limits)
        return nest(views(rules), views(work), *(each.data for each in stream), *limits)

    def _grow(self) -> None:
        """Double the size of each array of the kernel that is nearly full."""
        work = self._work
        changed: dict[str, Any] = {}
        if 2 * work.state[k.DEPTH] * k.SYMBOL_SIZE >= len(work.stack):
            changed["stack"] = grown(work.stack, len(work.stack))
        for name, count in (
            *((name, k.COUNT) for name in ("kinds", "starts", "ends")),
            *((name, k.OPEN) for name in ("marks", "places")),
        ):
            array = getattr(work, name)
            if 2 * work.state[count] >= len(array):
                changed[name] = grown(array, len(array))
        self._work = work._replace(**changed)

    def _make_log(self, room: int) -> None:
        if room > len(self._work.events):
            self._work = self._work._replace(**_log(2 * room))
            self.__dict__.pop("_sorted", None)

    @cached_property
    def _sorted(self) -> tuple[Longs, Longs, Longs]:
        size = len(self._work.events)
        return np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.int64)

    def collect(self) -> None:
        """Move the events that the kernel has written to `parts`, sorted by kind."""
        work = self._work
        offsets = offsets_of(work.counts)
        arrange = KERNELS.choose(k.arrange, self._compiled)
        first, second, third = self._sorted
        arrange(work, offsets[:-1].copy(), first, second, third)
        for event in np.flatnonzero(work.counts).tolist():
            part = self.parts.setdefault(event, Part())
            where = slice(offsets[event], offsets[event + 1])
            part.first.append(first[where].astype(self._dtype))
            part.second.append(second[where].astype(self._dtype))
            if event in self.events.with_third:
                part.third.append(third[where].astype(self._dtype))
        work.counts[:] = 0
        work.state[k.EVENTS] = 0

    def waiting(self) -> tuple[NDArray[np.int64], Spans]:
        """Return the tokens that are not in a row yet: their terminals, and their spans."""
        count = int(self._work.state[k.COUNT])
        tokens = np.flatnonzero(self._work.kinds[:count] >= 0)
        work = self._work
        return work.kinds[tokens], Spans(work.starts[tokens], work.ends[tokens])

    def opened(self) -> list[tuple[str, int]]:
        """Return the open brackets and quotation marks, each with its offset."""
        count = int(self._work.state[k.OPEN])
        marks, places = self._work.marks[:count].tolist(), self._work.places[:count].tolist()
        return [(chr(mark), place) for mark, place in zip(marks, places, strict=True)]

    def cut(self) -> tuple[dict[int, Part], Longs]:
        """Return the parts of all records so far, and how many rows each table has; then
        forget both.

        The parents of these records come in later chunks. They get the tokens that they
        contain, but no records.
        """
        parts, rows = self.parts, self._work.rows.copy()
        self.parts = {}
        work, state = self._work, self._work.state
        low, count, at = int(state[k.LOW]), int(state[k.COUNT]), int(state[k.DEPTH])
        kept = np.concatenate([[0], np.cumsum(work.kinds[low:count] >= 0)])
        upper = count
        while at and upper > low:
            at -= 1
            lower = upper - int(work.stack[at * k.SYMBOL_SIZE + k.ITEMS])
            inside = max(lower, low)
            left = inside - lower + int(kept[upper - low] - kept[inside - low])
            work.stack[at * k.SYMBOL_SIZE + k.ITEMS] = left
            upper = lower
        where = low + np.flatnonzero(work.kinds[low:count] >= 0)
        for array in (work.kinds, work.starts, work.ends):
            array[low : low + len(where)] = array[where]
        state[[k.COUNT, k.LOW]] = low + len(where)
        state[k.SINCE] = 0
        work.rows[:] = 0
        return parts, rows


@dataclass(frozen=True)
class _Events:
    """Numbers for all kinds of events: tokens of a terminal in a table, rows, and parents of
    rows.
    """

    shape: Shape
    terminals: tuple[str, ...]

    @cached_property
    def columns(self) -> dict[tuple[str, str], int]:
        """The number for the tokens of a terminal in a table, by the names of both."""
        names = [
            (table, child)
            for table, children in self.shape.children.items()
            for child in children
            if child in self.terminals
        ]
        return {name: number for number, name in enumerate(names)}

    @cached_property
    def rows(self) -> Mapping[str, int]:
        """The number for the rows of a table, by its name."""
        return {name: len(self.columns) + at for at, name in enumerate(self.shape.children)}

    @cached_property
    def parents(self) -> Mapping[str, int]:
        """The number for the parents of the rows of a table, by its name."""
        return {name: event + len(self.rows) for name, event in self.rows.items()}

    @property
    def count(self) -> int:
        """How many kinds of events there are."""
        return len(self.columns) + 2 * len(self.rows)

    @cached_property
    def with_third(self) -> frozenset[int]:
        """The kinds whose third number must be stored.

        For other kinds, it follows from the other events.
        """
        children, parents = self.shape.children, self.shape.parents
        some = {event for key, event in self.columns.items() if children[key[0]][key[1]] != (1, 1)}
        return frozenset(some | {e for name, e in self.parents.items() if len(parents[name]) > 1})


def _rules(
    shape: Shape, terminals: tuple[str, ...], events: _Events, lists: frozenset[str]
) -> k.Rules:
    """Return the grammar as the arrays that the kernel of `nesting` uses.

    lists: the rules whose items may be records.
    """
    rules, kept = list[int](), list[bool]()
    tables = {name: number for number, name in enumerate(shape.children)}
    for rule in shape.rules:
        rules += [len(rule.expansion), shape.mode(rule), len(kept), shape.lacks(rule)]
        flags = [shape.is_kept(rule, symbol) for symbol in rule.expansion]
        rules += [tables.get(name_of(rule), -1), rule.origin.name in lists, not all(flags)]
        kept += flags
    columns = np.full((len(tables), len(terminals)), -1, np.int64)
    for (table, terminal), event in events.columns.items():
        columns[tables[table], terminals.index(terminal)] = event
    closing = np.zeros(128, np.uint8)
    for opener, closer in CLOSERS.items():
        closing[ord(opener)] = ord(closer)
    marks = [ord(mark) if mark else 0 for mark in shape.marks(terminals)]
    sizes = np.empty(k.SIZES, np.int64)
    sizes[[k.TERMINALS, k.TABLES]] = len(terminals), len(tables)
    sizes[k.COLUMNS] = len(events.columns)
    return k.Rules(
        rules=np.array(rules, np.int64),
        kept=np.array(kept, np.uint8),
        columns=columns.reshape(-1),
        marks=np.array(marks, np.uint8),
        closing=closing,
        sizes=sizes,
    )


def _work(tables: int, events: int) -> k.Work:
    return k.Work(
        stack=np.zeros(_ROOM * k.SYMBOL_SIZE, np.int64),
        kinds=np.zeros(_ROOM, np.int64),
        starts=np.zeros(_ROOM, np.int64),
        ends=np.zeros(_ROOM, np.int64),
        rows=np.zeros(tables, np.int64),
        marks=np.zeros(_ROOM, np.uint8),
        places=np.zeros(_ROOM, np.int64),
        counts=np.zeros(events, np.int64),
        state=np.zeros(k.STATE_SIZE, np.int64),
        **_log(_LOG),
    )


def _log(room: int) -> dict[str, Any]:
    longs = {name: np.empty(room, np.int64) for name in ("first", "second", "third")}
    return {"events": np.empty(room, np.int32), **longs}
