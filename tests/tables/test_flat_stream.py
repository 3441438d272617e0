"""NPZ, NPY and HDF5 files in chunks of rows: the chunks, joined, are the table of the file."""

import gzip
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import exset
from exset import Findings, FormatError, Table, formats, streaming
from exset.runtime.tables import flat_stream, hdf5_stream
from exset.testing.tables import tables

R = np.random.default_rng(1)
NUMBERS = {
    "x": R.normal(size=(40, 3)).astype("f4"),
    "y": np.arange(40, dtype=np.uint8),
    "z": np.arange(40) % 3 == 0,
}
WORDS = np.array(["a", "é", "c"] * 13 + ["d"], object)


@pytest.fixture(autouse=True)
def chunks_of_few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flat_stream, "SMALL", -1)
    monkeypatch.setattr(flat_stream, "CHUNK", 60)
    monkeypatch.setattr(hdf5_stream, "SMALL_GROUPS", -1)


def check(path: Path) -> list[Table]:
    """Check that the chunks give the table of the file with its findings; return the chunks."""
    findings, found = Findings(), Findings()
    whole = exset.load(path, model=Table, findings=findings)
    with streaming.opened(path) as file:
        chunks = [each for each in file.stream(found) if isinstance(each, Table)]
    assert Table.concat(chunks) == whole and chunks[0].metadata == whole.metadata
    assert [*map(str, found)] == [*map(str, findings)]
    return chunks


@pytest.mark.parametrize("suffix", [".npz", ".h5", ".lbann.h5"])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(table=tables(max_rows=9), size=st.integers(1, 200))
def test_any_table(
    suffix: str, table: Table, size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flat_stream, "CHUNK", size)
    path = tmp_path / f"x{suffix}"
    options: dict[str, Any] = {"lossy": True} if suffix == ".lbann.h5" else {}
    try:
        exset.save(table, path, findings=Findings(), **options)
    except FormatError:
        return
    check(path)


def npz(path: Path, arrays: dict[str, Any]) -> None:
    np.savez(path, **arrays)


def deflated(path: Path, arrays: dict[str, Any]) -> None:
    np.savez_compressed(path, **arrays)


def h5(path: Path, arrays: dict[str, Any], rows: int | None = None) -> None:
    with h5py.File(path, "w") as file:
        for name, array in arrays.items():
            kind = h5py.string_dtype() if array.dtype == object else array.dtype
            chunks = None if rows is None else (rows, *array.shape[1:])
            filters = None if rows is None else "gzip"
            file.create_dataset(name, data=array, dtype=kind, chunks=chunks, compression=filters)


def in_chunks(path: Path, arrays: dict[str, Any]) -> None:
    h5(path, arrays, 5)


@pytest.mark.parametrize(
    ("write", "arrays", "is_chunked"),
    [
        (npz, NUMBERS, True),
        (deflated, NUMBERS, True),
        (npz, {"a.values": np.arange(60), "a.offsets": np.arange(0, 61, 2)}, True),
        (npz, {"a.values": np.arange(3), "a.offsets": np.array([0, 3, 1, 3] * 9)}, None),
        (npz, {**NUMBERS, "w": np.array(["a"] * 40)}, False),
        (npz, {**NUMBERS, "other": np.arange(3)}, False),
        (npz, {"x": np.asfortranarray(NUMBERS["x"])}, False),
        (npz, {"x": np.zeros((40, 0))}, False),
        (h5, NUMBERS, True),
        (in_chunks, NUMBERS, True),
        (h5, {**NUMBERS, "w": WORDS}, True),
        (h5, {**NUMBERS, "w": np.array([b"a", b"bc"] * 20)}, True),
        (h5, {**NUMBERS, "w": np.array([b"a", b"\xff"] * 20)}, False),
        (h5, {**NUMBERS, "other": np.arange(3)}, False),
        (h5, {"x": np.zeros(40, [("a", "f4"), ("b", "i2")])}, False),
        (h5, {"a": np.arange(40, dtype=">i4"), "b/c": NUMBERS["x"], "b/d": NUMBERS["y"]}, True),
    ],
)
def test_files_of_other_programs(
    write: Callable[..., None], arrays: dict[str, Any], is_chunked: bool | None, tmp_path: Path
) -> None:
    path = tmp_path / ("x.npz" if write in (npz, deflated) else "x.h5")
    write(path, arrays)
    if is_chunked is None:
        with pytest.raises(FormatError):
            check(path)
    else:
        assert (len(check(path)) > 3) == is_chunked


