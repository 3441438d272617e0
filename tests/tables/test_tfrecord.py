"""TFRecord: real files, values as TensorFlow has them, damage, and what is written."""

import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import exset
from exset.codecs.shared.crc32c import crc32c
from exset.codecs.tables.tfrecord import masked
from exset.core.errors import Findings, FormatError
from exset.core.limits import Limits
from exset.grammars.columns.strings import Strings
from exset.grammars.tables.columns import Lists, Numbers, TableColumn
from exset.grammars.tables.table import Table
from tests.tables.corpus import rows, verdicts


def crc(data: bytes) -> bytes:
    made = masked(np.array([crc32c(np.frombuffer(data, np.uint8))], np.uint32))
    return struct.pack("<I", int(made[0]))


def record(data: bytes) -> bytes:
    """Return a record as TensorFlow writes it."""
    length = struct.pack("<Q", len(data))
    return length + crc(length) + data + crc(data)


def field(number: int, data: bytes) -> bytes:
    """Return a field with a length, of fewer than 128 bytes."""
    return bytes([number << 3 | 2, len(data)]) + data


def example(*entries: bytes) -> bytes:
    return record(field(1, b"".join(field(1, each) for each in entries)))


def feature(name: bytes, kind: int, values: bytes) -> bytes:
    return field(1, name) + field(2, field(kind, values))


def features(table: Table, row: int) -> dict[str, Any]:
    """Return the values of a row as lists, in the form of the corpus; absent ones are left out."""
    found = {}
    for name, column in table.columns.items():
        value: Any = column[row]
        if isinstance(column, Numbers) and value is not None:
            value = np.atleast_1d(value)
        elif not isinstance(column, Lists):
            value = [value]
        if column.present[row]:
            found[name] = [_plain(each) for each in value]
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return {"hex": value.hex()}
    if isinstance(value, str):
        return {"hex": value.encode().hex()}
    number = value.item() if isinstance(value, np.generic) else value
    return "nan" if number != number else "inf" if number == float("inf") else number


def corpus_values(expected: dict[str, Any]) -> dict[str, Any]:
    return {name: values for name, (kind, values) in expected.items() if kind is not None}


@pytest.mark.parametrize("engine", ["auto", "reference"])
def test_corpus(corpus: Path, engine: Any) -> None:
    """All files have TensorFlow's values or errors; exset finds compression itself."""
    folder = corpus / "interchange" / "tfrecord"
    for verdict in verdicts(folder):
        path = folder / verdict.path
        records = None if verdict.values is None else verdict.values.get("records")
        is_example = records is not None and not any("not_an_example" in each for each in records)
        is_found = verdict.path.startswith("gzip-unsaid")
        options: dict[str, Any] = {"engine": engine, "format": "tfrecord", "findings": Findings()}
        if not is_found and (verdict.verdict != "accept" or not is_example):
            with pytest.raises(FormatError) as caught:
                exset.load(path, **options)
            assert caught.value.place is not None
            table = exset.load(path, **options, damaged=True)
            sound = [each for each in records or () if "not_an_example" not in each]
            if verdict.path == "bad-data.tfrecord":  # the records after the damaged one
                assert len(table) == 2
                continue
            assert len(table) == len(sound), verdict.path
            continue
        table = exset.load(path, model=Table, **options)
        if records is None:
            assert len(table) == 3
            continue
        for row, each in enumerate(records):
            if "features" in each:
                assert features(table, row) == corpus_values(each["features"]), verdict.path
        assert len(table) == len(records)


def test_a_sequence_example(corpus: Path) -> None:
    path = corpus / "interchange" / "tfrecord" / "lens-sequence-example.tfrecord"
    table = exset.load(path, model=Table)
    assert table.types["input"] == table.types["target"] == "list<float32[2]>"
    assert table[0]["input"].values.tolist() == [[0, 1], [1, 1], [2, 1]]
    assert table[0]["name"] == "ex0"


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (record(b"")[:-1], "tfrecord-ends"),
        (b"x" * 40, "tfrecord-length"),
        (record(b"abc")[:-1] + b"\0", "tfrecord-data"),
        (record(b"\xff"), "tfrecord-example"),
        (example(feature(b"\xff", 3, b"\x08\x01")), "tfrecord-example"),
        (example(feature(b"a", 2, field(1, b"abc"))), "tfrecord-example"),
        (example(feature(b"a", 3, field(1, b"\x80"))), "tfrecord-example"),
        (
            example(feature(b"a", 3, b"\x08\x01")) + example(feature(b"a", 1, field(1, b"x"))),
            "tfrecord-example",
        ),
        (record(b"\x0b\x0c"), "tfrecord-example"),
    ],
)
def test_errors(data: bytes, code: str) -> None:
    for engine in ("auto", "table", "reference"):
        with pytest.raises(FormatError) as caught:
            exset.loads(data, format="tfrecord", engine=engine)
        assert caught.value.code == code
        assert caught.value.place is not None and caught.value.place.span is not None


