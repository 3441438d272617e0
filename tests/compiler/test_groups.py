"""The command compiles in other processes, however the system starts them."""

import multiprocessing
import os
import subprocess
import sys
from pathlib import Path

import pytest

from exset.compiler import declared

pytest.importorskip("numba")

ROOT = Path(__file__).parents[2]
SMALL = "exset.codecs.shared.crc32c"
PROGRAM = """
import multiprocessing, runpy, sys
multiprocessing.set_start_method(sys.argv.pop(1))
runpy.run_module("exset.compiler", run_name="__main__", alter_sys=True)
"""


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_all_ways_to_start_a_process(method: str, tmp_path: Path) -> None:
    """Python 3.14 no longer forks, and Windows and macOS never did."""
    [group] = [each for each in declared.kernels() if each.modules[-1] == SMALL]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, method, ",".join(group.modules)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "EXSET_CACHE": str(tmp_path)},
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / group.name).exists()
