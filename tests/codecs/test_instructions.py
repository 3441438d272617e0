"""Every instruction of the interpreter runs; superinstructions change nothing but the speed."""

import itertools
from collections.abc import Iterator
from typing import SupportsIndex

import numpy as np
import pytest
from construct import (
    Array,
    Byte,
    Check,
    Construct,
    Container,
    Flag,
    Float32b,
    GreedyRange,
    If,
    IfThenElse,
    Int16ub,
    Int32sb,
    Int32sl,
    Int32ub,
    Pass,
    Struct,
    this,
)

from exset.codecs.custom.layout import compile_layout
from exset.codecs.engine import Layout, Values, execution, opcodes, read, write
from exset.codecs.engine.declaration import NulString
from exset.core.source import Source
from exset.grammars.columns.ragged import Strings
from tests.codecs.foreign_layouts import LAYOUTS
from tests.codecs.test_drivers import SAMPLES, compare_reading, compare_writing

PAIR = Struct("p" / Byte)
MANY = Array(this.n, Byte)

# It contains every superinstruction; `tail` jumps into the middle of one.
DECLARATION = Struct(
    "n" / Int32sb,
    "rows"
    / Array(
        this.n,
        Struct(
            "key" / NulString(),
            "m" / Int32sb,
            Check((this.m >= -1) & (this.m < this._.n)),
            "size" / Int32sb,
            "is_real" / Flag,
            "body"
            / IfThenElse(
                this.is_real,
                Struct("x" / Float32b, "a" / Array(this._.size, Int16ub)),
                Struct("k" / Int32sb, "b" / Array(this.k * (this.k > 0), Byte)),
            ),
            "more" / Flag,
            "tail" / IfThenElse(this.more, Struct("c" / Byte), Pass),
            "d" / Array(this.m * (this.m > 0), Byte),
        ),
    ),
    "end" / Byte,
)
LAYOUT = Layout(DECLARATION)


def row(m: int, more: bool, body: Container, is_real: bool) -> Container:
    size = len(body.a) if is_real else 7
    tail = Container(c=9) if more else None
    words = Container(key=b"ab"[: m % 3], m=m, size=size, is_real=is_real, body=body, more=more)
    return Container(words, tail=tail, d=[1] * max(m, 0))


ROWS = [
    row(2, True, Container(x=0.5, a=[1, 2, 3]), True),
    row(-1, False, Container(k=2, b=[5, 6]), False),
    row(0, True, Container(k=-3, b=[]), False),
    row(3, False, Container(x=-1.0, a=[]), True),
]
DATA: bytes = DECLARATION.build(Container(n=len(ROWS), rows=ROWS, end=1))
FUSED = [
    opcodes.TAKE_EACH,
    opcodes.BLOCK_LOAD_FORK,
    opcodes.BLOCK_BULK,
    opcodes.TAKE_BULK,
    opcodes.BLOCK_FORK,
]


class Trace(list[list[int]]):
    """The instructions of a program. operations: those that the interpreter fetched."""

    def __init__(self, code: list[list[int]]) -> None:
        super().__init__(code)
        self.operations: set[int] = set()

    def __getitem__(self, at: SupportsIndex) -> list[int]:  # type: ignore[override]
        row = super().__getitem__(at)
        self.operations.add(row[0])
        return row


def traced(layout: Layout, data: bytes) -> set[int]:
    """The operations that run while data are read and written."""
    trace = layout.program.code = Trace(layout.program.code)
    assert write(layout, read(layout, Source("x", data))) == data
    return trace.operations


def test_every_instruction_runs() -> None:
    operations = traced(Layout(DECLARATION), DATA)
    for name, declaration in LAYOUTS.items():
        for sample in SAMPLES[name]:
            operations |= traced(Layout(declaration), sample)
    others = Struct(
        *("r" / Float32b, Check(-this.r < 1), "m" / Byte, Check(this.m)),
        *("n" / Byte, Check((this.n < 2**70) & ~(this.n == 5))),
    )
    operations |= traced(Layout(others), b"\0\0\0\0\1\1")
    own = compile_layout(Struct("all" / GreedyRange(Struct("n" / Byte, "x" / If(this.n, Byte)))))
    trace = own.shape.engine.program.code = Trace(own.shape.engine.program.code)
    assert own.read(b"\0\1\2").rows("all") == 2
    operations |= trace.operations
    names = [name for name, value in vars(opcodes).items() if type(value) is int and name.isupper()]
    names = names[names.index("BLOCK") : names.index("END") + 1]
    assert [name for name in names if getattr(opcodes, name) not in operations] == []


