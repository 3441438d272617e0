"""MDS: real folders, values as mosaicml-streaming has them, and what is written."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import exset
from exset.core.callers import OptionError
from exset.core.errors import Findings, FormatError
from exset.grammars.columns.strings import Strings
from exset.grammars.tables.columns import Lists, Numbers
from exset.grammars.tables.table import Table
from exset.testing.shards import flat_tables
from tests.tables.corpus import rows, verdicts

NOT_READ = ("zip-br", "zip-snappy")
"""Folders that mosaicml-streaming reads: exset has no library for their compression."""
MIXED = ("ndarray-dynamic", "ndarray-wide")
"""Folders with arrays of different dtypes in one column, of which exset keeps the bytes."""


def plain(value: Any) -> Any:
    """Return a value in the form of the corpus."""
    if isinstance(value, bytes):
        return {"hex": value.hex()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, list):
        return [plain(each) for each in value]
    return "nan" if value != value else value


def known(value: Any) -> Any:
    if isinstance(value, dict) and "dtype" in value:
        return value.get("values", value.get("value"))
    return value


@pytest.mark.parametrize("engine", ["auto", "reference"])
def test_corpus(corpus: Path, engine: Any) -> None:
    """All folders of the corpus are read or refused as their verdicts say; see docs/shards.md."""
    folder = corpus / "interchange" / "mds"
    for verdict in verdicts(folder):
        path = folder / verdict.path
        options: dict[str, Any] = {"format": "mds", "findings": Findings(), "engine": engine}
        if verdict.verdict == "refuses-to-write":
            continue
        if verdict.verdict == "reject" or verdict.path in NOT_READ:
            with pytest.raises((FormatError, OSError)):
                exset.load(path, **options)
            continue
        table = exset.load(path, model=Table, **options)
        samples = verdict.values["samples"]
        assert len(table) == len(samples), verdict.path
        if verdict.path in MIXED or verdict.path == "text":
            continue
        for row, sample in enumerate(samples):
            found = {name: plain(each) for name, each in table[row].items() if each is not None}
            assert found == {name: known(each) for name, each in sample.items()}, verdict.path


def test_texts(corpus: Path) -> None:
    table = exset.load(corpus / "interchange/mds/text", model=Table)
    assert table[0]["s"] == "héllo"
    assert table[0]["b"] == b"\x00\xff"
    assert json.loads(table[0]["j"]) == {"a": [1, None, 2.5]}
    assert table[0]["si"] == str(10**30)  # more than 64 bits


@given(flat_tables())
def test_folders_read_back(tmp_path_factory: pytest.TempPathFactory, table: Table) -> None:
    """A folder gives the same table: names, types, order, absent rows and metadata."""
    path = tmp_path_factory.mktemp("m") / "x"
    try:
        exset.save(table, path, format="mds")
    except FormatError as error:
        assert error.code == "table-holds"
        assert not path.exists()
        return
    again = exset.load(path, model=Table)
    assert again == table
    assert again.names == table.names


def test_shards(tmp_path: Path) -> None:
    """Each shard has at most the size asked for; the index has a checksum of each."""
    table = Table.of({"x": np.arange(1000), "s": [f"text {i}" for i in range(1000)]})
    for compression in ("", "zstd", "gz"):
        path = tmp_path / f"x{compression}"
        exset.save(table, path, format="mds", shard_size="2kB", compression=compression)
        index = json.loads((path / "index.json").read_text())
        assert index["version"] == 2
        assert len(index["shards"]) > 10
        for shard in index["shards"]:
            assert shard["raw_data"]["bytes"] <= 2000
            file = shard["zip_data"] or shard["raw_data"]
            assert (path / file["basename"]).stat().st_size == file["bytes"]
            assert set(file["hashes"]) == {"sha256"}
        assert exset.load(path, model=Table) == table


def test_damaged_shards(tmp_path: Path) -> None:
    exset.save(Table.of({"x": [1, 2]}), tmp_path / "x", format="mds")
    shard = tmp_path / "x" / "shard.00000.mds"
    data = bytearray(shard.read_bytes())
    data[-1] ^= 1
    shard.write_bytes(bytes(data))
    with pytest.raises(FormatError) as caught:
        exset.load(tmp_path / "x")
    assert caught.value.code == "mds-hash"


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"column_encodings": ["pkl"], "column_sizes": [None]}, "mds-index"),
        ({"column_encodings": ["ndarray:float32:0"], "column_sizes": [0]}, "mds-index"),
        ({"column_sizes": [4]}, "mds-index"),
        ({"samples": -1}, "mds-index"),
        ({"samples": 3}, "mds-shard"),
        ({"raw_data": {"basename": "../y", "bytes": 1, "hashes": {}}}, "file-name"),
        ({"raw_data": {"basename": "/etc/passwd", "bytes": 1, "hashes": {}}}, "file-name"),
        ({"column_names": ["x", "x"]}, "mds-index"),
    ],
)
def test_errors_of_the_index(tmp_path: Path, change: dict[str, Any], code: str) -> None:
    exset.save(Table.of({"x": [1, 2]}), tmp_path / "x", format="mds")
    path = tmp_path / "x" / "index.json"
    index = json.loads(path.read_text())
    index["shards"][0].update(change)
    path.write_text(json.dumps(index))
    with pytest.raises(FormatError) as caught:
        exset.load(tmp_path / "x")
    assert caught.value.code == code


@pytest.mark.parametrize(
    "columns",
    [
        {"x": [{"a": 1}]},
        {"x": [[1.0], []]},
        {"x": np.empty((2, 0), np.float32)},
        {"x": np.array(["2020-01-01"], "M8[D]")},
        {"x": [1, None], "x.said": [1, 0]},
        {},
        {"x": np.empty(0)},
    ],
)
def test_what_mds_cannot_hold(tmp_path: Path, columns: dict[str, Any]) -> None:
    with pytest.raises(FormatError) as caught:
        exset.save(Table.of(columns), tmp_path / "x", format="mds")
    assert caught.value.code == "table-holds"
    assert not (tmp_path / "x").exists()


def test_byte_order_and_absent_rows(tmp_path: Path) -> None:
    """Big-endian numbers are swapped; absent rows have a column NAME.said."""
    table = Table.of({"x": np.array([1, 2], ">i4"), "y": ["a", None]})
    exset.save(table, tmp_path / "x", format="mds")
    (tmp_path / "x" / "exset.json").unlink()
    index = json.loads((tmp_path / "x" / "index.json").read_text())
    assert index["shards"][0]["column_names"] == ["x", "y", "y.said"]
    assert index["shards"][0]["column_encodings"] == ["int32", "str", "uint8"]
    again = exset.load(tmp_path / "x", model=Table)
    assert again.types == {"x": "int32", "y": "text"}
    assert rows(again, "y") == ["a", None]


def test_lists(tmp_path: Path) -> None:
    items = Numbers.of(np.arange(5, dtype=np.float32))
    table = Table.of({"x": Lists.of(items, np.array([2, 0, 3]), np.array([True, False, True]))})
    exset.save(table, tmp_path / "x", format="mds")
    assert exset.load(tmp_path / "x", model=Table) == table


def test_sizes_in_words(tmp_path: Path) -> None:
    for wrong in ("0", "big", "5GiB", "-1"):
        with pytest.raises(OptionError):
            exset.save(Table.of({"x": [1]}), tmp_path / "x", format="mds", shard_size=wrong)


@pytest.mark.parametrize("name", ["webdataset-shards", "tfrecord-shards"])
def test_folders_of_shards(tmp_path: Path, name: str) -> None:
    """Shards have names by number, a size, an index with checksums, and the metadata."""
    blobs = Strings.of([b"%d" % i * 50 for i in range(300)])
    table = Table.of({"x": np.arange(300, dtype=np.int16), "b": blobs}, {"family": "lens"})
    exset.save(table, path := tmp_path / "x", format=name, shard_size="16kB")
    index = json.loads((path / "index.json").read_text())
    urls = [each["url"] for each in index["shardlist"]]
    suffix = name.partition("-")[0].replace("webdataset", "tar")
    assert urls == [f"shard-{number:06}.{suffix}" for number in range(len(urls))]
    assert sum(each["nsamples"] for each in index["shardlist"]) == 300
    sizes = [(path / url).stat().st_size for url in urls]
    assert sizes == [each["filesize"] for each in index["shardlist"]]
    assert exset.detect(path).name == name
    assert exset.load(path, model=Table) == table
    (path / "index.json").unlink()
    (path / "exset.json").unlink()
    assert exset.load(path, model=Table).rows == 300
    exset.save(table, tmp_path / "y", format=name, shard_size="16kB")
    (tmp_path / "y" / urls[0]).write_bytes((tmp_path / "y" / urls[1]).read_bytes())
    with pytest.raises(FormatError) as caught:
        exset.load(tmp_path / "y")
    assert caught.value.code == "shards-checksum"


@pytest.mark.parametrize("name", ["webdataset-shards", "tfrecord-shards"])
def test_columns_of_shards_may_differ(tmp_path: Path, name: str) -> None:
    suffix = name.partition("-")[0].replace("webdataset", "tar")
    folder = tmp_path / "x"
    folder.mkdir()
    kind = name.partition("-")[0]
    shards: list[dict[str, object]] = [{"a": [1]}, {"b": ["x"]}, {"a": [3], "b": ["y"]}]
    for number, columns in enumerate(shards):
        data = exset.dumps(Table.of(columns), format=kind)
        (folder / f"{number}.{suffix}").write_bytes(data)
    table = exset.load(folder, model=Table)
    found = [{key: each for key, each in row.items() if key != "__key__"} for row in table]
    assert found == [{"a": 1, "b": None}, {"a": None, "b": "x"}, {"a": 3, "b": "y"}]


@given(st.data())
def test_any_bytes(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """Whatever bytes change in a folder: a table, FormatError or OSError."""
    path = tmp_path_factory.mktemp("m") / "x"
    columns = {"x": [[1], [2, 3]], "s": ["a", None], "f": np.zeros((2, 3), np.float32)}
    name = data.draw(st.sampled_from(["mds", "webdataset-shards", "tfrecord-shards"]))
    exset.save(Table.of(columns), path, format=name)
    file = data.draw(st.sampled_from(sorted(each.name for each in path.iterdir())))
    raw = bytearray((path / file).read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(raw)))
        raw[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=4))
    (path / file).write_bytes(bytes(raw))
    if file != "index.json" and name != "mds":
        (path / "index.json").unlink()
    elif file != "index.json":
        index = json.loads((path / "index.json").read_text())
        index["shards"][0]["raw_data"]["hashes"] = {}
        (path / "index.json").write_text(json.dumps(index))
    try:
        table = exset.load(path, model=Table, format=name, findings=Findings())
    except (FormatError, OSError):
        return
    repr(table)
