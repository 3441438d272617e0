"""The values of a terminal's tokens: numbers of a dtype, or text."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from exset.core.errors import FormatError
from exset.core.source import Source, Span
from exset.grammars.columns.arrays import Longs
from exset.grammars.columns.strings import Strings
from exset.grammars.tables.columns import Numbers, text_or_bytes
from exset.parsers.custom.doubles import KERNELS, doubles
from exset.parsers.engine import conversion, numbers
from exset.parsers.engine.errors import shown

_SIZES: Final = (8, 16, 32, 64)
DTYPES: Final = (
    *(np.dtype(f"{kind}{size}") for kind in ("int", "uint") for size in _SIZES),
    np.dtype("float32"),
    np.dtype("float64"),
)
"""The dtypes that numbers can have."""


def text(source: Source, starts: Longs, ends: Longs) -> Strings:
    """Return the tokens as text, or as bytes if one of them is not UTF-8."""
    buffer = np.frombuffer(source.data, np.uint8)
    return text_or_bytes(Strings.from_spans(buffer, starts, ends))


def read_numbers(
    source: Source, starts: Longs, ends: Longs, dtype: np.dtype[Any], *, compiled: bool
) -> Numbers:
    """Return the tokens as numbers, correctly rounded. Raises FormatError for what is no number."""
    values, hard = _converted(source, starts, ends, dtype, compiled=compiled)
    for token in hard.tolist():
        numeral = source.data[starts[token] : ends[token]]
        try:
            values[token] = _number(numeral, dtype)
        except (ValueError, OverflowError) as error:
            what = "an integer" if dtype.kind in "iu" else "a number"
            why = str(error) if isinstance(error, OverflowError) else f"expected {what}"
            raise FormatError(
                f"{why}, found {shown(numeral)}",
                source=source,
                span=Span(int(starts[token]), int(ends[token])),
                hint="declare a dtype that holds it, or leave the terminal as text",
            ) from None
    return Numbers.of(values)


def _converted(
    source: Source, starts: Longs, ends: Longs, dtype: np.dtype[Any], *, compiled: bool
) -> tuple[NDArray[Any], Longs]:
    """Return the numbers, and the indices of numbers that the kernel leaves out."""
    buffer, count = np.frombuffer(source.data, np.uint8), len(starts)
    starts, ends = np.ascontiguousarray(starts), np.ascontiguousarray(ends)
    hard = np.zeros(count, np.int64)
    if dtype == np.float64:
        values = np.zeros(count, dtype)
        left = KERNELS.choose(doubles, compiled)(buffer, starts, ends, values, hard)
        return values, hard[:left]
    is_real = dtype == np.float32
    reals = np.zeros(count if is_real else 0, np.float32)
    ints = np.zeros(0 if is_real else count, np.int64)
    role = np.array([conversion.REAL if is_real else conversion.INTEGER], np.int64)
    kinds = np.zeros(count, np.int16)
    convert = KERNELS.choose(conversion.convert, compiled)
    left = convert(buffer, 0, kinds, starts, ends, role, reals, ints, hard)
    if is_real:
        return reals, hard[:left]
    values = ints.astype(dtype)
    return values, np.union1d(hard[:left], np.flatnonzero(values.astype(np.int64) != ints))


def _number(numeral: bytes, dtype: np.dtype[Any]) -> float | int:
    if dtype.kind == "f":
        wide = float(numeral)
        return float(numbers.float32s([numeral])[0]) if dtype == np.float32 else wide
    value = int(numeral)
    info = np.iinfo(dtype)
    if not info.min <= value <= info.max:
        raise OverflowError(f"expected a number from {info.min} to {info.max}")
    return value
