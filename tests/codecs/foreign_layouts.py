"""Binary layouts of no format of exset, to test the engine."""

from construct import (
    Aligned,
    Array,
    Byte,
    Bytes,
    Check,
    Const,
    Flag,
    Float16b,
    Float32b,
    Float32l,
    Float64b,
    Float64l,
    IfThenElse,
    Int8sb,
    Int16sl,
    Int16ub,
    Int16ul,
    Int32sb,
    Int32sl,
    Int32ub,
    Int32ul,
    Int64sb,
    Int64ub,
    Padding,
    Pass,
    Rebuild,
    RepeatUntil,
    Struct,
    len_,
    obj_,
    this,
)

from exset.codecs.engine.declaration import NulString

# An archive like cpio: blobs whose sizes are sums, padded to two bytes, and a last entry.
ARCHIVE = Struct(
    "entries"
    / RepeatUntil(
        obj_.name == b"END!\0",
        Struct(
            "magic" / Const(0o070707, Int16ul),
            "time_high" / Int16ul,
            "time_low" / Int16ul,
            "name_size" / Int16ul,
            Check((this.name_size > 0) & (this.name_size < 40)),
            "size_high" / Int16ul,
            "size_low" / Int16ul,
            "name" / Aligned(2, Bytes(this.name_size)),
            "data" / Aligned(2, Bytes(this.size_high * 65536 + this.size_low)),
        ),
    ),
    "mark" / Bytes(2),
)

# Pictures: arrays whose counts are expressions, alignment, and a table at the end.
PICTURES = Struct(
    Const(b"PIC"),
    "version" / Byte,
    Check((this.version == 1) | (this.version >= 3)),
    "num_pictures" / Rebuild(Int16ub, len_(this.pictures)),
    "pictures"
    / Array(
        this.num_pictures,
        Struct(
            "body"
            / Aligned(
                8,
                Struct(
                    "width" / Int32sl,
                    "height" / Int8sb,
                    "is_deep" / Flag,
                    "title" / Aligned(4, NulString(), pattern=b"."),
                    "gap" / Padding(this.height % 3, pattern=b"x"),
                    "samples"
                    / IfThenElse(
                        this.is_deep & (this._._.version != 1),
                        Struct(
                            "scale" / Float64b,
                            "deep" / Array(this._.width * this._.height, Int16sl),
                        ),
                        Struct("flat" / Array((this._.width + 1) // 2 * this._.height, Byte)),
                    ),
                ),
            ),
            "rank" / Byte,
        ),
    ),
    Padding(3),
    "notes" / Array(2, NulString()),
    "table" / Array(3, Struct("low" / Float32l, "high" / Float32l, Check(this.low <= this.high))),
)

# All operators of expressions, and numbers of every size.
NUMBERS = Struct(
    "a" / Int64sb,
    "b" / Int64ub,
    "x" / Float64l,
    "h" / Float16b,
    "f" / Float32b,
    Check((this.a * 3 - this.b != 7) | (this.x * 2 > this.f - 1)),
    "either" / IfThenElse(this.x + this.h < this.a, Struct("u" / Int32ub), Struct("v" / Int64sb)),
    "count" / Int16sl,
    "many" / Array(this.count % 5 + (this.f >= 0.5) - (this.h != this.h) * 2, Float16b),
    "some" / Array(-this.count // 3 * (this.count < 0), Float64l),
    "blocks" / Array(this.count & 3 | (this.a == -1), Struct(Const(b"\1\2"), "w" / Int32ul)),
    "key" / NulString(),
    "rest" / IfThenElse(~(this.x), Struct("r" / Bytes(this._.count)), Pass),
    "steps"
    / RepeatUntil(
        (obj_.kind != b"go") & (obj_.left <= 0) | (obj_.left == 77),
        Struct("left" / Int8sb, "kind" / NulString(), "of" / Array(2, Int16ub)),
    ),
    "pairs" / Array(2, Struct("in" / Array(this._.count & 1, Struct("z" / Int32sb)), "end" / Byte)),
)

LAYOUTS = {"archive": ARCHIVE, "pictures": PICTURES, "numbers": NUMBERS}
