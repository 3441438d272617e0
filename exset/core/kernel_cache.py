"""The compiled code of a kernel in the cache on disk."""

import pickle
from collections.abc import Callable
from contextlib import suppress
from types import FunctionType
from typing import Any

from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from exset.core import disk_cache
from exset.core.disk_cache import digest


class KernelCache:
    """What Numba calls to load and to save compiled code.

    Numba's own cache trusts its files: a truncated one raises EOFError, a full disk OSError.
    `disk_cache` checks every file before use, and a file that cannot be used is compiled anew.
    """

    def __init__(self, folder: str, function: FunctionType, announce: Callable[[], object]) -> None:
        """Keep the code of `function` in `folder`, a name in the cache.

        `announce`: called before each compilation.
        """
        self.cache_path = folder
        self._announce = announce
        self._function = f"{function.__module__}.{function.__name__}"

    def _name(self, signature: object, codegen: Any) -> str:
        """Return a name that depends on the types of the arguments and on the machine."""
        key = f"{self._function} {signature} {codegen.magic_tuple()}"
        return f"{self.cache_path}/{digest(key)}.kernel"

    def load_overload(self, signature: object, context: Any) -> Any:
        """Return the compiled code for the types of `signature`, or None."""
        context.refresh()
        data = disk_cache.load(self._name(signature, context.codegen()))
        if data is not None:
            # Numba and LLVM may refuse code that another build of them has stored.
            with suppress(Exception):
                return CompileResult._rebuild(  # type: ignore[no-untyped-call]
                    context, *pickle.loads(data)
                )
        self._announce()
        return None

    def save_overload(self, signature: object, result: Any) -> None:
        """Store compiled code, unless it has addresses of this process in it."""
        if not result.library.has_dynamic_globals:
            data: bytes = dumps(result._reduce())  # type: ignore[no-untyped-call]
            disk_cache.store(self._name(signature, result.codegen), data)
