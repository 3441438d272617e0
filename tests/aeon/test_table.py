"""Tables of manifests, and manifests of tables."""

import os
from base64 import b64encode
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import exset
from exset import Findings, FormatError, Manifest, Table
from exset.grammars.aeon.block import Block
from exset.grammars.aeon.manifest_types import NUMBER_DTYPES, Dialect, ElementType
from exset.grammars.columns.strings import Strings
from exset.grammars.tables.columns import Numbers, TableColumn, Text
from exset.grammars.tables.labels import labelled
from exset.runtime.aeon.cache_build import build
from exset.runtime.aeon.cache_plan import Plan
from exset.runtime.aeon.elements import elements, encoded
from exset.testing.aeon import manifests
from tests.cli.command_line import run
from tests.tables.columns import items

MANIFEST = Manifest.of(
    ["FILE", "STRING", "BINARY", "ASCII_INT", "ASCII_FLOAT"],
    [("a/x.jpg", "é", "AAEC", "7", "0.5"), ("b.jpg", b"\xff", "", "-1", "nan")],
)


def refused(table: Table, **options: Any) -> str:
    """Return the place of the refusal of a table."""
    with pytest.raises(FormatError) as info:
        exset.from_table(table, family="aeon", **options)
    assert info.value.code == "table-holds"
    assert info.value.place is not None
    return str(info.value.place.field)


def test_types_of_columns() -> None:
    table = exset.to_table(MANIFEST)
    assert table.types == {"0": "text", "1": "bytes", "2": "bytes", "3": "int32", "4": "float32"}
    assert table[0] == {"0": "a/x.jpg", "1": "é".encode(), "2": b"\0\1\2", "3": 7, "4": 0.5}
    assert table.metadata == {
        "family": "aeon",
        "version": 1,
        "level": "meant",
        "kind": "manifest",
        "types": [*MANIFEST.types],
        "names": ["0", "1", "2", "3", "4"],
        "dialect": "head",
        "files": ["0"],
    }
    assert exset.from_table(table) == MANIFEST


def test_names() -> None:
    names = ["image", "text", "raw", "label", "weight"]
    table = exset.to_table(MANIFEST, names=names)
    assert [*table.columns] == names
    assert exset.from_table(table) == MANIFEST
    with pytest.raises(ValueError, match="expected 5 names"):
        exset.to_table(MANIFEST, names=["a"])
    with pytest.raises(ValueError, match="two columns"):
        odd = Manifest.of(["ASCII_INT", "STRING"], [("07", "x")])
        exset.to_table(odd, level="said", names=["a", "a.text"])


def test_a_broken_element_is_absent() -> None:
    findings = Findings()
    broken = Manifest.of(["ASCII_INT", "BINARY", "STRING"], [("x", "A", "a"), ("1", "AAEC", "b")])
    table = exset.to_table(broken, findings=findings)
    assert table[0] == {"0": None, "1": None, "2": "a"}
    assert [finding.code for finding in findings] == ["aeon-absent", "aeon-absent"]
    assert refused(table) == "columns['0'][0]"
    dropped = Findings()
    model = exset.from_table(table, lossy=True, findings=dropped)
    assert [*model] == [(b"1", b"AAEC", b"b")]
    assert dropped.count("table-dropped") == 2
    said = exset.to_table(broken, level="said", findings=findings)
    assert said[0] == {"0": None, "0.text": "x", "1": None, "1.text": "A", "2": "a"}
    assert exset.from_table(said) == broken


def test_as_said() -> None:
    made = Manifest.of(["ASCII_INT", "ASCII_FLOAT"], [("7", "0.50"), ("3.99", "1"), ("8", "1")])
    table = exset.to_table(made, level="said", findings=Findings())
    assert [*table.columns] == ["0", "0.text", "1", "1.text"]
    assert items(table["0.text"]) == [None, "3.99", None]
    assert exset.from_table(table) == made
    edited = table.with_columns(**{"0": [7, 4, 8]})
    assert [record[0] for record in exset.from_table(edited)] == [b"7", b"4", b"8"]


@given(manifests())
def test_said_reads_back(manifest: Manifest) -> None:
    table = exset.to_table(manifest, level="said", findings=Findings())
    assert exset.from_table(table, findings=Findings()) == manifest


