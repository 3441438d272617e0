"""Kernels: Python functions on arrays that exset also compiles, for large inputs.

A function that is marked as a kernel stays a plain Python function. `exset.compiler` compiles all
the kernels of a group of modules to one object file, for the types of their annotations. It does so
when exset is built, or later in a background process. A process that reads or writes files never
compiles: it runs plain Python until the object file exists.
"""

import importlib
import os
import sys
from collections.abc import Callable, Iterator
from functools import cached_property
from threading import Lock
from types import FunctionType
from typing import Any, Literal, ParamSpec, TypeAlias, TypeVar, cast, get_args, get_origin

from exset.core import disk_cache
from exset.core.disk_cache import digest

Engine: TypeAlias = Literal["auto", "reference", "table"]
"""What runs a grammar or a layout: the library that declares it, or the tables lowered from it."""

P = ParamSpec("P")
R = TypeVar("R")

_MARK = "__exset_kernel__"
_INSTRUCTION = "__exset_instruction__"
INNER, INLINE, ENTRY = "inner", "inline", "entry"

FAILED = ".failed"
"""The suffix of the file that says why kernels could not be compiled."""

_COMPILER = (
    "exset.compiler.__main__",
    "exset.compiler.objects",
    "exset.compiler.signatures",
    "exset.compiler.target",
    "exset.core.native",
)


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Mark a function as a kernel that only other kernels call, and return it unchanged.

    Kernels create no arrays, and raise no exceptions.
    """
    setattr(function, _MARK, INNER)
    return function


def inline_kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Mark a kernel that is compiled into each kernel that calls it.

    This is for short kernels that are called very often: a real call would take longer than the
    work.
    """
    setattr(function, _MARK, INLINE)
    return function


def entry_kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Mark a function as a kernel that Python and other kernels call.

    The kernel is compiled for the types of its annotations: `int`, `bool`, `float`, scalars and
    contiguous arrays of NumPy, and tuples of these. An array of more than one dimension needs a
    declared shape. A kernel with unions is compiled several times: for the first type of every
    union, then for the second type of every union, and so on.
    """
    setattr(function, _MARK, ENTRY)
    return function


def instruction_kernel(name: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator for an inline kernel that is one instruction of some processors.

    name: LLVM's name of the instruction, which begins with `llvm.` and the kind of processor. The
    kernel's first arguments are numbers, which the instruction takes; its last arguments are
    arrays, which the instruction does not take. Kernel and instruction return one number. All
    numbers have 64 bits.
    """

    def mark(function: Callable[P, R]) -> Callable[P, R]:
        setattr(function, _INSTRUCTION, name)
        return inline_kernel(function)

    return mark


def array_type(annotation: object) -> object:
    """Return the type `numpy.ndarray[...]` that an annotation `NDArray[T]` represents.

    Return any other annotation unchanged. This is needed since NumPy 2.5 with Python 3.12 and
    later, as `NDArray` is an alias there.
    """
    alias = getattr(get_origin(annotation), "__value__", None)
    return annotation if alias is None else alias[get_args(annotation)]


def mark_of(function: object) -> str | None:
    """Return how a function is marked: entry, inline or plain kernel. Return None if it is not."""
    return getattr(function, _MARK, None)


def instruction_of(function: object) -> str | None:
    """Return LLVM's name of the instruction that a kernel is. Return None if it is not one."""
    return getattr(function, _INSTRUCTION, None)


def platform_name() -> str:
    """Return the name of this platform that the names of object files contain."""
    machine = os.uname().machine if hasattr(os, "uname") else os.environ["PROCESSOR_ARCHITECTURE"]
    return f"{sys.platform}-{machine}-{sys.maxsize.bit_length() + 1}".lower()


GROUPS: list["Kernels"] = []
"""The groups of kernels in all imported modules."""


