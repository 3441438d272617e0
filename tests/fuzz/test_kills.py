"""A sharded conversion of which a process is killed at a random time."""

import random
from pathlib import Path

import pytest

from tests.fuzz.kills import make_inputs, one_run


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs the processes in /proc")
def test_a_kill_loses_nothing_and_repeats_nothing(tmp_path: Path) -> None:
    make_inputs(tmp_path)
    draw = random.Random()
    for _ in range(2):
        run = one_run(tmp_path, draw, 2)
        assert run.redone == 0, run
