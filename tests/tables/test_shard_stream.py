"""Folders of shards in chunks: the chunks, joined, are the table of the folder."""

import json
from pathlib import Path

import numpy as np
import pytest

import exset
from exset import Findings, FormatError, Table, streaming
from exset.runtime.tables import shard_plan

FORMATS = ["mds", "webdataset-shards", "tfrecord-shards"]
every = pytest.mark.parametrize("name", FORMATS)


@pytest.fixture(autouse=True)
def shards_of_few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shard_plan, "DEFAULT_SIZE", 100)


def chunks(path: Path, name: str) -> tuple[list[Table], list[str]]:
    """Return the chunks of a folder, and their findings."""
    findings = Findings()
    with streaming.opened(path, format=name) as folder:
        found = [*folder.stream(findings)]
    tables = [table for table in found if isinstance(table, Table)]
    return tables, [*map(str, findings)]


def check(path: Path, name: str, count: int | None = None) -> Table:
    """Check that chunks give the whole; `count`: how many there are."""
    findings = Findings()
    whole = exset.load(path, format=name, model=Table, findings=findings)
    tables, found = chunks(path, name)
    assert Table.concat(tables) == whole and tables[0].metadata == whole.metadata
    assert found == [*map(str, findings)]
    assert count is None or len(tables) == count
    return whole


@every
@pytest.mark.parametrize("has_sidecar", [True, False])
def test_chunks_are_shards(name: str, has_sidecar: bool, tmp_path: Path) -> None:
    columns = {"a": np.arange(9, dtype=np.int16), "b": [None, *"12345678"]}
    exset.save(Table.of(columns, {"kind": "made"}), tmp_path / "x", format=name)
    if not has_sidecar:
        (tmp_path / "x" / "exset.json").unlink()
    table = check(tmp_path / "x", name)
    assert len(chunks(tmp_path / "x", name)[0]) > 2
    assert (table.types["a"] == "int16") == (has_sidecar or name == "mds")


@every
def test_a_sidecar_that_does_not_fit(name: str, tmp_path: Path) -> None:
    exset.save(Table.of({"a": np.arange(300, 309)}), tmp_path / "x", format=name)
    beside = tmp_path / "x" / "exset.json"
    for columns, rows in (({"a": "int8"}, 9), ({"a": "int16"}, 8), ({"b": "int16"}, 9)):
        beside.write_text(json.dumps({"columns": columns, "rows": rows}))
        assert check(tmp_path / "x", name, 1).types == {"a": "int64"}


@pytest.mark.parametrize("values", [[[[1.0]], [[1.0, 2.0]]], [[1], ["a"]]])
def test_shards_of_different_types(values: list[list[object]], tmp_path: Path) -> None:
    """Lists are read as a whole; for text and numbers the error is that of the whole."""
    for number, each in enumerate(values):
        exset.save(Table.of({"x.id": each}), tmp_path / f"{number}.tfrecord", findings=Findings())
    for beside in tmp_path.glob("*.json"):
        beside.unlink()
    if isinstance(values[0][0], list):
        check(tmp_path, "tfrecord-shards", 1)
        return
    with pytest.raises(FormatError) as whole:
        exset.load(tmp_path)
    with pytest.raises(FormatError) as caught:
        chunks(tmp_path, "tfrecord-shards")
    assert str(caught.value) == str(whole.value)


def test_a_column_that_only_looks_like_one_of_absent_rows(tmp_path: Path) -> None:
    said = np.array([1] * 8 + [2], np.uint8)
    exset.save(Table.of({"a": np.arange(9), "a.said": said}), tmp_path / "x", format="mds")
    (tmp_path / "x" / "exset.json").unlink()
    assert "a.said" in check(tmp_path / "x", "mds", 1).names


def test_conversions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "SMALL", -1)
    exset.save(Table.of({"a": np.arange(9)}), tmp_path / "x", format="tfrecord-shards")
    assert exset.convert(tmp_path / "x", tmp_path / "x.npz") == 9
    pattern = tmp_path / "x" / "shard-{000000..000001}.tfrecord"
    assert 1 < exset.convert(pattern, tmp_path / "y.npz", findings=Findings()) < 9
