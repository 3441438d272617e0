"""Numbers of a configuration as nlohmann::json hands them to C++ on x86-64."""

import struct
from typing import Final

from exset.grammars.aeon.config.schema_types import Kind

_BITS: Final = {"int32": 32, "uint32": 32, "size": 64}


def float32(number: float) -> float:
    """The nearest binary32; infinity beyond the largest."""
    try:
        rounded: float = struct.unpack("<f", struct.pack("<f", number))[0]
    except OverflowError:
        return float("-inf") if number < 0 else float("inf")
    return rounded


def wrapped(whole: int, bits: int, signed: bool) -> int:
    """What is left of an integer in so many bits."""
    rest = whole & ((1 << bits) - 1)
    return rest - (1 << bits) if signed and rest >> (bits - 1) else rest


def truncated(number: float, kind: Kind) -> int:
    """A real as an integer: towards zero; beyond the range, what the processor leaves."""
    if kind == "int32":
        return int(number) if abs(number) < 1 << 31 else -(1 << 31)
    bits = _BITS[kind]
    if -(1 << 63) <= number < (1 << (bits if bits == 64 else 63)):
        return wrapped(int(number), bits, signed=False)
    return 0


def whole(number: float, kind: Kind) -> int:
    """A JSON number as an integer of C++."""
    if isinstance(number, int):
        return wrapped(number, _BITS[kind], signed=kind == "int32")
    return truncated(number, kind)
