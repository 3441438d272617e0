"""Read the numbers of a manifest as aeon does, with stod and stof of C++.

stod and stof read the longest number at the start of a field, in any form that C's strtod accepts,
and ignore the rest. A result outside the range of the type is an error. A denormal result is an
error, too, unless it equals the number exactly, without rounding.
"""

import re
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from exset.grammars.aeon.manifest_types import ElementType
from exset.grammars.columns.arrays import Bytes, Longs
from exset.parsers.aeon import manifest_columns as c
from exset.parsers.aeon.manifest_columns import KERNELS
from exset.parsers.engine.conversion import REAL, convert
from exset.parsers.engine.numbers import exact, float32s, float64

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


class Numbers(NamedTuple):
    """What aeon reads from fields: for each field a number, and a verdict such as `FINE` or
    `RANGE`.

    A field without a number has the value 0.
    """

    values: NDArray[np.int32] | NDArray[np.float32]
    issues: NDArray[np.uint8]


def numbers(
    kind: ElementType, buffer: Bytes, starts: Longs, ends: Longs, compiled: bool
) -> Numbers:
    """Read the fields buffer[start:end] of a column as aeon does.

    kind: ASCII_INT, which gives int32, or ASCII_FLOAT, which gives float32. compiled: whether to
    use the compiled kernel.
    """
    is_integer = kind is ElementType.ASCII_INT
    count = starts.size
    values: NDArray[np.int32] | NDArray[np.float32]
    values = np.zeros(count, np.int32) if is_integer else np.zeros(count, np.float32)
    issues = np.zeros(count, np.uint8)
    hard = np.arange(count)
    if compiled:
        starts, ends = np.ascontiguousarray(starts), np.ascontiguousarray(ends)
        if is_integer:
            read_ints = KERNELS.compiled(c.read_ints)
            hard = hard[: read_ints(buffer, starts, ends, values.view(np.int32), issues, hard)]
        else:
            size = KERNELS.compiled(c.partition)(buffer, starts, ends, hard)
            easy = slice(None) if size == count else hard[:size]  # copy nothing if all are easy
            floats, ints = np.zeros(size, np.float32), np.zeros(0, np.int64)
            kinds, left = np.zeros(size, np.int16), np.empty(size, np.int64)
            run, roles = KERNELS.compiled(convert), np.array([REAL])
            some = run(buffer, 0, kinds, starts[easy], ends[easy], roles, floats, ints, left)
            values[easy] = floats
            hard = np.append(hard[size:], hard[left[:some]])
    read = int32 if is_integer else real
    bits = values.view(np.int32 if is_integer else np.uint32)
    for field in hard.tolist():
        bits[field], issues[field] = read(buffer[starts[field] : ends[field]].tobytes())
    return Numbers(values, issues)


def int32(field: bytes) -> tuple[int, int]:
    """Return the number that aeon reads from a field of an ASCII_INT column, and a verdict."""
    found = _NUMBER.match(field)
    if found is None:
        return 0, c.NO_NUMBER
    if found["word"]:
        return (0, c.RANGE) if _payload(found["payload"]) < 0 else (_LEAST, c.OVERFLOW)
    value = float64(found["number"])
    if abs(value) == float("inf") or _underflows(found, value, -1022, 53):
        return 0, c.RANGE
    whole = int(value)
    if not _LEAST <= whole < 2**31:
        return _LEAST, c.OVERFLOW
    return whole, c.FRACTION if whole != value else _tail(field, found)


def real(field: bytes) -> tuple[int, int]:
    """Return the bits of the number that aeon reads from a field of an ASCII_FLOAT column, and a
    verdict.
    """
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


def _tail(field: bytes, found: re.Match[bytes]) -> int:
    return c.TAIL if found.end() < len(field) else c.FINE


def _payload(digits: bytes | None) -> int:
    """Return the bits that `nan(DIGITS)` sets in a NaN. Return -1 if C cannot read the digits."""
    if digits is None or not _PAYLOAD.fullmatch(digits):
        return 0
    base = 16 if digits[:2].lower() == b"0x" else 8 if digits[:1] == b"0" else 10
    value = int(digits, base) if len(digits) < 40 else _TOO_LARGE
    return value & 0x3FFFFF if value < _TOO_LARGE else -1


def _underflows(found: re.Match[bytes], value: float, lowest: int, precision: int) -> bool:
    """Return whether rounding a number gives a denormal that does not equal the number.

    A denormal is a float below 2**lowest. found: the numeral. value: the rounded number. precision:
    the number of bits of a normal number.
    """
    from fractions import Fraction  # denormals are rare

    if abs(value) > 2.0**lowest:
        return False
    if value == 0:
        mantissa = found["number"].lower().partition(b"p" if found["hex"] else b"e")[0]
        return bool(_DIGIT.search(mantissa.replace(b"0x", b"")))
    number, normal = exact(found["number"]), Fraction(2) ** lowest
    least = normal - normal / 2 ** (precision + 1)
    return -least < number < least and number != value
