"""Measure the time of a whole command, for a file of a thousand bytes.

Python must write bytecode, as for an installed package. A checkout may have no bytecode, and the
environment may forbid it: compilation of the sources would then take most of the time.
"""

import os
import subprocess
import sys
from functools import partial

from benchmarks.inputs import ROOT, Inputs, lines
from benchmarks.measure import race
from benchmarks.rows import Cases, Figures

_BYTES = 1000
_EXSET = "import sys; from exset.cli import main; sys.exit(main())"
_PEER = "import numpy"


def answers(inputs: Inputs, runs: int) -> Cases:
    """Yield the usual commands for a small file."""
    path = os.path.join(inputs.folder, "small.ex")
    with open(path, "w", encoding="ascii") as file:
        text = ""
        for line in lines("mixed", 100):
            if len(text) + len(line) < _BYTES:
                text += line + "\n"
        file.write(text)
    binary = os.path.join(inputs.folder, "small.bex")
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": os.path.join(inputs.folder, "bytecode")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    for name, arguments in (
        ("info small.ex", ["info", path]),
        ("convert small.ex small.bex", ["convert", path, "-o", binary]),
        ("info small.bex", ["info", binary]),
        ("convert small.bex again.ex", ["convert", binary, "-o", f"{path}.again.ex"]),
    ):
        yield name, partial(_race, arguments, environment, runs)


def _race(arguments: list[str], environment: dict[str, str], runs: int) -> Figures:
    subject = partial(_wait, ["-c", _EXSET, *arguments], environment)
    result = race(subject, partial(_wait, ["-c", _PEER], environment), runs)
    return {
        "ms": result.subject.median * 1000,
        "peer": "import numpy",
        "peer, ms": result.peer.median * 1000,
        "times as long": result.slowness,
    }


def _wait(arguments: list[str], environment: dict[str, str]) -> None:
    subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=True,
    )
