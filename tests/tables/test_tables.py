"""Tables: columns, rows, Arrow data, DataFrames, and arrays of NumPy."""

import io
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import exset
from exset import FormatError, Table, formats
from exset.core.errors import Findings
from exset.families.format import Format
from exset.families.tables import TABLE
from exset.grammars.tables.columns import Lists, Numbers, Records, Text
from exset.grammars.tables.unit_columns import join_units, split_units
from exset.testing.tables import tables


def example() -> Table:
    """Return a table with a column of each kind, each with an absent row."""
    return Table.of(
        {
            "name": ["a", None, "an é"],
            "inputs.onset": np.arange(6, dtype=np.float32).reshape(3, 2),
            "count": [1, None, 3],
            "is_new": [True, None, False],
            "date": np.array(["2020-01-01", "NaT", "2021-02-03"], "M8[D]"),
            "data": [b"\xff", b"", None],
            "lists": [[1.5, 2], None, []],
            "records": [[{"group": "a", "units": [1, 2]}, {"group": None, "units": []}], [], None],
        },
        {"family": "lens"},
    )


def test_types() -> None:
    assert example().types == {
        "name": "text",
        "inputs.onset": "float32[2]",
        "count": "int64",
        "is_new": "bool",
        "date": "datetime64[D]",
        "data": "bytes",
        "lists": "list<float64>",
        "records": "list<record<group: text, units: list<int64>>>",
    }


def test_rows_and_columns() -> None:
    table: Any = example()
    assert table[0]["name"] == "a" and table[-1]["count"] == 3
    assert [row["is_new"] for row in table] == [True, None, False]
    assert list(table["name"]) == ["a", None, "an é"]
    assert table["records"][0][1] == {"group": None, "units": Numbers.of(np.empty(0, np.int64))}
    assert table[1:].select([1]) == table.select([2]) and len(table[:0]) == 0
    assert table.concat([table[:1], table[1:]]) == table
    assert table.renamed({"name": "word"}).names[0] == "word"
    assert table.without_columns("name", "data").names[0] == "inputs.onset"
    assert table.with_columns(count=[1, 2, 3])[1]["count"] == 2
    assert "<table>" in table._repr_html_() and repr(table).startswith("Table(3 rows, 8 columns: ")
    assert pickle.loads(pickle.dumps(table)) == table


def test_an_absent_row_is_not_nan() -> None:
    column: Any = Table.of({"x": [np.nan, None, 1.0]})["x"]
    assert column.present.tolist() == [True, False, True] and np.isnan(column[0])


def test_columns_of_arrays() -> None:
    masked = np.ma.masked_array([1, 2], [False, True])
    assert Table.of({"x": masked})[1]["x"] is None
    assert Table.of({"x": np.array(["a", "b"])}).types == {"x": "text"}
    assert Table.of({"x": [np.ones(2), None]}).types == {"x": "float64[2]"}
    assert Table.of({"x": [np.ones(2), np.ones(1)]}).types == {"x": "list<float64>"}
    assert Table.of({"x": np.ones(2, ">f4")})["x"].values.dtype == np.float32  # type: ignore[union-attr]


@given(tables())
def test_npz_reads_back(table: Table) -> None:
    data = exset.dumps(table, format="npz")
    assert exset.loads(data, format="npz") == table
    assert data == exset.dumps(table, format="npz")
    assert not exset.diff(exset.loads(data, format="npz"), table)


@given(tables())
def test_arrow_reads_back(table: Table) -> None:
    again = Table.from_arrow(table)
    assert again.types == _flat(table).types
    assert again == _flat(table)


@given(tables(nested=False), st.data())
def test_units_are_split_and_joined(table: Table, data: st.DataObject) -> None:
    assert join_units(split_units(table.columns)) == _without_empty(table)


def _flat(table: Table) -> Table:
    """Return a table whose records without absent rows are columns, as Arrow data become."""
    columns: dict[str, Any] = {}
    for name, column in table.columns.items():
        columns.update(_fields(name, column))
    return Table(columns, table.rows, table.metadata)


def _fields(name: str, column: Any) -> dict[str, Any]:
    if not isinstance(column, Records) or not column.present.all():
        return {name: column}
    found: dict[str, Any] = {}
    for key, field in column.fields.items():
        found |= _fields(f"{name}.{key}", field)
    return found


def _without_empty(table: Table) -> dict[str, Any]:
    return {
        name: column
        for name, column in table.columns.items()
        if not (isinstance(column, Numbers) and column.shape == (0,))
    }


