"""The binary engine, with layouts of no format of exset."""

import numpy as np
import pytest
from construct import (
    Aligned,
    Array,
    Byte,
    Bytes,
    Check,
    Const,
    Construct,
    ConstructError,
    Container,
    CString,
    Flag,
    Float32b,
    Float64l,
    GreedyRange,
    IfThenElse,
    Int8sb,
    Int16ub,
    Int32sb,
    Int32ul,
    Padded,
    Pass,
    Pointer,
    Rebuild,
    RepeatUntil,
    Struct,
    VarInt,
    len_,
    obj_,
    this,
)
from hypothesis import given
from hypothesis import strategies as st

from exset.codecs.engine import Fields, Layout, Values, read, write
from exset.codecs.engine.declaration import NulString
from exset.core.errors import FormatError, LimitError
from exset.core.limits import Limits
from exset.core.source import Source
from exset.grammars.columns.ragged import Strings
from tests.peaks import at_most

SHOP = Struct(
    "magic" / Const(b"AB"),
    "num_goods" / Rebuild(Int16ub, len_(this.goods)),
    Check(this.num_goods < 100),
    "goods"
    / Array(
        this.num_goods,
        Struct(
            "name" / NulString(),
            "num_prices" / Int8sb,
            "has_prices" / Flag,
            "prices"
            / IfThenElse(
                this.has_prices,
                Struct("price" / Array(this._.num_prices * (this._.num_prices > 0), Float32b)),
                Pass,
            ),
            "notes" / Array(2, NulString()),
        ),
    ),
    "codes" / Array(2, Int32ul),
    "total" / Struct("sum" / Float64l, Check((this.sum >= 0) | (this.sum < -1))),
)
LAYOUT = Layout(SHOP)
GOODS = [
    b"nut\0" + b"\x02\x01" + b"\x3f\x80\0\0\x40\0\0\0" + b"\0\0",  # 4: two prices
    b"\0" + b"\x03\x00" + b"a\0\0",  # 20: none
    b"xy\0" + b"\xff\x02" + b"\0b\0",  # 26: less than none
]
TAIL = b"\1\0\0\0\xff\xff\xff\xff" + b"\0\0\0\0\0\0\xf0\x3f"
DATA = b"AB\0\3" + b"".join(GOODS) + TAIL


def fields_of(data: bytes, layout: Layout = LAYOUT, **limits: int) -> Fields:
    return read(layout, Source("shop", data), limits=Limits(**limits))


def test_columns() -> None:
    fields = fields_of(DATA + b"left")
    assert fields.strings("goods.name").tolist() == [b"nut", b"", b"xy"]
    assert fields["goods.num_prices"].tolist() == [2, 3, -1]
    assert fields["goods.has_prices"].tolist() == [True, False, True]
    assert fields.reals("goods.prices.price").tolist() == [1.0, 2.0]
    assert fields.strings("goods.notes").tolist() == [b"", b"", b"a", b"", b"", b"b"]
    assert fields["codes"].tolist() == [1, 2**32 - 1]
    numbers = [column for column in fields.values() if isinstance(column, np.ndarray)]
    assert [column.dtype.str for column in numbers] == ["<u2", "|i1", "|b1", "<f4", "<u4", "<f8"]
    assert fields["total.sum"].tolist() == [1.0]
    assert list(fields) == list(LAYOUT.leaves)
    assert len(fields) == 8
    assert fields.end == len(DATA)
    assert repr(fields) == f"Fields(8 columns, {len(DATA)} bytes)"


def test_offsets() -> None:
    fields = fields_of(DATA)
    assert fields.starts["goods"].tolist() == [4, 20, 26]
    assert fields.starts["goods.name"].tolist() == [4, 20, 26]
    assert fields.starts["goods.prices.price"].tolist() == [10, 31]
    assert fields.bounds["goods"].tolist() == [0, 3]
    assert fields.bounds["goods.prices.price"].tolist() == [0, 2, 2]
    assert fields.bounds["goods.notes"].tolist() == [0, 2, 4, 6]
    assert [fields.offset("codes", i) for i in (0, 1)] == [34, 38]
    with pytest.raises(IndexError):
        fields.offset("codes", 2)
    source = Source("shop", DATA)
    places = [("goods.prices.price", 1), ("goods.notes", 3), ("goods.num_prices", 2), ("codes", 1)]
    assert [str(fields.place(source, *place)) for place in places] == [
        "shop: byte 14 (goods[0].prices.price[1])",
        "shop: byte 25 (goods[1].notes[1])",
        "shop: byte 29 (goods[2].num_prices)",
        "shop: byte 38 (codes[1])",
    ]


def test_write_is_the_inverse_of_read() -> None:
    again = DATA.replace(b"\xff\x02", b"\xff\x01")  # a flag is written as 1
    assert write(LAYOUT, fields_of(DATA)) == again
    assert write(LAYOUT, fields_of(again)) == again


