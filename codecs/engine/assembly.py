"""Programs as they are made: instructions, registers, streams, and blocks of numbers."""

from collections.abc import Iterable
from typing import TypeAlias

from exset.codecs.engine import opcodes as op
from exset.codecs.engine.debug_info import origin_of
from exset.codecs.engine.ir import Blob, Match, Node, Number, String, least_size
from exset.codecs.engine.program import Feed, Leaf, Program

_Origin: TypeAlias = Node | tuple[Number, ...] | None


class Assembler:
    """Adds to a program. wanted: the paths of the numbers that expressions name."""

    def __init__(self, wanted: Iterable[str]) -> None:
        """Begin a program."""
        self.program = Program()
        self.wanted = frozenset(wanted)
        self.block: list[Number] = []
        # Where the value of a field is: a register, of reals for a real.
        self.registers: dict[str, int] = {}

    def emit(self, *operands: int, origin: _Origin = None) -> int:
        """Add an instruction, and return where it is."""
        self.flush()
        return self._add(*operands, origin=origin)

    def _add(self, *operands: int, origin: _Origin = None) -> int:
        at = len(self.program.code)
        self.program.code.append([*operands, *[0] * (op.WIDTH - len(operands))])
        if origin is not None:
            self.program.origins[at] = origin_of(origin)
        return at

    def here(self) -> int:
        """Where the next instruction will be; what comes before it is complete."""
        self.flush()
        return len(self.program.code)

    def patch(self, at: int, operand: int) -> None:
        """Make an operand of an instruction the place of the next one."""
        self.program.code[at][operand] = self.here()

    def register(self, value: int = 0) -> int:
        """A new register of whole numbers."""
        self.program.ints.append(value)
        return len(self.program.ints) - 1

    def real(self, value: float = 0.0) -> int:
        """A new register of reals."""
        self.program.reals.append(value)
        return len(self.program.reals) - 1

    def stream(self) -> int:
        """A new stream."""
        self.program.streams += 1
        return self.program.streams - 1

    def pair(self) -> int:
        """Two streams, one after the other, that grow together."""
        self.program.pairs.append(self.program.streams)
        self.program.streams += 2
        return self.program.streams - 2

    def feed(self, what: Number | String | Blob | Match) -> int:
        """A new feed of what the program wants of a field when it writes."""
        if isinstance(what, Match):
            feed = Feed(what.field.path, value=what.value)
        else:
            feed = Feed(what.path, isinstance(what, Number) and what.is_real)
        self.program.feeds.append(feed)
        return len(self.program.feeds) - 1

    def flush(self) -> None:
        """End the block of numbers, and load those that are wanted."""
        if not self.block:
            return
        numbers, self.block = tuple(self.block), []
        size = sum(least_size(number) for number in numbers)
        stream, offset, last = self.stream(), 0, numbers[-1]
        if last.path in self.wanted and last.stored.str == ">i4":
            target = self.registers[last.path] = self.register()
            self._add(op.TAKE, stream, size, target, self.feed(last), origin=numbers)
        else:
            self._add(op.BLOCK, stream, size, origin=numbers)
        for number in numbers:
            self.program.leaves[number.path] = Leaf(number.stored.str, stream, offset)
            if number.path in self.wanted and number.path not in self.registers:
                self._load(number, stream, size - offset)
            offset += least_size(number)

    def _load(self, number: Number, stream: int, back: int) -> None:
        dtype = number.stored
        form = op.LITTLE * (dtype.str[0] == "<") + op.SIGNED * (dtype.kind == "i")
        form += op.FLAG * (dtype.kind == "b")
        where = self.feed(number) << 16 | stream
        target = self.real() if number.is_real else self.register()
        self.registers[number.path] = target
        load = op.LOAD_REAL if number.is_real else op.LOAD
        self._add(load, target, back, dtype.itemsize, form, where)