@pytest.mark.parametrize("library", ["pyarrow", "polars"])
def test_other_libraries_give_it_back(library: str) -> None:
    module = pytest.importorskip(library)
    table = example()
    taken = module.table(table) if library == "pyarrow" else module.DataFrame(table)
    again = Table.from_arrow(taken)
    assert again == (table if library == "pyarrow" else table.with_metadata({}))
    sliced = taken.slice(1)
    assert Table.from_arrow(sliced) == again[1:]


def test_chunks_dictionaries_and_maps() -> None:
    pa = pytest.importorskip("pyarrow")
    found: Any = Table.from_arrow(
        pa.table(
            {
                "words": pa.array(["a", "b", "a", None]).dictionary_encode(),
                "chunks": pa.chunked_array([[1, 2], [3, 4]]),
                "struct": pa.array([{"q": 1}, {"q": 2}, {"q": 3}, {"q": 4}]),
                "map": pa.array([[("k", 1)], [], None, [("z", 2)]], pa.map_("string", "int32")),
                "null": pa.nulls(4),
                "time": pa.array([0, None, 2, 3], "timestamp[us]"),
                "fixed": pa.array([[1, 2], [3, None], None, [5, 6]], pa.list_(pa.int16(), 2)),
                "lists": pa.DictionaryArray.from_arrays([0, None, 1, 0], pa.array([[1], [2, 3]])),
            }
        ).slice(1)
    )
    assert list(found["words"]) == ["b", "a", None]
    assert [row["chunks"] for row in found] == [2, 3, 4] and found["struct.q"][0] == 2
    assert found["map"][2][0] == {"key": "z", "value": 2} and found["map"][1] is None
    assert found.types["null"] == "text" and not found["null"].present.any()
    assert found["time"].present.tolist() == [False, True, True]
    assert list(found["fixed"][0]) == [3, None] and found["fixed"][1] is None
    assert found["lists"][0] is None and list(found["lists"][1]) == [2, 3]


def test_arrow_data_stay_in_memory() -> None:
    na = pytest.importorskip("nanoarrow")
    found = Table.from_arrow(na.ArrayStream(exset.Table.of({"x": np.arange(10**6)})))
    found = found.with_columns(y=found["x"])
    others = [np.zeros(10**6, np.int64) for _ in range(8)]
    assert found["x"] == Numbers.of(np.arange(10**6)) and not any(map(np.any, others))


def test_no_rows() -> None:
    pa = pytest.importorskip("pyarrow")
    schema = pa.schema({"a": pa.list_(pa.int8()), "b": pa.string(), "c": pa.list_(pa.int8(), 3)})
    found = Table.from_arrow(schema.empty_table())
    assert found.types == {"a": "list<int8>", "b": "text", "c": "int8[3]"} and len(found) == 0


def test_units_of_a_name_with_a_line_end() -> None:
    columns = Table.of({"a\nb": np.array([[1.0, 2.0]])}).columns
    assert join_units(split_units(columns)) == columns


def test_pandas() -> None:
    pandas = pytest.importorskip("pandas")
    table = example().with_columns(example=[0, 0, 1], event=[0, 1, 0])
    frame = table.to_pandas()
    assert frame.index.names == ["example", "event"]
    assert frame["inputs.onset:1"].tolist() == [1, 3, 5]
    assert str(frame["count"].dtype) == "Int64" and frame["is_new"].isna().tolist() == [0, 1, 0]
    assert frame["records"].iloc[0][0] == {"group": "a", "units": [1, 2]}
    reals = Table.of({"x": [np.nan, None, 1.0]}).to_pandas()
    assert reals["x"].iloc[1] is pandas.NA and reals["x"].iloc[2] == 1
    assert [row["x"] is None for row in Table.from_arrow(reals)] == [False, True, False]
    plain = Table.from_arrow(pandas.DataFrame({"x": [np.nan, 1.0]}))["x"]
    assert plain.present.all(), "NaN is a number"
    assert isinstance(frame["date"].iloc[1], type(pandas.NaT))


def test_xarray() -> None:
    pytest.importorskip("xarray")
    found = example().without_columns("lists", "records").to_xarray()
    assert found["inputs.onset"].dims == ("row", "inputs.onset_unit")
    assert found["count.present"].values.tolist() == [True, False, True]


