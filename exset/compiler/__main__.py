"""Compile groups of kernels, or everything; `exset.core.background` starts this module."""

import argparse
import contextlib
import gc
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from exset.compiler import declared
from exset.compiler.groups import compile_modules
from exset.core import disk_cache
from exset.core.background import try_lock

_SETTINGS = {"NUMBA_CPU_NAME": "generic", "NUMBA_DISABLE_JIT": "0", "NUMBA_OPT": "0"}
"""Numba's settings: no optimisation, as `objects` optimises the code for each processor."""

_OBJECTS = 200_000
"""How many new objects start a garbage collection: while a kernel is compiled, few are garbage."""


def main() -> None:
    """Compile the groups that the arguments name; fail if a kernel cannot be compiled."""
    parser = argparse.ArgumentParser(prog="python -m exset.compiler", description=__doc__)
    parser.add_argument("groups", nargs="*", help="the modules of a group of kernels")
    parser.add_argument("--background", action="store_true", help="at low priority")
    parser.add_argument("--prune", action="store_true", help="delete other files of the cache")
    options = parser.parse_args()
    while try_lock() is None:
        if options.background:
            return
        time.sleep(0.1)
    if options.background and hasattr(os, "nice"):
        os.nice(19)
    groups = [tuple(each.split(",")) for each in options.groups]
    if not groups:
        for grammar in declared.grammars():
            _ = grammar.lowered
        for layout in declared.layouts().values():
            _ = layout.program
    if options.background or not groups:
        groups += [each.modules for each in declared.kernels()]
    os.environ.update(_SETTINGS)  # before Numba is imported
    if options.background:
        gc.set_threshold(_OBJECTS)
        is_complete = all([compile_modules(each, again=False) for each in groups])
    else:
        with ProcessPoolExecutor(initializer=gc.set_threshold, initargs=(_OBJECTS,)) as pool:
            is_complete = all(list(pool.map(compile_modules, groups)))
    if options.prune:
        _prune()
    sys.exit(not is_complete)


def _prune() -> None:
    """Delete the files of the cache folder that this version of exset does not use."""
    used: set[str | None] = {each.cache_name for each in declared.grammars()}
    used |= {each.cache_name for each in declared.layouts().values()}
    used |= {each.name for each in declared.kernels()}
    root = Path(disk_cache.folder())
    for file in root.rglob("*"):
        if file.is_file() and file.relative_to(root).as_posix() not in used:
            with contextlib.suppress(PermissionError):  # on Windows, the lock of this process
                file.unlink()


if __name__ == "__main__":
    main()
