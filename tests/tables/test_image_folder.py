"""Folders with a folder for each class, and folders with a metadata file."""

import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import exset
from exset import Findings, FormatError, LimitError, Manifest, Table
from exset.io import folders
from exset.io.folders import Folder
from exset.runtime.tables.image_folder import read
from exset.testing.lists import folders as drawn
from tests.cli.command_line import run
from tests.tables.columns import items

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def make(folder: str, **files: bytes) -> None:
    """Make files; `__` in a name is a slash."""
    for name, data in files.items():
        path = Path(folder, *name.split("__")).with_suffix(".png")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def code_of(function: Any, *args: Any, **options: Any) -> str:
    with pytest.raises(FormatError) as info:
        function(*args, **options)
    assert info.value.code is not None
    return info.value.code


def test_classes_are_sorted_by_bytes() -> None:
    make("in", dog__1=b"1", Zebra__2=b"2", cat__b__3=b"3", cat__4=b"4")
    assert exset.detect("in").name == "imagefolder"
    table = exset.load("in", model=Table)
    assert [*table] == [
        {"path": "Zebra/2.png", "label": 0, "class": "Zebra"},
        {"path": "cat/4.png", "label": 1, "class": "cat"},
        {"path": "cat/b/3.png", "label": 1, "class": "cat"},
        {"path": "dog/1.png", "label": 2, "class": "dog"},
    ]
    assert table.metadata == {
        "files": ["path"],
        "classes": {"label": ["Zebra", "cat", "dog"]},
        "base": "in",
    }
    contents = exset.load("in", contents=True, model=Table)
    assert contents.names == ("file", "file.path", "label", "class")
    assert items(contents["file"]) == [b"2", b"4", b"3", b"1"]
    with pytest.raises(LimitError):
        exset.load("in", contents=True, limits=exset.Limits().with_(max_batch=3))


def test_findings() -> None:
    make("in", cat__1=b"")
    Path("in/cat/notes.txt").write_bytes(b"")
    Path("in/cat/.hidden").write_bytes(b"")
    os.makedirs("in/empty/.x")
    findings = Findings()
    table = exset.load("in", findings=findings)
    assert len(table) == 2
    assert [each.code for each in findings] == ["folder-empty", "folder-suffix"]
    os.mkdir("nothing")
    assert code_of(exset.load, "nothing", format="imagefolder") == "folder-layout"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(drawn())
def test_reads_back(table: Table) -> None:
    name = f"out-{os.urandom(8).hex()}"
    exset.save(table, name, format="imagefolder")
    again = exset.load(name, contents=True, model=Table)
    assert {(each["file.path"], each["label"], each["file"]) for each in again} == {
        (each["file.path"], each["label"], each["file"]) for each in table
    }
    assert again.metadata["classes"] == table.metadata["classes"]


def test_a_folder_and_a_manifest() -> None:
    make("in", cat__1=b"1", dog__2=b"2", dog__a__3=b"3")
    findings = Findings()
    assert exset.convert("in", "x.tsv", to="manifest", findings=findings) == 3
    assert Path("x.tsv").read_bytes() == (
        b"@FILE\tASCII_INT\ncat/1.png\t0\ndog/2.png\t1\ndog/a/3.png\t1\n"
    )
    assert [finding.code for finding in findings] == ["aeon-names"]
    assert exset.convert("x.tsv", "out", to="imagefolder", base="in") == 3
    assert exset.load("out", contents=True).columns == exset.load("in", contents=True).columns  # type: ignore[attr-defined]
    assert exset.convert("in", "copy", to="imagefolder") == 3
    assert exset.diff(exset.load("copy"), exset.load("in")).first == ()
    assert exset.convert("in", "x.txt", to="file_list") == 3
    assert Path("x.txt").read_bytes() == b"cat/1.png 0\ndog/2.png 1\ndog/a/3.png 1\n"
    assert exset.detect("x.txt").name == "file_list"
    exset.convert("x.txt", "again", to="imagefolder", base="in")
    assert exset.load("again").columns == exset.load("in").columns  # type: ignore[attr-defined]
    exset.convert("in", "x.lst")
    exset.convert("x.lst", "third", to="imagefolder", base="in")
    assert exset.load("third").columns == exset.load("in").columns  # type: ignore[attr-defined]


