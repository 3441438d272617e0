"""Measure the peak of memory while a file is loaded, streamed or converted, in separate processes.

`python -m benchmarks.memory VERB FEW [PATH]` is such a process: it applies the verb to FEW, a file
of a few examples, with all kernels compiled, then to PATH, and prints the peak and the memory of
the loaded columns. An empty run has no PATH: it has only the same libraries and kernels in memory.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from unittest.mock import patch

import exset
from benchmarks import lists, manifests
from benchmarks.inputs import ROOT, SIZES, Inputs
from benchmarks.measure import Spread
from benchmarks.rows import Cases, Figure, Figures
from exset import streaming
from exset.codecs.lens import bex as codec
from exset.core.errors import Findings
from exset.core.protocols import Model
from exset.grammars.lens.examples import ExampleSet
from exset.parsers.lens import write_columns
from exset.runtime.reports.report import memory_of
from exset.streaming import chunks

_STATUS = Path("/proc/self/status")
_FEW = 1 / 1000
_MEBI = 1 << 20
_KINDS = ("dense", "sparse")
"""Kinds of files that are read and written in chunks."""
_TABLES = ("parquet", "feather", "npz", "hdf5", "csv", "tfrecord", "tfrecord-shards", "mds")
"""Formats of tables that are written in chunks."""
_PARTS = {"1x": 1 / 4, "4x": 1.0}
"""The sizes of files, as fractions of the full size."""


def peaks(inputs: Inputs, runs: int) -> Cases:
    """Yield loading of all kinds of files, in both formats."""
    for kind in SIZES:
        for suffix in (".ex", ".bex"):
            few, path = (partial(inputs.path, kind, suffix, part) for part in (_FEW, 1))
            yield f"load {kind}{suffix}", partial(_loaded, "load", few, path, runs)
    small = Inputs(inputs.folder, inputs.part * _FEW)
    for ids in ("text", "integer"):
        few, path = (partial(lists.path_of, each, ids) for each in (small, inputs))
        yield f"load list of {ids} ids", partial(_loaded, "list", few, path, runs)
    few, path = (partial(manifests.path_of, each) for each in (small, inputs))
    yield "load manifest", partial(_loaded, "list", few, path, runs)


def parts(inputs: Inputs, runs: int) -> Cases:
    """Yield streaming and converting in chunks: the peak should not grow with the file."""
    for verb in ("stream", "convert"):
        for kind in _KINDS:
            for suffix in (".ex", ".bex"):
                name = f"{verb} {kind}{suffix}"
                yield name, partial(_parted, inputs, verb, kind, suffix, runs)
    for target in _TABLES:
        yield (
            f"table dense.bex to {target}",
            partial(_parted, inputs, target, "dense", ".bex", runs),
        )


def _loaded(verb: str, few_of: Callable[[], str], path_of: Callable[[], str], runs: int) -> Figures:
    few, path = few_of(), path_of()
    children = [(_child(verb, few), _child(verb, few, path)) for _ in range(runs)]
    above = Spread.of([(full[0] - empty[0]) / _MEBI for empty, full in children])
    columns = children[0][1][1] / _MEBI
    return {
        "file, MiB": Path(path).stat().st_size / _MEBI,
        "columns, MiB": columns,
        "peak above an empty run, MiB": above,
        "of the columns": above.median / columns,
        "2x columns + 64 MiB": 2 * columns + 64,
    }


def _parted(inputs: Inputs, verb: str, kind: str, suffix: str, runs: int) -> Figures:
    few, figures = inputs.path(kind, suffix, _FEW), dict[str, Figure]()
    empty = [_child(verb, few)[0] for _ in range(runs)]
    for name, part in _PARTS.items():
        path = inputs.path(kind, suffix, part)
        peaks = [(_child(verb, few, path)[0] - each) / _MEBI for each in empty]
        figures[f"file {name}, MiB"] = Path(path).stat().st_size / _MEBI
        figures[f"peak above an empty run {name}, MiB"] = Spread.of(peaks)
    return figures


def _child(*arguments: str) -> tuple[int, int]:
    command = [sys.executable, "-m", "benchmarks.memory", *arguments]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True)
    peak, columns = json.loads(done.stdout)
    return peak, columns


def highest() -> int:
    """Return the peak of the memory of this process, in bytes."""
    if _STATUS.exists():  # ru_maxrss there is at least that of the parent
        lines = dict(line.split(":", 1) for line in _STATUS.read_text().splitlines())
        return int(lines["VmHWM"].split()[0]) * 1024
    import resource  # Windows lacks it

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _warm(few: str) -> ExampleSet:
    """Load all kernels, by reading and writing in both formats."""
    model = exset.load(few, model=ExampleSet, engine="table")
    with patch.multiple(write_columns.KERNELS, load_from=0, use_from=0):
        text = exset.dumps(model, format="ex")
    exset.loads(text, format="ex", engine="table")
    exset.loads(codec.encode(model, engine="table"), format="bex", engine="table")
    for part in chunks(few, findings=Findings(), engine="table"):
        exset.dumps(part, format="bex")
    return model


def _load(path: str) -> ExampleSet:
    return exset.load(path, model=ExampleSet)


def _stream(path: str) -> None:
    for _ in chunks(path, findings=Findings()):
        pass


def _convert(path: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        suffix = ".ex" if path.endswith(".bex") else ".bex"
        exset.convert(path, f"{folder}/x{suffix}", findings=Findings())


def _table(target: str, path: str) -> None:
    """Convert in chunks, however small the file is."""
    with tempfile.TemporaryDirectory() as folder, patch.object(streaming, "SMALL", -1):
        exset.convert(path, f"{folder}/x", to=target, findings=Findings())


def _warm_table(target: str, few: str) -> ExampleSet:
    _table(target, few)
    return _load(few)


def _list(path: str) -> Model:
    return exset.load(path, engine="table", findings=Findings())


def _main(verb: str, few: str, path: str | None = None) -> None:
    acts: dict[str, Callable[[str], Model | None]]
    acts = {"load": _load, "stream": _stream, "convert": _convert, "list": _list}
    acts |= {target: partial(_table, target) for target in _TABLES}
    model: Model
    if verb in _TABLES:
        model = _warm_table(verb, few)
    else:
        model = _list(few) if verb == "list" else _warm(few)
    if path is not None:
        model = acts[verb](path) or model
    peak = highest()
    print(json.dumps([peak, memory_of(model)]))


if __name__ == "__main__":
    _main(*sys.argv[1:])
