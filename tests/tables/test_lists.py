"""Lists of files with labels: of Caffe and DALI, and of MXNet."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

import exset
from exset import Findings, FormatError, Manifest, Table, formats
from exset.core.kernels import Engine
from exset.core.source import Source
from exset.grammars.tables.columns import Text
from exset.grammars.tables.labels import labelled
from exset.parsers.tables import file_list, lst
from exset.testing.lists import indexed_files, labelled_files

engines = pytest.mark.parametrize("engine", ["table", "reference"])

NO_BLANK = {"no-label.txt": "cat/1.jpg", "tabs.txt": "cat/1.jpg\t0"}
"""Lines without a blank: Caffe takes all of the line, the model of it all but the last byte."""

CODES = {
    "blank-line.txt": "list-empty-line",
    "crlf.txt": "list-carriage-return",
    "label-word.txt": "list-label",
    "large.txt": "list-label-range",
    "many-labels.txt": "list-labels",
    "no-label.txt": "list-no-label",
    "real.txt": "list-label",
    "tabs.txt": "list-no-label",
    "two-blanks.txt": "list-blanks",
}


def verdicts(folder: Path) -> list[dict[str, str]]:
    with open(folder / "verdicts.tsv", encoding="utf-8", newline="") as file:
        return [*csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)]


@engines
def test_the_corpus_of_file_lists(corpus: Path, engine: Engine) -> None:
    folder = corpus / "interchange/file-lists"
    rows = verdicts(folder)
    assert len(rows) == 12
    for row in rows:
        name, findings = row["path"], Findings()
        source = Source(name, (folder / name).read_bytes())
        table = file_list.parse(source, engine=engine, findings=findings)
        expected = json.loads((folder / row["values"]).read_bytes())["items"]
        if name in NO_BLANK:
            expected = [[NO_BLANK[name], 0]]
        assert [[each["path"], each["label"]] for each in table] == expected, name
        assert [each.code for each in findings] == ([CODES[name]] if name in CODES else []), name


@engines
def test_the_corpus_of_mxnet(corpus: Path, engine: Engine) -> None:
    folder = corpus / "siblings/mxnet"
    rows = [row for row in verdicts(folder) if row["path"].endswith(".lst")]
    assert len(rows) == 10
    for row in rows:
        name, findings = row["path"], Findings()
        source = Source(name, (folder / name).read_bytes())
        table = lst.parse(source, engine=engine, findings=findings)
        items = []
        for each in table:
            labels = np.atleast_1d(each["label"]).astype(np.float32).tolist()
            items.append([each["index"], each["path"], *labels])
        expected = json.loads((folder / row["values"]).read_bytes())["items"]
        expected = [item[:2] + np.array(item[2:], np.float32).tolist() for item in expected]
        assert items == expected, name
        assert bool(findings) == (row["verdict"] == "accept-skipping"), name


@given(labelled_files())
def test_a_file_list_reads_back(table: Table) -> None:
    data = file_list.render(table)
    assert exset.loads(data, format="file_list", findings=Findings()) == table


@given(indexed_files())
def test_a_list_of_mxnet_reads_back(table: Table) -> None:
    data = lst.render(table)
    again = exset.loads(data, format="lst")
    assert isinstance(again, Table)
    assert again == table or table.rows == 0 or lst.render(again) == data


@pytest.mark.parametrize(
    ("line", "path", "label"),
    [
        (b"a b.jpg 3", "a b.jpg", 3),
        (b" 3", "", 3),
        (b"x ", "x", 0),
        (b"x +7", "x", 7),
        (b"x \t7", "x", 7),
        (b"x -", "x", 0),
        (b"x 99999999999999999999999", "x", 2**63 - 1),
        (b"x -99999999999999999999999", "x", 1 - 2**63),
        (b"x 00000000000000000000000001", "x", 1),
    ],
)
@engines
def test_lines(line: bytes, path: str, label: int, engine: Engine) -> None:
    for data in (line, line + b"\n"):
        table = file_list.parse(Source("x", data), engine=engine)
        assert [*table] == [{"path": path, "label": label}]


@pytest.mark.parametrize(
    ("data", "items"),
    [
        (b"", 0),
        (b"1\t2\tx", 1),
        (b"1\t2\tx\r\n2\t3\ty\r3\t1\tz", 3),
        (b" 1 \t 2\t x y \t\t\n", 1),
        (b"1_0\t2_0.5\tx", 1),
        (b"1\t\tx", 0),
        (b"1\t2\t\tx", 0),
        (b"9223372036854775808\t1\tx", 0),
        (b"1\t1\tx\n\n\n2\t1\ty\n", 2),
    ],
)
@engines
def test_lines_of_mxnet(data: bytes, items: int, engine: Engine) -> None:
    assert len(lst.parse(Source("x", data), engine=engine)) == items


def test_labels_of_mxnet() -> None:
    def label(data: bytes) -> object:
        return lst.parse(Source("x", data))["label"].type  # type: ignore[union-attr]

    assert label(b"0\t1.0\tx\n") == "int64"
    assert label(b"0\t1.5\tx\n") == "float32"
    assert label(b"0\tnan\tx\n") == "float32"
    assert label(b"0\t1\t2\tx\n") == "float32[2]"
    assert label(b"0\t1\t2\tx\n1\t1\ty\n") == "list<float32>"


def test_detection() -> None:
    for data in (b"cat/1.jpg 0\n", b"a b.PNG 12", b"x.wav 1\r\n", b"n02/n02_1.JPEG 999\n" * 300):
        assert formats.detect(data[: formats.HEAD], "train.txt").name == "file_list"
    for data in (b"cat/1.jpg cat\n", b"cat/1.jpg\n", b"1 2\n", b"a.jpg 1 2\n"):
        with pytest.raises(FormatError):
            assert formats.detect(data, "train.txt").name != "file_list"
            raise FormatError("another format")
    assert formats.detect(b"", "x.filelist").name == "file_list"
    assert formats.detect(b"0\t1\tx\n", "x.lst").name == "lst"


def files(**columns: object) -> Table:
    return Table.of(columns)


@pytest.mark.parametrize("fmt", ["file_list", "lst"])
def test_what_a_list_cannot_hold(fmt: str) -> None:
    paths, labels = ["a.jpg", "b.jpg"], [0, 1]
    more = files(path=paths, label=labels, weight=[0.5, 1.0])
    with pytest.raises(FormatError) as info:
        exset.dumps(more, format=fmt)
    assert info.value.code == "table-holds"
    findings = Findings()
    data = exset.dumps(more, format=fmt, lossy=True, findings=findings)
    assert data == exset.dumps(files(path=paths, label=labels), format=fmt)
    assert [each.code for each in findings] == ["table-dropped"]
    for wrong in (
        files(path=paths),
        files(label=labels),
        files(path=paths, label=[None, 1]),
        files(path=[None, "x"], label=labels),
        files(path=["a\nb", "c"], label=labels),
        files(path=paths, label=["0", None]),
    ):
        with pytest.raises(FormatError) as info:
            exset.dumps(wrong, format=fmt)
        assert info.value.code == "table-holds"
    large = files(path=paths, label=[0, 2**31])
    if fmt == "file_list":
        with pytest.raises(FormatError):
            exset.dumps(large, format=fmt)
    else:
        assert b"2147483648" in exset.dumps(large, format=fmt)


def test_classes_are_numbered_by_their_bytes() -> None:
    table = files(path=["1.jpg", "2.jpg", "3.jpg"], **{"class": ["dog", "\xe9", "cat"]})
    findings = Findings()
    data = exset.dumps(table, format="file_list", findings=findings)
    assert data == b"1.jpg 1\n2.jpg 2\n3.jpg 0\n"
    assert [each.code for each in findings] == ["list-classes"]
    named = labelled(Text.of(["cat/1.jpg"]), exset.to_table(_manifest(1))["1"], ["cat"])
    exset.dumps(named, format="file_list", findings=(shown := Findings()))
    assert not shown


def _manifest(count: int) -> Manifest:
    return Manifest.of(["FILE", "ASCII_INT"], [(f"{i}.jpg", i) for i in range(count)])


@pytest.mark.parametrize("fmt", ["file_list", "lst"])
def test_manifests_and_lists(fmt: str, tmp_path: Path) -> None:
    manifest = _manifest(3)
    exset.save(manifest, tmp_path / "x.tsv")
    name = tmp_path / f"x.{fmt}"
    exset.convert(tmp_path / "x.tsv", name, to=fmt)
    assert [each["path"] for each in exset.load(name, format=fmt, model=Table)] == [
        "0.jpg",
        "1.jpg",
        "2.jpg",
    ]
    exset.convert(name, tmp_path / "y.tsv", from_format=fmt, to="manifest")
    made = exset.load(tmp_path / "y.tsv", model=Manifest)
    assert sorted(made.types) == ["ASCII_INT", "FILE"]
