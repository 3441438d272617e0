"""Find the terminals that a stack of parser states allows next, and open brackets."""

from collections.abc import Sequence
from types import MappingProxyType
from typing import Final

import numpy as np
from numpy.typing import NDArray

from exset.parsers.engine import tables as t
from exset.parsers.engine.tables import Lowered, Tables

END = "$END"

CLOSERS: Final = MappingProxyType({"{": "}", "[": "]", "(": ")", '"': '"'})
"""The closing mark for each opening mark, among terminals that are literals."""


def expected(lowered: Lowered, stack: Sequence[int]) -> frozenset[str]:
    """Return the terminals that a stack of parser states can shift, or accept at the end."""
    names = (*lowered.terminals, END)
    return frozenset(
        name for kind, name in enumerate(names) if _shifts(lowered.tables, stack, kind)
    )


def certain(lowered: Lowered, stack: Sequence[int]) -> list[int]:
    """Return the steps that every possible next token reduces first, from a stack of states."""
    tables, left, steps = lowered.tables, list(stack), list[int]()
    while True:
        row = left[-1] * (len(lowered.terminals) + 1)
        moves = set(tables.action[row : row + len(lowered.terminals) + 1].tolist()) - {0}
        if len(moves) != 1 or (move := moves.pop()) > 0:
            return steps
        step = _reduce(tables, move, left)
        if step != t.SILENT:
            steps.append(step)


def stack_after(lowered: Lowered, kinds: NDArray[np.int16]) -> list[int]:
    """Return the stack of parser states after some tokens, which the grammar must accept."""
    tables, columns = lowered.tables, lowered.tables.sizes[t.COLUMNS]
    stack = [int(tables.sizes[t.FIRST_STATE])]
    for kind in kinds.tolist():
        while (move := tables.action[stack[-1] * columns + kind]) < 0:
            _reduce(tables, move, stack)
        stack.append(int(move) - 1)
    return stack


def opened(
    literals: Sequence[str | None], kinds: NDArray[np.int16], starts: NDArray[np.int64]
) -> list[tuple[str, int]]:
    """Return the brackets and quotation marks that are still open, each with its offset.

    `literals` has the text of each terminal that is a literal, None for others.
    """
    brackets = {*CLOSERS, *CLOSERS.values()}
    marks = {number: text for number, text in enumerate(literals) if text in brackets}
    stack: list[tuple[str, int]] = []
    for token in np.flatnonzero(np.isin(kinds, list(marks))).tolist():
        mark = marks[int(kinds[token])]
        if stack and mark == CLOSERS.get(stack[-1][0]):
            stack.pop()
        else:
            stack.append((mark, int(starts[token])))
    return stack


def _shifts(tables: Tables, stack: Sequence[int], kind: int) -> bool:
    columns, last = tables.sizes[t.COLUMNS], tables.sizes[t.LAST_STATE]
    left = list(stack)
    while (move := tables.action[left[-1] * columns + kind]) < 0:
        _reduce(tables, move, left)
        if kind == columns - 1 and left[-1] == last:
            return True
    return bool(move > 0)


def _reduce(tables: Tables, move: int, stack: list[int]) -> int:
    """Reduce a stack by the rule of a move, and return the rule's step."""
    rule = tables.rules[t.RULE_SIZE * (-move - 1) :]
    del stack[len(stack) - rule[t.LENGTH] :]
    stack.append(int(tables.goto[stack[-1] * tables.sizes[t.NONTERMINALS] + rule[t.ORIGIN]]))
    return int(rule[t.STEP])
