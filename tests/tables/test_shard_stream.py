"""Folders of shards in chunks: the chunks, joined, are the table of the folder."""

import io
import json
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import exset
from exset import Findings, FormatError, Table, streaming
from exset.runtime.tables import sample_chunks, shard_plan
from exset.testing.shards import flat_tables

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


FILES = ["webdataset", "tfrecord"]


def file_chunks(path: Path, name: str, block: int) -> tuple[list[Table] | str, list[str]]:
    """Return the chunks of a file that is read in blocks of some bytes, or the error; findings."""
    findings = Findings()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sample_chunks, "_BLOCK", block)
        try:
            with streaming.opened(path, format=name) as file:
                found = [each for each in file.stream(findings) if isinstance(each, Table)]
        except FormatError as error:
            return str(error), [*map(str, findings)]
    return found, [*map(str, findings)]


def check_file(path: Path, name: str, block: int) -> int:
    """Check that chunks give the whole, or its error; return how many there are."""
    findings = Findings()
    found, said = file_chunks(path, name, block)
    try:
        whole = exset.load(path, format=name, model=Table, findings=findings)
    except FormatError as error:
        assert found == str(error)
        return 0
    assert said == [*map(str, findings)]
    assert not isinstance(found, str)
    assert Table.concat(found) == whole and found[0].metadata == whole.metadata
    return len(found)


@pytest.mark.parametrize("name", FILES)
@settings(max_examples=25, phases=set(Phase) - {Phase.shrink, Phase.explain})
@given(
    table=flat_tables(),
    block=st.integers(1, 900),
    has_sidecar=st.booleans(),
    damage=st.none() | st.tuples(st.floats(0, 1, exclude_max=True), st.integers(1, 255)),
    cut=st.none() | st.floats(0, 1),
)
def test_chunks_of_a_file(
    name: str,
    table: Table,
    block: int,
    has_sidecar: bool,
    damage: tuple[float, int] | None,
    cut: float | None,
) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, "x")
        exset.save(table, path, format=name, lossy=True, findings=Findings())
        if not has_sidecar:
            Path(folder, "x.exset.json").unlink(missing_ok=True)
        data = bytearray(path.read_bytes())
        if damage is not None and data:
            data[int(damage[0] * len(data))] ^= damage[1]
        is_cut = cut is not None and damage is None  # of two faults chunks may find another one
        path.write_bytes(data[: int((cut or 0) * len(data))] if is_cut else data)
        check_file(path, name, block)


@pytest.mark.parametrize("name", FILES)
def test_chunks_of_a_file_are_small(name: str, tmp_path: Path) -> None:
    rows = [[1, 2], [3], [], [4, 5, 6]] * 25
    columns = {"a": np.arange(100, dtype=np.int16), "b": [None, "x", "y", "z"] * 25, "c": rows}
    exset.save(Table.of(columns, {"kind": "made"}), tmp_path / "x", format=name)
    assert check_file(tmp_path / "x", name, 1000) > 3
    (tmp_path / "x.exset.json").unlink()
    assert check_file(tmp_path / "x", name, 1000) > 3


def test_archives_with_long_names_and_keys(tmp_path: Path) -> None:
    """Members of one sample stay together, whatever is between them; names come from headers."""
    names = ["a.txt", "a.cls", "d/", "a.x.npy", f"{'b' * 150}.txt", f"{'b' * 150}.cls", "c.txt"]
    names += ["__meta__/z.txt", "c.cls", "a.txt", "f", "g.txt"]
    path = tmp_path / "x.tar"
    for kind in (tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
        with tarfile.open(path, "w", format=kind) as archive:
            for name in names:
                member = tarfile.TarInfo(name)
                member.type = tarfile.DIRTYPE if name.endswith("/") else tarfile.REGTYPE
                member.size = 0 if name.endswith("/") else 1
                archive.addfile(member, io.BytesIO(b"1"))
        for block in (1, 600, 2000, 5000):
            check_file(path, "webdataset", block)
