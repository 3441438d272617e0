"""Layouts of users: Construct and exset accept the same files, and give the same tables."""

from pathlib import Path

import construct as cs
import numpy as np
import pytest
from construct import this

import exset
from exset import FormatError
from exset.codecs.custom.layout import Layout
from exset.codecs.custom.text import Encoding
from exset.core.kernels import Engine
from exset.grammars.columns.strings import Strings
from exset.grammars.tables.table import Table
from tests.codecs.drawn_files import Drawing, compare, plain, table_rows

POINT = cs.Struct("x" / cs.Int16ub, "y" / cs.Float32l)
BYTE = cs.Bytes(1)
LAYOUTS = {
    "numbers": cs.Struct("a" / cs.Int8sb, "b" / cs.Float64b, "c" / cs.Int64ul, "d" / cs.Flag),
    "one number": cs.Int32ub,
    "an array of arrays": cs.Struct(
        "n" / cs.Int8ub,
        "rows" / cs.Array(this.n, cs.Struct("m" / cs.Int8ub, "v" / cs.Array(this.m, cs.Int16ul))),
    ),
    "records in records": cs.Struct(
        "n" / cs.Int8ub,
        "a"
        / cs.Array(
            this.n,
            cs.Struct(
                "k" / cs.Int8ub,
                "b" / cs.Array(this.k, POINT),
                "h" / cs.If(this.k > 2, cs.Array(this.k - 1, POINT)),
            ),
        ),
    ),
    "enum": cs.Struct(
        "kind" / cs.Enum(cs.Int8ub, a=1, b=2), "f" / cs.FlagsEnum(cs.Int8ub, x=1, y=4)
    ),
    "switch": cs.Struct(
        "kind" / cs.Enum(cs.Int8ub, point=1, name=2),
        "body" / cs.Switch(this.kind, {"point": POINT, "name": cs.CString("utf8")}, cs.GreedyBytes),
    ),
    "switch in records": cs.Struct(
        "all"
        / cs.GreedyRange(
            cs.Struct(
                "kind" / cs.Int8ub,
                "body"
                / cs.Switch(
                    lambda this: this.kind,
                    {1: cs.Struct("x" / cs.Int8ub), 2: cs.Struct("x" / cs.Array(2, cs.Int8ub))},
                ),
            )
        )
    ),
    "if": cs.Struct(
        "all"
        / cs.GreedyRange(
            cs.Struct(
                "n" / cs.Int8ub,
                "a" / cs.If(this.n > 3, cs.Int16ub),
                "b" / cs.IfThenElse(lambda c: c["n"] == 1, BYTE, cs.Array(this.n, cs.Int8ub)),
                "c" / cs.If(this.n == 0, cs.PrefixedArray(cs.Int8ub, POINT)),
                "d" / cs.If(this.n < 2, cs.PascalString(cs.Int8ub, "ascii")),
            )
        )
    ),
    "texts": cs.Struct(
        "a" / cs.CString("ascii"),
        "b" / cs.PaddedString(6, "utf8"),
        "c" / cs.PascalString(cs.Int8ub, "utf-16-le"),
        "n" / cs.Int8ub,
        "d" / cs.PaddedString(this.n, "utf-16-be"),
        "e" / cs.GreedyString("utf8"),
    ),
    "lists of texts": cs.Struct(
        "a" / cs.Array(2, cs.CString("utf8")),
        "b" / cs.PrefixedArray(cs.Int8ub, cs.Bytes(3)),
        "c" / cs.GreedyRange(cs.PaddedString(2, "ascii")),
    ),
    "bytes": cs.Struct(
        "a" / cs.Prefixed(cs.Int8ub, cs.GreedyBytes),
        "b" / cs.Prefixed(cs.Int16ul, cs.GreedyBytes, includelength=True),
        "c" / cs.NullTerminated(cs.GreedyBytes),
        "d" / cs.FixedSized(3, cs.NullStripped(cs.GreedyBytes)),
    ),
    "padding": cs.Struct(
        cs.Const(b"AB"),
        "version" / cs.Const(3, cs.Int16ul),
        cs.Padding(2),
        "x" / cs.Aligned(4, cs.Bytes(3)),
        cs.Int8ub,
        "size" / cs.Array(this.version, cs.Int8ub),
    ),
    "computed": cs.Struct(
        "n" / cs.Int8ub,
        "twice" / cs.Computed(this.n * 2),
        "v" / cs.Array(this.twice, cs.Int8ub),
        "w" / cs.Array(lambda ctx: ctx.n % 3, cs.Int8ub),
        cs.Check(this.n != 5),
        cs.Check(lambda ctx: ctx.n < 40),
    ),
    "numbers to the end": cs.Struct("n" / cs.Int8ub, "v" / cs.GreedyRange(cs.Int32ub)),
    "until": cs.Struct("r" / cs.RepeatUntil(cs.obj_.x == 2, cs.Struct("x" / cs.Int8ub))),
    "rebuilt": cs.Struct(
        "size" / cs.Rebuild(cs.Int16ul, cs.len_(this.v) * 2 + 2),
        "v" / cs.Array((this.size - 2) // 2, cs.Int8ub),
        "count" / cs.Rebuild(cs.Int8ub, cs.len_(this.p)),
        "p" / cs.Array(this.count, POINT),
    ),
    "packets": cs.GreedyRange(
        cs.Struct("magic" / cs.Const(b"P"), "n" / cs.Int8ub, "data" / cs.Bytes(this.n))
    ),
    "compiled": cs.Struct("n" / cs.Int8ub, "v" / cs.Array(this.n, cs.Int16ub)).compile(),
}  # fmt: skip
COMPILED = {name: exset.compile_layout(declared) for name, declared in LAYOUTS.items()}


@pytest.mark.parametrize("name", LAYOUTS)
def test_the_values_of_construct(name: str) -> None:
    accepted = sum(
        compare(LAYOUTS[name], COMPILED[name], data)
        for data in Drawing(COMPILED[name], 1).files(120)
    )
    assert accepted > 15


@pytest.mark.parametrize("name", LAYOUTS)
def test_write_is_the_inverse_of_read(name: str) -> None:
    layout = COMPILED[name]
    for data in Drawing(layout, 2).files(30):
        try:
            columns = layout.read(data)
        except FormatError:
            continue
        written = layout.write(columns)
        again = layout.read(written)
        assert layout.write(again) == written
        for table in columns if name != "rebuilt" else ():  # its sizes are computed again
            assert table_rows(again, table) == table_rows(columns, table)


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_file_in_chunks(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The chunks together are the file, or the last one raises an error as `read` does."""
    monkeypatch.setattr("exset.codecs.custom.streaming._WINDOW", 5)
    monkeypatch.setattr("exset.io.files._CHUNK", 3)
    layout, path = COMPILED[name], folder / "file"
    for data in Drawing(layout, 3).files(30):
        path.write_bytes(data)
        try:
            columns = layout.load(path)
        except FormatError:
            with pytest.raises(FormatError):
                _ = list(layout.stream(path))
            continue
        chunks = list(layout.stream(path))
        assert chunks[-1].end == columns.end
        assert str(chunks[-1].stopped) == str(columns.stopped)
        for table in columns:
            found = [table_rows(chunk, table) for chunk in chunks]
            own = {"parent"} if table != "root" else set[str]()
            starts = np.concatenate([chunk.starts(table) for chunk in chunks])
            assert table == "root" or starts.tolist() == columns.starts(table).tolist()
            rows = found[0] if table == "root" else [row for each in found for row in each]
            assert [without(own, row) for row in rows] == [
                without(own, row) for row in table_rows(columns, table)
            ]


def without(names: set[str], row: dict[str, object]) -> dict[str, object]:
    """Return a row without some columns."""
    return {key: value for key, value in row.items() if key not in names}


REFUSED = {
    "BytesInteger; write a number of 1": cs.Struct("a" / cs.Int24ub),
    "VarInt; write a number of fixed": cs.Struct("a" / cs.VarInt),
    "write the whole number": cs.Struct("a" / cs.BitStruct("x" / cs.Nibble, "y" / cs.Nibble)),
    "Sequence; write a Struct": cs.Struct("a" / cs.Sequence(cs.Int8ub, cs.Int8ub)),
    "Select; write If": cs.Struct("a" / cs.Optional(cs.Int8ub)),
    "Union; write If": cs.Struct("a" / cs.Union(0, "x" / cs.Int8ub)),
    "Peek; write If": cs.Struct("a" / cs.Peek(cs.Int8ub)),
    "StopIf; write If": cs.Struct("a" / cs.Int8ub, cs.StopIf(this.a == 0)),
    "Pointer; read the bytes": cs.Struct("a" / cs.Pointer(8, cs.Int8ub)),
    "Seek; write Padding": cs.Struct(cs.Seek(4)),
    "Tell; leave it out": cs.Struct("a" / cs.Tell),
    "Terminated; leave it out": cs.Struct("a" / cs.Int8ub, cs.Terminated),
    "RawCopy; write the construct": cs.Struct("a" / cs.RawCopy(cs.Int8ub)),
    "Compressed; write Bytes": cs.Struct("a" / cs.Compressed(cs.GreedyBytes, "zlib")),
    "Lazy; write the construct": cs.Struct("a" / cs.Lazy(cs.Int8ub)),
    "ExprAdapter; write the construct inside": cs.Struct(
        "a" / cs.ExprAdapter(cs.Int8ub, lambda o, c: o, lambda o, c: o)
    ),
    "two fields have this name": cs.Struct("a" / cs.Int8ub, "a" / cs.Int8ub),
    "cannot contain Array; write a Struct": cs.Struct("a" / cs.Array(2, cs.Int8ub[3])),
    "GreedyRange must be the last field": cs.Struct(
        "a" / cs.GreedyRange(POINT), "b" / cs.Int8ub
    ),
    "cannot run this function; write the expression": cs.Struct(
        "n" / cs.Int8ub, "a" / cs.Array(lambda this: 1 if this.n else 2, cs.Int8ub)
    ),
    "a declaration cannot have hooks": cs.Struct("n" / (cs.Int8ub * print)),
}  # fmt: skip


@pytest.mark.parametrize("message", REFUSED)
def test_what_the_engine_cannot_run(message: str) -> None:
    with pytest.raises(TypeError, match=message):
        exset.compile_layout(REFUSED[message])


def test_tables() -> None:
    layout = COMPILED["records in records"]
    columns = layout.read(bytes.fromhex("02 01 0001 00000040 00"))
    assert layout.explain().splitlines() == [
        "root",
        "    n: uint8, one",
        "a, in root",
        "    k: uint8, one",
        "a.b, in a",
        "    x: uint16, one",
        "    y: float32, one",
        "a.h, in a",
        "    x: uint16, one",
        "    y: float32, one",
    ]
    assert repr(columns) == "Columns(root: 1, a: 2, a.b: 1, a.h: 0 rows)"
    assert table_rows(columns, "a.b") == [{"x": 1, "y": repr(2.0), "parent": 0}]


def test_computed_counts_are_written() -> None:
    layout = COMPILED["rebuilt"]
    columns = dict(layout.read(layout.write(layout.read(bytes.fromhex("0400 01 00")))))
    columns["root"] = Table.of({"size": [0], "v": [[7, 8, 9]], "count": [0]})
    columns["p"] = Table.of({"x": [1, 2], "y": [0.5, 1.5], "parent": [0, 0]})
    data = layout.write(columns)
    assert data[:6].hex() == "080007080902"
    assert table_rows(layout.read(data), "p")[1]["x"] == 2


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("numbers", b"\1\2", "byte 1 (b): the data end inside the field `b`"),
        ("records in records", b"\1\4", "byte 1 (a[0].k): k is 4, more than the remaining bytes"),
        ("texts", b"\xff\0" + bytes(9), "byte 0 (a): a is not ascii"),
        ("padding", b"AB\4\0", "byte 2 (version): version must be 3"),
    ],
)
def test_errors(name: str, data: bytes, message: str) -> None:
    with pytest.raises(FormatError) as error:
        COMPILED[name].read(data, name="file")
    assert message in str(error.value)


def test_values_that_cannot_be_written() -> None:
    number, texts = COMPILED["numbers"], COMPILED["texts"]
    values = {"a": [200], "b": [1.0], "c": [1], "d": [True]}
    with pytest.raises(ValueError, match="a: 200 does not fit in int8"):
        number.write({"root": Table.of(values)})
    with pytest.raises(ValueError, match="has no column 'd'"):
        number.write({"root": Table.of({"a": [1], "b": [1.0], "c": [1]})})
    with pytest.raises(ValueError, match="b: row 0 has 7 bytes, more than 6"):
        texts.write({"root": Table.of({"a": ["x"], "b": ["1234567"], "c": [""], "n": [0],
                                       "d": [""], "e": [""]})})  # fmt: skip
    with pytest.raises(ValueError, match="there is no table 'root'"):
        number.write({})


def test_absent_values_are_in_the_rows_of_the_layout() -> None:
    layout = COMPILED["if"]
    columns = dict(layout.read(bytes.fromhex("04 0001 01020304 02 0a0b")))
    assert [row["a"] for row in columns["all"]] == [1, None]
    changed = dict(columns["all"].columns)
    changed["a"] = Table.of({"a": [None, 1]})["a"]
    columns["all"] = Table(changed, 2, {})
    with pytest.raises(ValueError, match=r"all\.a: a row has a value where the layout has none"):
        layout.write(columns)


@pytest.mark.parametrize("unit", [1, 2, 4])
def test_zeros_at_the_end(unit: int) -> None:
    """Zeros are removed as Construct removes them."""
    rng = np.random.default_rng(unit)
    rows = [rng.choice([0, 0, 0, 1], size).astype(np.uint8).tobytes() for size in range(12)] * 9
    inner = cs.NullStripped(cs.GreedyBytes, pad=bytes(unit))
    found, wrong = Encoding("", unit).decode(Strings.of(rows))
    assert wrong is None and found.tolist() == [inner.parse(row) for row in rows]


def test_numbers_of_any_size() -> None:
    """An expression of more than 64 bits lets Construct read."""
    layout = exset.compile_layout(
        cs.Struct("n" / cs.Int64ub, cs.Check(this.n * 4 > 2**65), "x" / cs.Int8ub)
    )
    assert plain(layout.read(b"\xff" * 9)["root"][0]["x"]) == 255
    assert isinstance(layout, Layout) and repr(layout) == "Layout(root)"


CASES = cs.Struct(
    "all"
    / cs.GreedyRange(
        cs.Struct(
            "kind" / cs.Int8ub,
            cs.Check(this.kind < 9),
            "body"
            / cs.Switch(
                this.kind,
                {1: cs.Struct("size" / cs.Int16ub), 2: cs.Struct("size" / cs.Int8ub)},
            ),
        )
    )
)


@pytest.mark.parametrize("engine", ["table", "reference"])
def test_records_up_to_the_first_wrong_one(engine: Engine) -> None:
    layout = exset.compile_layout(CASES)
    columns = layout.read(b"\1\0\7\2\5\1\0\x08\x10\0", engine=engine)
    assert columns.starts("all").tolist() == [0, 3, 5] and columns.starts("root").tolist() == [0]
    assert [*columns.joined("all", "size")] == [7, 5, 8]
    assert columns.end == 8 and columns.stopped is not None
    assert "must be less than 9" in str(columns.stopped)
    assert layout.read(b"\2\5", engine=engine).stopped is None


def test_what_may_be_left_out() -> None:
    """Columns without values, tables of absent arrays, `parent` and an empty root."""
    table = Table.of({"kind": [2, 1], "body.1.size": [None, 3], "body.2.size": [4, None]})
    without = Table.of({"kind": [2], "body.2.size": [4]})
    layout = exset.compile_layout(CASES)
    assert layout.write({"all": table}) == b"\2\4\1\0\3"
    assert layout.write({"all": without}) == b"\2\4"
    with pytest.raises(ValueError, match="0 values, but at least 1"):
        layout.write({"all": Table.of({"kind": [1]})})
    with pytest.raises(ValueError, match="has no column 'kind'"):
        layout.write({"all": Table.of({"body.2.size": [4]})})
    nested = exset.compile_layout(
        cs.Struct("n" / cs.Int8ub, "a" / cs.If(this.n > 1, cs.Array(this.n, POINT)))
    )
    assert nested.write({"root": Table.of({"n": [1]})}) == b"\1"


@pytest.mark.parametrize("engine", ["table", "reference"])
def test_a_part_of_a_file(engine: Engine, folder: Path) -> None:
    """Little more than the part is read, whatever its counts; errors have the place in the file."""
    layout = exset.compile_layout(
        cs.Struct("n" / cs.Int16ub, "values" / cs.Array(this.n, cs.Int32ub))
    )
    path, size = folder / "file", 4 * 3000
    path.write_bytes(b"xx" + (3000).to_bytes(2, "big") + bytes(size) + b"\xff" * (1 << 20))
    with path.open("rb", buffering=0) as file:
        columns = layout.read_at(file, 2, engine=engine)
        assert columns.end == 2 + size and columns["root"]["n"][0] == 3000
        assert file.tell() < 4 * size
        with pytest.raises(FormatError) as error:
            layout.read_at(file, 2 + size + (1 << 20), name="file", engine=engine)
        place = error.value.place
        assert place and place.span and place.span.start >= 2 + size + (1 << 20)
