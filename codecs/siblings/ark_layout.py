"""The layout of archives of Kaldi in binary form (.ark); the names are from Kaldi's sources.

Source: Kaldi, src/matrix/*.cc, src/base/io-funcs-inl.h, src/util/kaldi-holder-inl.h. This module
imports only Construct and the engine, so that the engine can cache the programs that it makes from
the layout.
"""

import construct as cs
from construct import obj_, this

from exset.codecs.engine.declaration import NulString

(_F, _D, _C, _M, _V, _BLANK, _TWO, _THREE) = b"FDCMV 23"
_FOUR = 4  # the size of an integer, before each integer


def _size(name: str) -> tuple[cs.Construct, ...]:
    """Return the layout of a size called `name`: the number of rows, columns or elements."""
    return (cs.Const(b"\4"), name / cs.Int32sl, cs.Check(this[name] >= 0))


Matrix = cs.Struct(
    *_size("rows"),
    *_size("cols"),
    "values"
    / cs.IfThenElse(
        this._._.letter == _F,
        cs.Struct("FM" / cs.Array(this._.rows * this._.cols, cs.Float32l)),
        cs.Struct("DM" / cs.Array(this._.rows * this._.cols, cs.Float64l)),
    ),
)

Vector = cs.Struct(
    cs.Check(this._.kind == _V),
    *_size("dim"),
    "values"
    / cs.IfThenElse(
        this._._.letter == _F,
        cs.Struct("FV" / cs.Array(this._.dim, cs.Float32l)),
        cs.Struct("DV" / cs.Array(this._.dim, cs.Float64l)),
    ),
)

Plain = cs.Struct(
    cs.Check((this._.letter == _F) | (this._.letter == _D)),
    "kind" / cs.Int8ul,
    cs.Const(b" "),
    "object" / cs.IfThenElse(this.kind == _M, Matrix, Vector),
)

# Each column has 4 percentiles; bytes are between them. The matrices CM2 and CM3 have none.
Compressed = cs.Struct(
    cs.Const(b"M"),
    "format" / cs.Int8ul,
    cs.Check((this.format == _BLANK) | (this.format == _TWO) | (this.format == _THREE)),
    "blank" / cs.IfThenElse(this.format == _BLANK, cs.Pass, cs.Const(b" ")),
    "min_value" / cs.Float32l,
    "range" / cs.Float32l,
    "num_rows" / cs.Int32sl,
    cs.Check(this.num_rows >= 0),
    "num_cols" / cs.Int32sl,
    cs.Check(this.num_cols >= 0),
    "data"
    / cs.IfThenElse(
        this.format == _TWO,
        cs.Struct("CM2" / cs.Array(this._.num_rows * this._.num_cols, cs.Int16ul)),
        cs.Struct(
            "percentiles" / cs.Array(4 * this._.num_cols * (this._.format == _BLANK), cs.Int16ul),
            "CM" / cs.Array(this._.num_rows * this._.num_cols, cs.Int8ul),
        ),
    ),
)

Integers = cs.Struct(
    "length" / cs.Int32sl,
    cs.Check(this.length >= 0),
    "IV" / cs.Array(this.length, cs.Struct(cs.Const(b"\4"), "value" / cs.Int32sl)),
)

# The key and its blank end before the NUL of the binary mark.
Entry = cs.Struct(
    "key" / NulString(),
    cs.Const(b"B"),
    "letter" / cs.Int8ul,
    "body"
    / cs.IfThenElse(
        this.letter == _FOUR, Integers, cs.IfThenElse(this.letter == _C, Compressed, Plain)
    ),
)

# The reader adds an entry without a key at the end.
Archive = cs.Struct("entries" / cs.RepeatUntil(obj_.key == b"", Entry))

# The same without the added entry, for a file without errors.
Whole = cs.Struct("entries" / cs.GreedyRange(Entry))

# To write entries: their number comes first.
Entries = cs.Struct("count" / cs.Int64ub, "entries" / cs.Array(this.count, Entry))