def test_a_manifest_with_contents() -> None:
    make("in", a=PNG, b=PNG + b"2")
    manifest = Manifest.of(["FILE", "ASCII_INT"], [("a.png", 0), ("b.png", 1)])
    table = exset.to_table(manifest, contents=True, base="in")
    exset.save(table, "out", format="imagefolder")
    assert sorted(Folder("out").files()) == ["0/a.png", "1/b.png"]
    bare = Table.of({"image": [PNG, PNG, b"x"], "label": [0, 1, 1]})
    exset.save(bare, "bare", format="imagefolder")
    assert sorted(Folder("bare").files()) == ["0/0.png", "1/1.png", "1/2.txt"]


def test_labels() -> None:
    make("in", a=b"", b=b"")

    def saved(name: str, labels: list[Any], **options: Any) -> list[str]:
        table = Table.of({"path": ["a.png", "b.png"], "label": labels})
        exset.save(table, name, format="imagefolder", base="in", findings=Findings(), **options)
        return sorted(Folder(name).files())

    assert saved("1", [0, 1]) == ["0/a.png", "1/b.png"]
    assert saved("2", ["dog", "cat"], lossy=True) == ["cat/b.png", "dog/a.png"]
    assert code_of(saved, "2b", ["dog", "cat"]) == "table-holds"
    assert saved("3", [10, 0], lossy=True) == ["00/b.png", "10/a.png"]
    assert saved("4", [0.0, 1.0]) == ["0/a.png", "1/b.png"]
    assert code_of(saved, "5", [10, 0]) == "table-holds"
    assert code_of(saved, "6", [0.5, 0]) == "table-holds"
    assert code_of(saved, "7", ["a/b", "c"]) == "table-holds"
    assert code_of(saved, "8", ["..", "c"]) == "table-holds"
    classes = {"files": ["path"], "classes": {"label": ["z", "a"]}}
    table = Table.of({"path": ["a.png", "b.png"], "label": [0, 1]}, classes)
    assert code_of(exset.save, table, "9", format="imagefolder", base="in") == "table-holds"
    exset.save(table, "9", format="imagefolder", base="in", lossy=True, findings=Findings())
    assert exset.load("9", model=Table).metadata["classes"] == {"label": ["a", "z"]}
    gap = table.with_metadata({**classes, "classes": {"label": ["a", "b", "c"]}})
    exset.save(gap, "10", format="imagefolder", base="in")
    assert os.listdir("10/c") == []
    assert exset.load("10", findings=Findings()).metadata == {  # type: ignore[attr-defined]
        "files": ["path"],
        "classes": {"label": ["a", "b", "c"]},
        "base": "10",
    }
    beyond = table.with_metadata({**classes, "classes": {"label": ["a"]}})
    assert code_of(exset.save, beyond, "11", format="imagefolder", base="in") == "table-holds"


def test_names_of_files() -> None:
    make("in", x__a=b"1", y__a=b"2", z=b"3")
    paths = ["x/a.png", "y/a.png", "x/a.png", os.path.abspath("in/z.png"), "../in/z.png"]
    table = Table.of({"path": paths, "label": [0] * 5})
    findings, options = Findings(), {"format": "imagefolder", "base": "in"}
    assert code_of(exset.save, table, "out", **options) == "table-holds"
    exset.save(table, "out", lossy=True, findings=findings, **options)  # type: ignore[arg-type]
    assert [each.code for each in findings] == ["table-dropped", *["folder-renamed"] * 5]
    assert sorted(Folder("out").files()) == [
        "0/a-2.png", "0/a-3.png", "0/a.png", "0/z-2.png", "0/z.png",
    ]  # fmt: skip
    assert Path("out/0/a-2.png").read_bytes() == b"2"