@given(manifests())
def test_meant_reads_back(manifest: Manifest) -> None:
    """The elements are those of the manifest, which the new one spells in one way."""
    findings = Findings()
    table = exset.to_table(manifest, findings=findings)
    made = exset.from_table(table, lossy=True, findings=Findings())
    broken = {
        error.record
        for column in range(len(manifest.types))
        for error in elements(manifest, column).errors
    }
    assert findings.count("aeon-absent") >= len(broken)
    kept = [row for row in range(len(manifest)) if row not in broken]
    assert made.types == manifest.types or not kept
    assert not exset.diff(made, manifest.select(kept).narrowed()) or _has_lax_base64(manifest)
    again = exset.to_table(made, findings=Findings())
    for name, column in table.select(kept).columns.items():
        assert not kept or _raw(again[name]) == _raw(column)


def _raw(column: TableColumn) -> object:
    """Return the values of a column; text as bytes: less of it may be UTF-8."""
    if isinstance(column, Strings):
        return [*Strings.unchecked(**vars(column))]
    return column


def _has_lax_base64(manifest: Manifest) -> bool:
    return ElementType.BINARY in manifest.types


@given(st.lists(st.floats(width=32)))
def test_floats_read_back(values: list[float]) -> None:
    """Also denormal numbers, which aeon reads only if they are exact."""
    table = Table.of({"x": np.array(values, np.float32)})
    made = exset.from_table(table, family="aeon")
    again = exset.to_table(made)["0"] if len(made) else table["x"]
    assert np.array_equal(again.values, table["x"].values, equal_nan=True)  # type: ignore[union-attr]


@given(st.lists(st.floats(-3.4e38, 3.4e38)))
def test_doubles_are_rounded_once(values: list[float]) -> None:
    table = Table.of({"x": np.array(values, np.float64)})
    made = exset.from_table(table, family="aeon")
    with np.errstate(over="ignore"):
        rounded = np.array(values).astype(np.float32)
    assert len(made) == 0 or np.array_equal(elements(made, 0).numbers, rounded)


def test_types_of_any_table() -> None:
    table = Table.of(
        {
            "flag": np.array([True, False]),
            "n": np.array([1, 2], np.uint64),
            "x": [0.1, 2.5],
            "text": ["a", ""],
            "raw": [b"\0", b"1"],
            "path": ["a.jpg", "b.jpg"],
        }
    )
    made = exset.from_table(table, family="aeon", files=["path"])
    assert made.types == ("ASCII_INT", "ASCII_INT", "ASCII_FLOAT", "STRING", "BINARY", "FILE")
    assert [*made] == [
        (b"1", b"1", b"0.1", b"a", b"AA==", b"a.jpg"),
        (b"0", b"2", b"2.5", b"", b"MQ==", b"b.jpg"),
    ]
    with pytest.raises(ValueError, match="files"):
        exset.from_table(table, family="aeon", files=["nowhere"])


@pytest.mark.parametrize(
    ("column", "place"),
    [
        (np.zeros((2, 3), np.float32), "columns['x']"),
        ([[1], [2, 3]], "columns['x']"),
        ([{"a": 1}, {"a": 2}], "columns['x']"),
        (np.array(["2020-01-01", "2020-01-02"], "M8[D]"), "columns['x']"),
        ([1, 2**31], "columns['x'][1]"),
        (np.array([1, 2**63], np.uint64), "columns['x'][1]"),
        ([1.0, 1e39], "columns['x'][1]"),
        ([None, 1], "columns['x'][0]"),
        ([None, "a"], "columns['x'][0]"),
    ],
)
def test_refusals(column: object, place: str) -> None:
    table = Table.of({"x": column, "label": [1, 2]})
    assert refused(table) == place
    findings = Findings()
    made = exset.from_table(table, family="aeon", lossy=True, findings=findings)
    assert findings.count("table-dropped") == 1
    is_row = place.endswith("1]") or place.endswith("0]")
    assert (len(made), len(made.types)) == ((1, 2) if is_row else (2, 1))


