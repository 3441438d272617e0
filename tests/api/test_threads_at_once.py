"""Threads that load files at once, as the first work of a process, get what one thread gets."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
THREADS = 8
PROGRAM = f"""
import random, threading, warnings
from concurrent.futures import ThreadPoolExecutor

import exset
from exset import samples

warnings.simplefilter("ignore")
ready = threading.Barrier({THREADS})

def load_all(number):
    ready.wait()
    names = list(samples.names())
    random.Random(number).shuffle(names)
    found = {{}}
    for name in names:
        model = exset.load("exset::" + name)
        fmt = exset.formats.detect(samples.read(name).data, name)
        found[name] = (model, exset.dumps(model, format=fmt.name))
    return found

with ThreadPoolExecutor({THREADS}) as pool:
    results = list(pool.map(load_all, range({THREADS})))
ready = threading.Barrier(1)
alone = load_all(99)
assert all(result == alone for result in results)
print(len(alone), "samples are equal")
"""


def test_loading_at_once(tmp_path: Path) -> None:
    """The cache of grammars and layouts is empty: all threads make the same ones."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(tmp_path)},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("samples are equal\n")
