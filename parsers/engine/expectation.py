"""What an LALR table says of the token that comes next, whichever driver runs it."""

from collections.abc import Iterable, Sequence
from types import MappingProxyType
from typing import Final, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from exset.parsers.engine.tables import SILENT

END = "$END"

CLOSERS: Final = MappingProxyType({"{": "}", "[": "]", "(": ")", '"': '"'})
"""What closes what a terminal opens that is such a literal."""

S = TypeVar("S")
N = TypeVar("N")


class Parser(Protocol[S, N]):
    """An LALR table, whatever its states and origins are."""

    def move(self, state: S, terminal: str) -> bool | tuple[int, N, int] | None:
        """Shift (True), a rule to reduce by (length, origin and step, or SILENT), or nothing."""
        ...

    def goto(self, state: S, origin: N) -> S:
        """The state after a reduction."""
        ...

    def accepts(self, state: S) -> bool:
        """Whether the parse is complete."""
        ...


def expected(parser: Parser[S, N], terminals: Iterable[str], stack: Sequence[S]) -> frozenset[str]:
    """The terminals that would be shifted, or the end accepted, from a stack of parser states."""
    return frozenset(terminal for terminal in (*terminals, END) if _shifts(parser, stack, terminal))


def certain(parser: Parser[S, N], terminals: Iterable[str], stack: Sequence[S]) -> list[int]:
    """The steps that come next from a stack of parser states, whatever token there is."""
    left, ends, steps = list(stack), (*terminals, END), list[int]()
    while True:
        moves = {parser.move(left[-1], terminal) for terminal in ends} - {None}
        if len(moves) != 1 or isinstance(move := moves.pop(), bool) or move is None:
            return steps
        length, origin, step = move
        del left[len(left) - length :]
        left.append(parser.goto(left[-1], origin))
        if step != SILENT:
            steps.append(step)


def opened(
    literals: Sequence[str | None], kinds: NDArray[np.int16], starts: NDArray[np.int64]
) -> int | None:
    """Where the innermost bracket or quotation mark begins that tokens leave open, if any do.

    literals: the text of each terminal that is one.
    """
    brackets = {*CLOSERS, *CLOSERS.values()}
    marks = [number for number, text in enumerate(literals) if text in brackets]
    stack: list[tuple[str | None, int]] = []
    for token in np.flatnonzero(np.isin(kinds, marks)).tolist():
        mark = literals[kinds[token]]
        if stack and mark == stack[-1][0]:
            stack.pop()
        else:
            stack.append((CLOSERS.get(mark or ""), int(starts[token])))
    return stack[-1][1] if stack else None


def _shifts(parser: Parser[S, N], stack: Sequence[S], terminal: str) -> bool:
    # Reductions only pop, or push one state: below `depth` the stack is as it was.
    depth, above = len(stack), list[S]()
    while True:
        move = parser.move(above[-1] if above else stack[depth - 1], terminal)
        if move is None or move is True:
            return move is True
        assert move is not False
        length, origin, _ = move
        popped = min(len(above), length)
        del above[len(above) - popped :]
        depth -= length - popped
        above.append(parser.goto(above[-1] if above else stack[depth - 1], origin))
        if terminal == END and parser.accepts(above[-1]):
            return True
