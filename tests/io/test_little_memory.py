"""Memory that ends at any step is an error like any other: exit code 3, and no half a file."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import exset

ROOT = Path(__file__).parents[2]
STEPS = 10
COMMANDS = (
    "info in.ex",
    "validate in.ex",
    "stats in.ex",
    "convert in.ex -o o.bex",
    "convert in.ex -o o.ex.gz",
    "convert in.ex -o o.parquet",
    "convert in.ex -o o.h5",
    "split in.ex a.ex=50% b.ex=rest",
)
LARGE = {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536"}
"""Settings of the C library: what a large array took goes back to the system."""


@pytest.mark.skipif(sys.platform != "linux", reason="needs RLIMIT_AS and /proc")
def test_memory_that_ends_at_any_step(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    xor = exset.load("exset::xor.ex", model=exset.ExampleSet)
    exset.save(xor.select([0, 1, 2, 3] * 10_000), tmp_path / "in.ex")
    done = subprocess.run(
        [sys.executable, "-m", "tests.io.little_memory", str(STEPS)],
        input="\n".join(COMMANDS),
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=300,
        env={**os.environ, **LARGE, "PYTHONPATH": str(ROOT), "EXSET_THREADS": "1"},
    )
    runs = re.findall(r"^step (\d+) exit code (\d+) (.*)$", done.stdout, re.MULTILINE)
    assert len(runs) == STEPS * len(COMMANDS), done.stdout + done.stderr
    assert "Traceback" not in done.stderr and "Error:" not in done.stderr, done.stderr
    codes = [int(code) for _, code, _ in runs]
    assert {*codes} == {0, 3}, done.stderr
    errors = re.findall("^exset: (.*)$", done.stderr, re.MULTILINE)
    assert len(errors) == codes.count(3)
    assert all("memory" in each or "alloc" in each for each in errors), {*errors}
    for begin in range(0, len(runs), STEPS):
        some = runs[begin : begin + STEPS]
        assert some[-1][1] == "0", COMMANDS[begin // STEPS]
        assert len({files for *_, files in some}) == 1, some  # none is torn, none is left
