"""The layout of archives of Kaldi in binary form (.ark); the names are from Kaldi's sources.

Source: Kaldi, src/matrix/*.cc, src/base/io-funcs-inl.h, src/util/kaldi-holder-inl.h.
"""

from enum import IntEnum
from functools import reduce
from operator import or_

import construct as cs
from construct import this


class Kind(IntEnum):
    """The byte after the binary mark; of a vector of integers, it is the size of its length."""

    float32 = ord("F")
    float64 = ord("D")
    compressed = ord("C")
    int32 = 4


class Form(IntEnum):
    """The second letter of a token such as `FM`."""

    matrix = ord("M")
    vector = ord("V")


class Format(IntEnum):
    """The third letter of the token of a compressed matrix."""

    CM = ord(" ")
    CM2 = ord("2")
    CM3 = ord("3")


def _is_in(name: str, known: type[IntEnum]) -> cs.Construct:
    return cs.Check(reduce(or_, [this[name] == value for value in known]))


def _size(name: str) -> tuple[cs.Construct, ...]:
    """Return the layout of a size called `name`: the number of rows, columns or elements."""
    return (cs.Const(b"\4"), name / cs.Int32sl, cs.Check(this[name] >= 0))


# Without this, a matrix without columns could have any number of rows.
_BOTH_OR_NONE = cs.Check((this.rows > 0) == (this.cols > 0))


def _plain(number: cs.Construct) -> cs.Struct:
    """Return the layout of a matrix or a vector of real numbers."""
    values = "values" / cs.Array(this.rows * this.cols, number)
    matrix = cs.Struct(*_size("rows"), *_size("cols"), _BOTH_OR_NONE, values)
    vector = cs.Struct(*_size("cols"), "values" / cs.Array(this.cols, number))
    return cs.Struct(
        "form" / cs.Int8ul,
        _is_in("form", Form),
        cs.Const(b" "),
        "object" / cs.Switch(this.form, {Form.matrix: matrix, Form.vector: vector}),
    )


# Each column has 4 percentiles; bytes are between them. The matrices CM2 and CM3 have none.
_COMPRESSED = cs.Struct(
    cs.Const(b"M"),
    "format" / cs.Int8ul,
    _is_in("format", Format),
    cs.If(this.format != Format.CM, cs.Const(b" ")),
    "min_value" / cs.Float32l,
    "range" / cs.Float32l,
    "rows" / cs.Int32sl,
    cs.Check(this.rows >= 0),
    "cols" / cs.Int32sl,
    cs.Check(this.cols >= 0),
    _BOTH_OR_NONE,
    "percentiles" / cs.Array(4 * this.cols * (this.format == Format.CM), cs.Int16ul),
    "codes"
    / cs.Switch(
        this.format,
        {
            Format.CM: cs.Array(this.rows * this.cols, cs.Int8ul),
            Format.CM2: cs.Array(this.rows * this.cols, cs.Int16ul),
            Format.CM3: cs.Array(this.rows * this.cols, cs.Int8ul),
        },
    ),
)

# Before each integer is its size.
_INTEGERS = cs.Struct(
    "cols" / cs.Int32sl,
    cs.Check(this.cols >= 0),
    "items" / cs.Array(this.cols, cs.Struct(cs.Const(b"\4"), "value" / cs.Int32sl)),
)

_BODIES = {
    Kind.float32: _plain(cs.Float32l),
    Kind.float64: _plain(cs.Float64l),
    Kind.compressed: _COMPRESSED,
    Kind.int32: _INTEGERS,
}

_OBJECT = (
    cs.Const(b"B"),
    "kind" / cs.Int8ul,
    _is_in("kind", Kind),
    "body" / cs.Switch(this.kind, _BODIES),
)

OBJECT = cs.Struct(cs.Const(b"\0"), *_OBJECT)

# The key and its blank end before the NUL of the binary mark.
ARCHIVE = cs.Struct(
    "objects" / cs.GreedyRange(cs.Struct("key" / cs.NullTerminated(cs.GreedyBytes), *_OBJECT))
)