@settings(max_examples=30)
@given(st.permutations(["cat/1.png", "cat/a/2.png", "dog/1.png", "3.png", "4.png"]))
@example(["cat/1.png", "3.png", "cat/a/2.png", "dog/1.png", "4.png"])
def test_the_order_of_rows(paths: list[str]) -> None:
    """The rows come back in their order, or the folder is refused, and reported if lossy."""
    labels = [int(path[0] in "d4") for path in paths]
    classes = [("cat", "dog")[each] for each in labels]
    table = Table.of({"path": paths, "label": labels, "class": classes})
    with TemporaryDirectory() as folder:
        for path in paths:
            Path(folder, "in", path).parent.mkdir(parents=True, exist_ok=True)
            Path(folder, "in", path).write_text(path)
        options: Any = {"format": "imagefolder", "base": f"{folder}/in", "findings": Findings()}
        try:
            exset.save(table, f"{folder}/out", **options)
            is_kept = True
        except FormatError as error:
            assert error.code == "table-holds" and not os.path.exists(f"{folder}/out")
            exset.save(table, f"{folder}/out", lossy=True, **options)
            is_kept = False
        back: Any = exset.load(f"{folder}/out", contents=True)
        assert is_kept == ([each["file"].decode() for each in back] == paths)


@pytest.mark.parametrize("columns", [{"x": [1]}, {"path": [], "label": []}, {"name": ["a"]}])
def test_a_table_without_files(columns: dict[str, list[object]]) -> None:
    table = Table.of(columns)
    assert code_of(exset.save, table, "none", format="imagefolder", lossy=True) == "table-holds"
    assert not os.path.exists("none")


def test_files_that_cannot_be_read() -> None:
    make("in", a=b"1")
    os.mkfifo("in/pipe")
    for wrong in ("nowhere.png", "", "pipe", "a.png/", "."):
        table = Table.of({"path": ["a.png", wrong], "label": [0, 1]})
        assert code_of(exset.save, table, "out", format="imagefolder", base="in") == "folder-file"
        assert not os.path.exists("out")
        findings = Findings()
        options: Any = {"format": "imagefolder", "base": "in", "lossy": True}
        exset.save(table, f"out{len(wrong)}", findings=findings, **options)
        assert {each.code for each in findings} == {"folder-file", "folder-renamed"}
        assert len(exset.load(f"out{len(wrong)}", findings=Findings())) == 1
    table = Table.of({"path": ["../in/a.png"], "label": [0]})
    os.mkdir("root")
    options = {"format": "imagefolder", "base": "in", "root": "root"}
    assert code_of(exset.save, table, "x", **options) == "folder-file"


CSV = b'file_name,text,n,x,class\na.png,"two\nlines",1,0.5,\nsub/b.png,007,,nan,7\n'
LINES = b'{"file_name": "a.png", "boxes": [1, 2], "ok": true}\n\n{"file_name": "sub/b.png"}\n'


def described(name: str, data: bytes) -> tuple[Table, list[str]]:
    make("in", a=b"1", sub__b=b"2")
    Path("in", name).write_bytes(data)
    findings = Findings()
    return exset.load("in", model=Table, findings=findings), [each.code for each in findings]


def test_metadata() -> None:
    table, codes = described("metadata.csv", CSV)
    assert table.types == {
        "file_name": "text", "text": "text", "n": "int64", "x": "float64", "class": "int64",
    }  # fmt: skip
    assert table[0] == {"file_name": "a.png", "text": "two\nlines", "n": 1, "x": 0.5, "class": None}
    assert codes == []
    os.remove("in/metadata.csv")
    table, codes = described("metadata.jsonl", LINES)
    assert table[1] == {"file_name": "sub/b.png", "boxes": None, "ok": None}
    os.remove("in/a.png")
    assert described("metadata.csv", b"file_name\nb.png\n")[1] == ["folder-file"]


