"""Superinstructions: operations that run an instruction together with those that follow it."""

from typing import TypeAlias

from exset.codecs.engine import opcodes as op

_Row: TypeAlias = list[int]


def fuse(code: list[_Row]) -> None:
    """Make superinstructions: replace the operation of one that is followed by certain others.

    The others stay where they are, with their operands. So the interpreter can stop after any of
    them, where the next one fails or its stream is full: it then runs that one alone, which reports
    the error. A jump into the middle works for the same reason.
    """
    for at, row in enumerate(code):
        if row[0] == op.GO and code[row[1]][0] == op.NEXT:
            code[at] = [*code[row[1]]]
    rows = [*code, *[[op.END]] * 3]
    for row, fused in [(row, _fused(*rows[at : at + 4])) for at, row in enumerate(code)]:
        row[0] = fused


def _fused(row: _Row, second: _Row, third: _Row, fourth: _Row) -> int:
    """The operation of an instruction, given those that follow it."""
    if row[0] == op.TAKE:
        if second[0] == op.EACH and second[2] == row[3]:
            return op.TAKE_EACH
        if second[0] == op.BULK:
            return op.TAKE_BULK
    if row[0] == op.BLOCK:
        if second[0] == op.BULK:
            return op.BLOCK_BULK
        if _is_flag(second) and _is_unless(third, second):
            return op.BLOCK_FORK
        if _is_word(second) and _is_flag(third) and _is_unless(fourth, third):
            return op.BLOCK_LOAD_FORK
    return row[0]


def _is_word(row: _Row) -> bool:
    return row[0] == op.LOAD and row[3] == 4 and row[4] == op.SIGNED


def _is_flag(row: _Row) -> bool:
    return row[0] == op.LOAD and row[4] == op.FLAG


def _is_unless(row: _Row, load: _Row) -> bool:
    return row[0] == op.UNLESS and row[1] == load[1]
