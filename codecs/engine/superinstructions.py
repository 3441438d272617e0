"""Instructions that are carried out together with those that follow them.

Only the first of them changes what it is called, and the others stay where they are, with their
operands. So the machine can leave off after any of them: wherever the next cannot simply succeed,
because it fails or its stream is full, it goes on with that one alone, which says what is wrong.
Nor does it matter whether something jumps to the middle.
"""

from exset.codecs.engine import opcodes as op

_Row = list[int]


def fuse(code: list[_Row]) -> None:
    """Join the instructions of a program where they follow one another."""
    for at, row in enumerate(code):
        if row[0] == op.GO and code[row[1]][0] == op.NEXT:
            code[at] = [*code[row[1]]]
    rows = [*code, *[[op.END]] * 3]
    for row, joined in [(row, _joined(*rows[at : at + 4])) for at, row in enumerate(code)]:
        row[0] = joined


def _joined(row: _Row, second: _Row, third: _Row, fourth: _Row) -> int:
    """What an instruction becomes, with those that follow it."""
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