BROKEN = [
    (b"", 0, "magic"),
    (b"A", 0, "magic"),
    (b"AC\0\3", 0, "magic"),
    (b"AB\0", 2, "num_goods"),
    (b"AB\0\x64" + DATA, 2, "num_goods"),
    (b"AB\0\3" + bytes(14), 2, "num_goods"),
    (b"AB\0\1nut", 2, "num_goods"),
    (b"AB\0\1nutnut", 4, "goods[0].name"),
    (DATA[:29], 29, "goods[2].num_prices"),
    (DATA[:30], 30, "goods[2].has_prices"),
    (DATA[:8] + b"\5" + DATA[9:29], 8, "goods[0].num_prices"),
    (DATA[:31], 31, "goods[2].notes[0]"),
    (DATA[:33], 32, "goods[2].notes[1]"),
    (DATA[:36], 34, "codes[0]"),
    (DATA[:41], 38, "codes[1]"),
    (DATA[:-1], 42, "total.sum"),
    (DATA[:-2] + b"\xe0\xbf", 42, "total.sum"),
]


@pytest.mark.parametrize(("data", "offset", "path"), BROKEN)
def test_errors(data: bytes, offset: int, path: str) -> None:
    with pytest.raises(FormatError) as caught:
        fields_of(data)
    place = caught.value.place
    assert place is not None and place.span is not None
    assert (place.span.start, place.field) == (offset, path)


def test_long_strings() -> None:
    layout = Layout(Struct("s" / NulString()))
    assert fields_of(b"12345\0", layout, max_name=5).strings("s").tolist() == [b"12345"]
    with pytest.raises(LimitError):
        fields_of(b"12345\0", layout, max_name=4)
    with pytest.raises(FormatError) as caught:
        fields_of(b"12345", layout, max_name=5)
    assert not isinstance(caught.value, LimitError)


@pytest.mark.parametrize("length", [0, 1, 63, 64, 65, 191, 192, 70_000, 1 << 20])
def test_string_of_any_length(length: int) -> None:
    raw = bytes(i % 255 + 1 for i in range(length))
    string = Struct("s" / NulString(), "after" / Byte)
    data = raw + b"\0\7"
    assert string.parse(data) == Container(s=raw, after=7)
    assert string.build({"s": raw, "after": 7}) == data
    assert write(Layout(string), fields_of(data, Layout(string))) == data


def test_a_huge_count_takes_no_memory() -> None:
    layout = Layout(Struct("n" / Int32sb, "x" / Array(this.n * 1_000_000_007, Struct("b" / Byte))))
    with at_most(1 << 20), pytest.raises(FormatError):
        fields_of(b"\x7f\xff\xff\xff" + bytes(1000), layout)


# Each kind of refusal has its message in tests/messages/others.txt; these are further cases.
UNSUPPORTED: list[Construct] = [
    Struct("x" / VarInt),
    Struct("x" / CString("utf8")),
    Struct("x" / GreedyRange(Byte)),
    Struct("x" / Padded(4, Byte)),
    Struct("x" / Pointer(4, Byte)),
    Struct("x" / Const(3, VarInt)),
    Struct("r" / Float32b, "x" / Bytes(this.r)),
    Struct("r" / Float32b, "x" / Array(this.r + 1, Byte)),
    Struct("r" / Float32b, Check(this.r & 1)),
    Struct("x" / RepeatUntil(lambda x, _list, _context: True, Struct("y" / Byte))),
    Struct("n" / Byte, "x" / RepeatUntil(obj_._.n == 1, Struct("y" / Byte))),
    Struct("x" / RepeatUntil(obj_.s == b"", Struct("s" / Bytes(this._.n)))),
    Struct("n" / Byte, "x" / RepeatUntil(obj_.s == b"", Struct("s" / Bytes(this._.n)))),
    Struct("s" / NulString(), Check(this.s == b"x")),
    Struct("n" / Byte, "a" / Struct("x" / Aligned(this._.n, Byte))),
    Struct("n" / Byte, "x" / Array(lambda c: c.n, Byte)),
    Struct("n" / Byte, "x" / Array(this.m, Byte)),
    Struct("x" / Array(this.n, Byte), "n" / Byte),
    Struct("x" / Array(this._.n, Byte)),
    Struct("n" / Byte, "x" / Array(this._params, Byte)),
    Struct("a" / Array(2, Byte), "x" / Array(this.a[0], Byte)),
    Struct("f" / Flag, "a" / IfThenElse(this.f, Byte, Pass), "x" / Array(this.a, Byte)),
    Struct("n" / Byte, "x" / Array(this.n % 0, Byte)),
    Struct("n" / Byte, "x" / Array(len_(this.n), Byte)),
    Struct("n" / Byte, Check(lambda c: True)),
    Struct("n" / Byte, "x" / Array(this.n, Array(2, Byte))),
    Struct("n" / Byte, "x" / Array(this.n, Struct("y" / Array(this._.n, Byte)))),
    Struct(Struct("x" / Byte)),
    Struct("_x" / Byte),
    Struct("a.b" / Byte),
    Struct("f" / Flag, "x" / IfThenElse(this.f, Byte, Int16ub)),
    Struct("n" / Rebuild(Byte, lambda c: 1)),
]


