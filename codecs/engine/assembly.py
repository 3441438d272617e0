"""Build a program: add instructions, registers, streams, blocks of numbers, superinstructions.

A superinstruction runs an instruction together with one or more instructions after it.
"""

from collections.abc import Iterable
from typing import TypeAlias

from exset.codecs.engine import ir
from exset.codecs.engine import opcodes as op
from exset.codecs.engine.program import Leaf, Origin, Program
from exset.codecs.engine.wording import constant_text, demand_of

_Row: TypeAlias = list[int]


class Assembler:
    """Appends instructions to a program.

    used: the paths of the numbers whose values expressions need.
    """

    def __init__(self, used: Iterable[str]) -> None:
        self.program = Program()
        self.used = frozenset(used)
        self.block: list[ir.Number] = []
        # The register of each field: a register of reals if the field is a real.
        self.registers: dict[str, int] = {}

    def emit(self, *operands: int, origin: ir.Node | None = None) -> int:
        """Append an instruction, and return its index.

        operands: the operation and its operands. origin: the part of the declaration (a node of
        `ir`) that the message names if this instruction fails.
        """
        self.flush()
        return self._append(*operands, origin=origin)

    def _append(self, *operands: int, origin: ir.Node | None = None) -> int:
        at = len(self.program.code)
        self.program.code.append([*operands, *[0] * (op.WIDTH - len(operands))])
        if origin is not None:
            self.program.origins[at] = _origin_of(origin)
        return at

    def here(self) -> int:
        """End the current block of numbers, then return the index of the next instruction."""
        self.flush()
        return len(self.program.code)

    def patch(self, at: int, operand: int) -> None:
        """Make the instruction at index `at` jump to the instruction that is appended next.

        operand: the index of the operand that has the target of the jump.
        """
        self.program.code[at][operand] = self.here()

    def register(self, value: int = 0) -> int:
        """Add a register for whole numbers, and return its index. value: its initial value."""
        self.program.ints.append(value)
        return len(self.program.ints) - 1

    def real(self, value: float = 0.0) -> int:
        """Add a register for reals, and return its index. value: its initial value."""
        self.program.reals.append(value)
        return len(self.program.reals) - 1

    def add_constant(self, value: bytes) -> int:
        """Add bytes to the constants of the program. Return their index in the constants."""
        self.program.constants += [*value]
        return len(self.program.constants) - len(value)

    def stream(self) -> int:
        """Add a stream, a list that the program fills when it runs, and return its number."""
        self.program.streams += 1
        return self.program.streams - 1

    def pair(self) -> int:
        """Add two streams that always have the same length; return the first one's number."""
        self.program.pairs.append(self.program.streams)
        self.program.streams += 2
        return self.program.streams - 2

    def feed(self, path: str) -> int:
        """Add a feed for the column at `path`, and return the number of the feed.

        A feed is a column whose values the program needs while it writes a file, such as counts.
        """
        self.program.feeds.append(path)
        return len(self.program.feeds) - 1

    def flush(self) -> None:
        """End the block of adjacent numbers: append one instruction that handles all of them.

        Then append instructions that load numbers of the block into registers, if expressions use
        them.
        """
        if not self.block:
            return
        numbers, self.block = self.block, []
        size = sum(ir.least_size(number) for number in numbers)
        stream, offset, last = self.stream(), 0, numbers[-1]
        if last.path in self.used and last.stored.str == ">i4":
            target = self.registers[last.path] = self.register()
            self._append(op.TAKE, stream, size, target, self.feed(last.path), origin=last)
        else:
            self._append(op.BLOCK, stream, size, origin=last)
        for number in numbers:
            self.program.leaves[number.path] = Leaf(number.stored.str, stream, offset)
            if number.path in self.used and number.path not in self.registers:
                self._load(number, stream, size - offset)
            offset += ir.least_size(number)

    def _load(self, number: ir.Number, stream: int, back: int) -> None:
        dtype = number.stored
        form = op.LITTLE * (dtype.str[0] == "<") + op.SIGNED * (dtype.kind == "i")
        form += op.FLAG * (dtype.kind == "b")
        where = self.feed(number.path) << 16 | stream
        target = self.real() if number.is_real else self.register()
        self.registers[number.path] = target
        load = op.LOAD_REAL if number.is_real else op.LOAD
        self._append(load, target, back, dtype.itemsize, form, where)


def _origin_of(node: ir.Node) -> Origin:
    """Return what an error message says about a node: its kind, its path, and its condition.

    For a block of numbers, the node is the block's last number.
    """
    match node:
        case ir.Number():
            return Origin("block", node.path)
        case ir.Test(condition=condition):
            text = demand_of(condition)
            return Origin("test", node.path, _first_field(condition), text=text)
        case ir.Constant(size=size):
            text = constant_text(node.construct.value)
            return Origin("constant", node.path, size=size, text=text)
        case ir.String():
            return Origin("string", node.path)
        case ir.Rows(count=count):
            return Origin("rows", node.path, _first_field(count), ir.least_size(node.element))
        case ir.Blob(count=count) | ir.Gap(count=count):
            return Origin("bytes", node.path, _first_field(count), 1)
        case _:
            return Origin("alignment", node.path)


def _first_field(expression: ir.Expression | None) -> str | None:
    return next((number.path for number in ir.fields_in(expression)), None)


def fuse(code: list[_Row]) -> None:
    """Change instructions to superinstructions, which also run the instructions after them.

    The instructions after a superinstruction stay in the program, for two reasons. If one of them
    fails, or if its stream is full, the interpreter stops before it, and then runs it alone to
    report the error. Also, another instruction may jump to it.
    """
    for at, row in enumerate(code):
        if row[0] == op.GO and code[row[1]][0] == op.NEXT:
            code[at] = [*code[row[1]]]
    rows = [*code, *[[op.END]] * 3]
    for row, fused in [(row, _fused(*rows[at : at + 4])) for at, row in enumerate(code)]:
        row[0] = fused


def _fused(row: _Row, second: _Row, third: _Row, fourth: _Row) -> int:
    """Return the operation that replaces the operation of `row`, the first of four instructions.

    The result is a superinstruction that also runs instructions after `row`, or the operation of
    `row` itself. The four instructions are consecutive.
    """
    if row[0] == op.TAKE:
        if second[0] == op.EACH and second[2] == row[3]:
            return op.TAKE_EACH
        if second[0] == op.BULK and second[4] != op.REST:
            return op.TAKE_BULK
    if row[0] == op.BLOCK:
        if second[0] == op.BULK and second[4] != op.REST:
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
