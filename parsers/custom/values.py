"""The values of a terminal's tokens: numbers of a dtype, or text."""

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from exset.core.errors import FormatError
from exset.core.source import Span
from exset.grammars.columns.arrays import Bytes, Longs
from exset.grammars.columns.strings import Strings
from exset.grammars.tables.columns import first_wrong_text, text_or_bytes
from exset.parsers.custom.conversions import Conversion
from exset.parsers.custom.doubles import KERNELS, doubles
from exset.parsers.custom.spans import Spans, Text
from exset.parsers.engine import conversion, numbers
from exset.parsers.engine.errors import shown

(_ZERO, _NINE) = b"09"
_LONG: Final = 1 << 10  # digits from which Python may refuse to convert an integer
_HINT: Final = "declare a dtype that holds it, or leave the terminal as text"


class Wrong(NamedTuple):
    """A token that cannot be converted: its span, and why."""

    start: int
    end: int
    why: str
    hint: str | None = None


def error_of(text: Text, wrong: Wrong) -> FormatError:
    """Return the error for a token that cannot be converted."""
    start, end = wrong.start - text.source.start, wrong.end - text.source.start
    word = shown(text.source.data[start:end])
    return FormatError(
        f"{wrong.why}, found {word}",
        source=text.source,
        span=Span(wrong.start, wrong.end),
        hint=wrong.hint,
    )


def read(
    text: Text, name: str, what: Conversion, spans: Spans, *, compiled: bool
) -> tuple[NDArray[Any], Wrong | None]:
    """Return the numbers of the tokens of a terminal, and the first token that cannot be converted.

    The latter is None if all can be converted. name: the terminal. what: how to convert the tokens.
    For text, the array of numbers is empty. spans: the tokens.
    """
    if what.dtype is not None:
        return _read_numbers(text, name, what, spans, compiled=compiled)
    row = first_wrong_text(text.strings(spans, compiled=compiled))
    wrong = None
    if row is not None:
        span = int(spans.starts[row]), int(spans.ends[row])
        wrong = Wrong(*span, f"{name} is not UTF-8 text")
    return np.empty(0), wrong


def read_text(text: Text, spans: Spans, *, compiled: bool) -> Strings:
    """Return tokens as text, or as bytes if a token is not UTF-8."""
    return text_or_bytes(text.strings(spans, compiled=compiled))


def _read_numbers(
    text: Text, name: str, what: Conversion, spans: Spans, *, compiled: bool
) -> tuple[NDArray[Any], Wrong | None]:
    """Return the tokens of a terminal as numbers, and the first token that is not a number.

    The latter is None if all are numbers. name: the terminal. what: how to convert the tokens.
    spans: the tokens. Decimals are correctly rounded.
    """
    assert what.dtype is not None
    buffer, (starts, ends) = text.find(spans)
    if what.action is not None:
        values = np.zeros(len(starts), what.dtype)
        done = what.run(buffer, starts, ends, values)
        if not 0 <= done < len(starts):
            return values, None
        span = int(spans.starts[done]), int(spans.ends[done])
        return values, Wrong(*span, f"expected a value of {name}")
    values, hard = _converted(buffer, starts, ends, what.dtype, compiled=compiled)
    for token in hard[np.argsort(spans.starts[hard], kind="stable")].tolist():
        numeral = buffer[starts[token] : ends[token]].tobytes()
        why = _why_wrong(numeral, what.dtype)
        if why is not None:
            return values, Wrong(int(spans.starts[token]), int(spans.ends[token]), why, _HINT)
        values[token] = _number(numeral, what.dtype)
    return values, None


def _converted(
    buffer: Bytes, starts: Longs, ends: Longs, dtype: np.dtype[Any], *, compiled: bool
) -> tuple[NDArray[Any], Longs]:
    """Convert the tokens buffer[start:end] to numbers of a dtype.

    Return the numbers, and the indices of the tokens that the kernel cannot convert.
    """
    count = len(starts)
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
    left_over = np.union1d(hard[:left], _without_digits(buffer, starts, ends))
    if is_real:
        return reals, left_over
    values = ints.astype(dtype)
    return values, np.union1d(left_over, np.flatnonzero(values.astype(np.int64) != ints))


def _without_digits(buffer: Bytes, starts: Longs, ends: Longs) -> Longs:
    """Return the indices of the tokens, buffer[starts[i]:ends[i]], that do not start like a number.

    A number starts with a digit; a sign and a point may come before this digit.
    """
    first = buffer[starts]
    found = np.flatnonzero((first < _ZERO) | (first > _NINE))
    at, ends = starts[found], ends[found]
    for marks in (b"+-", b"."):
        at = at + np.isin(buffer[np.minimum(at, ends - 1)], np.frombuffer(marks, np.uint8))
    digits = buffer[np.minimum(at, ends - 1)]
    return found[(at >= ends) | (digits < _ZERO) | (digits > _NINE)]


def _why_wrong(numeral: bytes, dtype: np.dtype[Any]) -> str | None:
    """Return why a numeral cannot be stored in a dtype. Return None if it can."""
    if dtype.kind == "f":
        try:
            float(numeral)
        except ValueError:
            return "expected a number"
        return None
    info = np.iinfo(dtype)
    outside = f"expected a number from {info.min} to {info.max}"
    if len(numeral) > _LONG and numeral.lstrip(b"+-").isdigit():
        return outside
    try:
        return None if info.min <= int(numeral) <= info.max else outside
    except ValueError:
        return "expected an integer"


def _number(numeral: bytes, dtype: np.dtype[Any]) -> float | int:
    if dtype == np.float32:
        return float(numbers.float32s([numeral])[0])
    return float(numeral) if dtype.kind == "f" else int(numeral)