def test_damaged_records_are_left_out() -> None:
    """A record with damaged data is left out; after a damaged length nothing can be read."""
    good = [example(feature(b"a", 3, bytes([8, i]))) for i in range(4)]
    bad = bytearray(good[1])
    bad[-6] ^= 1
    findings = Findings()
    data = good[0] + bytes(bad) + good[2] + record(b"\xff") + b"x" * 30
    table = exset.loads(data, model=Table, format="tfrecord", findings=findings, damaged=True)
    assert rows(table, "a") == [0, 2]
    assert sorted(each.code for each in findings) == [
        "tfrecord-data", "tfrecord-example", "tfrecord-length",
    ]  # fmt: skip
    findings = Findings()
    exset.loads(good[0] + b"12345", format="tfrecord", findings=findings)
    assert [each.code for each in findings] == ["tfrecord-cut"]


def test_raw_records() -> None:
    data = record(b"\xff") + record(b"")
    table = exset.loads(data, model=Table, format="tfrecord", raw=True)
    assert rows(table, "record") == [b"\xff", b""]


def test_messages() -> None:
    """As Protocol Buffers say: messages join, the last kind and the last entry count."""
    joined = record(field(1, field(1, feature(b"a", 3, b"\x08\x01"))) * 2)
    twice = example(
        field(1, b"a") + field(2, field(3, b"\x08\x05")) + field(2, field(3, b"\x08\x06"))
    )
    kinds = example(field(1, b"a") + field(2, field(1, field(1, b"x")) + field(3, b"\x08\x07")))
    table = exset.loads(joined + twice + kinds, model=Table, format="tfrecord")
    assert [list(each) for each in rows(table, "a")] == [[1], [5, 6], [7]]


def test_an_empty_list_is_no_absent_one() -> None:
    data = example(feature(b"a", 3, b"")) + example() + example(feature(b"a", 3, b"\x08\x01"))
    table = exset.loads(data, model=Table, format="tfrecord")
    assert [None if each is None else list(each) for each in rows(table, "a")] == [[], None, [1]]


def test_zlib() -> None:
    data = example(feature(b"a", 3, b"\x08\x01"))
    assert len(exset.loads(zlib.compress(data), format="tfrecord")) == 1
    with pytest.raises(FormatError) as caught:
        exset.loads(zlib.compress(data * 100)[:-4], format="tfrecord")
    assert caught.value.code == "compression"
    bomb = zlib.compress(bytes(80 << 20), 9)
    with pytest.raises(FormatError) as caught:
        exset.loads(bomb, format="tfrecord", limits=Limits(max_ratio=1))
    assert caught.value.code == "limit"


def nested() -> list[TableColumn]:
    present = np.array([True, False, True])
    lengths = np.array([2, 0, 1])
    floats = np.arange(6, dtype=np.float32).reshape(3, 2)
    return [
        Lists.of(Numbers.of(np.arange(3)), lengths, present),
        Lists.of(Strings.of([b"\xff", b"", b"c"]), lengths, present),
        Lists.of(Numbers.of(floats), lengths, present),
        Lists.of(Lists.of(Numbers.of(np.arange(4)), np.array([1, 0, 3])), lengths, present),
        Lists.of(Numbers.of(np.arange(3)), np.array([1, 1, 1])),
    ]


@pytest.mark.parametrize("column", nested(), ids=lambda column: column.type)
def test_lists_read_back(tmp_path: Path, column: TableColumn) -> None:
    """Lists of arrays and lists of lists become a SequenceExample."""
    table = Table.of({"x": column, "y": [1, None, 3]})
    exset.save(table, path := tmp_path / "x.tfrecord")
    assert exset.load(path, model=Table) == table


