"""Numbers of a configuration as nlohmann::json converts them to C++ types on x86-64."""

import struct
from typing import Final

_BITS: Final = {"int32": 32, "uint32": 32, "size": 64}


def float32(number: float) -> float:
    """Return the nearest binary32; infinity beyond the largest."""
    try:
        rounded: float = struct.unpack("<f", struct.pack("<f", number))[0]
    except OverflowError:
        return float("-inf") if number < 0 else float("inf")
    return rounded


def integer(number: float, kind: str) -> int:
    """Return a number as an `int32`, `uint32` or `size`.

    Integers wrap around. Reals are truncated towards zero; a real out of range gives the value
    that the processor gives.
    """
    bits = _BITS[kind]
    if isinstance(number, float):
        if kind == "int32":
            return int(number) if abs(number) < 1 << 31 else -(1 << 31)
        if not -(1 << 63) <= number < (1 << (64 if bits == 64 else 63)):
            return 0
    rest = int(number) & ((1 << bits) - 1)
    return rest - (1 << bits) if kind == "int32" and rest >> (bits - 1) else rest
