"""Measure the peak of memory while aeon's loader gives an epoch, in separate processes.

`python -m benchmarks.loader_memory CONFIG EPOCHS` is such a process: it provides some epochs of the
configuration, and prints the peak and the bytes of a batch. An empty run has no epoch.
"""

import json
import subprocess
import sys
from collections.abc import Callable
from functools import partial

from benchmarks.inputs import ROOT, Inputs
from benchmarks.measure import Spread
from benchmarks.memory import highest
from benchmarks.picture_peers import installed
from benchmarks.provisioning import config_of, labels_of, pictures_of
from benchmarks.rows import Cases, Figures
from exset import DataLoader, Findings

_MEBI = 1 << 20
_PREFETCH = 2


def peaks(inputs: Inputs, runs: int) -> Cases:
    """Yield labels, and pictures if OpenCV is there, on two threads."""
    yield "labels", partial(_provisioned, partial(labels_of, inputs), runs)
    if installed():
        pictures = partial(pictures_of, inputs)
        yield "pictures", partial(_provisioned, lambda: config_of(inputs, pictures()), runs)


def _provisioned(config_of: Callable[[], dict[str, object]], runs: int) -> Figures:
    config = config_of()
    children = [(_child(config, 0), _child(config, 1)) for _ in range(runs)]
    batch = children[0][1][1] / _MEBI
    above = [(full - empty) / _MEBI for (empty, _), (full, _) in children]
    return {
        "batch, MiB": batch,
        "peak above an empty run, MiB": Spread.of(above),
        "prefetch x batch + 100 MiB": _PREFETCH * batch + 100,
    }


def _child(config: dict[str, object], epochs: int) -> tuple[int, int]:
    command = [sys.executable, "-m", "benchmarks.loader_memory", json.dumps(config), str(epochs)]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True)
    peak, batch = json.loads(done.stdout)
    return peak, batch


def _main(config: str, epochs: str) -> None:
    size = 0
    with DataLoader(config, threads=2, prefetch=_PREFETCH, findings=Findings()) as loader:
        for _ in range(int(epochs)):
            for batch in loader:
                arrays: dict[str, object] = dict(batch)
                size = sum(getattr(array, "nbytes", 0) for array in arrays.values())
    print(json.dumps([highest(), size]))


if __name__ == "__main__":
    _main(*sys.argv[1:])
