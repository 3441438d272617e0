"""Programs without exset, with which each figure is compared."""

import re

import numpy as np
from numpy.typing import NDArray

from exset.io import files

LENS = {
    ("dense", ".ex"): 40.0,
    ("sparse", ".ex"): 6.0,
    ("dense", ".bex"): 102.0,
    ("sparse", ".bex"): 27.0,
}
"""MB/s of Lens 2.63 (C), measured once on another machine."""

_NUMBER = re.compile(rb"-?\d+\.?\d*")


def numbers(path: str) -> list[float]:
    """Return everything that looks like a number in a text."""
    with open(path, "rb") as file:
        return [float(word) for word in re.findall(_NUMBER, file.read())]


def words(path: str) -> NDArray[np.uint32]:
    """Return a binary file as words in native byte order."""
    return np.fromfile(path, np.uint32).byteswap()


def write_numbers(path: str, values: NDArray[np.float32]) -> None:
    """Write numbers as text."""
    files.write(path, " ".join([f"{value:g}" for value in values.tolist()]).encode())


def write_words(path: str, values: NDArray[np.uint32]) -> None:
    """Write words as big-endian bytes."""
    files.write(path, values.byteswap().tobytes())
