"""Build the tables of a parsed text: nest its nodes, and collect the columns of each table."""

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from exset.grammars.columns.arrays import Longs, offsets_of
from exset.parsers.custom import nesting as k
from exset.parsers.custom.doubles import KERNELS
from exset.parsers.custom.events import Events, rules_of
from exset.parsers.custom.fragment import Fragment, Part
from exset.parsers.custom.shape import Shape
from exset.parsers.custom.spans import Spans
from exset.parsers.engine.driver import grown, views
from exset.parsers.engine.stream import ParseStream

_ROOM: Final = 1 << 10
_LOG: Final = 1 << 18
_NEVER: Final = 1 << 62
_NONE: Final = np.empty(0, np.int64)
_NOTHING: Final = ParseStream(np.empty(0, np.int16), _NONE, _NONE, np.empty(0, np.int16), _NONE)


class _BelowError(Exception):
    """Raised if a rule takes symbols from the stack that belong to the text before the current
    part.
    """


class Builder:
    """Builds the rows of all tables from one parse: it nests the nodes, and collects their events.

    size: an upper bound of the number of bytes of the text. cut_from: a chunk ends with the first
    record that ends after this many tokens; with None there is one chunk. record: the table of the
    records; if it is None, the records are the items of the outermost list.
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
        self.shape = shape
        self.names = tuple(shape.children)
        self.events = Events(shape, terminals)
        self._compiled = compiled
        self._dtype = np.int32 if size < 1 << 31 else np.int64
        self._cut_from = _NEVER if cut_from is None else cut_from
        self._record = -1 if record is None else self.names.index(record)
        has_cuts = cut_from is not None and record is None
        lists = shape.outer_lists if has_cuts else shape.lists
        self._floor = 0
        self._rules = rules_of(shape, terminals, self.events, lists)
        self._work = _work(len(self.names), self.events.count)
        self._held: tuple[NDArray[np.int16], Longs] = np.empty(0, np.int16), np.empty(0, np.int64)
        self.parts: dict[int, Part] = {}
        self.position = 0
        """The byte after the last token."""

    def add(self, stream: ParseStream, *, end: int | None = None) -> Iterator[None]:
        """Add the tokens and steps of a stream. Yield None each time that a chunk is complete.

        `end`: the offset at which the next token begins. After the last stream, `end` is the length
        of the text. With None, the steps after the last token wait for the next stream.
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
            if why == k.BELOW:
                raise _BelowError
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
        """Store that the first `tokens` tokens of a stream have been read."""
        if tokens:
            self.position = int(stream.ends[tokens - 1])

    def _nest(self, stream: tuple[NDArray[Any], ...], end: int) -> int:
        nest: Callable[..., int] = KERNELS.choose(k.nest, self._compiled)
        rules, work = self._rules, self._work
        limits = end, self._cut_from, self._record, self._floor
        if self._compiled:
            return nest(rules, work, *map(np.ascontiguousarray, stream), *limits)
        return nest(views(rules), views(work), *(each.data for each in stream), *limits)

    def _grow(self, symbols: int = 0, items: int = 0) -> None:
        """Enlarge each stack that is nearly full, or that has no room for `symbols` or `items` more
        elements.
        """
        work, state = self._work, self._work.state
        changed: dict[str, Any] = {}
        for names, needed in (
            (("stack",), (state[k.DEPTH] + symbols) * k.SYMBOL_SIZE),
            (("kinds", "starts", "ends"), state[k.COUNT] + items),
            (("marks", "places"), state[k.OPEN]),
        ):
            for name in names:
                array = getattr(work, name)
                if 2 * needed >= len(array):
                    changed[name] = grown(array, max(len(array), 2 * int(needed)))
        self._work = work._replace(**changed)

    @property
    def _symbols(self) -> NDArray[np.int64]:
        """The stack, with a row for each symbol."""
        return self._work.stack.reshape(-1, k.SYMBOL_SIZE)

    def _make_log(self, room: int) -> None:
        if room > len(self._work.events):
            self._work = self._work._replace(**_log(2 * room))
            self.__dict__.pop("_sorted", None)

    @cached_property
    def _sorted(self) -> tuple[Longs, Longs, Longs]:
        size = len(self._work.events)
        return np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.int64)

    def collect(self) -> None:
        """Move the new events from the kernel's log to the attribute `parts`, which has a part for
        each kind of event.
        """
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
            part.values.append(None)
            if event in self.events.with_third:
                part.third.append(third[where].astype(self._dtype))
        work.counts[:] = 0
        work.state[k.EVENTS] = 0

    def waiting(self) -> tuple[NDArray[np.int64], Spans]:
        """Return the terminals and the spans of the tokens that are not in a row yet."""
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
        """Return the parts of all records so far, and the number of rows of each table. Then forget
        both.

        A node that contains these records comes in a later chunk: with its tokens, but without the
        records.
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

    def fragment(self, stream: ParseStream, depth: int) -> Fragment | None:
        """Return the nodes of a part of a text, and forget all earlier nodes.

        Return None if the part has no tokens. depth: the number of symbols on the stack before the
        part.
        """
        if not len(stream.kinds):
            return None
        state = self._work.state
        self.parts, self._held = {}, (_NOTHING.steps, _NONE)
        for array in (state, self._work.rows, self._work.counts):
            array[:] = 0
        self._grow(depth)
        state[k.DEPTH] = self._floor = depth
        self._symbols[:depth] = 0
        self._symbols[:depth, [k.START, k.END]] = -1
        rest = None
        try:
            for _ in self.add(stream):
                pass
        except _BelowError:
            rest = stream.after(*state[[k.TOKEN, k.STEP]].tolist())
            self._held = _NOTHING.steps, _NONE
        self.collect()
        work, count = self._work, int(state[k.COUNT])
        return Fragment(
            depth=depth,
            begin=int(stream.starts[0]),
            parts=self.parts,
            rows=work.rows.copy(),
            symbols=self._symbols[depth - 1 : state[k.DEPTH]].copy(),
            kinds=work.kinds[:count].copy(),
            starts=work.starts[:count].copy(),
            ends=work.ends[:count].copy(),
            steps=self._held[0],
            before=self._held[1],
            rest=rest,
        )

    def join(self, fragment: Fragment) -> bool:
        """Add the nodes of the next part of the text, and return True.

        If the stack does not have the number of symbols that the part assumes, add no nodes and
        return False.
        """
        for _ in self.add(_NOTHING, end=fragment.begin):
            pass
        state = self._work.state
        if state[k.DEPTH] != fragment.depth:
            return False
        self._append_parts(fragment)
        self._grow(len(fragment.symbols), len(fragment.kinds))
        work, low, count = self._work, fragment.depth, int(state[k.COUNT])
        top, added = self._symbols[low - 1], fragment.symbols[0]
        top[[k.ITEMS, k.FULL]] += added[[k.ITEMS, k.FULL]]
        top[k.START] = top[k.START] if top[k.START] >= 0 else added[k.START]
        top[k.END] = added[k.END] if added[k.END] >= 0 else top[k.END]
        state[k.DEPTH] += len(fragment.symbols) - 1
        self._symbols[low : state[k.DEPTH]] = fragment.symbols[1:]
        is_node = fragment.kinds <= k.FIRST_TABLE
        nodes = k.FIRST_TABLE - fragment.kinds[is_node]
        fragment.starts[is_node] += work.rows[nodes]
        state[k.COUNT] += len(fragment.kinds)
        for name in ("kinds", "starts", "ends"):
            getattr(work, name)[count : state[k.COUNT]] = getattr(fragment, name)
        work.rows[:] += fragment.rows
        self._held = fragment.steps, fragment.before
        if fragment.rest is not None:
            for _ in self.add(fragment.rest):
                pass
        return True

    def _append_parts(self, fragment: Fragment) -> None:
        """Append the parts of a fragment. Shift its row numbers by the number of earlier rows."""
        rows, names, events = self._work.rows, self.names, self.events
        for event, part in fragment.parts.items():
            if event in events.of_tokens:
                table = names.index(events.of_tokens[event])
                for third in part.third:
                    third += rows[table]
            elif event in events.of_parents:
                child = events.of_parents[event]
                above = [names.index(each) for each in self.shape.parents[child]]
                thirds = part.third or [np.array(above)] * len(part.first)
                for first, second, third in zip(part.first, part.second, thirds, strict=True):
                    first += rows[names.index(child)]
                    second += rows[third].astype(second.dtype)
            self.parts.setdefault(event, Part()).extend(part)


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
