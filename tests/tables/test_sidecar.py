"""Sidecars: with them, files of formats that store less give back the same table."""

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

import exset
from exset import Findings, FormatError, Table
from exset.grammars.tables.columns import Numbers
from exset.testing.shards import flat_tables

SUFFIXES = (".csv", ".tsv", ".tar", ".tfrecord")


@pytest.mark.parametrize("suffix", SUFFIXES)
@given(table=flat_tables())
def test_files_read_back(
    tmp_path_factory: pytest.TempPathFactory, suffix: str, table: Table
) -> None:
    """A file and its sidecar give the same table: names, types, metadata."""
    path = tmp_path_factory.mktemp("x") / f"x{suffix}"
    name = suffix[1:].replace("tar", "webdataset")
    if name in ("csv", "tsv"):
        table = usual_nans(table)
    try:
        exset.save(table, path, format=name, findings=Findings())
    except FormatError as error:
        assert error.code == "table-holds"
        return
    again = exset.load(path, model=Table, format=name, findings=(found := Findings()))
    assert again == table and "sidecar-unused" not in [each.code for each in found]
    if Path(f"{path}.exset.json").exists():
        assert again.names == table.names


def usual_nans(table: Table) -> Table:
    """Return a table in which each NaN has the usual bits, the only ones that text has."""
    columns = dict(table.columns)
    for name, each in columns.items():
        if isinstance(each, Numbers) and each.values.dtype.kind == "f":
            values = each.values.copy()
            values[np.isnan(values)] = np.nan
            columns[name] = Numbers.of(values, each.present)
    return table.with_columns(**columns)


@pytest.mark.parametrize("unit", ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "25s", "ns"])
@pytest.mark.parametrize("kind", ["datetime64", "timedelta64"])
def test_dates_in_text(tmp_path: Path, kind: str, unit: str) -> None:
    values = np.array([0, 51, -2, 3000, -(2**63)]).view(f"{kind}[{unit}]")
    table = Table.of({"t": values, "n": np.arange(5)})
    exset.save(table, path := tmp_path / "x.csv")
    assert exset.load(path, model=Table) == table


def test_decimals_between_two_numbers(tmp_path: Path) -> None:
    """7.038531e-26, rounded to binary64, is the exact middle of two numbers of binary32."""
    values = np.array([363742205, 363742206, -1783741443], np.int32).view(np.float32)
    table = Table.of({"x": values, "n": [1, 2, 3]})
    exset.save(table, path := tmp_path / "x.csv")
    assert path.read_text().startswith("x,n\n7.038531e-26,1\n")
    assert exset.load(path, model=Table) == table


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_changed_file(tmp_path: Path, suffix: str) -> None:
    """The types in the sidecar of another file are ignored, with a finding."""
    for name, number in (("x", 1), ("y", 2)):
        exset.save(Table.of({"a": np.array([number], np.int8)}), tmp_path / f"{name}{suffix}")
    path = tmp_path / f"x{suffix}"
    assert exset.load(path, model=Table).types == {"a": "int8"}
    shutil.copy(tmp_path / f"y{suffix}", path)
    table = exset.load(path, model=Table, findings=(found := Findings()))
    assert table.types == {"a": "int64"} and list(table["a"]) == [2]
    assert [each.code for each in found] == ["sidecar-unused"]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_file_without_need(tmp_path: Path, suffix: str) -> None:
    """An old sidecar is removed with the file that needed it, unless another file may need it."""
    path, beside = tmp_path / f"x{suffix}", tmp_path / f"x{suffix}.exset.json"
    small, plain = Table.of({"a": np.array([1], np.int8)}), Table.of({"a": [1]})
    exset.save(small, path)
    assert json.loads(beside.read_text())["columns"] == {"a": "int8"}
    exset.save(plain, path)
    assert os.listdir(tmp_path) == [path.name]
    exset.save(small, f"{path}.gz")
    exset.save(plain, path, findings=Findings())
    assert exset.load(f"{path}.gz", model=Table) == small


def test_two_files_with_one_stem(tmp_path: Path) -> None:
    """Each file has a sidecar of its own."""
    tables = {f"x{suffix}": Table.of({"a": np.array([1], np.int8)}) for suffix in SUFFIXES}
    for name, table in tables.items():
        exset.save(table, tmp_path / name)
    for name, table in tables.items():
        assert exset.load(tmp_path / name, model=Table, findings=(found := Findings())) == table
        assert not found


def test_devices() -> None:
    """A device has no sidecar."""
    table = Table.of({"a": np.array([1, 2], np.int8)})
    exset.save(table, "/dev/null", format="csv", findings=(found := Findings()))
    assert [each.code for each in found] == ["table-sidecar"]
    assert not os.path.exists("/dev/null.exset.json")


@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
@pytest.mark.parametrize("name", ["xor.ex", "groups.ex"])
def test_examples_in_text(tmp_path: Path, name: str, suffix: str) -> None:
    """A set of Lens, as meant, is the same after CSV."""
    exset.convert(f"exset::{name}", tmp_path / "a.npz", level="meant", findings=Findings())
    exset.convert(tmp_path / "a.npz", tmp_path / f"a{suffix}", findings=Findings())
    for source in (f"a{suffix}", "a.npz"):
        exset.convert(tmp_path / source, tmp_path / f"{source}.ex", findings=Findings())
    one, other = (exset.load(tmp_path / f"{each}.ex") for each in (f"a{suffix}", "a.npz"))
    assert not exset.diff(one, other)


@pytest.mark.parametrize(
    "columns",
    [
        {"a": "int8"},
        {"a": "bool", "b": "int64"},
        {"a": "list<int64>", "b": "int64"},
        {"a": "int64[2]", "b": "int64"},
        {"a": "int64[0]", "b": "int64"},
        {"a": "int64[99999999999, 99999999999]", "b": "int64"},
        {"a": "datetime64[D]", "b": "text"},
        {"a": "list<" * 1000 + "text" + ">" * 1000, "b": "int64"},
        {"a": "int64", "b": "int64", "c": "int64"},
    ],
)
def test_types_that_do_not_fit(tmp_path: Path, columns: dict[str, str]) -> None:
    (tmp_path / "x.csv").write_text("a,b\n70000,1\n")
    (tmp_path / "x.csv.exset.json").write_text(json.dumps({"rows": 1, "columns": columns}))
    table = exset.load(tmp_path / "x.csv", model=Table, findings=(found := Findings()))
    assert [each.code for each in found] == ["sidecar-unused"]
    assert table.types == {"a": "int64", "b": "int64"}