@pytest.mark.parametrize("declaration", UNSUPPORTED)
def test_unsupported_declarations(declaration: Construct) -> None:
    with pytest.raises(TypeError, match=r"^(the layout|[axnr]|[ax]\.[xys]): "):
        Layout(declaration)


def test_arithmetic() -> None:
    count = (this.n * 3 + 1) // 2 % 5 - (this.n > 2) + -this.k
    layout = Layout(Struct("n" / Byte, "k" / Int8sb, "x" / Array(count, Byte), "y" / Byte))
    for n in range(6):
        size = (n * 3 + 1) // 2 % 5 - (n > 2) + 1
        fields = fields_of(bytes([n, 255, *range(size), 9]), layout)
        assert fields["x"].tolist() == list(range(size))
        assert fields["y"].tolist() == [9]


def test_conditions() -> None:
    condition = ~(this.n == 3) & ((this.n <= 5) | (this.n != this.m)) & (this.m >= 1)
    layout = Layout(Struct("n" / Byte, "m" / Byte, "x" / IfThenElse(condition, Byte, Pass)))
    for n, m in [(3, 1), (5, 1), (6, 6), (6, 7), (1, 0)]:
        expected = n != 3 and (n <= 5 or n != m) and m >= 1
        assert len(fields_of(bytes([n, m, 0]), layout)["x"]) == expected


def flattened(value: object, path: str, into: dict[str, list[object]]) -> None:
    """Append the values of a Construct container by path, in file order."""
    if isinstance(value, Container):
        for name, inner in value.items():
            if not name.startswith("_"):
                flattened(inner, f"{path}.{name}" if path else name, into)
    elif isinstance(value, list):
        for inner in value:
            flattened(inner, path, into)
    elif path in into:
        into[path].append(value)


@given(st.binary(max_size=20) | st.binary(max_size=20).map(lambda raw: DATA[: 5 * len(raw)] + raw))
def test_reads_what_construct_reads(data: bytes) -> None:
    try:
        parsed = SHOP.parse(data)
    except ConstructError:
        with pytest.raises(FormatError):
            fields_of(data)
        return
    expected: dict[str, list[object]] = {path: [] for path in LAYOUT.leaves}
    flattened(parsed, "", expected)
    fields = fields_of(data)
    assert repr({path: fields[path].tolist() for path in fields}) == repr(expected)


@given(st.data())
def test_any_change_is_valid_or_a_format_error(data: st.DataObject) -> None:
    changed = bytearray(DATA)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(DATA) - 1))
        changed[at] = data.draw(st.integers(0, 255))
    try:
        fields = fields_of(bytes(changed))
    except FormatError:
        return
    written = write(LAYOUT, fields)
    assert len(written) == fields.end
    assert written == write(LAYOUT, fields_of(written))


def changed(**columns: Values) -> dict[str, Values]:
    renamed = {name.replace("__", "."): column for name, column in columns.items()}
    return {**fields_of(DATA), **renamed}


UNWRITABLE: list[tuple[dict[str, Values], str]] = [
    (changed(goods__other=np.zeros(3, np.int8)), "goods.other"),
    (dict(list(fields_of(DATA).items())[1:]), "num_goods"),
    (changed(codes=np.zeros(2, np.int32)), "codes"),
    (changed(codes=Strings.of(["a", "b"])), "codes"),
    (changed(goods__name=np.zeros(3, np.uint8)), "goods.name"),
    (changed(codes=np.zeros(1, np.uint32)), "codes"),
    (changed(codes=np.zeros(3, np.uint32)), "codes"),
    (changed(goods__name=Strings.of(["a", "b"])), "goods.name"),
]


@pytest.mark.parametrize(("columns", "path"), UNWRITABLE)
def test_columns_that_do_not_fit(columns: dict[str, Values], path: str) -> None:
    with pytest.raises(ValueError, match=path):
        write(LAYOUT, columns)


def test_a_constant_needs_no_name() -> None:
    layout = Layout(Struct(Const(b"A"), "n" / Byte))
    assert write(layout, fields_of(b"A\7", layout)) == b"A\7"
    with pytest.raises(FormatError, match="byte 0: the layout must be"):
        fields_of(b"B", layout)


def test_absent_strings_are_written_empty() -> None:
    layout = Layout(Struct("s" / NulString()))
    assert write(layout, {"s": Strings.empty(1)}) == b"\0"


def test_repr() -> None:
    assert repr(LAYOUT) == "Layout(8 fields, 4 arrays)"
