"""Compile a group of kernels to an object file of the cache.

Processes import this module by name, and so it is not `__main__`.
"""

import traceback

from exset.core import disk_cache
from exset.core.kernels import FAILED, Kernels


def compile_modules(modules: tuple[str, ...], again: bool = True) -> bool:
    """Compile the kernels of `modules` if no object file has them yet; return whether they work.

    again: whether to try again after an earlier failure. If not, skip a group that has failed, and
    return True.
    """
    group = Kernels(*modules)
    if disk_cache.load(group.name) is not None or (group.failure() and not again):
        return True
    try:
        from exset.compiler.objects import compile_group  # with Numba, which reads its settings

        return disk_cache.store(group.name, compile_group(group))
    except Exception as error:  # Numba may raise anything
        traceback.print_exc()
        disk_cache.store(group.name + FAILED, str(error).encode())
        return False
