"""The driver of lowered grammars (tables): it runs the kernel on the blocks of a source."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, Final, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from exset.core.kernels import Kernels
from exset.core.source import Source
from exset.parsers.engine import output as k
from exset.parsers.engine.expectation import certain, expected, opened
from exset.parsers.engine.kernel import parse
from exset.parsers.engine.stream import ParseStream, Rejection
from exset.parsers.engine.tables import COLUMNS, FIRST_STATE, Lowered, Tables
from exset.parsers.engine.transition_cache import TransitionCache, empty_cache, unwind

KERNELS = Kernels(
    "exset.parsers.engine.tables",
    "exset.parsers.engine.output",
    "exset.parsers.engine.transition_cache",
    "exset.parsers.engine.kernel",
)

Block = bytes | memoryview

ANY_STEP: Final = -1
"""In place of a boundary: a stream may end with any step."""

TOKENS: Final = 1 << 18
_STACK: Final = 256
_SHORT: Final = 1 << 16  # bytes of a cut token that are lexed again with each new block

_BLOCK: Final = 1 << 20

T = TypeVar("T", bound=np.generic)

R = TypeVar("R", bound=tuple[Any, ...])


class Token(NamedTuple):
    """A token: the number of its terminal, and the offsets (start, end) of its bytes."""

    kind: int
    start: int
    end: int


class Driver:
    """Parses one text: gives its blocks to the kernel, and divides the kernel's output into
    streams.

    `begin`: the offset of the first byte. `boundary`: the step, or the steps, that end a stream;
    only the last stream may end otherwise. With ANY_STEP, every step may end a stream. With None
    there is one stream. `compiled`: a function that returns whether to use the compiled kernel; it
    is called for each block. `tokens`: the number of tokens for which memory is first allocated.
    `eager`: yield a stream for each block that completes a boundary. `header`: further steps that
    may end the last stream before an error. `stack`: the initial parser states, to begin in the
    middle of a text; by default, the parse begins with the virtual line break before a text.
    `framed`: there are virtual line breaks before and after the text. `whole`: yield no stream
    before the end of the blocks.

    After a call of `part`, `next` is the first token after the part, and `before_next` is the stack
    of parser states before this token. `next` is None if no record ends before the token.
    """

    def __init__(
        self,
        grammar: Lowered,
        *,
        begin: int = 0,
        boundary: int | Sequence[int] | None = None,
        compiled: Callable[[], bool],
        tokens: int = TOKENS,
        eager: bool = False,
        header: Sequence[int] = (),
        stack: Sequence[int] = (),
        framed: bool = True,
        whole: bool = False,
    ) -> None:
        self.grammar = grammar
        self.whole = whole
        self.stack = tuple(stack)
        self.next: Token | None = None
        self.before_next: tuple[int, ...] = ()
        self.after = b"\n" * framed  # the line break after the text
        self.begin = begin
        ends = [boundary] if isinstance(boundary, int) else boundary or []
        self.boundary = tuple(ends)
        self.header = header
        self.tables = grammar.tables
        sizes = self.tables.sizes
        self.cache = empty_cache(int(sizes[COLUMNS]), int(sizes[FIRST_STATE]))
        self.compiled = compiled
        self.eager = eager
        self.early = 0  # steps already yielded, which the kernel will report later
        self.inner = 0  # the first steps, which contain no boundary
        self.buffer = np.full(1, ord("\n"), np.uint8)  # the line break before the text
        self.base = begin - 1
        self.final = False
        self.output = k.Output(
            kinds=np.empty(tokens, np.int16),
            starts=np.empty(tokens, np.int64),
            ends=np.empty(tokens, np.int64),
            steps=np.empty(tokens, np.int16),
            before=np.empty(tokens, np.int64),
            stack=np.zeros(_STACK + len(stack), np.int32),
            state=np.zeros(k.STATE_SIZE, np.int64),
        )
        self.output.stack[0] = sizes[FIRST_STATE]
        self.output.state[[k.KIND, k.ROW, k.ROWS]] = k.NO_KIND, 1, 2
        if len(stack) or not framed:
            self.buffer, self.base = self.buffer[:0], begin
        if len(stack):
            self.output.stack[: len(stack)] = stack
            self.output.state[[k.DEPTH, k.ROW]] = len(stack) - 1, 0

    def restart(self, begin: int) -> None:
        """Begin again at the offset `begin`, with the initial stack, in the same memory."""
        self.begin = self.base = begin
        self.buffer = self.buffer[:0]
        self.final, self.next, self.inner, self.early = False, None, 0, 0
        state = self.output.state
        state[[k.POSITION, k.TOKENS, k.STEPS, k.KIND, k.ROW]] = 0, 0, 0, k.NO_KIND, 0
        state[k.DEPTH] = len(self.stack) - 1
        self.output.stack[: len(self.stack)] = self.stack

    def streams(self, blocks: Iterable[Block]) -> Iterator[ParseStream]:
        """Parse the blocks of a text, and yield streams of its tokens and steps.

        A step is complete as soon as every token that can follow would reduce it. In each stream,
        the numbers of tokens and steps begin at 0; offsets count from the source's first byte. A
        stream is a view, valid until the next stream. If the grammar rejects the text, raises
        `Rejection` after the streams before the error.
        """
        waiting: list[Block] = []
        for block in blocks:
            waiting.append(block)
            # If one token fills the buffer, lex it again only when twice as many bytes have come.
            left = len(self.buffer) - self.output.state[k.POSITION]
            if (self.eager and left < _SHORT) or sum(map(len, waiting)) >= left:
                self._extend(waiting)
                waiting.clear()
                yield from self._step()
        yield from self.rest(*waiting)

    def rest(self, *blocks: Block) -> Iterator[ParseStream]:
        """Parse the last blocks of a text, and the end of the text, as `streams` does."""
        self._extend([*blocks, self.after])
        self.final = True
        yield from self._step()

    def part(self, block: Block, following: Block) -> Iterator[ParseStream]:
        """Parse a block as `streams` does, and also the first token after the block.

        following: the bytes that follow the block. Yields one stream, which has all records that
        end in the block.
        """
        self.next = None
        self._extend([block])
        yield from self._step()
        end = self.end
        self._extend([following])
        while self._shift_one():
            tokens, steps = self.output.state[[k.TOKENS, k.STEPS]].tolist()
            token = self._token(tokens - 1)
            if token.start < end:
                continue
            if (
                steps
                and self.output.steps[steps - 1] in self.boundary
                and self.output.before[steps - 1] == tokens - 1
            ):
                unwind(self.cache, self.output)
                self.next, self.before_next = token, tuple(self._stack[:-1])
            break
        yield from self._complete()

    def _shift_one(self) -> bool:
        """Let the kernel shift one more token; return whether it found one."""
        state, count = self.output.state, int(self.output.state[k.TOKENS])
        while state[k.TOKENS] == count:
            if count == len(self.output.kinds) or state[k.NEEDED]:
                self._make_room()
            kinds = self.output.kinds
            self.output = self.output._replace(kinds=kinds[: count + 1])
            why = self._parse()
            self.output = self.output._replace(kinds=kinds)
            if why == k.DEEP:
                self._deepen()
            elif why != k.FULL:
                break
        return bool(state[k.TOKENS] > count)

    @property
    def first(self) -> Token | None:
        """The first token of the next stream; None if a step precedes it."""
        state = self.output.state
        is_clean = state[k.TOKENS] and (not state[k.STEPS] or self.output.before[0])
        return self._token(0) if is_clean else None

    def _token(self, index: int) -> Token:
        output = self.output
        return Token(*(int(each[index]) for each in (output.kinds, output.starts, output.ends)))

    def _extend(self, blocks: Iterable[Block]) -> None:
        state = self.output.state
        left = self.buffer[state[k.POSITION] :]
        self.base += int(state[k.POSITION])
        state[k.END] -= state[k.POSITION]  # of a token that is not shifted yet
        self.buffer = np.concatenate([left, *(np.frombuffer(block, np.uint8) for block in blocks)])
        state[k.POSITION] = 0

    def _step(self) -> Iterator[ParseStream]:
        while True:
            why = self._parse()
            self._drop_early()
            if why == k.MORE:
                if self.eager:
                    yield from self._complete(early=True)
                return
            if why == k.DONE:
                yield self._stream(self.output.state[k.TOKENS], self.output.state[k.STEPS])
                return
            if why == k.REJECTED:
                if self.boundary:
                    self.boundary, self.inner = (*self.boundary, *self.header), 0
                yield from self._complete(early=True)
                raise self._rejection()
            if why == k.DEEP:
                self._deepen()
            else:
                if not self.whole:
                    yield from self._complete()
                self._make_room()

    def _parse(self) -> int:
        if self.compiled():
            run, buffer, output = KERNELS.compiled(parse), self.buffer, self.output
            tables, cache = self.tables, self.cache
        else:
            run, output = parse, views(self.output)
            buffer = cast("NDArray[np.uint8]", self.buffer.data)
            tables, cache = self._plain
        return run(tables, buffer, self.final, self.base, cache, output)

    @cached_property
    def _plain(self) -> tuple[Tables, TransitionCache]:
        return views(self.tables), views(self.cache)

    def _complete(self, early: bool = False) -> Iterator[ParseStream]:
        """Yield one stream, up to the last step of the kernel's output that may end a stream.

        Yields nothing if there is no such step. The tokens and steps after this step move to the
        start of the arrays. `early`: first add the steps that are certain, whatever the next token
        is.
        """
        if not self.boundary:
            return
        if early and not self.early:
            self._add_early()
        output, state = self.output, self.output.state
        steps = self._last_end()
        if not steps:
            self.inner = int(state[k.STEPS])
            return
        tokens = int(output.before[steps - 1])
        yield self._stream(tokens, steps)
        state[k.TOKENS] -= tokens
        state[k.STEPS] -= steps
        for each in (output.kinds, output.starts, output.ends):
            _drop(each, tokens, state[k.TOKENS])
        for each in (output.steps, output.before):
            _drop(each, steps, state[k.STEPS])
        output.before[: state[k.STEPS]] -= tokens
        self.inner = int(state[k.STEPS])

    def _is_end(self, step: int) -> bool:
        return step in self.boundary or ANY_STEP in self.boundary

    def _last_end(self) -> int:
        """Return the number of steps up to the last one that may end a stream; 0 if none may."""
        count = int(self.output.state[k.STEPS])
        if ANY_STEP in self.boundary:
            return count
        ends = np.flatnonzero(np.isin(self.output.steps[self.inner : count], self.boundary))
        return self.inner + int(ends[-1]) + 1 if len(ends) else 0

    def _add_early(self) -> None:
        """Add the steps that every possible next token reduces first.

        The last of these is a step that may end a stream.
        """
        state = self.output.state
        steps = certain(self.grammar, self._stack)
        while steps and not self._is_end(steps[-1]):
            steps.pop()
        kept = int(state[k.STEPS])
        state[k.STEPS] += len(steps)
        while state[k.STEPS] > len(self.output.steps):
            self._make_room()
        self.output.steps[kept : state[k.STEPS]] = steps
        self.output.before[kept : state[k.STEPS]] = state[k.TOKENS]
        self.early = len(steps)

    def _drop_early(self) -> None:
        """Remove the steps that `_add_early` added, once the kernel has added them itself."""
        output, state = self.output, self.output.state
        if self.early and state[k.STEPS] >= self.early:
            state[k.STEPS] -= self.early
            for each in (output.steps, output.before):
                _drop(each, self.early, state[k.STEPS])
            self.early = 0

    def _make_room(self) -> None:
        state = self.output.state
        tokens, steps, needed = (int(state[at]) for at in (k.TOKENS, k.STEPS, k.NEEDED))
        # One array after the other, so that only one of them is in memory twice.
        for name in ("kinds", "starts", "ends"):
            self._grow(name, tokens, 1)
        for name in ("steps", "before"):
            self._grow(name, steps, needed)

    def _grow(self, name: str, count: int, needed: int) -> None:
        """Enlarge the array `name` unless it has room for `max(count, needed)` more elements.

        `count`: how many elements are in use.
        """
        old = getattr(self.output, name)
        if count + max(count, needed) > len(old):
            self.output = self.output._replace(**{name: grown(old, max(len(old), needed))})

    def _deepen(self) -> None:
        stack = self.output.stack
        self.output = self.output._replace(stack=grown(stack, len(stack)))

    @property
    def end(self) -> int:
        """The offset after the last byte that was given to the driver."""
        return self.base + len(self.buffer)

    @property
    def _stack(self) -> Sequence[int]:
        return self.output.stack[: self.output.state[k.DEPTH] + 1].copy().data

    def _stream(self, tokens: int, steps: int) -> ParseStream:
        output = self.output
        starts, ends = output.starts[:tokens], output.ends[:tokens]
        # Only the first token can begin with the virtual line break before the text, and only the
        # last token can end with the one after the text.
        length = self.base + len(self.buffer) - self.final * len(self.after)
        for places in (starts, ends):
            places[:1].clip(self.begin, length, out=places[:1])
            places[-1:].clip(self.begin, length, out=places[-1:])
        return ParseStream(
            kinds=output.kinds[:tokens],
            starts=starts,
            ends=ends,
            steps=output.steps[:steps],
            tokens_before=output.before[:steps],
        )

    def _rejection(self) -> Rejection:
        offset = self.base + int(self.output.state[k.POSITION])
        length = self.base + len(self.buffer) - self.final * len(self.after)
        stack = self._stack
        found = expected(self.grammar, stack)
        tokens = self.output.state[k.TOKENS]
        kinds, starts = self.output.kinds[:tokens], self.output.starts[:tokens]
        marks = opened(self.grammar.literals, kinds, starts)
        return Rejection(min(max(offset, self.begin), length), found, marks, stack)


def blocks(source: Source, begin: int) -> Iterator[Block]:
    """Yield the bytes of a text from `begin` on, in blocks."""
    data = source.view[begin - source.start :]
    yield from (data[at : at + _BLOCK] for at in range(0, len(data), _BLOCK))


def grown(array: NDArray[T], more: int) -> NDArray[T]:
    """Return a copy with room for `more` elements; this room takes memory only when used."""
    grown = np.empty(len(array) + more, array.dtype)
    grown[: len(array)] = array
    return grown


def _drop(array: NDArray[T], count: int, left: int) -> None:
    """Drop the first `count` elements of an array, and move the `left` elements after them to its
    start.
    """
    array[:left] = array[count : count + left].copy()


def views(arrays: R) -> R:
    """Return memory views of arrays: plain Python reads and fills views several times faster."""
    named: Any = arrays
    changed: R = named._replace(**{name: array.data for name, array in named._asdict().items()})
    return changed
