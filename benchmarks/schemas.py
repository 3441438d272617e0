"""Measure reading of HDF5 samples into arrays, as two schemas describe."""

import os
from collections.abc import Iterator
from functools import partial

import h5py
import numpy as np

import exset
from benchmarks.inputs import Inputs
from benchmarks.measure import race
from benchmarks.rows import Cases, Figures

_FILES, _SAMPLES, _VALUES = 200, 50, 1000
_SCALE, _BIAS = 0.5, 1.0


def reads(inputs: Inputs, runs: int) -> Cases:
    """Yield reading of batches: one field scaled, one unchanged, both packed."""
    yield "scale and pack", partial(_read, inputs, runs)


def _read(inputs: Inputs, runs: int) -> Figures:
    files = max(int(_FILES * inputs.part), 2)
    pairs = list(_written(os.path.join(inputs.folder, f"fields-{files}"), files))
    metadata = {"scale": _SCALE, "bias": _BIAS, "ordering": 10}
    data = exset.Schema.of({"a": {"metadata": metadata}, "b": {"metadata": {"ordering": 20}}})
    wanted = exset.Schema.of({"metadata": {"pack": "samples", "coerce": "float"}, "a": {}, "b": {}})

    def subject() -> None:
        exset.SampleReader(pairs, data, wanted, findings=exset.Findings()).to_arrays()

    result = race(subject, partial(_loop, pairs), runs)
    return {
        "samples": str(len(pairs)),
        "seconds": result.subject,
        "peer": "a loop of h5py",
        "peer, s": result.peer,
        "times as fast": result.ratio,
    }


def _written(folder: str, files: int) -> Iterator[tuple[str, str]]:
    """Write the files unless they exist, and yield the names of their samples."""
    draw = np.random.default_rng(5)
    there = os.path.isdir(folder)
    os.makedirs(folder, exist_ok=True)
    for number in range(files):
        path = os.path.join(folder, f"{number:04}.h5")
        ids = [f"RUN_ID/{sample:09}" for sample in range(_SAMPLES)]
        yield from ((path, each) for each in ids)
        if there:
            continue
        with h5py.File(path, "w") as file:
            for each in ids:
                file[f"{each}/a"] = draw.random(_VALUES)
                file[f"{each}/b"] = draw.random(_VALUES).astype(np.float32)


def _loop(pairs: list[tuple[str, str]]) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    """Read without exset: open each file once, read and scale each field."""
    whole = np.empty((len(pairs), 2 * _VALUES), np.float32)
    for start in range(0, len(pairs), _SAMPLES):
        with h5py.File(pairs[start][0], "r") as file:
            for row, (_, each) in enumerate(pairs[start : start + _SAMPLES], start):
                group = file[each]
                whole[row, :_VALUES] = group["a"][()].astype(np.float32) * _SCALE + _BIAS
                whole[row, _VALUES:] = group["b"][()]
    return whole
