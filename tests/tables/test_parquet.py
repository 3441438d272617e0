"""Parquet, Feather and Arrow streams: round trips, real files, and what other libraries read."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import exset
from exset import Findings, FormatError, Table, formats, samples
from exset.core.limits import Limits
from exset.grammars.tables.columns import Numbers, Records, TableColumn
from exset.testing.tables import tables

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

every = pytest.mark.parametrize("name", ["parquet", "feather", "arrow-stream"])


def example() -> Table:
    """Return a table with what the formats store in a special way."""
    some = np.array([True, False, True])
    return Table.of(
        {
            "inputs.onset": np.arange(6, dtype=np.float32).reshape(3, 2),
            "image": np.arange(12, dtype=np.uint8).reshape(3, 2, 2),
            "absent": Numbers.of(np.ones((3, 2), np.float32), some),
            "label": np.array([0, 1, 0], np.uint8),
            "name": ["a", None, "an é"],
            "data": [b"\xff", b"", None],
            "real": [np.nan, None, 1.0],
            "lists": [[1.5, 2], None, []],
            "records": [[{"group": "a", "units": [1, 2]}, {"group": None, "units": []}], [], None],
            "record": Records({"x": Numbers.of(np.ones((3, 2)))}, np.ones(3, np.bool_)),
            "date": np.array(["2020-01-01", "NaT", "2021-02-03"], "M8[D]"),
            "second": np.array([1, 2, 3], "M8[s]"),
            "hour": np.array([1, 2, 3], "m8[h]"),
        },
        {"family": "lens", "classes": {"label": ["cat", "dog"]}},
    )


def loaded(data: bytes, name: str) -> Table:
    return exset.loads(data, format=name, model=Table)


@every
@given(table=tables())
def test_a_table_reads_back(name: str, table: Table) -> None:
    data = exset.dumps(table, format=name)
    again = loaded(data, name)
    assert again == table and again.names == table.names and again.metadata == table.metadata
    assert exset.dumps(again, format=name) == data


@every
def test_every_kind_of_column_reads_back(name: str) -> None:
    table = example()
    again = loaded(exset.dumps(table, format=name), name)
    assert again.types == table.types and again == table and again.metadata == table.metadata


@every
@pytest.mark.parametrize("dtype", ["M8[M]", "M8[10s]", "M8[h]", "M8[us]", "m8[D]", "m8[ns]"])
def test_times_of_any_unit(name: str, dtype: str) -> None:
    table = Table.of({"a": np.array([1, 2], dtype)})
    assert loaded(exset.dumps(table, format=name), name) == table


@every
def test_arrays_without_numbers(name: str) -> None:
    table = Table.of({"a": np.ones((2, 0)), "b": np.ones((2, 3, 0)), "c": np.ones((2, 0, 3))})
    assert loaded(exset.dumps(table, format=name), name) == table


def test_records_of_chunks_in_which_a_row_is_absent() -> None:
    kind = pa.struct({"x": pa.int8(), "l": pa.list_(pa.int8(), 2)})
    parts = [[{"x": 1, "l": [1, 2]}], [None, {"x": 2, "l": [None, 3]}]]
    found: Any = Table.from_arrow(pa.table({"a": pa.chunked_array(parts, kind)}))
    assert found.types == {"a": "record<x: int8, l: list<int8>>"}
    assert [row and list(row["l"]) for row in found["a"]] == [[1, 2], None, [None, 3]]


def test_names_that_are_equal_once_records_are_columns() -> None:
    with pytest.raises(FormatError) as caught:
        Table.from_arrow(pa.table({"a": pa.array([{"x": 1}]), "a.x": pa.array([1])}))
    assert caught.value.code == "table-names"


def test_how_parquet_is_written() -> None:
    data = exset.dumps(example(), format="parquet")
    file = pq.ParquetFile(io.BytesIO(data))
    group = file.metadata.row_group(0)
    chunks = [group.column(i) for i in range(group.num_columns)]
    by_path = {chunk.path_in_schema: chunk for chunk in chunks}
    assert file.metadata.format_version == "2.6"
    assert {chunk.compression for chunk in chunks} == {"ZSTD"}
    onset = by_path["inputs.onset.list.element"]
    assert not onset.is_stats_set and "RLE_DICTIONARY" not in onset.encodings
    assert by_path["label"].is_stats_set and "RLE_DICTIONARY" in by_path["name"].encodings
    assert file.schema_arrow.field("inputs.onset").type == pa.list_(
        pa.field("element", pa.float32(), False), 2
    )
    assert pa.types.is_list(file.schema_arrow.field("absent").type)


def test_groups_of_rows() -> None:
    table = Table.of({"a": np.arange(3 << 20)})
    file = pq.ParquetFile(io.BytesIO(exset.dumps(table, format="parquet")))
    assert [file.metadata.row_group(i).num_rows for i in range(2)] == [2 << 20, 1 << 20]
    assert loaded(exset.dumps(table, format="parquet"), "parquet") == table


def test_a_file_that_another_program_changed(tmp_path: Path) -> None:
    """A column that no longer fits its form is read by its own type."""
    data = pa.table(pq.read_table(io.BytesIO(exset.dumps(example(), format="parquet"))))
    at = data.schema.get_field_index("absent")
    data = data.set_column(at, "absent", pa.array([[1.0], None, [2.0, 3.0]]))
    pq.write_table(data.drop_columns(["name"]), tmp_path / "a.parquet")
    found = exset.load(tmp_path / "a.parquet", model=Table)
    assert found.types["absent"] == "list<float64>" and "name" not in found
    assert found.types["record"] == example().types["record"]


@every
def test_cut_files(name: str) -> None:
    data = exset.dumps(example(), format=name)
    for end in range(0, len(data), 97):
        try:
            loaded(data[:end], name)
        except FormatError as error:
            assert error.finding.place is not None and error.finding.place.source == "<bytes>"


def test_offsets_beyond_their_buffer() -> None:
    """pyarrow maps an Arrow file without a look at the offsets of its lists."""
    data = exset.dumps(Table.of({"a": [[1, 2], [3]]}), format="feather")
    offsets = np.array([0, 2, 3], "<i4").tobytes()
    wrong = data.replace(offsets, np.array([0, 2, 1 << 30], "<i4").tobytes())
    assert wrong != data
    with pytest.raises(FormatError) as caught:
        loaded(wrong, "feather")
    assert caught.value.code == "arrow"


def test_a_file_that_promises_too_many_rows() -> None:
    data = exset.dumps(Table.of({"a": np.zeros(10**7)}), format="parquet")
    with pytest.raises(FormatError) as caught:
        exset.loads(data, format="parquet", limits=Limits(max_ratio=1))
    assert caught.value.code == "limit"


def test_polars_reads_it(tmp_path: Path) -> None:
    polars = pytest.importorskip("polars")
    exset.save(example(), tmp_path / "a.parquet")
    frame = polars.read_parquet(tmp_path / "a.parquet")
    assert frame["inputs.onset"].to_list() == [[0, 1], [2, 3], [4, 5]]
    assert frame["absent"].to_list() == [[1, 1], None, [1, 1]]
    assert frame["image"].to_list()[1] == [[4, 5], [6, 7]]
    exset.save(example(), tmp_path / "a.feather")
    assert polars.read_ipc(tmp_path / "a.feather").equals(frame)


def test_duckdb_reads_it(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    exset.save(example(), tmp_path / "a.parquet")
    query = f"select name, label, absent, real from '{tmp_path / 'a.parquet'}'"
    rows = duckdb.sql(query).fetchall()
    assert [row[:3] for row in rows] == [
        ("a", 0, [1, 1]),
        (None, 1, None),
        ("an é", 0, [1, 1]),
    ]
    assert np.isnan(rows[0][3]) and rows[1][3] is None


def test_pandas_reads_it(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    exset.save(example(), tmp_path / "a.parquet")
    exset.save(example(), tmp_path / "a.feather")
    for read in (pandas.read_parquet, pandas.read_feather):
        frame = read(tmp_path / f"a.{'parquet' if read is pandas.read_parquet else 'feather'}")
        assert frame["label"].tolist() == [0, 1, 0]
        assert frame["inputs.onset"].iloc[1].tolist() == [2, 3]


def test_datasets_reads_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    datasets = pytest.importorskip("datasets")
    exset.save(example(), tmp_path / "a.parquet")
    exset.save(example(), tmp_path / "a.arrow")
    for name in ("parquet", "arrow"):
        found = datasets.load_dataset(
            name,
            data_files=str(tmp_path / f"a.{name}"),
            split="train",
            cache_dir=str(tmp_path / "cache"),
        )
        assert found.features["label"] == datasets.ClassLabel(names=["cat", "dog"])
        assert found.features["inputs.onset"].length == 2
        assert found[2]["image"] == [[8, 9], [10, 11]] and found[1]["absent"] is None
        assert found[0]["records"][0]["units"] == [1, 2]
        assert found[0]["record"] == {"x": [1, 1]}
        del found
    exset.save(Table.of({"a": [1]}), tmp_path / "b.parquet")
    again = datasets.Dataset.from_parquet(
        str(tmp_path / "b.parquet"), cache_dir=str(tmp_path / "cache")
    )
    assert again["a"][:] == [1]


@every
@pytest.mark.parametrize("sample", [n for n in samples.names() if n.endswith((".ex", ".bex"))])
def test_example_sets_come_back(name: str, sample: str, tmp_path: Path) -> None:
    findings = Findings()
    suffix = formats.get(name).suffix
    exset.convert(f"exset::{sample}", tmp_path / f"a{suffix}", findings=findings)
    exset.convert(tmp_path / f"a{suffix}", tmp_path / "b.ex", findings=findings)
    before = exset.load(f"exset::{sample}", findings=findings)
    assert not exset.diff(before, exset.load(tmp_path / "b.ex", findings=findings))


UNREAD = {"int32_decimal.parquet": "table-type"}
"""Files that pyarrow reads, and exset does not: it has no decimal numbers."""
NO_LISTING = ("int96_from_spark.parquet", "alltypes_plain.parquet")
"""Files for whose times the listed values have only a word."""


def corpus_files(folder: Path) -> list[tuple[Path, str, Any]]:
    """Return the files of a folder with verdicts, the verdict, and the columns as listed."""
    found = []
    with (folder / "verdicts.tsv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            path = folder / row["path"]
            path = next(path.glob("*.arrow")) if path.is_dir() else path
            values = json.loads((folder / row["values"]).read_text()) if row["values"] else None
            found.append((path, row["verdict"], values))
    return found


@pytest.mark.parametrize("folder", ["parquet", "hf-datasets"])
def test_real_files(corpus: Path, folder: str) -> None:
    files = corpus_files(corpus / "interchange" / folder)
    assert len(files) > 5
    for path, verdict, values in files:
        findings = Findings()
        try:
            table = exset.load(path, model=Table, findings=findings)
        except FormatError as error:
            assert verdict == "reject" or error.code == UNREAD[path.name], (path, error)
            continue
        assert verdict == "accept", path
        is_damaged = path.name == "rle-dict-uncompressed-corrupt-checksum.parquet"
        assert [each.code for each in findings] == ["parquet-checksum"] * is_damaged
        if path.name in NO_LISTING:
            continue
        listed = values.get("columns") or columns_of(values["rows"] or [])
        for name, rows in listed.items():
            shown = [of_row(table, name, row) for row in range(len(table))]
            assert same(shown, rows), (path, name, shown, rows)


def columns_of(rows: list[dict[str, Any]]) -> dict[str, Any]:
    return {name: [row[name] for row in rows] for name in (rows[0] if rows else ())}


def of_row(table: Table, name: str, row: int) -> object:
    """Return a value of a column, or the record of the columns that begin with its name."""
    if name in table.metadata.get("media", {}):
        parts = {"bytes": name, "path": f"{name}.path"}
        return {part: plain(table.columns[each][row]) for part, each in parts.items()}
    if name in table:
        return plain(table.columns[name][row])
    inner = [each for each in table.names if each.startswith(f"{name}.")]
    assert inner, name
    firsts = dict.fromkeys(each[len(name) + 1 :].partition(".")[0] for each in inner)
    return {first: of_row(table, f"{name}.{first}", row) for first in firsts}


def plain(value: object) -> object:
    """Return a value as the listed values have it."""
    if isinstance(value, dict):
        items = {key: plain(each) for key, each in value.items()}
        return [*items.values()] if [*items] == ["key", "value"] else items
    if isinstance(value, bytes):
        return {"hex": value.hex()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, list | TableColumn):
        return [plain(each) for each in value]
    if isinstance(value, float) and not np.isfinite(value):
        return str(value)
    return value


def same(one: object, other: object) -> bool:
    """Return whether values are equal; a tensor is listed flat."""
    if isinstance(one, list) and isinstance(other, list):
        if one and isinstance(one[0], list) and other and not isinstance(other[0], list):
            one = [item for each in one for item in each]
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return one == other


def test_arrays_of_datasets(tmp_path: Path) -> None:
    """An `Array2D` is stored as lists of lists; the features say its shape."""
    features = {
        "x": {"shape": [2, 2], "dtype": "float32", "_type": "Array2D"},
        "y": {"shape": [None, 2], "dtype": "float32", "_type": "Array2D"},
        "z": {"shape": "2, 2", "_type": "Array2D"},
        "w": 7,
    }
    kind = pa.list_(pa.list_(pa.float32()))
    arrays = {name: pa.array([[[1, 2], [3, 4]], None], kind) for name in features}
    named = json.dumps({"info": {"features": features}})
    pq.write_table(pa.table(arrays).replace_schema_metadata({"huggingface": named}), tmp_path / "a")
    table = exset.load(tmp_path / "a", model=Table)
    lists = dict.fromkeys("yzw", "list<list<float32>>")
    assert table.types == {"x": "float32[2, 2]", **lists}
    assert table[0]["x"].tolist() == [[1, 2], [3, 4]] and table[1]["x"] is None
