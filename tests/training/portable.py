"""A namespace with the functions that NumPy and CuPy share, for tests without a GPU.

Its arrays refuse to be combined with arrays of the host, as CuPy's do. So code that runs with it
should run on a GPU.
"""

import sys
from types import ModuleType, SimpleNamespace

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from exset.runtime import arrays

_SHARED = (
    *("arange", "argsort", "asarray", "broadcast_to", "ceil", "concatenate", "cumsum", "empty"),
    *("flatnonzero", "full", "isfinite", "isnan", "lexsort", "maximum", "minimum", "ones"),
    *("searchsorted", "stack", "where", "zeros"),
    *("bool_", "float32", "float64", "int32", "int64", "uint32", "uint64"),
)


class Guarded(np.ndarray):
    """An array that combines only with its like and scalars, as if it were on another device."""

    def __array_ufunc__(  # type: ignore[no-untyped-def]
        self, ufunc, method, *inputs, **options
    ) -> object:
        plain = [_plain(each) for each in (*inputs, *options.pop("out", ()))]
        ins, out = plain[: len(inputs)], tuple(plain[len(inputs) :])
        done = getattr(ufunc, method)(*ins, **options, **({"out": out} if out else {}))
        return _guarded(done)

    def __array_function__(self, func, types, args, kwargs) -> object:  # type: ignore[no-untyped-def]
        raise TypeError(f"{func.__name__} is not one of the functions that NumPy and CuPy share")

    def __getitem__(self, key: object) -> object:  # type: ignore[override]
        return _guarded(self.view(np.ndarray)[_plain(key)])  # type: ignore[call-overload]

    def __setitem__(self, key: object, value: object) -> None:
        self.view(np.ndarray)[_plain(key)] = _plain(value)  # type: ignore[call-overload]

    def get(self) -> NDArray[np.generic]:
        """Return a copy on the host."""
        return self.view(np.ndarray).copy()


def _plain(value: object) -> object:
    """Unwrap arrays, also inside lists and tuples; TypeError for an array of the host."""
    if isinstance(value, Guarded):
        return value.view(np.ndarray)
    if isinstance(value, np.ndarray):
        raise TypeError("an array of the host is combined with one of a device")
    if isinstance(value, tuple | list):
        return type(value)(map(_plain, value))
    return value


def _guarded(value: object) -> object:
    """Wrap a result; a number becomes an array of no dimensions."""
    return np.asarray(value).view(Guarded)


def _portable() -> ModuleType:
    module = ModuleType("portable")

    def shared(name: str):  # type: ignore[no-untyped-def]
        function = getattr(np, name)
        if isinstance(function, type):
            return function

        def call(*value: object, **options: object) -> object:
            if name == "asarray":
                return np.array(*value, **options).view(Guarded)  # type: ignore[call-overload]
            return _guarded(function(*map(_plain, value), **options))

        return call

    for name in _SHARED:
        setattr(module, name, shared(name))

    def strided(array: Guarded, shape: tuple[int, ...], strides: tuple[int, ...]) -> object:
        return _guarded(as_strided(array.view(np.ndarray), shape, strides))

    vars(module)["lib"] = SimpleNamespace(stride_tricks=SimpleNamespace(as_strided=strided))
    return module


PORTABLE = _portable()
Guarded.__module__ = PORTABLE.__name__
sys.modules[PORTABLE.__name__] = PORTABLE
arrays.MODULES["portable"] = PORTABLE.__name__
