"""Compare files of exset with TensorFlow and mosaicml-streaming: `python -m benchmarks.incumbents`.

Neither is needed to build or to test exset: tensorflow-cpu takes 1.3 GB, and mosaicml-streaming
needs an older NumPy. What is installed reads the files of exset, and exset reads those it writes.
"""

import sys
import tempfile
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

import exset
from exset.grammars.tables.table import Table


def sample() -> Table:
    """Return a table with a column of each type that both programs have."""
    return Table.of(
        {
            "label": np.arange(-5, 95),
            "text": [f"row {i} ü" for i in range(100)],
            "blob": [bytes([i]) * i for i in range(100)],
            "x": np.linspace(0, 1, 300, dtype=np.float32).reshape(100, 3),
        }
    )


def check_tensorflow(folder: Path) -> None:
    """Read with `TFRecordDataset`, also with gzip, and read what `TFRecordWriter` writes."""
    tf: Any = import_module("tensorflow")
    table = sample()
    for name, compression in (("a.tfrecord", ""), ("b.tfrecord.gz", "GZIP")):
        exset.save(table, folder / name)
        records = tf.data.TFRecordDataset(str(folder / name), compression_type=compression)
        for row, record in enumerate(records):
            feature = tf.train.Example.FromString(record.numpy()).features.feature
            expected = table[row]
            assert list(feature["label"].int64_list.value) == [expected["label"]]
            assert list(feature["text"].bytes_list.value) == [expected["text"].encode()]
            assert list(feature["blob"].bytes_list.value) == [expected["blob"]]
            assert np.array_equal(feature["x"].float_list.value, expected["x"])
        assert row == len(table) - 1
    path = str(folder / "theirs.tfrecord")
    with tf.io.TFRecordWriter(path) as writer:
        for number in range(3):
            values = tf.train.Int64List(value=[number, -number])
            feature = {"n": tf.train.Feature(int64_list=values)}
            example = tf.train.Example(features=tf.train.Features(feature=feature))
            writer.write(example.SerializeToString())
    found = exset.load(path, model=Table)
    assert [row["n"].tolist() for row in found] == [[0, 0], [1, -1], [2, -2]]


def check_streaming(folder: Path) -> None:
    """Read with `LocalDataset`, and read what `MDSWriter` writes."""
    streaming: Any = import_module("streaming")
    table = sample()
    exset.save(table, folder / "ours", format="mds", shard_size="4kB")
    dataset = streaming.LocalDataset(str(folder / "ours"))
    assert len(dataset) == len(table)
    for row, expected in enumerate(table):
        found = dataset[row]
        assert found["label"] == expected["label"]
        assert found["text"] == expected["text"]
        assert found["blob"] == expected["blob"]
        assert np.array_equal(found["x"], expected["x"])
    columns = {"n": "int", "s": "str", "a": "ndarray:float32:2"}
    with streaming.MDSWriter(out=str(folder / "theirs"), columns=columns) as writer:
        for number in range(3):
            writer.write({"n": number, "s": "x" * number, "a": np.full(2, number, np.float32)})
    rows = [*exset.load(folder / "theirs", model=Table)]
    assert [row["n"] for row in rows] == [0, 1, 2]
    assert [row["s"] for row in rows] == ["", "x", "xx"]
    assert [row["a"].tolist() for row in rows] == [[0, 0], [1, 1], [2, 2]]


CHECKS: dict[str, Callable[[Path], None]] = {
    "tensorflow": check_tensorflow,
    "streaming": check_streaming,
}
"""The check of each package."""


def main() -> int:
    """Check the packages that are installed; print a line for each."""
    for name, check in CHECKS.items():
        if find_spec(name) is None:
            print(f"{name}: not installed")
            continue
        with tempfile.TemporaryDirectory() as folder:
            check(Path(folder))
        version = getattr(import_module(name), "__version__", "")
        print(f"{name} {version}: the same values both ways")
    return 0


if __name__ == "__main__":
    sys.exit(main())
