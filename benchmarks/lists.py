"""Measure sample lists: reading, and checks of the many small HDF5 files that they name."""

import os
from collections.abc import Iterable
from functools import partial

import h5py
import numpy as np

import exset
from benchmarks.inputs import Inputs
from benchmarks.measure import Race, race
from benchmarks.rows import Cases, Figures
from exset.core.errors import Findings
from exset.core.protocols import CheckOptions
from exset.runtime.lbann.hdf5_files import files_in, run_on_files
from exset.runtime.lbann.list_build import search_for
from exset.runtime.lbann.list_files import check

LBANN = 0.14
"""Seconds of LBANN (C++) for the list of text ids, measured once on another machine."""

_FILES, _IDS = 1000, 1000
_SMALL_FILES, _SAMPLES = 10_000, 4
_SEED = 11


def reads(inputs: Inputs, runs: int) -> Cases:
    """Yield reading, from file to `SampleList` with all columns."""
    yield "text ids", partial(_read, inputs, "text", runs)
    yield "ranges", partial(_read, inputs, "integer", runs)


def scans(inputs: Inputs, runs: int) -> Cases:
    """Yield the check of the files that a list names, in one process and in two."""
    for jobs in (1, 2):
        yield f"validate --files, {jobs}", partial(_validate, inputs, jobs, runs)
        yield f"list build, {jobs}", partial(_build, inputs, jobs, runs)


def path_of(inputs: Inputs, ids: str) -> str:
    """Return the path of a list of a million samples, or of a fraction of them."""
    files = max(int(_FILES * inputs.part), 2)
    path = os.path.join(inputs.folder, f"{ids}-{files}.sample_list")
    if not os.path.exists(path):
        with open(path, "w", encoding="ascii") as file:
            file.write(_text(files) if ids == "text" else _ranges(files))
    return path


def _text(files: int) -> str:
    ids = " ".join(f"RUN_ID/{number:09}" for number in range(_IDS))
    lines = [f"h5out_{number}.h5 {_IDS} 0 {ids}" for number in range(files)]
    return "\n".join(["CONDUIT_HDF5_INCLUSION", f"{files * _IDS} 0 {files}", "/data", *lines, ""])


def _ranges(files: int) -> str:
    draw = np.random.default_rng(_SEED)
    lines = []
    for number in range(files):
        words, left, at = [], _IDS, 0
        for length, gap in draw.integers(1, 6, (_IDS, 2)).tolist():
            last = at + min(length, left) - 1
            words.append(str(at) if last == at else f"{at} ... {last}")
            left -= last - at + 1
            at = last + 1 + gap
            if not left:
                break
        lines.append(f"part_{number}.smi {_IDS} {' '.join(words)}")
    return "\n".join(["MULTI-SAMPLE_INCLUSION_V2", f"{files * _IDS} {files}", "/data", *lines, ""])


def _read(inputs: Inputs, ids: str, runs: int) -> Figures:
    path = path_of(inputs, ids)
    result = race(partial(exset.load, path, ids=ids), partial(_split, path, ids), runs)
    size = os.path.getsize(path) / 1e6
    return {
        "MB": size,
        "seconds": result.subject,
        "peer": "split" if ids == "text" else "split + int",
        "times as fast": result.ratio,
        "LBANN, s": LBANN if ids == "text" else None,
    }


def _split(path: str, ids: str) -> list[object]:
    """Read a list without exset: lists of names and ids."""
    with open(path, encoding="ascii") as file:
        rows = [line.split() for line in file.read().splitlines()[3:]]
    if ids == "text":
        return [(row[0], row[3:]) for row in rows]
    return [(row[0], [int(word) for word in row[2:] if word != "..."]) for row in rows]


def _folder(inputs: Inputs) -> str:
    """Write a folder of small files."""
    count = max(int(_SMALL_FILES * inputs.part), 4)
    folder = os.path.join(inputs.folder, f"small-{count}")
    if not os.path.exists(folder):
        os.makedirs(folder)
        for number in range(count):
            with h5py.File(os.path.join(folder, f"{number:05}.h5"), "w", track_order=True) as file:
                for sample in range(_SAMPLES):
                    file[f"RUN_ID/{sample:09}/x"] = np.arange(4.0)
    return folder


def _validate(inputs: Inputs, jobs: int, runs: int) -> Figures:
    folder = _folder(inputs)
    names = sorted(os.listdir(folder))
    ids = [f"RUN_ID/{sample:09}" for sample in range(_SAMPLES)]
    samples = exset.SampleList.of("CONDUIT_HDF5_INCLUSION", folder, [(name, ids) for name in names])
    subject = partial(check, samples, Findings(strict=True), CheckOptions("list", jobs=jobs))
    return _figures(race(subject, partial(_look_up, folder, names, ids), runs), len(names))


def _look_up(folder: str, names: list[str], ids: list[str]) -> None:
    for name in names:
        with h5py.File(os.path.join(folder, name), "r") as file:
            assert all(each in file for each in ids)


def _build(inputs: Inputs, jobs: int, runs: int) -> Figures:
    paths = files_in([_folder(inputs)])
    search = search_for(paths, Findings())

    def subject() -> None:
        assert all(len(each.result().samples) for each in run_on_files(search, paths, jobs=jobs))

    return _figures(race(subject, partial(_walk, paths), runs), len(paths))


def _walk(paths: Iterable[str]) -> list[str]:
    """Find groups with the fields, shapes and types of the first group."""
    found: list[str] = []
    for path in paths:
        with h5py.File(path, "r") as file:
            _look(file, found)
    return found


def _look(group: h5py.Group, found: list[str]) -> None:
    for name in group:
        child = group[name]
        if not isinstance(child, h5py.Group):
            continue
        if "x" in child and child["x"].shape == (4,) and child["x"].dtype == np.float64:
            found.append(child.name)
        else:
            _look(child, found)


def _figures(result: Race, count: int) -> Figures:
    return {
        "files": str(count),
        "seconds": result.subject,
        "peer": "a loop of h5py",
        "peer, s": result.peer,
        "times as fast": result.ratio,
    }
