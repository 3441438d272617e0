"""Read the numbers of a manifest as aeon does, with stod and stof of C++.

They read the longest number at the start of a field, in any form that C's strtod accepts, and
ignore the rest. A result outside the range of the type is an error. So is a result that rounds to a
denormal, but not one that equals a denormal exactly.
"""

import re
from decimal import Context, Decimal
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from exset.core.kernels import Kernels
from exset.parsers.aeon import manifest_columns as c
from exset.parsers.aeon.manifest_columns import KERNELS, Bytes, Longs
from exset.parsers.engine.conversion import REAL, convert
from exset.parsers.engine.numbers import float32s

REALS: Final = Kernels("exset.parsers.engine.conversion")

_NUMBER: Final = re.compile(
    rb"[ \t\n\v\f\r]*+(?P<number>(?P<sign>[-+]?+)(?:"
    rb"(?P<hex>0x(?:[0-9a-f]++\.?+[0-9a-f]*+|\.[0-9a-f]++)(?:p[-+]?+[0-9]++)?+)"
    rb"|(?:[0-9]++\.?+[0-9]*+|\.[0-9]++)(?:e[-+]?+[0-9]++)?+"
    rb"|(?P<word>inf(?:inity)?+|nan(?:\((?P<payload>\w*+)\))?+)))",
    re.IGNORECASE,
)
_DIGIT: Final = re.compile(rb"[1-9a-f]")
_PAYLOAD: Final = re.compile(rb"(0x[0-9a-f]+|0[0-7]*|[1-9][0-9]*)", re.IGNORECASE)
_LEAST: Final = -(2**31)
_QUIET: Final = 0x7FC00000
_TOO_LARGE: Final = 2**64
_exactly: Final = Context(prec=1200)  # the digits of 2**-1076 are fewer


class Numbers(NamedTuple):
    """Numbers and their issues (`FINE` ... `RANGE`); 0 where there is no number."""

    values: NDArray[np.int32] | NDArray[np.float32]
    issues: NDArray[np.uint8]


def int32s(buffer: Bytes, starts: Longs, ends: Longs, compiled: bool) -> Numbers:
    """Read the fields of an ASCII_INT column as int32: fractions are dropped."""
    values = np.zeros(starts.size, np.int32)
    issues = np.zeros(starts.size, np.uint8)
    hard = np.empty(starts.size, np.int64)
    read = KERNELS.choose(c.read_ints, compiled)
    spans = np.ascontiguousarray(starts), np.ascontiguousarray(ends)  # as kernels are compiled
    left = read(buffer, *spans, values, issues, hard)
    for field in hard[:left].tolist():
        values[field], issues[field] = int32(_raw(buffer, starts, ends, field))
    return Numbers(values, issues)


def reals(buffer: Bytes, starts: Longs, ends: Longs, compiled: bool) -> Numbers:
    """Read the fields of an ASCII_FLOAT column as float32."""
    values = np.zeros(starts.size, np.float32)
    issues = np.zeros(starts.size, np.uint8)
    easy = np.flatnonzero(_begins_with_digit(buffer, starts, ends)) if compiled else issues[:0]
    hard = np.ones(starts.size, np.bool_)
    if easy.size:
        found = np.zeros(easy.size, np.float32)
        left = np.empty(easy.size, np.int64)
        kinds, nothing = np.zeros(easy.size, np.int16), np.empty(easy.size, np.int64)
        spans = starts[easy], ends[easy]
        run = REALS.compiled(convert)
        count = run(buffer, 0, kinds, *spans, np.array([REAL]), found, nothing, left)
        hard[easy] = False
        hard[easy[left[:count]]] = True
        values[easy] = found
    bits = values.view(np.uint32)
    for field in np.flatnonzero(hard).tolist():
        bits[field], issues[field] = real(_raw(buffer, starts, ends, field))
    return Numbers(values, issues)


