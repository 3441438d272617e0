"""Tables in HDF5 files: rows on the first axis, or a group for each row."""

import io
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from hypothesis import given

import exset
from exset import Findings, FormatError, Table, formats
from exset.core.errors import LimitError
from exset.core.limits import Limits
from exset.core.source import Source
from exset.grammars.tables.columns import Lists, Numbers, Text
from exset.testing.tables import tables

HDF5, GROUPS = formats.get("hdf5"), formats.get("lbann_hdf5")

ROWS = {
    "inputs.onset": np.arange(6, dtype=np.float32).reshape(3, 2),
    "label": np.array([1, 2, 3], np.int32),
    "is_new": np.array([True, False, True]),
    "name": ["a", None, "é"],
    "date": np.array(["2020-01-01", "NaT", "2021-02-03"], "M8[D]"),
    "data": [b"\xff\0", b"", None],
    "lists": [[1.5, 2.0], None, []],
    "words": [["a", "b"], [], ["c"]],
}


def made(fill: Callable[[Any], object], **options: Any) -> Source:
    out = io.BytesIO()
    with h5py.File(out, "w", **options) as file:
        fill(file)
    return Source("a.h5", out.getvalue())


def read(source: Source, **options: Any) -> tuple[Table, list[str]]:
    findings = Findings()
    table: Any = HDF5.read(source, findings=findings, **options)
    return table, [finding.code for finding in findings]


@given(tables())
def test_every_table_comes_back(table: Table) -> None:
    data = HDF5.write(table)
    assert read(Source("x", data)) == (table, [])
    assert HDF5.write(table) == data
    assert read(Source("x", HDF5.write(table, compress=True))) == (table, [])


@given(tables())
def test_groups_come_back_or_are_refused(table: Table) -> None:
    try:
        data = GROUPS.write(table)
    except FormatError as error:
        assert error.code == "table-holds"
        data, losses = GROUPS.write(table, lossy=True), True
    else:
        losses = False
    back, found = read(Source("x", data))
    assert not found
    assert (back == table) is not losses
    assert GROUPS.read(Source("x", data)) == back


def test_other_programs_read_the_columns() -> None:
    with h5py.File(io.BytesIO(HDF5.write(Table.of(ROWS)))) as file:
        assert file["inputs/onset"].dtype == np.float32
        assert file["inputs/onset"][1].tolist() == [2, 3]
        assert file["is_new"][()].tolist() == [True, False, True]
        assert file["name"].asstr()[()].tolist() == ["a", "", "é"]
        assert file["name.present"][()].tolist() == [True, False, True]
        assert file["lists/values"][()].tolist() == [1.5, 2]
        assert file["lists/offsets"][()].tolist() == [0, 2, 2, 2]
        assert [dim.label or dim[0].name for dim in file["inputs/onset"].dims] == ["/row", "/dim_2"]


def test_xarray_opens_the_file(tmp_path: Path) -> None:
    pytest.importorskip("h5netcdf")
    xarray = pytest.importorskip("xarray")
    exset.save(Table.of({"x": np.eye(3), "name": ["a", "b", "c"]}), tmp_path / "a.h5")
    with xarray.open_dataset(tmp_path / "a.h5", engine="h5netcdf") as found:
        assert found["x"].dims == ("row", "dim_3")
        assert found["name"].values.tolist() == ["a", "b", "c"]


def test_groups_as_lbann_has_them() -> None:
    with h5py.File(io.BytesIO(GROUPS.write(Table.of(ROWS)))) as file:
        sample = file["RUN_ID/000000000"]
        assert sample["inputs/onset"][()].tolist() == [0, 1]
        assert sample["is_new"].dtype == np.uint8 and sample["is_new"][()] == 1
        assert sample["name"].asstr()[()] == "a"
        assert sample["data"][()].tolist() == [255, 0]
        assert sample["words"].asstr()[()].tolist() == ["a", "b"]
        assert "name" not in file["RUN_ID/000000001"]


@pytest.mark.parametrize(
    ("ids", "paths"),
    [
        (["b/2", "b/1", "a/1"], ["b/2", "b/1", "a/1"]),
        (["s", "r", "q"], ["s", "r", "q"]),
        (["b/1", "a/1", "b/2"], None),  # no order of groups has these rows
        (["a", "a", "b"], None),
        (["a", "b/c", "d"], None),
        (["a", "..", "b"], None),
        (["a", "a b", "c"], None),
    ],
)
def test_ids_name_groups(ids: list[str], paths: list[str] | None) -> None:
    table = Table.of({"id": ids, "x": [1, 2, 3]})
    data = GROUPS.write(table)
    assert read(Source("x", data)) == (table, [])
    with h5py.File(io.BytesIO(data)) as file:
        for row, path in enumerate(paths or [f"RUN_ID/{row:09d}" for row in range(3)]):
            assert file[path]["x"][()] == row + 1


