"""Kernels: plain functions on arrays that Numba compiles for large inputs.

A function marked `@kernel` stays a plain Python function. `Kernels` compiles copies of the marked
functions of some modules, together, when one is first needed. Importing this module compiles
nothing, and does not import Numba.
"""

import importlib
import sys
from collections.abc import Callable
from functools import cache as cache_result
from functools import cached_property, partial
from types import FunctionType, ModuleType
from typing import Any, Literal, ParamSpec, TypeAlias, TypeVar, cast

from exset.core import disk_cache, notices
from exset.core.disk_cache import digest

Engine: TypeAlias = Literal["auto", "reference", "table"]
"""What runs a grammar or a layout: the library that declares it, or the tables lowered from it."""

P = ParamSpec("P")
R = TypeVar("R")

_MARK = "__exset_kernel__"


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Mark a function as a kernel, and return it unchanged."""
    setattr(function, _MARK, "kernel")
    return function


def bare_kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Mark a kernel that creates no array, and calls no kernel that does.

    Numba then does not count references to the arrays that are passed on. For tuples of many
    arrays, that is most of the work of a call.
    """
    setattr(function, _MARK, "bare")
    return function


def inline_kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Mark a bare kernel that is compiled into each kernel that calls it.

    This is for short kernels that are called very often: passing a tuple of many arrays takes
    longer than their work.
    """
    setattr(function, _MARK, "inline")
    return function


@cache_result
def import_error() -> str | None:
    """Import Numba, and return why that fails, or None."""
    try:
        importlib.import_module("numba")
    except ModuleNotFoundError:
        return "numba is not installed"
    except Exception as error:  # a Numba that does not fit the NumPy here may raise anything
        return f"numba cannot be imported: {error}"
    return None


@cache_result
def available() -> bool:
    """Return whether kernels can be compiled. If not, they run as plain Python, with one notice."""
    if (why := import_error()) is None:
        return True
    notices.notify(f"{why}: large files take much longer")
    return False


class Kernels:
    """The marked functions of some modules, which may call each other by name.

    `modules` are full names; nothing is imported. Compiling raises ValueError if two functions have
    the same name, or a constant has two values.
    """

    def __init__(
        self, *modules: str, compile_from: int = 100_000, use_from: int | None = None
    ) -> None:
        """Name the modules, and the sizes from which it pays to compile, or to use them.

        The unit is that of the work: bytes of text, or numbers. `compile_from` is for kernels that
        must be compiled, or loaded from the cache; `use_from` for those already loaded, by default
        the same.
        """
        self.modules = modules
        self.compile_from = compile_from
        self.use_from = compile_from if use_from is None else use_from

    @cached_property
    def cache_name(self) -> str:
        """The name in the cache of the folder of the compiled code.

        It depends on the sources of all the modules, and on the versions of Python and Numba.
        """
        versions = f"{sys.version} {_numba_version()}"
        return f"kernels/{digest(versions, *self.modules)}"

    @property
    def is_cached(self) -> bool:
        """Whether compiled code is cached on disk, and every file of it is whole."""
        names = [each for each in disk_cache.names(self.cache_name) if each.endswith(".kernel")]
        return bool(names) and all(disk_cache.load(name) is not None for name in names)

    def should_compile(self, size: int, engine: Engine = "auto") -> bool:
        """Return whether to use the compiled copies for work of this size.

        With `auto` they are used where it pays, with `table` always, with `reference` never. Where
        Numba cannot be imported they are never used.
        """
        is_loaded = "_compiled" in vars(self)
        least = self.use_from if is_loaded else self.compile_from
        if engine == "reference" or (engine == "auto" and size < least):
            return False
        return available()

    def choose(self, function: Callable[P, R], compiled: bool) -> Callable[P, R]:
        """Return the compiled copy of a marked function, or the function itself."""
        return self.compiled(function) if compiled else function

    def compiled(self, function: Callable[P, R]) -> Callable[P, R]:
        """Return the compiled copy of a marked function; its first call compiles it."""
        return cast(Callable[P, R], self._compiled[function.__name__])

    @cached_property
    def _compiled(self) -> dict[str, object]:
        names: dict[str, object] = {}
        marked: list[FunctionType] = []
        for module in map(importlib.import_module, self.modules):
            for name, value in vars(module).items():
                if name.startswith("__"):
                    continue
                if isinstance(value, FunctionType) and hasattr(value, _MARK):
                    if value.__module__ != module.__name__:
                        continue
                    marked.append(value)
                elif names.setdefault(name, value) is not value and not _equal(names[name], value):
                    raise ValueError(f"kernels of {self.modules}: two values of {name}")
        once = "in each process" if disk_cache.problem() else "for this machine, once"
        notice = f"compiling kernels {once}; this takes some seconds"
        announce = cache_result(partial(notices.notify, notice))
        for function in marked:
            if function.__name__ in {each.__name__ for each in marked if each is not function}:
                raise ValueError(f"kernels of {self.modules}: two called {function.__name__}")
            copy = FunctionType(function.__code__, names, function.__name__, function.__defaults__)
            copy.__module__, copy.__qualname__ = function.__module__, function.__qualname__
            names[function.__name__] = _jit(
                copy, getattr(function, _MARK), self.cache_name, announce
            )
        return names


def _jit(function: FunctionType, mark: str, folder: str, announce: Callable[[], object]) -> object:
    from exset.core.kernel_cache import KernelCache

    njit: Callable[..., Callable[[FunctionType], Any]] = importlib.import_module("numba").njit
    options: dict[str, object] = {"nogil": True, "error_model": "numpy"}
    if mark != "kernel":
        options["_nrt"] = False
    if mark == "inline":
        options["inline"] = "always"
    dispatcher = njit(**options)(function)
    dispatcher._cache = KernelCache(folder, function, announce)
    return dispatcher


def _equal(a: object, b: object) -> bool:
    if isinstance(a, ModuleType) or isinstance(b, ModuleType):
        return False
    return type(a) is type(b) and bool(a == b)


def _numba_version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("numba")
    except PackageNotFoundError:
        return "none"
