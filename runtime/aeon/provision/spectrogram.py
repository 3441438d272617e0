"""Spectrograms of sounds, as aeon computes them: frames, windows, filters, cepstra.

Source: specgram.cpp of aeon. Values are float32; tables are computed in float64.
"""

from collections.abc import Callable, Mapping
from typing import Final, cast

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from exset.core.errors import FormatError
from exset.core.text import counted
from exset.grammars.columns.arrays import Floats

Samples = NDArray[np.int16]
Reals = NDArray[np.float64]

_LEAST: Final = np.float32(2.0**-127)
"""The number of which OpenCV took the logarithm, -88.0297, instead of 0."""
_WINDOWS: Final[Mapping[str, Callable[[Reals, int], Reals]]] = {
    "hann": lambda angle, size: 0.5 - 0.5 * np.cos(angle),
    "hamming": lambda angle, size: 0.54 - 0.46 * np.cos(angle),
    "blackman": lambda angle, size: 0.42 - 0.5 * np.cos(angle) + 0.08 * np.cos(2 * angle),
    "bartlett": lambda angle, size: 1 - 2 * np.abs(np.arange(size) - size / 2) / size,
    "none": lambda angle, size: np.ones(size),
}


def window_of(kind: str, size: int) -> Floats:
    """Return a window of the given kind: float32 [size]. Raises KeyError for an unknown kind."""
    step = np.float32(2 * np.pi / max(size - 1, 1))
    angle = (np.arange(size, dtype=np.float32) * step).astype(np.float64)
    return _WINDOWS[kind](angle, size).astype(np.float32)


def frames_of(samples: Samples, length: int, stride: int, most: int) -> Samples:
    """Return up to `most` frames of a sound: int16 [frames, length], a view.

    A frame has `length` samples; the frames begin `stride` samples apart, and there is no padding.
    Raises FormatError for a sound that is shorter than a frame, at which aeon crashes.
    """
    if samples.size < length:
        has = counted(samples.size, "sample")
        raise FormatError(f"the sound has {has}, but a frame has {length}")
    return sliding_window_view(samples, length)[::stride][:most]


def spectrogram(frames: Samples, window: Floats) -> Floats:
    """Return the magnitudes of frequencies, the lowest first: float32 [frames, length // 2 + 1]."""
    found = np.fft.rfft(frames * window).astype(np.complex64, copy=False)
    return cast(Floats, np.sqrt(found.real * found.real + found.imag * found.imag))


def filters_of(count: int, length: int, rate: int) -> Floats:
    """Return `count` triangular filters, evenly spaced in mel: float32 [length // 2 + 1, count].

    length: the number of samples of a frame. rate: samples per second.
    """
    highest = 2595 * np.log10(1 + rate / 2 / 700)
    hertz = 700 * (10 ** (np.linspace(0, highest, count + 2) / 2595) - 1)
    bins = np.floor((length + 1) * hertz / rate).astype(np.int64)
    filters = np.zeros((length // 2 + 1, count), np.float32)
    for number in range(count):
        low, middle, high = bins[number : number + 3].tolist()
        if middle > low:
            filters[low:middle, number] = (np.arange(low, middle) - low) / (middle - low)
        if high > middle:
            filters[middle:high, number] = (high - np.arange(middle, high)) / (high - middle)
    return filters


def log_filtered(magnitudes: Floats, filters: Floats) -> Floats:
    """Return the logarithm of the power in each filter: float32 [frames, filters].

    For the logarithm of 0, exset returns the logarithm of 2**-127, as OpenCV 4.6 did.
    """
    power = magnitudes * magnitudes / np.float32(2 * (magnitudes.shape[1] - 1))
    return np.log(np.maximum(power @ filters, _LEAST).astype(np.float64)).astype(np.float32)


def cepstra(logarithms: Floats, count: int) -> Floats:
    """Return the first values of the orthonormal DCT-II over filters: float32 [frames, count].

    An odd number of filters gets one more filter, of zeros.
    """
    filters = logarithms.shape[1]
    size = filters + filters % 2
    row, column = np.arange(count)[None, :], np.arange(filters)[:, None]
    table = np.cos(np.pi / size * (column + 0.5) * row) * np.sqrt(2 / size)
    table[:, 0] = np.sqrt(1 / size)
    found: Floats = (logarithms.astype(np.float64) @ table).astype(np.float32)
    return found


def as_bytes(values: Floats) -> NDArray[np.uint8]:
    """Return values scaled so that the lowest is 0 and the highest 255: uint8, the same shape."""
    low, high = float(values.min()), float(values.max())
    factor = 255 / (high - low) if high - low > np.finfo(np.float64).eps else 0.0
    scaled = values * np.float32(factor) + np.float32(-low * factor)
    return np.asarray(np.rint(scaled).clip(0, 255), np.uint8)
