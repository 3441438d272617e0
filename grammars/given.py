"""What users give to the builders, checked and converted; each ValueError says where it was."""

from collections.abc import Iterable
from operator import index

import numpy as np

from exset.grammars.arrays import Floats, Ints


def stored_units(where: str, given: Iterable[int | tuple[int, int]] | str) -> Ints:
    """The units as Lens stores them: a span is its first unit and the last negated, `*` is -1."""
    if isinstance(given, str):
        if given != "*":
            raise ValueError(f'{where}: unit numbers, spans, or "*" are wanted, not {given!r}')
        return np.array([-1], np.int32)
    if not isinstance(given, Iterable):
        raise ValueError(f"{where}: a list of units is wanted, not {type(given).__name__}")
    stored: list[int] = []
    for unit in given:
        span = unit if isinstance(unit, tuple) else (unit, unit)
        ends = [int32(where, end) for end in span]
        if len(ends) != 2 or not 0 <= ends[0] <= ends[1]:
            raise ValueError(f"{where}: {unit!r} is no unit, and no span (first, last)")
        stored += ends[:1] if ends[0] == ends[1] else [ends[0], -ends[1]]
    return np.array(stored, np.int32)


def int32(where: str, value: object) -> int:
    """The integer, if it is one of 32 bits."""
    try:
        number = index(value)  # type: ignore[arg-type]
    except TypeError:
        raise ValueError(f"{where}: an integer is wanted, not {value!r}") from None
    if not -(2**31) <= number < 2**31:
        raise ValueError(f"{where}: {number} is beyond 32 bits")
    return number


def floats_in_shape(where: str, given: object) -> Floats:
    """The numbers as float32, copied, in the shape given."""
    try:
        array = np.asarray(given)
    except ValueError:
        raise ValueError(f"{where}: rows of one length are wanted") from None
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{where}: real numbers are wanted, not {array.dtype}")
    with np.errstate(over="ignore"):
        floats = array.astype(np.float32)
    if np.isinf(floats).any() and (np.isinf(floats) & ~np.isinf(array)).any():
        raise ValueError(f"{where}: a number is beyond float32")
    return floats


def float_row(where: str, given: object) -> Floats:
    """The numbers of one row as float32, copied."""
    floats = floats_in_shape(where, given)
    if floats.ndim != 1:
        raise ValueError(f"{where}: one row of numbers is wanted, not the shape {floats.shape}")
    return floats


def cube(where: str, given: object) -> Floats:
    """The numbers as float32 [example, event, unit], copied; two dimensions are one event each."""
    floats = floats_in_shape(where, given)
    if floats.ndim not in (2, 3):
        raise ValueError(f"{where}: two or three dimensions are wanted, not {floats.ndim}")
    return floats[:, np.newaxis] if floats.ndim == 2 else floats
