"""Pictures and sounds of Hugging Face `datasets`: a column of bytes, and one of paths."""

import io
import json
from pathlib import Path

import numpy as np
import pytest

import exset
from exset import Table
from exset.grammars.tables.media import MEDIA

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

KIND = pa.struct({"bytes": pa.binary(), "path": pa.string()})
ONE, TWO = {"bytes": b"one", "path": "1.png"}, {"bytes": b"two", "path": None}

every = pytest.mark.parametrize("name", ["parquet", "feather", "arrow-stream"])


def of_datasets(rows: list[object], kind: str = "Image") -> Table:
    """Return the table of a file of `datasets` with a column of media."""
    features = {"picture": {"_type": kind}, "label": {"dtype": "int64", "_type": "Value"}}
    value = json.dumps({"info": {"features": features}})
    labels = pa.array(range(len(rows)), pa.int64())
    data = pa.table({"picture": pa.array(rows, KIND), "label": labels})
    file = io.BytesIO()
    pq.write_table(data.replace_schema_metadata({"huggingface": value}), file)
    return exset.loads(file.getvalue(), format="parquet", model=Table)


@pytest.mark.parametrize("rows", [[ONE, TWO], [ONE, None], [None, None], []])
def test_pictures_of_datasets(rows: list[dict[str, object] | None]) -> None:
    table = of_datasets([*rows])
    assert table.types == {"picture": "bytes", "picture.path": "text", "label": "int64"}
    assert list(table["picture"]) == [row and row["bytes"] for row in rows]
    assert list(table["picture.path"]) == [row and row["path"] for row in rows]
    assert table.metadata[MEDIA] == {"picture": "Image"}


def test_other_structs_stay() -> None:
    assert "picture.bytes" in of_datasets([ONE], "Value").names
    data = pa.table({"a": pa.array([ONE], KIND)})
    assert Table.from_arrow(data).names == ("a.bytes", "a.path")


@every
def test_media_are_written_as_datasets_reads_them(name: str) -> None:
    for columns in ({"a": [b"x", None], "a.path": [None, "y"]}, {"n": [1], "a": [b"x"]}):
        table = Table.of(columns, {MEDIA: {"a": "Audio"}})
        data = exset.dumps(table, format=name)
        assert exset.loads(data, format=name) == table
    reader = pa.ipc.open_stream if name == "arrow-stream" else pa.ipc.open_file
    schema = pq.read_schema(io.BytesIO(data)) if name == "parquet" else reader(data).schema
    assert schema.field("a").type == KIND
    assert json.loads(schema.metadata[b"huggingface"])["info"]["features"]["a"] == {
        "_type": "Audio"
    }


def test_columns_that_are_no_media() -> None:
    """Metadata that does not fit the columns is kept, and changes nothing."""
    table = Table.of({"a": np.ones(1), "b": ["x"]}, {MEDIA: {"a": "Image", "b": "Image", "c": 1}})
    assert exset.loads(exset.dumps(table, format="parquet"), format="parquet") == table


def test_datasets_shows_the_pictures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_DATASETS_OFFLINE", "1")
    datasets = pytest.importorskip("datasets")
    pytest.importorskip("PIL.Image").new("RGB", (2, 3)).save(tmp_path / "a.png")
    contents = (tmp_path / "a.png").read_bytes()
    table = Table.of({"image": [contents], "label": [3]}, {MEDIA: {"image": "Image"}})
    exset.save(table, tmp_path / "a.parquet")
    path = str(tmp_path / "a.parquet")
    rows = datasets.Dataset.from_parquet(path, cache_dir=str(tmp_path / "cache"))
    assert isinstance(rows.features["image"], datasets.Image)
    assert rows[0]["image"].size == (2, 3) and rows[0]["label"] == 3