def test_a_dataset_of_rows() -> None:
    found = exset.dataset(example())
    batch = found.batch([2, 0])
    assert batch["count"].tolist() == [3, 1] and batch["count.present"].all()
    assert batch["lists.offsets"].tolist() == [0, 0, 2] and found.ragged == ("lists",)
    assert batch["name"].tolist() == ["an é", "a"]
    assert exset.dataset(example(), fields=["count"])[1] == {"count": 0}


def test_differences() -> None:
    one = example()
    other = one.with_columns(count=[1, 2, 3], lists=[[1.5, 3], None, []], extra=[1, 1, 1])
    paths = [each.path for each in exset.diff(one, other).first]
    assert paths == ["columns.extra", "rows[0].lists[1].value", "rows[1].count"]
    texts = exset.diff(Table.of({"a": ["x", None]}), Table.of({"a": ["y", None]})).first
    assert [(each.path, each.one, each.other) for each in texts] == [("rows[0].a", "'x'", "'y'")]


def test_arrays_of_other_programs(tmp_path: Path) -> None:
    def of(**arrays: Any) -> Table:
        file = io.BytesIO()
        np.savez(file, **arrays)
        return exset.loads(file.getvalue(), format="npz", model=Table, findings=exset.Findings())

    assert of(x=np.ones((2, 3), "f4"), y=np.arange(2)).types == {"x": "float32[3]", "y": "int64"}
    assert of(x=np.ones(3), y=np.ones(2)).types == {"x": "float64[3]", "y": "float64[2]"}
    assert (
        of(**{"x.values": np.ones(3), "x.offsets": np.array([0, 1, 3])}).types["x"]
        == "list<float64>"
    )
    record = np.zeros(2, [("a", "i4"), ("b", "f8", 2)])
    assert of(r=record).types == {"r.a": "int32", "r.b": "float64[2]"}
    assert isinstance(of(n=np.array(["a"]))["n"], Text) and len(of(n=np.array(7))) == 1
    assert isinstance(of(l=np.array(["a"]), m=np.ones(2))["l"], Lists)


def test_true_is_one_in_memory() -> None:
    """Files of arrays may have other bytes, which NumPy takes for true."""
    odd = np.array([0, 1, 10, 255], np.uint8).view(np.bool_)
    column = Numbers.of(odd)
    assert column.values.view(np.uint8).tolist() == [0, 1, 1, 1]
    out = io.BytesIO()
    np.savez(out, x=odd, allow_pickle=False)
    table = exset.loads(out.getvalue(), format="npz", findings=Findings(), model=Table)
    read = table["x"]
    assert isinstance(read, Numbers) and read.values.view(np.uint8).tolist() == [0, 1, 1, 1]


@pytest.mark.parametrize(
    ("first", "second", "joined"),
    [
        (np.array([1, 2]), np.array([3, 1 << 63], np.uint64), "uint64"),
        (np.array([-1, 2]), np.array([3, (1 << 63) + 1], np.uint64), None),
        (np.array([1, 1 << 53]), np.array([0.5, 1]), "float64"),
        (np.array([1, (1 << 53) + 1]), np.array([0.5, 1]), None),
        (np.array([1, (1 << 63) - 1]), np.array([0.5, 1]), None),
    ],
)
def test_integers_are_joined_exactly(first: Any, second: Any, joined: str | None) -> None:
    columns = {"x:0": Numbers.of(first), "x:1": Numbers.of(second)}
    found = join_units(columns)
    if joined is None:
        assert found == columns
    else:
        [column] = found.values()
        assert isinstance(column, Numbers) and column.values.dtype == joined
        assert column.values.tolist() == [list(row) for row in zip(first, second, strict=True)]


@pytest.mark.parametrize("fmt", formats.writers_of(TABLE), ids=lambda fmt: fmt.name)
@pytest.mark.parametrize("name", ["\ud800", "a\udcff", "\udfff.x"])
@pytest.mark.parametrize("values", [[1, 2], ["a", "b"], [[1], [2, 3]]])
def test_a_name_that_is_not_unicode(
    fmt: Format, name: str, values: list[object], tmp_path: Path
) -> None:
    """A format stores such a name, or refuses it by an error that names the column."""
    if fmt.needs:
        pytest.importorskip(fmt.needs)
    options: list[dict[str, Any]] = [{}, {"lossy": True}] if fmt.option("lossy") else [{}]
    for number, lossy in enumerate(options):
        path = tmp_path / f"{number}{fmt.suffix}"
        try:
            exset.save(
                Table.of({name: values}), path, format=fmt.name, findings=Findings(), **lossy
            )
        except FormatError:
            continue
        exset.load(path, format=fmt.name, findings=Findings())
