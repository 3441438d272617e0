"""NumPy cut down to what CuPy has too, whose arrays refuse to meet those of the host.

CuPy's do the same; so code that runs with this namespace should run on a GPU, and tests find what
would not where there is none.
"""

from types import ModuleType, SimpleNamespace

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

_SHARED = (
    *("arange", "argsort", "asarray", "broadcast_to", "ceil", "concatenate", "cumsum", "empty"),
    *("flatnonzero", "full", "isfinite", "isnan", "lexsort", "maximum", "minimum", "ones"),
    *("searchsorted", "stack", "where", "zeros"),
    *("bool_", "float32", "float64", "int32", "int64", "uint32", "uint64"),
)


class Guarded(np.ndarray):
    """An array that only meets its like and scalars, as if it lay on a device of its own."""

    def __array_ufunc__(  # type: ignore[no-untyped-def]
        self, ufunc, method, *inputs, **options
    ) -> object:
        plain = [_opened(each) for each in (*inputs, *options.pop("out", ()))]
        ins, out = plain[: len(inputs)], tuple(plain[len(inputs) :])
        done = getattr(ufunc, method)(*ins, **options, **({"out": out} if out else {}))
        return _guarded(done)

    def __array_function__(self, func, types, args, kwargs) -> object:  # type: ignore[no-untyped-def]
        raise TypeError(f"{func.__name__} is not one of the functions that NumPy and CuPy share")

    def __getitem__(self, key: object) -> object:  # type: ignore[override]
        return _guarded(self.view(np.ndarray)[_opened(key)])  # type: ignore[call-overload]

    def __setitem__(self, key: object, value: object) -> None:
        self.view(np.ndarray)[_opened(key)] = _opened(value)  # type: ignore[call-overload]

    def get(self) -> NDArray[np.generic]:
        """The same on the host."""
        return self.view(np.ndarray).copy()


def _opened(given: object) -> object:
    """What a function of NumPy may have: inside lists and tuples, too. Raises TypeError."""
    if isinstance(given, Guarded):
        return given.view(np.ndarray)
    if isinstance(given, np.ndarray):
        raise TypeError("an array of the host meets one of a device")
    if isinstance(given, tuple | list):
        return type(given)(map(_opened, given))
    return given


def _guarded(given: object) -> object:
    """What came back, guarded; a number stays on the device as an array of no dimensions."""
    return np.asarray(given).view(Guarded)


def _portable() -> ModuleType:
    module = ModuleType("portable")

    def shared(name: str):  # type: ignore[no-untyped-def]
        function = getattr(np, name)
        if isinstance(function, type):
            return function

        def call(*given: object, **options: object) -> object:
            if name == "asarray":
                return np.array(*given, **options).view(Guarded)  # type: ignore[call-overload]
            return _guarded(function(*map(_opened, given), **options))

        return call

    for name in _SHARED:
        setattr(module, name, shared(name))

    def strided(array: Guarded, shape: tuple[int, ...], strides: tuple[int, ...]) -> object:
        return _guarded(as_strided(array.view(np.ndarray), shape, strides))

    vars(module)["lib"] = SimpleNamespace(stride_tricks=SimpleNamespace(as_strided=strided))
    return module


PORTABLE = _portable()
