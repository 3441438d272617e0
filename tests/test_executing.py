"""No module can run code from a file: it names nothing that could."""

import ast
import re
from collections.abc import Iterator

import pytest

from tests.house import modules, names_in, tree

EXECUTING = {
    *("asyncio", "code", "codeop", "ctypes", "marshal", "pickle", "pty", "runpy", "shelve"),
    *("socket", "subprocess", "multiprocessing", "concurrent"),
}
MAY_IMPORT = {
    # They compile kernels from the sources of exset, and load the checked result.
    "exset.core.background": {"subprocess"},
    "exset.core.native": {"ctypes"},
    "exset.compiler.build": {"subprocess"},
    "exset.compiler.__main__": {"concurrent"},
    "exset.core.batches": {"concurrent"},
    "exset.core.jobs": {"concurrent"},
    "exset.executors": {"concurrent"},
    "exset.mpi": {"concurrent"},
    "exset.core.isolation": {"multiprocessing"},
    # It runs the command line of exset itself again.
    "exset.core.supervisor": {"subprocess"},
    # It reads into new bytes.
    "exset.io.large_read": {"ctypes"},
    "exset.core.threads": {"concurrent"},
    "exset.core.process_pool": {"multiprocessing", "concurrent"},
    "exset.testing.fuzz": {"concurrent"},
    # It interrupts the worker processes of a run.
    "exset.testing.stops": {"multiprocessing"},
    # They run the program that the user wants to test.
    "exset.testing.conformance.readers": {"subprocess"},
    "exset.testing.conformance.runner": {"concurrent"},
    # It decodes in threads.
    "exset.runtime.aeon.provision.provider": {"concurrent"},
}
RUNS = re.compile(
    r"eval|exec|compile|__import__|os\.(\*|system|popen|startfile|fork\w*|(posix_)?(exec|spawn)\w*)"
)


def dangers(name: str, code: ast.Module) -> Iterator[str]:
    """Yield everything by which a module could start a program, load a pickle or run text."""
    forbidden = EXECUTING - MAY_IMPORT.get(name, set())
    names = names_in(code)

    def full(node: ast.expr) -> str:
        root, dot, rest = ast.unparse(node).partition(".")
        return (names.get(root, root) + dot + rest).removeprefix("builtins.")

    for each in names.values():
        if each.split(".")[0] in forbidden or RUNS.fullmatch(each):
            yield each
    for node in ast.walk(code):
        if isinstance(node, ast.Name | ast.Attribute) and RUNS.fullmatch(full(node)):
            yield full(node)
        elif isinstance(node, ast.Call):
            called = full(node.func)
            if called.endswith("import_module") and node.args:
                yield from {ast.unparse(node.args[0]).strip("'").split(".")[0]} & forbidden
            pickles = [each.value for each in node.keywords if each.arg == "allow_pickle"]
            if called == "numpy.load":
                pickles += node.args[2:]
                pickles += [each.value for each in node.keywords if each.arg is None]
            yield from (f"{called}: a pickle" for each in pickles if ast.unparse(each) != "False")


def test_nothing_is_executed() -> None:
    found = {name: list(dangers(name, tree(name))) for name in modules()}
    assert not {name: each for name, each in found.items() if each}


@pytest.mark.parametrize(
    "code",
    [
        "eval('1')",
        "run = exec",
        "import builtins as b; b.eval('1')",
        "__import__('os')",
        "import os; os.system('ls')",
        "import os as system; system.popen('ls')",
        "from os import system",
        "from os import execvp as go",
        "from os import *",
        "import os; f = os.posix_spawn",
        "import os; os.spawnl(0, 'ls')",
        "import os; os.fork()",
        "import subprocess",
        "from pickle import loads",
        "import runpy",
        "import ctypes.util",
        "from multiprocessing import Pool",
        "from concurrent.futures import ProcessPoolExecutor",
        "from importlib import import_module; import_module('pickle')",
        "import importlib; importlib.import_module('multiprocessing.pool')",
        "import numpy as np; np.load('x', allow_pickle=True)",
        "import numpy as np; np.load('x', allow_pickle=given)",
        "import numpy as np; np.load('x', None, True)",
        "from numpy import load; load('x', **options)",
        "from numpy import save as put; put('x', y, allow_pickle=True)",
    ],
)
def test_what_executes_is_seen(code: str) -> None:
    assert list(dangers("exset.api", ast.parse(code)))


@pytest.mark.parametrize(
    "code",
    [
        "import re; re.compile('x')",
        "import os; os.path.join('a', **b)",
        "import numpy as np; np.load('x', allow_pickle=False)",
        "from importlib import import_module; import_module('numba')",
        "codec.compile(x); system('ls')",
    ],
)
def test_what_executes_nothing_is_left_alone(code: str) -> None:
    assert not list(dangers("exset.api", ast.parse(code)))
    assert not list(
        dangers("exset.core.process_pool", ast.parse("from multiprocessing import Pool"))
    )