class Kernels:
    """A group of kernels: the marked functions of one or more modules, which may call each other.

    `modules`: full names of modules, which are not imported.
    """

    def __init__(
        self,
        *modules: str,
        load_from: int = 1 << 16,
        use_from: int | None = None,
        compile_from: int = 1 << 20,
    ) -> None:
        """Name the modules, and the sizes of work from which compiled kernels save time.

        Sizes are in bytes of text, or in numbers. `load_from`: the smallest work for which the
        object file is loaded. `use_from`: the smallest work that uses kernels that are loaded
        already, by default the same size. `compile_from`: the smallest work for which a background
        process compiles kernels that are not compiled.
        """
        self.modules = modules
        self.load_from = load_from
        self.use_from = load_from if use_from is None else use_from
        self.compile_from = compile_from
        GROUPS.append(self)
        self._lock = Lock()
        self._functions: dict[str, Callable[..., Any]] = {}
        self._is_useless = False  # there is an object, but it cannot be loaded

    @cached_property
    def name(self) -> str:
        """The name of the object file: the last module, the platform, and a hash.

        The hash is of the source code of all the modules and of the compiler.
        """
        last = self.modules[-1].removeprefix("exset.")
        sources = digest("", *self.modules, *_COMPILER)
        return f"kernels/{last}-{platform_name()}-{sources}"

    @property
    def is_loaded(self) -> bool:
        """Whether this process has loaded the compiled functions."""
        return bool(self._functions)

    def failure(self) -> str | None:
        """Return why an earlier attempt to compile the kernels failed; None if none failed."""
        why = disk_cache.load(self.name + FAILED)
        return None if why is None else why.decode()

    def use_compiled(self, size: int, engine: Engine = "auto") -> bool:
        """Return whether to run compiled functions, not plain Python, on work of this size.

        Without an object file, return False. With one, `table` gives True, `reference` False, and
        `auto` True if this saves time.
        """
        least = self.use_from if self._functions else self.load_from
        if engine == "reference" or (engine == "auto" and size < least):
            return False
        if not self._functions:
            self._load(size)
        return bool(self._functions)

    def choose(self, function: Callable[P, R], compiled: bool) -> Callable[P, R]:
        """Return the machine code of an entry kernel if `compiled`, else the function itself."""
        return self.compiled(function) if compiled else function

    def compiled(self, function: Callable[P, R]) -> Callable[P, R]:
        """Return the machine code of an entry kernel. Raises KeyError if it is not loaded."""
        if not self._functions:
            self._load(0)
        return cast(Callable[P, R], self._functions[function.__name__])

    def _load(self, size: int) -> None:
        """Load the object file, at most once. If it is missing and the work is large, compile it.

        The compilation runs in the background. `size`: the size of the work, in bytes of text or in
        numbers.
        """
        with self._lock:
            if not self._functions and not self._is_useless:
                self._load_now(size)

    def _load_now(self, size: int) -> None:
        found = disk_cache.load(self.name)
        if found is None and size >= self.compile_from and not self.failure():
            from exset.core import background

            if background.compile_kernels([",".join(each.modules) for each in GROUPS]):
                found = disk_cache.load(self.name)
        if found is None:
            return
        try:
            from exset.core import native

            self._functions = native.link(found)
        except Exception:  # no llvmlite, or one that does not fit: it may raise anything
            self._is_useless = True

    def marked(self) -> Iterator[FunctionType]:
        """Import the modules of the group, and yield the functions that are marked as kernels."""
        for module in map(importlib.import_module, self.modules):
            for value in vars(module).values():
                is_own = getattr(value, "__module__", None) == module.__name__
                if isinstance(value, FunctionType) and is_own and mark_of(value):
                    yield value

    def copies(self, compiler: Callable[[FunctionType, str], object]) -> dict[str, object]:
        """Copy the marked functions, and return, by name, what `compiler` makes of each copy.

        `compiler` gets a copy and its mark. When a copy calls another marked function, it calls
        what `compiler` made of that function. Raises ValueError if two functions have the same
        name.
        """
        made: dict[FunctionType, object] = {}
        spaces = {module: dict(vars(importlib.import_module(module))) for module in self.modules}
        for function in self.marked():
            space, name = spaces[function.__module__], function.__name__
            copy = FunctionType(function.__code__, space, name, function.__defaults__)
            copy.__module__, copy.__qualname__ = function.__module__, function.__qualname__
            made[function] = compiler(copy, str(mark_of(function)))
        for space in spaces.values():
            space.update({name: made[each] for name, each in space.items() if mark_of(each)})
        named = {function.__name__: result for function, result in made.items()}
        if len(named) < len(made):
            modules = ", ".join(self.modules)
            raise ValueError(f"two kernels of the modules {modules} have the same name")
        return named