def test_the_corpus(corpus: Path) -> None:
    """Each file is read with the values of h5py, by the layout that it has."""
    folder = corpus / "interchange" / "hdf5"
    for path in [*sorted(folder.glob("*.h5")), folder / "xarray.nc"]:
        table, found = read(Source(path.name, path.read_bytes()))
        assert found == (["hdf5-left-out"] if path.suffix == ".nc" else []), path
        values = json.loads((folder / "values" / f"{path.name}.json").read_text())
        columns: dict[str, Any] = {**table.columns}
        for name, column in columns.items():
            stored = values.get(name)
            if stored is None or "Reference" in str(stored) or path.name == "vlen.h5":
                continue
            rows = stored["values"]
            for row, value in enumerate(column):
                expected = rows[row]
                if isinstance(expected, dict):
                    expected = bytes.fromhex(expected["hex"]).decode()
                if isinstance(value, np.ndarray):
                    np.testing.assert_array_equal(value, np.array(expected, value.dtype))
                else:
                    assert value == expected, (path, name, row)
    names = {path.name: read(Source("x", path.read_bytes()))[0] for path in folder.glob("*.h5")}
    assert names["compound.h5"].types == {"t.a": "int32", "t.b": "float64"}
    assert names["vlen.h5"].types == {"units": "list<int32>"}
    assert [*names["vlen.h5"]["units"].lengths] == [2, 0, 1]  # type: ignore[union-attr]
    groups = names["lbann-groups.h5"]
    assert groups["id"][2] == "RUN_ID/000000002" and groups["scalars.label"][2] == 2
    assert groups.types["images.view0"] == "uint8[1, 2, 2]"


def test_columns_of_other_programs() -> None:
    def fill(file: Any) -> None:
        file["x"] = np.arange(3, dtype=">i2")
        file["g/y"] = np.zeros((3, 2), np.float16)
        file["kind"] = np.array([0, 1, 1], h5py.enum_dtype({"a": 0, "b": 1}, "i2"))
        file["pair"] = np.zeros(3, [("a", "i4"), ("inner", [("b", "f8")])])
        file["r.values"], file["r.offsets"] = np.arange(4), [0, 1, 1, 4]
        file["s"] = np.array([[b"a", b"b"]] * 3)

    table, found = read(made(fill))
    assert not found
    assert table.types == {
        "g.y": "float16[2]",
        "kind": "int16",
        "pair.a": "int32",
        "pair.inner.b": "float64",
        "r": "list<int64>",
        "s": "list<text>",
        "x": "int16",
    }


def test_arrays_of_other_lengths_are_one_row() -> None:
    def fill(file: Any) -> None:
        file["x"], file["y"], file["n"] = np.arange(3), np.arange(4), 7
        file["t"] = "text"

    table, found = read(made(fill))
    assert found == ["table-one-row"]
    assert len(table) == 1 and table.types["x"] == "int64[3]" and table[0]["n"] == 7
    assert table[0]["t"] == "text"


def test_what_tables_do_not_have_is_left_out() -> None:
    def fill(file: Any) -> None:
        file["x"] = np.arange(2)
        file["z"] = np.zeros(2, np.complex64)
        file["reference"] = np.array([file["x"].ref] * 2, h5py.ref_dtype)
        file["opaque"] = np.zeros(2, "V3")
        file.create_dataset("lists", (2,), h5py.vlen_dtype(np.dtype("c8")))

    table, found = read(made(fill))
    assert table.names == ("x",) and found == 4 * ["hdf5-left-out"]


def test_two_datasets_of_one_name() -> None:
    def fill(file: Any) -> None:
        file["a/b"], file["a.b"] = [1], [2]

    with pytest.raises(FormatError) as caught:
        read(made(fill))
    assert caught.value.code == "table-names"


