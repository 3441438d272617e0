"""The peak of memory while a file is loaded, each in a process of its own.

`python -m benchmarks.memory FEW [PATH]` is that process: it loads a file of a few examples by the
table driver, then the other, and prints the peak and what the columns take. An empty run has only
the first, so that it has the same libraries and kernels in memory.
"""

import json
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import exset
from benchmarks import lists
from benchmarks.inputs import ROOT, SIZES, Inputs
from benchmarks.measure import Spread
from benchmarks.rows import Cases, Figures
from exset.runtime.summary import memory_of

_STATUS = Path("/proc/self/status")
_FEW = 1 / 1000
_MEBI = 1 << 20


def peaks(inputs: Inputs, runs: int) -> Cases:
    """Loading, of all kinds, in both formats."""
    for kind in SIZES:
        for suffix in (".ex", ".bex"):
            few, path = (partial(inputs.path, kind, suffix, part) for part in (_FEW, 1))
            yield f"load {kind}{suffix}", partial(_peak, few, path, runs)
    small = Inputs(inputs.folder, inputs.part * _FEW)
    for ids in ("text", "integer"):
        few, path = (partial(lists.path_of, each, ids) for each in (small, inputs))
        yield f"load list of {ids} ids", partial(_peak, few, path, runs)


def _peak(few_of: Callable[[], str], path_of: Callable[[], str], runs: int) -> Figures:
    few, path = few_of(), path_of()
    children = [(_child(few), _child(few, path)) for _ in range(runs)]
    above = Spread.of([(loaded[0] - empty[0]) / _MEBI for empty, loaded in children])
    columns = children[0][1][1] / _MEBI
    return {
        "file, MiB": Path(path).stat().st_size / _MEBI,
        "columns, MiB": columns,
        "peak above an empty run, MiB": above,
        "of the columns": above.median / columns,
        "2x columns + 64 MiB": 2 * columns + 64,
    }


def _child(*paths: str) -> tuple[int, int]:
    command = [sys.executable, "-m", "benchmarks.memory", *paths]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True)
    peak, columns = json.loads(done.stdout)
    return peak, columns


def _highest() -> int:
    """The most that this process has taken, in bytes."""
    if _STATUS.exists():  # ru_maxrss there is no less than what the parent had
        lines = dict(line.split(":", 1) for line in _STATUS.read_text().splitlines())
        return int(lines["VmHWM"].split()[0]) * 1024
    import resource  # which Windows has not

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _main(few: str, path: str | None = None) -> None:
    model = exset.load(few, engine="table", findings=exset.Findings())
    if path is not None:
        model = exset.load(path, findings=exset.Findings())
    peak = _highest()
    print(json.dumps([peak, memory_of(model)]))


if __name__ == "__main__":
    _main(*sys.argv[1:])
