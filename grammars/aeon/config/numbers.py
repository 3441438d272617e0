"""Compute conversions and sizes of a configuration's numbers as aeon does, in C++ on x86-64."""

import math
import re
import struct
from typing import Final, NamedTuple

from exset.grammars.aeon.config.settings import Settings

_BITS: Final = {"int32": 32, "uint32": 32, "size": 64}
_DURATION: Final = re.compile(
    r"[ \t\n\v\f\r]*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)(.*)", re.DOTALL
)


def float32(number: float) -> float:
    """Return the nearest number that float32 can store. Beyond the largest float32, return
    infinity.
    """
    try:
        rounded: float = struct.unpack("<f", struct.pack("<f", number))[0]
    except OverflowError:
        return float("-inf") if number < 0 else float("inf")
    return rounded


def integer(number: float, kind: str) -> int:
    """Convert a number to an integer of the type `kind`, "int32", "uint32" or "size", as aeon does.

    Integers wrap around. Reals are truncated towards zero. A real that is out of range becomes the
    number that an x86-64 processor returns.
    """
    bits = _BITS[kind]
    if isinstance(number, float):
        if kind == "int32":
            return int(number) if abs(number) < 1 << 31 else -(1 << 31)
        if not -(1 << 63) <= number < (1 << (64 if bits == 64 else 63)):
            return 0
    rest = int(number) & ((1 << bits) - 1)
    return rest - (1 << bits) if kind == "int32" and rest >> (bits - 1) else rest


def total_anchors(element: Settings) -> int:
    """Return the number of anchors (reference boxes) of an image."""
    scale, count = element["scaling_factor"], 1
    assert isinstance(scale, int | float)
    for name in ("ratios", "scales"):
        values = element[name]
        count *= len(values) if isinstance(values, tuple) else 0
    for name in ("height", "width"):
        cells = float32(float32(element.number(name)) * scale)
        count *= integer(float(math.floor(cells)) if math.isfinite(cells) else cells, "int32")
    return integer(count, "size")


class NoLength(ValueError):
    """Raised for a member whose value is not a length of time. The message is the member's name."""


class Spans(NamedTuple):
    """The length of a sound, the length of a frame, and the step between frames, in samples."""

    duration: int
    length: int
    stride: int


def spans_of(element: Settings) -> Spans:
    """Return the lengths of an audio object in samples. Raise NoLength for an invalid length."""
    rate = element.number("sample_freq_hz")
    found = []
    for name in ("max_duration", "frame_length", "frame_stride"):
        samples = _samples(str(element[name]), rate)
        if samples is None:
            raise NoLength(name)
        found.append(samples)
    return Spans(*found)


def _samples(text: str, rate: int) -> int | None:
    """Return the number of samples for a length of time such as `4 seconds`.

    Return None if the text is invalid. rate: samples per second. The product is computed in
    float32, as in aeon.
    """
    match = _DURATION.match(text)
    if match is None or math.isinf(value := float32(float(match[1]))):
        return None
    unit, per_second = match[2], float32(rate)
    if "samples" in unit:
        samples = value
    elif "milliseconds" in unit:
        samples = float32(float32(value * per_second) / 1000)
    elif "seconds" in unit:
        samples = float32(value * per_second)
    else:
        return None
    return integer(samples, "uint32") if math.isfinite(samples) else None
