"""Compile kernels, or all that can be compiled: what `exset.core.background` starts."""

import argparse
import os
import sys
import time
import traceback

from exset.compiler import declared
from exset.core import disk_cache
from exset.core.background import try_lock
from exset.core.kernels import FAILED, Kernels

_SETTINGS = {"NUMBA_CPU_NAME": "generic", "NUMBA_DISABLE_JIT": "0", "NUMBA_OPT": "0"}
"""Numba's settings: it optimises nothing, as `objects` does that for each processor."""


def main() -> None:
    """Run the command; it fails if a kernel cannot be compiled."""
    parser = argparse.ArgumentParser(prog="python -m exset.compiler", description=__doc__)
    parser.add_argument("groups", nargs="*", help="the modules of a group of kernels")
    parser.add_argument("--background", action="store_true", help="at low priority")
    options = parser.parse_args()
    while try_lock() is None:
        if options.background:
            return
        time.sleep(0.1)
    if options.background and hasattr(os, "nice"):
        os.nice(19)
    groups = [Kernels(*each.split(",")) for each in options.groups]
    if not groups:
        for grammar in declared.grammars():
            _ = grammar.lowered
        for layout in declared.layouts().values():
            _ = layout.program
    if options.background or not groups:
        groups += declared.kernels()
    os.environ.update(_SETTINGS)  # before Numba is imported
    sys.exit(not all([_compile(each, again=not options.background) for each in groups]))


def _compile(group: Kernels, again: bool) -> bool:
    """Compile a group unless it is ready; return whether that was possible.

    again: also if it has failed before.
    """
    if disk_cache.load(group.name) is not None or (group.failure() and not again):
        return True
    try:
        from exset.compiler.objects import compile_group

        return disk_cache.store(group.name, compile_group(group))
    except Exception as error:  # Numba may raise anything
        traceback.print_exc()
        disk_cache.store(group.name + FAILED, str(error).encode())
        return False


if __name__ == "__main__":
    main()
