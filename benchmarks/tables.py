"""Measure tables: CSV against pandas, JSON Lines against `json`, and conversions against the loops
that they replace.

Rows whose library is not installed are left out.
"""

import json
import os
from collections.abc import Callable
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import h5py
import numpy as np

import exset
from benchmarks.inputs import Inputs
from benchmarks.measure import Race, race
from benchmarks.rows import Cases, Figures
from exset.core.errors import Findings
from exset.grammars.tables.table import Table

_ROWS = 20_000
_WIDTH = 64
_GROUPS = 5_000


def text(inputs: Inputs, runs: int) -> Cases:
    """Yield writing JSON Lines, and writing and reading CSV, with 64 numbers a row."""
    rows = max(int(_ROWS * inputs.part), 50)
    values = np.random.default_rng(1).normal(size=(rows, _WIDTH))
    for dtype in ("float32", "float64", "int64"):
        array = (values * 1e6 if dtype == "int64" else values).astype(dtype)
        yield f"{dtype}, JSON Lines", partial(_jsonl_write, inputs, array, runs)
        if find_spec("pandas") is None:
            continue
        yield f"{dtype}, write", partial(_csv_write, inputs, array, runs)
        yield f"{dtype}, read", partial(_csv_read, inputs, array, runs)


def _jsonl_write(inputs: Inputs, values: Any, runs: int) -> Figures:
    ours, theirs = (os.path.join(inputs.folder, f"{name}.jsonl") for name in ("ours", "theirs"))
    table, rows = Table.of({"x": values}), values.tolist()

    def write() -> None:
        with open(theirs, "w") as file:
            file.writelines(json.dumps({"x": row}) + "\n" for row in rows)

    result = race(partial(exset.save, table, ours, findings=Findings()), write, runs)
    return _text_figures(result, values.nbytes, "json.dumps")


def _csv_write(inputs: Inputs, values: Any, runs: int) -> Figures:
    ours, theirs = (os.path.join(inputs.folder, f"{name}.csv") for name in ("ours", "theirs"))
    table, frame = Table.of({"x": values}), import_module("pandas").DataFrame(values)
    write = partial(frame.to_csv, theirs, index=False)
    result = race(partial(exset.save, table, ours), write, runs)
    return _text_figures(result, values.nbytes, "pandas to_csv")


def _csv_read(inputs: Inputs, values: Any, runs: int) -> Figures:
    path = os.path.join(inputs.folder, "read.csv")
    exset.save(Table.of({"x": values}), path)
    read = partial(import_module("pandas").read_csv, path, engine="c")
    return _text_figures(race(partial(exset.load, path), read, runs), values.nbytes, "read_csv")


def _text_figures(result: Race, size: int, peer: str) -> Figures:
    return {
        "MB of numbers": size / 1e6,
        "seconds": result.subject,
        "MB/s": result.subject.rate(size / 1e6),
        "peer": peer,
        "times as fast": result.ratio,
    }


def conversions(inputs: Inputs, runs: int) -> Cases:
    """Yield conversions of example sets, and of HDF5 with a group for each sample."""
    yield "set to table", partial(_to_table, inputs, runs)
    if find_spec("pyarrow") is not None:
        for name in ("parquet", "feather"):
            yield f".ex to {name}", partial(_to_arrow, inputs, name, runs)
    yield "groups to first axis", partial(_to_first_axis, inputs, runs)


def _to_table(inputs: Inputs, runs: int) -> Figures:
    model = inputs.model("dense")
    fill, plain = (partial(each, model) for each in (exset.to_table, exset.to_arrays))
    return _lengths(race(fill, plain, runs), "to_arrays")


def _to_arrow(inputs: Inputs, name: str, runs: int) -> Figures:
    path = inputs.path("dense", ".ex")
    ours, theirs = (os.path.join(inputs.folder, f"{each}.{name}") for each in ("ours", "theirs"))
    table = exset.to_table(inputs.model("dense"), level="said")
    data = import_module("pyarrow").table(table)
    write: Callable[[], object]
    if name == "parquet":
        write_table = import_module("pyarrow.parquet").write_table
        write = partial(write_table, data, theirs, compression="zstd", use_dictionary=False)
    else:
        write_feather = import_module("pyarrow.feather").write_feather
        write = partial(write_feather, data, theirs, compression="uncompressed")

    def parse_and_write() -> None:
        exset.load(path)
        write()

    convert = partial(exset.convert, path, ours, findings=Findings())
    return _lengths(race(convert, parse_and_write, runs), "load + pyarrow")


def _to_first_axis(inputs: Inputs, runs: int) -> Figures:
    count = max(int(_GROUPS * inputs.part), 20)
    source, ours, theirs = (
        os.path.join(inputs.folder, f"{name}.h5") for name in ("groups", "ours", "theirs")
    )
    with h5py.File(source, "w") as file:
        for number in range(count):
            group = file.create_group(f"run/{number:09}")
            group["inputs"] = np.full(_WIDTH, number, np.float32)
            group["label"] = np.int64(number)
    convert = partial(exset.convert, source, ours, to="hdf5", findings=Findings())
    return _lengths(race(convert, partial(_loop, source, theirs), runs), "loop of h5py")


def _loop(source: str, target: str) -> None:
    """Convert groups as a user of h5py does."""
    with h5py.File(source) as file, h5py.File(target, "w") as out:
        groups = file["run"]
        names = sorted(groups)
        out["inputs"] = np.stack([groups[name]["inputs"][()] for name in names])
        out["label"] = np.array([groups[name]["label"][()] for name in names])


def _lengths(result: Race, peer: str) -> Figures:
    return {
        "seconds": result.subject,
        "peer": peer,
        "peer, s": result.peer,
        "times as long": result.slowness,
    }