def test_integers_that_pandas_made_floats() -> None:
    table = exset.to_table(MANIFEST)
    floats = Numbers.of(table["3"].values.astype(np.float64))  # type: ignore[union-attr]
    assert exset.from_table(table.with_columns(**{"3": floats})) == MANIFEST


def test_contents(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a/x.jpg").write_bytes(b"\xff\xd8\xff1")
    (tmp_path / "b.jpg").write_bytes(b"\xff\xd8\xff2")
    model = Manifest.of(["FILE", "ASCII_INT"], [("a/x.jpg", "0"), ("b.jpg", "1")])
    table = exset.to_table(model, contents=True, base=tmp_path)
    assert [*table.columns] == ["0.path", "0", "1"]
    assert items(table["0"]) == [b"\xff\xd8\xff1", b"\xff\xd8\xff2"]
    assert refused(table) == "columns['0']"
    assert exset.from_table(table, lossy=True, findings=Findings()) == model
    out = tmp_path / "out"
    assert exset.from_table(table, files_to=out) == model
    assert (out / "a/x.jpg").read_bytes() == b"\xff\xd8\xff1"
    assert [*encoded(model, base=out)] == [*encoded(model, base=tmp_path)]
    with pytest.raises(FileExistsError):
        exset.from_table(table, files_to=out)
    missing = Findings()
    absent = exset.to_table(model, contents=True, base=out / "a", findings=missing)
    assert items(absent["0"]) == [None, None] and missing.count("aeon-absent") == 2
    with pytest.raises(exset.LimitError):
        exset.to_table(
            model, contents=True, base=tmp_path, limits=exset.Limits().with_(max_batch=7)
        )


@pytest.mark.parametrize("column", ["image", "image.bytes"])
def test_files_get_names_by_content(column: str, tmp_path: Path) -> None:
    png = b"\x89PNG\r\n\x1a\n"
    paths = ["x.png", "../y.png", "x.png", "x.png"]
    table = Table.of({column: [png, b"{}", b"", png], "image.path": paths, "n": [1, 2, 3, 4]})
    made = exset.from_table(table, family="aeon", files_to=tmp_path / "out")
    assert made.types == ("FILE", "ASCII_INT")
    names = [record[0] for record in made]
    assert names == [b"x.png", b"0000001.0.json", b"0000002.0.bin", b"x.png"]
    assert (tmp_path / "out/0000001.0.json").read_bytes() == b"{}"
    assert len(os.listdir(tmp_path / "out")) == 3
    bare = table.without_columns("image.path")
    made = exset.from_table(bare, family="aeon", files_to=tmp_path / "other")
    assert next(iter(made))[0] == b"0000000.0.png"


def test_classes() -> None:
    labels = Numbers.of(np.array([1, 0]))
    table = labelled(Text.of(["dog/1.jpg", "cat/2.jpg"]), labels, ["cat", "dog"])
    findings = Findings()
    made = exset.from_table(table, family="aeon", findings=findings)
    assert [*made] == [(b"dog/1.jpg", b"1"), (b"cat/2.jpg", b"0")]
    assert made.types == ("FILE", "ASCII_INT")
    flat = labelled(Text.of(["1.jpg", "2.jpg"]), labels, ["cat", "dog"])
    exset.from_table(flat, family="aeon", findings=findings)
    codes = [finding.code for finding in findings]
    assert codes == ["aeon-names", "aeon-names", "aeon-classes"]
    edited = table.with_columns(**{"class": ["x", "y"]})
    assert len(exset.from_table(edited, family="aeon").types) == 3


def test_dialects() -> None:
    seed = exset.loads(b"@FILE\nx\ta\ty\n", format="manifest", dialect="seed", findings=Findings())
    assert isinstance(seed, Manifest) and seed.width > len(seed.types)
    table = exset.to_table(seed, level="said")
    assert exset.from_table(table) == seed
    assert exset.to_table(seed).types == {"0": "text"}
    named = exset.to_table(Manifest.of(["FILE"], [("x",)], dialect="csv"))
    assert exset.from_table(named).dialect is Dialect.CSV
    wider = named.with_columns(n=[1])
    assert exset.from_table(wider).dialect is Dialect.HEAD
    assert exset.from_table(named, dialect="head").dialect is Dialect.HEAD


def test_numbers_have_the_dtypes_of_aeon() -> None:
    for kind, dtype in NUMBER_DTYPES.items():
        table = exset.to_table(Manifest.of([kind], [("1",)]))
        assert table.types == {"0": np.dtype(dtype).name}


def test_a_block() -> None:
    block = Block.of([(b"\0\1", b"a", b"\7\0\0\0"), (b"", b"\xc3\xa9", b"\1\0\0\0")])
    raw = exset.to_table(block)
    assert raw.types == {"0": "bytes", "1": "bytes", "2": "bytes"}
    assert raw.metadata["kind"] == "block" and raw.metadata["types"] == ["BINARY"] * 3
    assert not exset.diff(exset.from_table(raw), Manifest.of(["BINARY"] * 3, _base64(block)))
    table = exset.to_table(block, types="BINARY,STRING,ASCII_INT", names=["raw", "text", "n"])
    assert table.types == {"raw": "bytes", "text": "text", "n": "int32"}
    assert table[1] == {"raw": b"", "text": "é", "n": 1}
    assert exset.from_table(table).types == ("BINARY", "STRING", "ASCII_INT")
    with pytest.raises(FormatError):
        exset.to_table(block, types="BINARY,ASCII_INT")


def _base64(block: Block) -> list[tuple[bytes, ...]]:
    return [tuple(map(b64encode, record)) for record in block]


def test_blocks_have_the_elements_of_the_manifest() -> None:
    """A table of the block that aeon makes of a manifest has the values of the manifest's table."""
    without = Manifest.of(MANIFEST.types[1:], [record[1:] for record in MANIFEST])
    block = exset.loads(exset.dumps(without, format="block"), format="block")
    table = exset.to_table(block, types=without.types)
    assert table.columns == exset.to_table(without).columns


def test_a_cache(tmp_path: Path) -> None:
    rows = [(f"text {i}", i) for i in range(7)]
    manifest = Manifest.of(["STRING", "ASCII_INT"], rows)
    built = build(Plan.of(manifest, block_size=3), str(tmp_path))
    assert exset.detect(built.folder).name == "cache"
    table = exset.to_table(built.folder, types="STRING,ASCII_INT")
    assert table.columns == exset.to_table(manifest).columns
    block = exset.load(built.folder, model=Block)
    assert len(block) == 7 and block == exset.loads(exset.dumps(block, format="block"))
    assert exset.convert(built.folder, tmp_path / "all.npz") == 7
    with pytest.raises(FormatError) as info:
        exset.save(block, tmp_path / "new", format="cache")
    assert info.value.code == "format"
    (Path(built.folder) / "block_1.cpio").write_bytes(b"\xc7\x71")
    with pytest.raises(FormatError) as info:
        exset.load(built.folder)
    assert info.value.code == "aeon-cache-block"
    os.mkdir(tmp_path / "empty")
    (tmp_path / "empty/cache_complete").touch()
    with pytest.raises(FormatError) as info:
        exset.load(tmp_path / "empty")
    assert info.value.code == "aeon-cache-none"


def test_a_cache_of_a_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of classes, and a table in any file, become a cache directly."""
    monkeypatch.chdir(tmp_path)
    for name in ("cat", "dog"):
        os.makedirs(f"in/{name}")
        Path(f"in/{name}/1.png").write_bytes(name.encode())
    os.mkdir("caches")
    done = run("cache", "build", "in", "caches")
    assert done.exit_code == 0, done.stderr
    [folder] = Path("caches").iterdir()
    records = [[bytes(each) for each in record] for record in exset.load(folder, model=Block)]
    assert records == [[b"cat", b"\0\0\0\0"], [b"dog", b"\1\0\0\0"]]
    exset.save(Table.of({"x": [b"\0", b"1"], "n": [1, 2]}), "x.npz")
    os.mkdir("more")
    assert run("cache", "build", "x.npz", "more").exit_code == 0
    [folder] = Path("more").iterdir()
    assert [record[0] for record in exset.load(folder, model=Block)] == [b"\0", b"1"]
    exset.save(Table.of({"x": np.zeros((2, 3))}), "y.npz")
    assert run("cache", "build", "y.npz", "more").exit_code == 1
