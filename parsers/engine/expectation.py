"""Find the terminals that a stack of parser states allows next, and the brackets that are open."""

from array import array
from collections.abc import Sequence
from types import MappingProxyType
from typing import Final, overload

import numpy as np
from numpy.typing import NDArray

from exset.parsers.engine import tables as t
from exset.parsers.engine.tables import Lowered, Tables

END = "$END"
_CHUNK: Final = 1 << 16

CLOSERS: Final = MappingProxyType({"{": "}", "[": "]", "(": ")", '"': '"'})
"""The closing mark for each opening mark, among terminals that are literals."""


def expected(lowered: Lowered, stack: Sequence[int]) -> frozenset[str]:
    """Return the names of the terminals that the parser allows next, given its stack of states."""
    names = (*lowered.terminals, END)
    return frozenset(
        name for kind, name in enumerate(names) if _shifts(lowered.tables, stack, kind)
    )


def certain(lowered: Lowered, stack: Sequence[int]) -> list[int]:
    """Return the steps that every possible next token reduces first, given the stack of parser
    states.
    """
    tables, left, steps = lowered.tables, _Reduced(lowered.tables, stack), list[int]()
    columns = int(tables.sizes[t.COLUMNS])
    while True:
        row = left.top * columns
        moves = set(tables.action[row : row + columns].tolist()) - {0}
        if len(moves) != 1 or (move := moves.pop()) > 0:
            return steps
        step = left.reduce(move)
        if step != t.SILENT:
            steps.append(step)


def stack_after(lowered: Lowered, kinds: NDArray[np.int16]) -> Sequence[int]:
    """Return the stack of parser states after the tokens `kinds`.

    The grammar must accept all these tokens.
    """
    tables, columns = lowered.tables, lowered.tables.sizes[t.COLUMNS]
    stack = [int(tables.sizes[t.FIRST_STATE])]
    for kind in kinds.tolist():
        while (move := tables.action[stack[-1] * columns + kind]) < 0:
            _reduce(tables, move, stack)
        stack.append(int(move) - 1)
    return array("q", stack)


class Marks(Sequence[tuple[str, int]]):
    """A compact sequence of brackets and quotation marks, each with its offset."""

    def __init__(self) -> None:
        self._marks = bytearray()
        self._offsets = array("q")

    def __len__(self) -> int:
        return len(self._marks)

    @overload
    def __getitem__(self, index: int) -> tuple[str, int]: ...
    @overload
    def __getitem__(self, index: slice) -> list[tuple[str, int]]: ...
    def __getitem__(self, index: int | slice) -> tuple[str, int] | list[tuple[str, int]]:
        if isinstance(index, slice):
            return [self[at] for at in range(len(self))[index]]
        return chr(self._marks[index]), self._offsets[index]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    @property
    def last(self) -> str:
        """The last mark, or an empty text if there is none."""
        return chr(self._marks[-1]) if self._marks else ""

    def push(self, mark: str, offset: int) -> None:
        """Add a mark at the end."""
        self._marks.append(ord(mark))
        self._offsets.append(offset)

    def pop(self) -> None:
        """Remove the last mark."""
        self._marks.pop()
        self._offsets.pop()


def opened(
    literals: Sequence[str | None], kinds: NDArray[np.int16], starts: NDArray[np.int64]
) -> Marks:
    """Return the brackets and quotation marks that are open after some tokens, with their offsets.

    kinds, starts: the terminal and the offset of each token. literals: for each terminal, the text
    that it matches if this is always the same text, else None.
    """
    brackets = {*CLOSERS, *CLOSERS.values()}
    marks = {number: text for number, text in enumerate(literals) if text in brackets}
    found = Marks()
    for begin in range(0, len(kinds), _CHUNK):
        part = kinds[begin : begin + _CHUNK]
        for token in np.flatnonzero(np.isin(part, list(marks))).tolist():
            mark = marks[int(part[token])]
            if found.last and mark == CLOSERS.get(found.last):
                found.pop()
            else:
                found.push(mark, int(starts[begin + token]))
    return found


class _Reduced:
    """A stack of parser states that is reduced without changing or copying the original stack.

    The original stack may be large.
    """

    def __init__(self, tables: Tables, stack: Sequence[int]) -> None:
        self.new: list[int] = []
        """The states above the part of the stack that is left."""
        self._tables, self._stack, self._kept = tables, stack, len(stack)

    @property
    def top(self) -> int:
        """The state on top of the stack."""
        return self.new[-1] if self.new else self._stack[self._kept - 1]

    def reduce(self, move: int) -> int:
        """Reduce the stack by one rule, and return the rule's step.

        move: the entry of the parser's action table that names the rule.
        """
        tables = self._tables
        rule = tables.rules[t.RULE_SIZE * (-move - 1) :]
        length = int(rule[t.LENGTH])
        self._kept -= max(length - len(self.new), 0)
        del self.new[max(len(self.new) - length, 0) :]
        self.new.append(int(tables.goto[self.top * tables.sizes[t.NONTERMINALS] + rule[t.ORIGIN]]))
        return int(rule[t.STEP])


def _shifts(tables: Tables, stack: Sequence[int], kind: int) -> bool:
    columns, last = tables.sizes[t.COLUMNS], tables.sizes[t.LAST_STATE]
    left = _Reduced(tables, stack)
    while True:
        if kind == columns - 1 and left.new and left.top == last:
            return True
        move = int(tables.action[left.top * columns + kind])
        if move >= 0:
            return move > 0
        left.reduce(move)


def _reduce(tables: Tables, move: int, stack: list[int]) -> int:
    """Reduce a stack of states by one rule, in place, and return the rule's step.

    move: the entry of the parser's action table that names the rule.
    """
    rule = tables.rules[t.RULE_SIZE * (-move - 1) :]
    del stack[len(stack) - int(rule[t.LENGTH]) :]
    stack.append(int(tables.goto[stack[-1] * tables.sizes[t.NONTERMINALS] + rule[t.ORIGIN]]))
    return int(rule[t.STEP])
