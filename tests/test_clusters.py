"""The scripts of `docs/clusters.md`, in the form that one machine allows, and the executors."""

import os
import re
import shutil
import socket
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

import h5py
import pytest

import exset
from exset import executors
from exset.jobs import Execution, WorkerError, run
from tests.cli.command_line import run as exset_command
from tests.core import deadly
from tests.house import ROOT

SCRIPTS = re.findall(r"```bash\n(.*?)```", (ROOT / "docs" / "clusters.md").read_text(), re.DOTALL)
ARRAY, GATHER, SRUN, FLUX, MPI, DASK = SCRIPTS

TASKS = """#!/bin/bash
while [ "${1#-}" != "$1" ] || [ "$1" = run ]; do [ "$1" = -n ] && shift; shift; done
for rank in 0 1; do RANK_NAME=$rank SIZE_NAME=2 "$@" || exit; done
"""
"""What starts two tasks of a job, one after another."""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with HDF5 files, the list of one run, and the programs that the scripts name."""
    monkeypatch.chdir(tmp_path)
    os.mkdir("data")
    for number in range(5):
        with h5py.File(f"data/{number}.h5", "w") as file:
            for sample in range(number):
                file[f"run/{sample}/x"] = float(sample)
    assert exset_command("list", "build", "data/", "-o", "one.sample_list").exit_code == 0
    program("exset", f'#!/bin/bash\nexec "{sys.executable}" -m exset "$@"\n')
    program("python", f'#!/bin/bash\nexec "{sys.executable}" "$@"\n')
    slurm = {"RANK_NAME": "SLURM_PROCID", "SIZE_NAME": "SLURM_STEP_NUM_TASKS"}
    flux = {"RANK_NAME": "FLUX_TASK_RANK", "SIZE_NAME": "FLUX_JOB_SIZE"}
    for name, words in (("srun", slurm), ("flux", flux)):
        text = TASKS
        for old, new in words.items():
            text = text.replace(old, new)
        program(name, text)


def program(name: str, text: str) -> None:
    path = Path("bin") / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def shell(script: str, **environment: str) -> None:
    path = f"{os.getcwd()}/bin:{os.path.dirname(sys.executable)}:{os.environ['PATH']}"
    variables = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), **environment}
    done = subprocess.run(
        ["bash", "-c", script], env=variables, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr


def check() -> None:
    assert Path("all.sample_list").read_bytes() == Path("one.sample_list").read_bytes()


def test_an_array_of_slurm() -> None:
    for task in ("1", "2"):
        bounds = {"SLURM_ARRAY_TASK_MIN": "1", "SLURM_ARRAY_TASK_MAX": "2"}
        shell(ARRAY, SLURM_ARRAY_TASK_ID=task, **bounds)
    shell(GATHER)
    check()


@pytest.mark.parametrize("script", [SRUN, FLUX], ids=["srun", "flux"])
def test_tasks_of_a_job(script: str) -> None:
    shell(script)
    check()


@pytest.mark.skipif(
    not (shutil.which("mpirun") and find_spec("mpi4py")), reason="no mpirun, or no mpi4py"
)
def test_mpi() -> None:
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    many = {"PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}
    shell(MPI, **root, **many, OMPI_MCA_rmaps_base_oversubscribe="1")
    check()


@pytest.mark.skipif(not find_spec("distributed"), reason="the extra dask is not installed")
def test_dask() -> None:
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    shell(DASK.replace("8786", str(port)))
    check()


WORKER = """
import sys
{change}
from distributed.cli.dask_worker import main
main()
"""
"""A worker of Dask in which exset is not as it should be."""


@pytest.mark.skipif(not find_spec("distributed"), reason="the extra dask is not installed")
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("sys.modules['exset'] = None", "lacks exset"),
        ("import exset; exset.__version__ = '0.0'", "has exset 0.0, not"),
    ],
)
def test_a_worker_of_dask_without_this_exset(change: str, message: str) -> None:
    from distributed import LocalCluster

    how = {"processes": False, "protocol": "tcp", "dashboard_address": None}
    with LocalCluster(n_workers=0, **how) as cluster:
        words = [cluster.scheduler_address, "--no-nanny", "--no-dashboard", "--nthreads", "1"]
        command = [sys.executable, "-c", WORKER.format(change=change), *words]
        with subprocess.Popen(command, stderr=subprocess.DEVNULL) as worker:
            try:
                done = exset_command("info", "exset::xor.ex", "--scheduler", words[0])
            finally:
                worker.terminate()
    assert done.exit_code == 3 and not done.stdout
    assert message in done.stderr, done.stderr


@pytest.mark.skipif(not find_spec("executorlib"), reason="executorlib is not installed")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of pydantic
def test_executorlib(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that dies costs one file."""
    from executorlib import SingleNodeExecutor

    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))  # its processes need `tests`

    with SingleNodeExecutor(max_workers=2) as pool:
        how = Execution(2, executors.SameVersion(pool))
        found = list(run(deadly.work, ["a", "deadly", "b", "bad"], jobs=how))
    values = [each.value[0] if each.value else type(each.error).__name__ for each in found]
    assert values == ["a", "ChildProcessError", "b", "FormatError"]


def test_workers_with_another_version() -> None:
    with ThreadPoolExecutor(1) as pool:
        how = Execution(2, executors.SameVersion(pool))
        assert [each.value for each in run(len, ["ab", "c"], jobs=how)] == [2, 1]
        call = executors.SameVersion(pool).submit(len, "abc")
        assert call.result() == 3
        call = pool.submit(executors.run_checked, "0.0", len, "abc")
        with pytest.raises(WorkerError, match=f"has exset {exset.__version__}, not 0.0"):
            call.result()


def test_a_scheduler_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executors, "_PATIENCE", 1)
    done = exset_command("info", "exset::xor.ex", "--scheduler", "tcp://localhost:1")
    assert done.exit_code in (2, 3) and not done.stdout
    assert "exset[dask]" in done.stderr or "localhost:1" in done.stderr
