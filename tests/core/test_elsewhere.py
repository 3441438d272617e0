"""The main jobs work where a system lacks what only Linux, or only Unix, has: see `elsewhere`."""

import os
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np

import exset

ROOT = Path(__file__).parents[2]
COMMANDS = {
    "info exset::xor.ex exset::captions.tsv": 0,
    "convert exset::xor.ex -o xor.bex": 0,
    "convert xor.bex -o xor.npz": 0,
    "convert xor.npz -o xor.h5": 0,
    "convert exset::xor.ex exset::groups.ex --to bex -o all/ --jobs 2": 0,
    "validate xor.bex all/groups.bex --jobs 2": 0,
    "list build a.h5 b.h5 -o good.sample_list": 0,
    "validate --files good.sample_list": 0,
    "validate --files --root . good.sample_list broken.sample_list --jobs 2": 1,
    "manifest build pictures -o pictures.tsv": 0,
    "convert exset::captions.tsv -o c.tsv": 0,
    "cache build c.tsv .": 0,
    "cache check aeon_cache_85fbaf7e": 0,
    "cache extract aeon_cache_85fbaf7e -o out": 0,
    "info no-such-file.ex": 3,
}
"""The commands, with their exit codes."""


def test_the_main_jobs(tmp_path: Path) -> None:
    for name in "ab":
        with h5py.File(tmp_path / f"{name}.h5", "w") as file:
            for sample in range(3):
                file[f"s{sample}/x"] = np.arange(4.0)
        (tmp_path / "pictures" / name).mkdir(parents=True)
        (tmp_path / "pictures" / name / "1.txt").write_text(name)
    (tmp_path / "broken.h5").write_bytes((tmp_path / "a.h5").read_bytes()[:-99])
    (tmp_path / "broken.sample_list").write_text(
        "CONDUIT_HDF5_INCLUSION\n3 0 1\n.\nbroken.h5 3 0 s0 s1 s2\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "tests.core.elsewhere"],
        input="\n".join(COMMANDS),
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=300,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    codes = [line.split()[-1] for line in done.stdout.splitlines() if line.startswith("exit code")]
    found = dict(zip(COMMANDS, map(int, codes), strict=True))
    assert found == COMMANDS, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert exset.load(tmp_path / "xor.bex") == exset.load("exset::xor.ex")
