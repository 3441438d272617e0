"""WebDataset: real archives, values as webdataset has them, and what is written."""

import io
import tarfile
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import exset
from exset.core.errors import Findings, FormatError
from exset.grammars.columns.strings import Strings
from exset.grammars.tables.columns import Lists, Numbers, Text
from exset.grammars.tables.table import Table
from tests.tables.corpus import Verdict, rows, verdicts


def archive(*files: tuple[str, bytes], **options: Any) -> bytes:
    """Return a tar archive as Python writes it."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", **options) as out:
        for name, data in files:
            member = tarfile.TarInfo(name)
            member.size = len(data)
            out.addfile(member, io.BytesIO(data))
    return file.getvalue()


def members(data: bytes) -> list[tarfile.TarInfo]:
    """Return the members of an archive as Python has them."""
    with tarfile.open(fileobj=io.BytesIO(data)) as file:
        return file.getmembers()


def as_webdataset(table: Table) -> list[dict[str, Any]]:
    """Return the samples with their keys and the number of their values."""
    names = (
        rows(table, "__key__")
        if "__key__" in table.columns
        else [f"{i:08d}" for i in range(len(table))]
    )
    rest = [column for name, column in table.columns.items() if name != "__key__"]
    return [
        {"key": names[row], "values": sum(bool(each.present[row]) for each in rest)}
        for row in range(len(table))
    ]


@pytest.mark.parametrize("engine", ["auto", "reference"])
def test_corpus(corpus: Path, engine: Any) -> None:
    """All archives of the corpus have the samples that webdataset has, or its errors."""
    folder = corpus / "interchange" / "webdataset"
    for verdict in verdicts(folder):
        if verdict.verdict == "refuses-to-write":
            continue
        path = folder / verdict.path
        findings = Findings()
        if verdict.verdict == "reject":
            with pytest.raises(FormatError):
                exset.load(path, format="webdataset", findings=findings, engine=engine)
            continue
        table = exset.load(path, model=Table, format="webdataset", findings=findings, engine=engine)
        expected = verdict.values["samples"]
        assert as_webdataset(table) == [
            {"key": each["__key__"], "values": len(each) - 1} for each in expected
        ], verdict.path
        check_values(table, expected, verdict)


def check_values(table: Table, expected: list[dict[str, Any]], verdict: Verdict) -> None:
    for name, column in table.columns.items():
        if name == "__key__" or not isinstance(column, Strings):
            continue
        for row, value in enumerate(Strings.unchecked(**vars(column))):
            if value is None:
                continue
            known = [each for key, each in expected[row].items() if key != "__key__"]
            hexes = [each.get("hex") for each in known]
            sums = [each.get("sha256") for each in known]
            assert value.hex() in hexes or sha256(value).hexdigest() in sums, (verdict.path, name)


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("cut-mid-header.tar", "tar-cut"),
        ("bad-checksum.tar", "tar-checksum"),
        ("junk-after.tar", "tar-after-end"),
        ("concatenated.tar", "tar-after-end"),
        ("dirs-and-links.tar", None),
        ("hidden.tar", "webdataset-skipped"),
        ("meta-files.tar", "webdataset-skipped"),
        ("writer-npz-pyd.tar", "webdataset-pickle"),
    ],
)
def test_damage_that_webdataset_does_not_report(corpus: Path, name: str, code: str | None) -> None:
    findings = Findings()
    exset.load(corpus / "interchange/webdataset" / name, format="webdataset", findings=findings)
    assert [each.code for each in findings] == ([] if code is None else [code])


def test_errors() -> None:
    for data, code in (
        (b"", "tar-cut"),
        (b"a" * 700, "tar-checksum"),
        (archive(("0.txt", b"a" * 600))[:1100], "tar-cut"),
        (archive(("0.txt", b"a"), ("0.TXT", b"b")), "webdataset-duplicate"),
    ):
        with pytest.raises(FormatError) as caught:
            exset.loads(data, format="webdataset")
        assert caught.value.code == code
        assert caught.value.place is not None


def test_keys_again() -> None:
    findings = Findings()
    data = archive(("0.txt", b"a"), ("1.txt", b"b"), ("0.cls", b"1"))
    table = exset.loads(data, model=Table, format="webdataset", findings=findings)
    assert [each.code for each in findings] == ["webdataset-key-again"]
    assert rows(table, "__key__") == ["0", "1", "0"]
    assert rows(table, "cls") == [None, None, 1]


@pytest.mark.parametrize(
    "form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT], ids=str
)
def test_long_names(form: int) -> None:
    name = f"{'d' * 90}/{'k' * 70}.txt"
    table = exset.loads(archive((name, b"a"), format=form), model=Table, format="webdataset")
    assert rows(table, "__key__") == [name[:-4]]
    data = exset.dumps(table, format="webdataset")
    assert [each.name for each in members(data)] == [name]


def test_contents() -> None:
    """The extension, and the content, decide the type of a column."""
    array = io.BytesIO()
    np.save(array, np.arange(6, dtype=">i2").reshape(2, 3))
    table = exset.loads(
        archive(
            ("a.cls", b" 7\n"),
            ("a.label.cls", b"x"),
            ("a.txt", b"\xff"),
            ("a.meta.json", b"{}"),
            ("a.npy", array.getvalue()),
            ("a.pyd", b"\x80\x04."),
            ("a.seg.png", b"?"),
        ),
        model=Table,
        format="webdataset",
        findings=Findings(),
    )
    assert table.types == {
        "__key__": "text",
        "cls": "int64",
        "label": "text",
        "txt": "bytes",
        "meta.json": "text",
        "npy": "int16[2, 3]",
        "pyd": "bytes",
        "seg": "bytes",
    }
    assert table[0]["npy"].tolist() == [[0, 1, 2], [3, 4, 5]]


def test_written_archives_are_reproducible() -> None:
    """No time, no owner: the bytes depend on the table alone; sizes are multiples of 10,240."""
    table = Table.of({"cls": [1, 2], "x": np.zeros((2, 3), np.float32), "txt": ["a", None]})
    data = exset.dumps(table, format="webdataset")
    assert data == exset.dumps(table, format="webdataset")
    assert len(data) % 10_240 == 0
    assert [each.name for each in members(data)] == [
        "00000000.cls", "00000000.txt", "00000000.x.npy", "00000001.cls", "00000001.x.npy",
    ]  # fmt: skip
    for member in members(data):
        assert (member.mtime, member.mode, member.uid, member.uname) == (0, 0o444, 0, "bigdata")
        assert not member.pax_headers


def test_absent_rows_and_names() -> None:
    """A sample without a value has an empty member; upper case is kept in the file sidecar."""
    table = Table.of({"Name": Text.of([None, "b"])})
    data = exset.dumps(table, format="webdataset", findings=(found := Findings()))
    assert [each.code for each in found] == ["table-sidecar"]
    assert [each.name for each in members(data)] == ["00000000.null", "00000001.name.txt"]
    assert exset.loads(data, model=Table, format="webdataset").types == {"name": "text"}


@pytest.mark.parametrize(
    "columns",
    [
        {"a/b": [1]},
        {"a": [1], "A": [2]},
        {"a": [{"b": 1}]},
        {"a": [1, 2], "__key__": ["k", "k"]},
        {"a": [1], "__key__": ["k.1"]},
        {"a": [1], "__key__": [None]},
        {"a": [1], "__key__": [5]},
    ],
)
def test_what_archives_cannot_hold(columns: dict[str, Any]) -> None:
    with pytest.raises(FormatError) as caught:
        exset.dumps(Table.of(columns), format="webdataset")
    assert caught.value.code == "table-holds"
    assert caught.value.place is not None and str(caught.value.place.field).startswith("columns[")


def test_lossy() -> None:
    table = Table.of({"a": [{"b": 1}], "c": [1]})
    data = exset.dumps(table, format="webdataset", lossy=True, findings=(found := Findings()))
    assert [each.code for each in found] == ["table-dropped"]
    assert exset.loads(data, model=Table, format="webdataset").names == ("c",)


def test_lists_of_numbers(tmp_path: Path) -> None:
    table = Table.of({"x": [[1.0, 2.0], None, [3.0]]})
    exset.save(table, tmp_path / "x.tar")
    assert isinstance(exset.load(tmp_path / "x.tar", model=Table)["x"], Lists)
    same = Table.of({"x": Lists.of(Numbers.of(np.arange(4)), np.array([2, 2]))})
    exset.save(same, tmp_path / "y.tar")
    assert exset.load(tmp_path / "y.tar", model=Table) == same


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_webdataset_reads_it(tmp_path: Path) -> None:
    """The package itself gives the same values."""
    webdataset = pytest.importorskip("webdataset")
    x = np.arange(6, dtype=np.float32).reshape(3, 2)
    table = Table.of(
        {"cls": [5, -1, 7], "txt": ["a", "ü", ""], "in.x": x, "bin": [b"1", b"", b"3"]}
    )
    exset.save(table, path := tmp_path / "x.tar")
    loaded = [*webdataset.WebDataset(str(path), shardshuffle=False).decode()]
    assert [each["cls"] for each in loaded] == [5, -1, 7]
    assert [each["txt"] for each in loaded] == ["a", "ü", ""]
    assert [each["bin"] for each in loaded] == [b"1", b"", b"3"]
    assert np.array_equal([each["in.x.npy"] for each in loaded], x)


def test_exset_reads_what_webdataset_writes(tmp_path: Path) -> None:
    webdataset = pytest.importorskip("webdataset")
    path = tmp_path / "x.tar"
    with webdataset.TarWriter(str(path)) as out:
        for i in range(3):
            out.write({"__key__": f"k{i}", "cls": i, "npy": np.full(2, i), "txt": f"t{i}"})
    table = exset.load(path, model=Table)
    assert rows(table, "cls") == [0, 1, 2]
    assert rows(table, "txt") == ["t0", "t1", "t2"]
    assert np.array_equal(table["npy"].values, [[0, 0], [1, 1], [2, 2]])  # type: ignore[union-attr]


def test_tgz(tmp_path: Path) -> None:
    """A name that ends in `.tgz` is that of a compressed archive."""
    table = Table.of({"label": [1, 2], "x": np.zeros((2, 3), np.float32)})
    path = tmp_path / "x.tgz"
    exset.save(table, path)
    assert path.read_bytes()[:2] == b"\x1f\x8b" and exset.load(path) == table
    assert exset.detect(path).name == "webdataset"
    assert exset.load(tmp_path, format="webdataset-shards", findings=Findings()) == table
    path.write_bytes(b"no archive")
    with pytest.raises(FormatError, match="not gzip data"):
        exset.load(path)