@pytest.mark.parametrize(
    "steps",
    [
        Numbers.of(np.arange(3)),
        Strings.of([b"\xff", b"", b"c"]),
        Lists.of(Numbers.of(np.empty(0)), np.zeros(3, np.int64), np.zeros(3, np.bool_)),
    ],
    ids=["one number each", "one string each", "no values"],
)
@pytest.mark.parametrize("counts", [(2, 0, 1), (0, 0, 0)])
def test_a_list_of_features_stays_one(steps: TableColumn, counts: tuple[int, ...]) -> None:
    """Without a sidecar, too, what is read is written as a list of features again."""
    lists = Lists.of(steps, np.ones(3, np.int64)) if not isinstance(steps, Lists) else steps
    column = Lists.of(lists[: sum(counts)], np.array(counts))
    data = exset.dumps(Table.of({"x": column}), format="tfrecord")
    again = exset.loads(data, model=Table, format="tfrecord")
    assert exset.dumps(again, format="tfrecord") == data


@pytest.mark.parametrize(
    "column",
    [
        np.array([0.1]),
        np.array([2**63], np.uint64),
        np.array(["2020-01-01"], "M8[D]"),
        [{"a": 1}],
        Lists.of(Numbers.of(np.arange(2), np.array([True, False])), np.array([2])),
    ],
)
def test_what_features_cannot_hold(column: object) -> None:
    table = Table.of({"a": column, "b": [1]})
    with pytest.raises(FormatError) as caught:
        exset.dumps(table, format="tfrecord")
    assert caught.value.code == "table-holds"
    findings = Findings()
    data = exset.dumps(table, format="tfrecord", lossy=True, findings=findings)
    assert [each.code for each in findings] == ["table-dropped"]
    assert exset.loads(data, model=Table, format="tfrecord").names == ("b",)


def test_files_are_reproducible() -> None:
    """Features are sorted by name; the bytes are those of Protocol Buffers in that order."""
    table = Table.of({"b": [1], "a": ["x"]})
    expected = example(feature(b"a", 1, field(1, b"x")), feature(b"b", 3, field(1, b"\x01")))
    assert exset.dumps(table, format="tfrecord") == expected


@pytest.mark.filterwarnings("ignore")
def test_tfrecord_reads_it(tmp_path: Path) -> None:
    """The pure Python package gives the same values."""
    package = pytest.importorskip("tfrecord")
    x = np.arange(6, dtype=np.float32).reshape(3, 2)
    table = Table.of({"a": [5, -1, 2**62], "s": ["a", "ü", "c"], "x": x})
    exset.save(table, path := tmp_path / "x.tfrecord")
    loaded = list(package.tfrecord_loader(str(path), None))
    assert [each["a"].tolist() for each in loaded] == [[5], [-1], [2**62]]
    assert [each["s"].decode() for each in loaded] == ["a", "ü", "c"]
    assert np.array_equal([each["x"] for each in loaded], x)


@pytest.mark.filterwarnings("ignore")
def test_exset_reads_what_tfrecord_writes(tmp_path: Path) -> None:
    package = pytest.importorskip("tfrecord")
    path = tmp_path / "x.tfrecord"
    writer = package.TFRecordWriter(str(path))
    for i in range(3):
        writer.write({"a": (i, "int"), "s": (b"x%d" % i, "byte"), "f": ([0.5, i], "float")})
    writer.close()
    table = exset.load(path, model=Table)
    assert rows(table, "a") == [0, 1, 2]
    assert rows(table, "s") == ["x0", "x1", "x2"]
    assert np.array_equal(table["f"].values, [[0.5, 0], [0.5, 1], [0.5, 2]])  # type: ignore[union-attr]


@pytest.mark.parametrize("values", [[], [1, 2]])
def test_types_of_nested_lists_come_back(values: list[int], tmp_path: Path) -> None:
    inner = Lists.of(Numbers.of(np.array(values, np.uint32)), np.array([len(values), 0]))
    table = Table.of({"a": Lists.of(inner, np.array([2, 0]))})
    exset.save(table, tmp_path / "x.tfrecord")
    assert exset.load(tmp_path / "x.tfrecord", model=Table) == table
