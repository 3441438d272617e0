"""Measure work on many HDF5 files: processes, shares, Dask and MPI, each against one process.

All ways must give the same bytes. `python -m benchmarks.clusters FOLDER COUNT` only makes files.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import h5py
import numpy as np

from benchmarks.inputs import ROOT, Inputs
from benchmarks.measure import Race, race
from benchmarks.rows import Cases, Figures

_FILES, _SAMPLES = 10_000, 4
_OF_ONE = 20_000
_FEW = 1000
_SHARES = 2
_NO_BYTECODE = "PYTHONDONTWRITEBYTECODE"
_MPI = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
}


def cases(inputs: Inputs, runs: int) -> Cases:
    """Yield the check and the list of 10,000 files in each way, then of one file, and of few."""
    count = max(int(_FILES * inputs.part), 8)
    many = _Work(inputs.folder, f"many-{count}", count, _SAMPLES)
    for verb in ("validate", "build"):
        for way in _ways():
            yield f"{verb}, {count:,} files, {way}", partial(many.measured, verb, way, runs)
    samples = max(int(_OF_ONE * inputs.part), 8)
    one = _Work(inputs.folder, f"one-{samples}", 1, samples)
    for verb in ("build", "normalise"):
        name = f"{verb}, 1 file of {samples:,} samples, 2 processes"
        yield name, partial(one.measured, verb, "2 processes", runs)
    few = max(int(_FEW * inputs.part), 8)
    small = _Work(inputs.folder, f"few-{few}", few, _SAMPLES)
    for verb in ("validate", "build"):
        name = f"{verb}, {few:,} files, 2 processes"
        yield name, partial(small.measured, verb, "2 processes", runs)


def make_files(folder: str, files: int, samples: int) -> None:
    """Write HDF5 files with samples of three fields."""
    os.makedirs(folder)
    for number in range(files):
        with h5py.File(os.path.join(folder, f"{number:06}.h5"), "w", track_order=True) as file:
            for sample in range(samples):
                group = file.create_group(f"RUN_ID/{sample:09}")
                group["x"] = np.arange(4.0) + sample
                group["y"], group["z"] = float(number), np.arange(3)


def _ways() -> Iterator[str]:
    yield "2 processes"
    yield f"{_SHARES} shares and gather"
    if find_spec("distributed"):
        yield "Dask"
    if shutil.which("mpirun") and find_spec("mpi4py"):
        yield "MPI"


@dataclass
class _Work:
    """Commands on a folder of files, which is made when it is needed."""

    folder: str
    name: str
    files: int
    samples: int

    def measured(self, verb: str, way: str, runs: int) -> Figures:
        """Race a way against one process; check that the outputs are equal."""
        self._make()
        outputs: list[bytes] = []
        with ExitStack() as stack:
            scheduler = stack.enter_context(_dask()) if way == "Dask" else ""
            subject = partial(self._run, verb, way, scheduler, outputs)
            result = race(subject, partial(self._run, verb, "1 process", "", outputs), runs)
        assert len(set(outputs)) == 1, "the outputs differ"
        return _figures(result)

    def _make(self) -> None:
        path = os.path.join(self.folder, self.name)
        if not os.path.exists(path):
            make_files(path, self.files, self.samples)
            _exset(self.folder, ["list", "build", self.name, "-o", f"{self.name}.sample_list"])

    def _run(self, verb: str, way: str, scheduler: str, outputs: list[bytes]) -> None:
        """Run a command, and keep what it writes."""
        written = Path(
            self.folder, f"{self.name}.out.{'yaml' if verb == 'normalise' else 'sample_list'}"
        )
        written.unlink(missing_ok=True)
        words = {
            "validate": ["validate", "--files", f"{self.name}.sample_list"],
            "build": ["list", "build", self.name],
            "normalise": ["schema", "build", self.name, "--normalise", "unit"],
        }[verb]
        target = [] if verb == "validate" else ["-o", written.name]
        if "shares" in way:
            shown = self._shares(words, target)
        elif way == "MPI":
            ranks = ["mpirun", "-n", "3", sys.executable, "-m", "exset.mpi"]
            shown = _exset(self.folder, [*words, *target], ranks)
        else:
            options = ["--scheduler", scheduler] if scheduler else ["--jobs", way[0]]
            shown = _exset(self.folder, [*words, *target, *options])
        outputs.append(shown if verb == "validate" else written.read_bytes())

    def _shares(self, words: list[str], target: list[str]) -> bytes:
        """Run all shares at a time, then gather them."""
        journals = f"{self.name}.shares"
        shutil.rmtree(os.path.join(self.folder, journals), ignore_errors=True)
        shares = [
            _started(
                self.folder,
                [*words, "--shard", f"{index + 1}/{_SHARES}", "--journal", f"{journals}/"],
            )
            for index in range(_SHARES)
        ]
        for share in shares:
            if share.wait():
                raise subprocess.CalledProcessError(share.returncode, share.args)
        return _exset(self.folder, ["gather", f"{journals}/*", *target])


def _started(folder: str, words: list[str]) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "exset", *words]
    return subprocess.Popen(command, cwd=folder, env=_environment(), stderr=subprocess.DEVNULL)


def _exset(folder: str, words: list[str], program: list[str] | None = None) -> bytes:
    """Run exset, and return its output."""
    command = [*(program or [sys.executable, "-m", "exset"]), *words]
    return subprocess.run(
        command,
        cwd=folder,
        env=_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=True,
    ).stdout


def _environment() -> dict[str, str]:
    """Return the environment of exset, which keeps compiled modules, as an installed exset has."""
    kept = {name: value for name, value in os.environ.items() if name != _NO_BYTECODE}
    return {**kept, **_MPI, "PYTHONPATH": str(ROOT), "PYTHONPYCACHEPREFIX": _bytecode().name}


@cache
def _bytecode() -> "TemporaryDirectory[str]":
    return TemporaryDirectory(prefix="exset-bytecode-")


@contextmanager
def _dask() -> Iterator[str]:
    """Start a scheduler with two workers, and give its address."""
    from distributed import LocalCluster

    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = str(ROOT)
    try:
        with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
            yield str(cluster.scheduler_address)
    finally:
        os.environ.pop("PYTHONPATH")
        if before is not None:
            os.environ["PYTHONPATH"] = before


def _figures(result: Race) -> Figures:
    return {
        "seconds": result.subject,
        "peer": "1 process",
        "peer, s": result.peer,
        "times as fast": result.ratio,
    }


if __name__ == "__main__":
    begun = perf_counter()
    make_files(sys.argv[1], int(sys.argv[2]), _SAMPLES)
    print(f"{sys.argv[2]} files in {perf_counter() - begun:.1f} s")