def test_one_array(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", NUMBERS["x"])
    assert len(check(tmp_path / "x.npy")) > 3


def test_scales_with_labels(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["x"] = NUMBERS["x"]
        file["row"] = np.arange(40)
        file["row"].make_scale("row")
        file["x"].dims[0].attach_scale(file["row"])
    assert len(check(tmp_path / "x.h5")) > 3


@pytest.mark.parametrize("odd", ["ragged", "missing", "text", "not UTF-8", "other dtype"])
def test_groups(odd: str, tmp_path: Path) -> None:
    with h5py.File(tmp_path / "x.h5", "w") as file:
        for number in range(30):
            group = file.create_group(f"run/{number:03}")
            group["x"] = np.arange(2 + number * (odd == "ragged"), dtype=np.float32)
            if not (number % 2 and odd == "missing"):
                group["y"] = "text" if odd == "text" else np.int64(number)
            if odd == "not UTF-8":
                group["z"] = b"\xff" if number == 20 else b"a"
            if odd == "other dtype" and number == 20:
                group["y"][...] = 1
                del group["y"]
                group["y"] = np.int8(1)
    if odd == "other dtype":
        with pytest.raises(FormatError, match="int8"), streaming.opened(tmp_path / "x.h5") as file:
            list(file.stream(Findings()))
    else:
        assert (len(check(tmp_path / "x.h5")) > 3) == (odd != "not UTF-8")


def test_damage_after_the_first_chunk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error in a later chunk leaves no file."""
    path = tmp_path / "x.npz"
    np.savez(path, x=np.arange(400.0))
    data = bytearray(path.read_bytes())
    data[-400] ^= 1
    path.write_bytes(data)
    monkeypatch.setattr(streaming, "SMALL", -1)
    with pytest.raises(FormatError, match="damaged"):
        exset.convert(path, tmp_path / "x.csv", findings=Findings())
    assert os.listdir(tmp_path) == ["x.npz"]


@pytest.mark.parametrize("name", ["x.npz", "x.h5", "x.csv", "x.tfrecord", "x.tar", "x.parquet"])
@pytest.mark.parametrize("source", ["pipe", "gz"])
def test_what_cannot_be_read_twice(
    name: str, source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pipe, and compressed data, are converted in chunks, too, by way of a temporary file."""
    if formats.detect(b"", name).needs:
        pytest.importorskip("pyarrow")
    monkeypatch.setattr(streaming, "SMALL", -1)
    table = Table.of({"x": NUMBERS["x"], "y": np.arange(40)})
    exset.save(table, tmp_path / name, findings=Findings())
    data = (tmp_path / name).read_bytes()
    path = tmp_path / f"in-{name}.gz" if source == "gz" else tmp_path / f"in-{name}"
    feeder = threading.Thread(target=lambda: path.write_bytes(data), daemon=True)
    if source == "pipe":
        os.mkfifo(path)
        feeder.start()
    else:
        path.write_bytes(gzip.compress(data))
    assert exset.convert(path, tmp_path / "out.npz", findings=Findings()) == 40
    whole = exset.loads(data, name=name, model=Table, findings=Findings())
    assert exset.load(tmp_path / "out.npz", model=Table) == whole
    if source == "pipe":
        feeder.join(60)