@pytest.mark.parametrize(
    ("name", "data", "code"),
    [
        ("metadata.csv", b"", "folder-layout"),
        ("metadata.csv", b"a,b\n1,2\n", "folder-layout"),
        ("metadata.csv", b"file_name,file_name\na,b\n", "folder-layout"),
        ("metadata.csv", b"file_name,x\na.png\n", "folder-layout"),
        ("metadata.csv", b'file_name\n"a\n', "folder-layout"),
        ("metadata.csv", b"file_name\n\xff\n", "folder-layout"),
        ("metadata.jsonl", b"[]\n", "syntax"),
        ("metadata.jsonl", b'{"file_name": 1}\n', "folder-layout"),
        ("metadata.jsonl", b'{"file_name": null}\n', "folder-layout"),
        ("metadata.jsonl", b'{"file_name": "a", "x": [[1, "a"]]}\n', "jsonl-value"),
    ],
)
def test_metadata_that_cannot_be_read(name: str, data: bytes, code: str) -> None:
    assert code_of(described, name, data) == code


def test_metadata_in_parquet() -> None:
    """As `datasets` reads `metadata.parquet`: the columns keep their types."""
    pytest.importorskip("pyarrow")
    make("in", cat__1=b"1")
    columns = {"file_name": ["cat/1.png"], "box": np.zeros((1, 4), np.int16), "text": ["a"]}
    exset.save(Table.of(columns), "in/metadata.parquet")
    table = exset.load("in", model=Table, findings=Findings())
    assert table.types == {"file_name": "text", "box": "int16[4]", "text": "text"}
    assert exset.load("in", model=Table, contents=True)["file"][0] == b"1"
    Path("in/metadata.parquet").write_bytes(b"PAR1")
    assert code_of(exset.load, "in") == "arrow"


@pytest.mark.parametrize("path", ["../x.png", "/etc/passwd", ""])
def test_names_in_metadata_stay_in_the_folder(path: str) -> None:
    if path:
        assert code_of(described, "metadata.csv", f"file_name\n{path}\n".encode()) == "file-name"


def test_metadata_is_written_for_more_columns() -> None:
    make("in", cat__1=b"1", cat__2=b"2")
    table = Table.of({"path": ["cat/1.png", "cat/2.png"], "caption": ["a", None], "x": [0.5, 1.0]})
    exset.save(table, "out", format="imagefolder", base="in")
    again = exset.load("out", model=Table)
    assert [*again] == [
        {"file_name": "cat/1.png", "caption": "a", "x": 0.5},
        {"file_name": "cat/2.png", "caption": None, "x": 1.0},
    ]
    assert sorted(Folder("out").files()) == ["cat/1.png", "cat/2.png", "metadata.jsonl"]
    captions = exset.to_table(Manifest.of(["FILE", "STRING"], [("cat/1.png", "a cat")]), base="in")
    exset.save(captions, "captions", format="imagefolder")
    assert exset.load("captions", model=Table)[0] == {"file_name": "cat/1.png", "1": "a cat"}
    for column in (b"x", float("nan"), [float("nan")]):
        wrong = table.with_columns(more=[column, column])
        assert code_of(exset.save, wrong, "no", format="imagefolder", base="in") == "table-holds"
        findings = Findings()
        name = f"more{type(column).__name__}"
        options: Any = {"format": "imagefolder", "base": "in", "lossy": True}
        exset.save(wrong, name, findings=findings, **options)
        assert findings.count("table-dropped")


def test_the_command_line() -> None:
    make("in", cat__1=b"1", dog__2=b"2")
    assert run("convert", "in", "x.tsv", "--to", "manifest").exit_code == 0
    assert run("convert", "x.tsv", "out", "--to", "imagefolder", "--base", "in").exit_code == 0
    assert run("diff", "in", "out").exit_code == 0
    assert run("validate", "in").stdout == "in: ok\n"
    assert run("info", "in").exit_code == 0
    assert run("convert", "in", "y.tsv", "--to", "manifest", "--contents").exit_code == 0
    assert b"BINARY" in Path("y.tsv").read_bytes()


def test_any_name_of_a_class() -> None:
    os.makedirs(b"in/\xff")
    Path(os.fsdecode(b"in/\xff/1.png")).write_bytes(b"")
    table = read(Folder("in"))
    assert table["path"][0] == b"\xff/1.png"
    with folders.writing("x") as folder:
        folder.write("cat/1.png", b"")
    assert len(exset.load("x")) == 1