def int32(field: bytes) -> tuple[int, int]:
    """Return the number of one field of an ASCII_INT column, and its issue."""
    found = _NUMBER.match(field)
    if found is None:
        return 0, c.NO_NUMBER
    if found["word"]:
        return (0, c.RANGE) if _payload(found["payload"]) < 0 else (_LEAST, c.OVERFLOW)
    value = _float(found)
    if abs(value) == float("inf") or _underflows(found, value, -1022, 53):
        return 0, c.RANGE
    whole = int(value)
    if not _LEAST <= whole < 2**31:
        return _LEAST, c.OVERFLOW
    return whole, c.FRACTION if whole != value else _tail(field, found)


def real(field: bytes) -> tuple[int, int]:
    """Return the bits of the number of one field of an ASCII_FLOAT column, and its issue."""
    found = _NUMBER.match(field)
    if found is None:
        return 0, c.NO_NUMBER
    if found["word"]:
        payload = _payload(found["payload"])
        if payload < 0:
            return 0, c.RANGE
        bits = 0x7F800000 if found["word"][:1] in b"iI" else _QUIET | payload
        return bits | (found["sign"] == b"-") << 31, _tail(field, found)
    value = float32s([found["number"]])
    if np.isinf(value[0]) or _underflows(found, float(value[0]), -126, 24):
        return 0, c.RANGE
    return int(value.view(np.uint32)[0]), _tail(field, found)


def _raw(buffer: Bytes, starts: Longs, ends: Longs, field: int) -> bytes:
    return buffer[starts[field] : ends[field]].tobytes()


def _begins_with_digit(buffer: Bytes, starts: Longs, ends: Longs) -> NDArray[np.bool_]:
    """Return a mask of the fields that start with a digit, or with a sign and a digit."""
    if not buffer.size:
        return np.zeros(starts.size, np.bool_)
    first = buffer[np.minimum(starts, buffer.size - 1)]
    signed = (first == 43) | (first == 45)
    at = starts + signed
    first = buffer[np.minimum(at, buffer.size - 1)]
    return np.asarray((at < ends) & (first >= 48) & (first <= 57))


def _tail(field: bytes, found: re.Match[bytes]) -> int:
    return c.TAIL if found.end() < len(field) else c.FINE


def _float(found: re.Match[bytes]) -> float:
    if found["hex"] is None:
        return float(found["number"])
    try:
        return float.fromhex(found["number"].decode("ascii"))
    except OverflowError:
        return float("inf")


def _payload(digits: bytes | None) -> int:
    """Return the bits that `nan(DIGITS)` sets, -1 if C cannot read the digits."""
    if digits is None or not _PAYLOAD.fullmatch(digits):
        return 0
    base = 16 if digits[:2].lower() == b"0x" else 8 if digits[:1] == b"0" else 10
    value = int(digits, base) if len(digits) < 40 else _TOO_LARGE
    return value & 0x3FFFFF if value < _TOO_LARGE else -1


def _underflows(found: re.Match[bytes], value: float, lowest: int, precision: int) -> bool:
    """Whether a number rounds to a denormal, a value below 2**lowest, and does not equal it.

    value: the rounded number. precision: the bits of a normal number.
    """
    if abs(value) > 2.0**lowest:
        return False
    number = found["number"].lower()
    mantissa, _, exponent = number.lstrip(b"+-").partition(b"p" if found["hex"] else b"e")
    if not _DIGIT.search(mantissa.removeprefix(b"0x")):
        return False  # zero
    if value == 0:
        return True
    if found["hex"] is None:
        exact = Decimal(number.decode("ascii")).copy_abs()
        power, ulp = (_exactly.power(2, n) for n in (lowest, lowest - precision - 1))
        return exact < _exactly.subtract(power, ulp) and exact != Decimal(abs(value))
    whole, _, part = mantissa.removeprefix(b"0x").partition(b".")
    bits = int(whole + part, 16)
    scale = int(exponent or b"0") - 4 * len(part)
    # The number is bits * 2**scale, and the least that rounds to 2**lowest is ones * 2**low.
    low, ones = lowest - precision - 1, (2 << precision) - 1
    if bits.bit_length() + scale > lowest:
        return False
    is_tiny = bits << (scale - low) < ones if scale >= low else bits < ones << (low - scale)
    lost = lowest - precision + 1 - scale
    return is_tiny and lost > 0 and bits & ((1 << lost) - 1) != 0
