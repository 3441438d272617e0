"""The tokens that an LALR table allows next, for both drivers."""

from collections.abc import Iterable, Sequence
from types import MappingProxyType
from typing import Final, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from exset.parsers.engine.tables import SILENT

END = "$END"

CLOSERS: Final = MappingProxyType({"{": "}", "[": "]", "(": ")", '"': '"'})
"""The closing mark of each opening one, among terminals that are literals."""

S = TypeVar("S")
N = TypeVar("N")


class LalrTable(Protocol[S, N]):
    """An LALR table with any type of states and origins."""

    def move(self, state: S, terminal: str) -> bool | tuple[int, N, int] | None:
        """Return True to shift, a rule to reduce (length, origin, step or SILENT), or None."""
        ...

    def goto(self, state: S, origin: N) -> S:
        """Return the state after a reduction."""
        ...

    def accepts(self, state: S) -> bool:
        """Return whether the parse is complete."""
        ...


def expected(
    table: LalrTable[S, N], terminals: Iterable[str], stack: Sequence[S]
) -> frozenset[str]:
    """Return the terminals that a stack of parser states can shift, or accept at the end."""
    return frozenset(terminal for terminal in (*terminals, END) if _shifts(table, stack, terminal))


def certain(table: LalrTable[S, N], terminals: Iterable[str], stack: Sequence[S]) -> list[int]:
    """Return the steps that every next token reduces first, from a stack of parser states."""
    left, ends, steps = list(stack), (*terminals, END), list[int]()
    while True:
        moves = {table.move(left[-1], terminal) for terminal in ends} - {None}
        if len(moves) != 1 or isinstance(move := moves.pop(), bool) or move is None:
            return steps
        length, origin, step = move
        del left[len(left) - length :]
        left.append(table.goto(left[-1], origin))
        if step != SILENT:
            steps.append(step)


def opened(
    literals: Sequence[str | None], kinds: NDArray[np.int16], starts: NDArray[np.int64]
) -> int | None:
    """Return where the innermost bracket or quotation mark that is still open begins, or None.

    `literals` has the text of each terminal that is a literal.
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


def _shifts(table: LalrTable[S, N], stack: Sequence[S], terminal: str) -> bool:
    # A reduction pops states and pushes one: below `depth` the stack is unchanged.
    depth, above = len(stack), list[S]()
    while True:
        move = table.move(above[-1] if above else stack[depth - 1], terminal)
        if move is None or move is True:
            return move is True
        assert move is not False
        length, origin, _ = move
        popped = min(len(above), length)
        del above[len(above) - popped :]
        depth -= length - popped
        above.append(table.goto(above[-1] if above else stack[depth - 1], origin))
        if terminal == END and table.accepts(above[-1]):
            return True