def test_a_changed_file_is_read_by_its_types() -> None:
    out = io.BytesIO(HDF5.write(Table.of(ROWS, {"kind": "k"})))
    with h5py.File(out, "a") as file:
        file["more"] = [1, 2, 3]
    table, found = read(Source("x", out.getvalue()))
    assert found[0] == "hdf5-changed" and "more" in table.names and table.metadata == {"kind": "k"}
    out = io.BytesIO(GROUPS.write(Table.of(ROWS)))
    with h5py.File(out, "a") as file:
        file["RUN_ID/000000002/more"] = 1
    table, found = read(Source("x", out.getvalue()))
    assert found == ["hdf5-changed"]
    assert table["more"] == Numbers.of(np.array([0, 0, 1]), np.array([False, False, True]))


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (["x", "y"], ["x", "y"]),
        (["inputs/a", "targets/b"], ["inputs.a", "targets.b"]),
        (["inputs/a", "targets/a"], ["inputs.a", "targets.a"]),
        (["data/x", "data/y"], ["data.x", "data.y"]),
        (["run/0/x"], ["id", "x"]),
        (["a/x", "b/x", "c/x"], ["id", "x"]),
    ],
)
def test_layouts_are_told_apart(paths: list[str], expected: list[str]) -> None:
    def fill(file: Any) -> None:
        for path in paths:
            file[path] = [1.0, 2.0]

    source = made(fill)
    assert [*read(source)[0].names] == expected
    assert len(read(source, layout="rows")[0]) == 2
    if "id" in expected:
        assert read(source, layout="groups") == read(source)


def test_fields_of_groups_may_differ() -> None:
    def fill(file: Any) -> None:
        for row in range(3):
            file[f"r/{row}/x"] = np.zeros(row)
            file[f"r/{row}/image"] = np.zeros((row, 2), np.uint8)
        file["r/1/id"], file["r/note"] = 7, "n"

    table, found = read(made(fill))
    assert found == ["hdf5-left-out"]
    assert [*table["x"].lengths] == [0, 1, 2]  # type: ignore[union-attr]
    assert isinstance(table["image"], Lists) and table[2]["image.shape"].tolist() == [2, 2]
    assert table["id"][1] == 7 and table["sample.id"][1] == "r/1"


def test_a_field_of_two_types() -> None:
    def fill(file: Any) -> None:
        file["r/0/x"], file["r/1/x"] = 1, 1.5

    with pytest.raises(FormatError) as caught:
        read(made(fill))
    assert caught.value.code == "hdf5-odd-sample"


def _hostile(kind: str, file: Any) -> None:
    file["x"] = np.zeros(3)
    match kind:
        case "hdf5-link":
            file["y"] = h5py.SoftLink("/x")
        case "hdf5-elsewhere":
            file.create_dataset("y", (3,), "i4", external=[("a.raw", 0, 12)])
        case "limit":
            file.create_dataset("y", (1 << 34,), "u1", chunks=(1 << 20,), compression="gzip")


@pytest.mark.parametrize("kind", ["hdf5-link", "hdf5-elsewhere", "limit"])
def test_hostile_files(kind: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(made(lambda file: _hostile(kind, file)))
    assert caught.value.code == kind


def test_many_small_claims_are_a_limit_error() -> None:
    def fill(file: Any) -> None:
        for number in range(40):
            file.create_dataset(f"x{number}", (1 << 20,), "u1", chunks=(1 << 10,))

    source = made(fill)
    with pytest.raises(LimitError):
        read(source)
    assert len(read(source, limits=Limits(max_ratio=10_000))[0]) == 1 << 20


def test_damaged_files() -> None:
    data = HDF5.write(Table.of(ROWS))
    for end in range(8, len(data), 97):
        with pytest.raises(FormatError):
            HDF5.read(Source("x", data[:end]))


@pytest.mark.parametrize("name", ["hdf5", "lbann_hdf5"])
def test_files_do_not_depend_on_the_time(name: str) -> None:
    table, fmt = Table.of({**ROWS, "id": ["a", "b", "c"]}), formats.get(name)
    before = fmt.write(table)
    time.sleep(1.1)
    assert fmt.write(table) == before


def test_long_metadata() -> None:
    for size in (31_000, 32_000, 200_000):
        table = Table.of(ROWS, {"kind": "é" * size})
        assert read(Source("x", HDF5.write(table))) == (table, [])
        assert read(Source("x", GROUPS.write(table))) == (table, [])


def test_nul_in_text_is_kept() -> None:
    table = Table.of({"t": ["a\0b", ""], "u": [["x"], ["y"]]})
    assert isinstance(table["t"], Text)
    assert read(Source("x", HDF5.write(table)))[0] == table
    assert read(Source("x", GROUPS.write(table)))[0] == table