def operations_of(*members: Construct) -> list[int]:
    """The operations of the program of a layout."""
    return [row[0] for row in Layout(Struct(*members)).program.code]


def test_every_superinstruction_is_generated() -> None:
    there = [row[0] for row in LAYOUT.program.code]
    assert set(FUSED) <= set(there)
    assert there.count(opcodes.CHECK_LESS_EQUAL) == 1
    assert opcodes.CHECK not in there


@pytest.mark.parametrize(
    "members",
    [
        ("n" / Int32sb, "k" / Int32sb, "x" / Array(this.n, PAIR), "y" / Array(this.k, PAIR)),
        ("n" / Int32sb, "x" / Array(this.n + 1, PAIR)),
        ("n" / Int32sl, "x" / Array(this.n, PAIR)),
        ("n" / Int32ub, "x" / Array(this.n, PAIR)),
        ("n" / Byte, "f" / Byte, "x" / IfThenElse(this.f, PAIR, Pass), "y" / MANY),
        ("n" / Int16ub, "f" / Flag, "x" / IfThenElse(this.f & this.n, PAIR, Pass), "y" / MANY),
        ("f" / Flag, "s" / NulString(), "x" / IfThenElse(this.f, PAIR, Pass)),
        ("n" / Int32sb, "s" / NulString(), "x" / MANY),
    ],
)
def test_no_superinstruction_is_generated(members: tuple[Construct, ...]) -> None:
    there = operations_of(*members)
    forks = opcodes.TAKE_EACH, opcodes.BLOCK_FORK, opcodes.BLOCK_LOAD_FORK
    assert not {*forks, opcodes.TAKE_BULK} & set(there)
    layout = Layout(Struct(*members))
    for data in itertools.product([0, 1, 255], repeat=6):
        compare_reading(layout, bytes(data))


def test_a_condition_is_not_split_where_an_operand_may_fail() -> None:
    big = "n" / Int32sb, Check((this.n > 0) & (this.n * this.n * this.n * this.n * 9 > 5))
    assert opcodes.CHECK in operations_of(*big)
    assert opcodes.CHECK in operations_of("x" / Float32b, Check(this.x < 1))
    assert opcodes.CHECK in operations_of("n" / Int32sb, Check(this.n & (this.n > 1)))
    for number in (-(2**31), -1, 0, 1, 2**31 - 1):
        compare_reading(Layout(Struct(*big)), number.to_bytes(4, "big", signed=True))


def changes() -> Iterator[bytes]:
    """The data, truncated anywhere, or with any byte changed."""
    yield from (DATA[:end] for end in range(len(DATA) + 1))
    for at, value in itertools.product(range(len(DATA)), [0, 1, 2, 5, 127, 128, 255]):
        yield DATA[:at] + bytes([value]) + DATA[at + 1 :]


@pytest.mark.parametrize("room", [1, 1024])
def test_reading(room: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error, or a full stream, at each instruction of a superinstruction."""
    monkeypatch.setattr(execution, "_ROOM", room)
    assert compare_reading(LAYOUT, DATA)
    for data in changes():
        compare_reading(LAYOUT, data)


@pytest.mark.parametrize("room", [1, 1024])
def test_writing(room: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each column lacks a value, has one too many, or has other values."""
    monkeypatch.setattr(execution, "_ROOM", room)
    fields: dict[str, Values] = dict(read(LAYOUT, Source("x", DATA)))
    assert compare_writing(LAYOUT, fields)
    for path, column in fields.items():
        if isinstance(column, Strings):
            raw = column.tolist()
            others: list[Values] = [Strings.of(raw[:-1]), Strings.of([*raw, b"x"])]
            others.append(Strings.of([b"\0", *raw[1:]]))
        else:
            others = [column[:-1], np.append(column, column[:1])]
            others += [np.full_like(column, value) for value in (0, 1, 3)]
            if column.dtype == np.int32:
                others.append(np.full_like(column, -2))
        for other in others:
            compare_writing(LAYOUT, {**fields, path: other})


def test_offsets_beyond_32_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that reaches a large offset is repeated with 64-bit numbers."""
    monkeypatch.setattr(execution, "_INT32", 40)
    fields = read(LAYOUT, Source("x", DATA))
    assert compare_reading(LAYOUT, DATA)
    assert compare_writing(LAYOUT, fields)
