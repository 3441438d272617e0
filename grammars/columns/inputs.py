"""Check and convert the arguments of builders. Each ValueError names the argument."""

from collections.abc import Iterable, Mapping
from numbers import Number, Real
from operator import index
from struct import Struct
from types import NoneType

import numpy as np
from numpy.typing import NDArray

from exset.grammars.columns.arrays import Floats, Ints, as_singles

_FLOAT32 = Struct("<f")
_SHOWN = (Number, np.bool_, str, bytes, NoneType)


def shown(given: object) -> str:
    """Return a value as text for a message: the `repr` of a number or text, else the name of its
    type.
    """
    if isinstance(given, str | bytes) and len(given) > 40:
        return f"{given[:37]!r}..."
    return repr(given) if isinstance(given, _SHOWN) else type(given).__name__


def check_kind(where: str, given: object, kind: type, expected: str = "") -> None:
    """Raise ValueError unless `given` is an instance of `kind`.

    where: the argument. expected: the description of a valid value. Both are for the message.
    """
    if not isinstance(given, kind):
        expected = expected or f"an instance of {kind.__name__}"
        raise ValueError(f"{where}: expected {expected}, not {type(given).__name__}")


def items_of(where: str, given: object, expected: str) -> list[object]:
    """Return the items of a list or another iterable. Raises ValueError for text and other values.

    where: the argument. expected: the description of valid items. Both are for the message.
    """
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise ValueError(f"{where}: expected a list of {expected}, not {shown(given)}")
    return list(given)


def raw(where: str, given: object) -> bytes | None:
    """Return text encoded as UTF-8. Return bytes and None unchanged.

    Lone surrogates become the bytes that they represent. Raises ValueError, which names the
    argument `where`, for other values.
    """
    if given is None or type(given) is bytes:
        return given
    if isinstance(given, bytes):
        return bytes(given)
    if not isinstance(given, str):
        raise ValueError(f"{where}: expected text or bytes, not {shown(given)}")
    try:
        return given.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        odd = given[error.start]
        raise ValueError(f"{where}: {odd!r} represents neither a character nor a byte") from None


def stored_units(where: str, given: Iterable[int | tuple[int, int]] | str) -> Ints:
    """Return units as Lens stores them: int32.

    given: units, and spans (first, last); or "*" for all units. A span is stored as its first unit,
    then minus its last unit. "*" is stored as -1. Raises ValueError for other values.
    """
    if isinstance(given, str | bytes):
        if given != "*":
            raise ValueError(f'{where}: expected unit numbers, spans, or "*", not {given!r}')
        return np.array([-1], np.int32)
    if not isinstance(given, Iterable) or isinstance(given, Mapping):
        raise ValueError(f"{where}: expected a list of units, not {shown(given)}")
    stored: list[int] = []
    for i, unit in enumerate(given):
        span = unit if isinstance(unit, tuple) else (unit, unit)
        ends = [int32(f"{where}[{i}]", end) for end in span]
        if len(ends) != 2 or not 0 <= ends[0] <= ends[1]:
            raise ValueError(f"{where}[{i}]: {unit!r} is neither a unit nor a span (first, last)")
        stored += ends[:1] if ends[0] == ends[1] else [ends[0], -ends[1]]
    return np.array(stored, np.int32)


def int32(where: str, value: object) -> int:
    """Return an integer. Raises ValueError for other values, and for integers beyond 32 bits."""
    if isinstance(value, bool | np.bool_):
        hint = "np.flatnonzero gives the numbers of a mask"
        raise ValueError(f"{where}: expected an integer, not {value!r} ({hint})")
    try:
        number = index(value)  # type: ignore[arg-type]
    except TypeError:
        raise ValueError(f"{where}: expected an integer, not {shown(value)}") from None
    if not -(2**31) <= number < 2**31:
        raise ValueError(f"{where}: {number} does not fit in 32 bits")
    return number


def real(where: str, given: object) -> float:
    """Return one real number, rounded to float32. Raises ValueError for other values."""
    number = given[()] if isinstance(given, np.ndarray) and given.ndim == 0 else given
    if not isinstance(number, Real):
        raise ValueError(f"{where}: expected a real number, not {shown(given)}")
    try:
        value: float = _FLOAT32.unpack(_FLOAT32.pack(float(number)))[0]
    except OverflowError:
        raise ValueError(f"{where}: a number does not fit in float32") from None
    return value


def floats_in_shape(where: str, given: object) -> Floats:
    """Return a copy of the numbers as float32, in the same shape. A masked number becomes NaN."""
    mask = np.ma.getmaskarray(given) if isinstance(given, np.ma.MaskedArray) else None
    given = given if isinstance(given, np.ndarray) else _unmasked(where, given)
    try:
        array = np.asarray(given)
    except ValueError:
        raise ValueError(f"{where}: expected rows of equal length") from None
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{where}: expected real numbers, not {_odd(array)}")
    floats = as_singles(array)
    if mask is not None:
        floats[mask] = np.nan
    if np.isinf(floats).any() and (np.isinf(floats) & ~np.isinf(array)).any():
        raise ValueError(f"{where}: a number does not fit in float32")
    return floats


def _unmasked(where: str, given: object) -> object:
    """Return a value in which each masked array inside a list has become an array of floats.

    Masked numbers become NaN. NumPy would drop the masks when it makes an array of the list.
    """
    if isinstance(given, np.ma.MaskedArray):
        return floats_in_shape(where, given)
    if isinstance(given, list | tuple):
        kinds = set(map(type, given))
        if any(issubclass(kind, list | tuple | np.ma.MaskedArray) for kind in kinds):
            return [_unmasked(where, each) for each in given]
    return given


def _odd(array: NDArray[np.generic]) -> str:
    if array.dtype.kind != "O":
        return "text" if array.dtype.kind in "US" else array.dtype.name
    return next((shown(each) for each in array.flat if not isinstance(each, Real)), "objects")


def float_row(where: str, given: object) -> Floats:
    """Return a copy of the numbers of one row as float32. A masked number becomes NaN."""
    floats = floats_in_shape(where, given)
    if floats.ndim != 1:
        raise ValueError(f"{where}: expected one row of numbers, not the shape {floats.shape}")
    return floats


def cube(where: str, given: object) -> Floats:
    """Return a copy of the numbers as float32 [example, event, unit]. A masked number becomes NaN.

    An array of two dimensions is [example, unit]: each example has one event.
    """
    floats = floats_in_shape(where, given)
    if floats.ndim not in (2, 3):
        raise ValueError(f"{where}: expected two or three dimensions, not {floats.ndim}")
    return floats[:, np.newaxis] if floats.ndim == 2 else floats


def numbers_like(where: str, column: NDArray[np.generic], given: object) -> NDArray[np.generic]:
    """Return the given numbers as an array with the dtype of `column`.

    An array that has this dtype is not copied. Raises ValueError for numbers that the dtype cannot
    store. The caller must check the shape.
    """
    if isinstance(given, np.ndarray) and given.dtype == column.dtype:
        return given
    if column.dtype.kind == "f":
        return floats_in_shape(where, given)
    try:
        array = np.asarray(given)
    except ValueError:
        raise ValueError(f"{where}: expected rows of equal length") from None
    if array.size and array.dtype.kind not in ("b" if column.dtype.kind == "b" else "iu"):
        kind = "booleans" if column.dtype.kind == "b" else "integers"
        raise ValueError(f"{where}: expected {kind}, not {_odd(array)}")
    converted = array.astype(column.dtype)
    if not np.array_equal(converted, array):
        raise ValueError(f"{where}: a number does not fit in {column.dtype}")
    return converted
