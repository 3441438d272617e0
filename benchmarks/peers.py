"""What a program would do without exset: the measure of each figure."""

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
"""MB/s of Lens 2.63 itself, a program in C; measured once, on two other cores than these."""

_NUMBER = re.compile(rb"-?\d+\.?\d*")


def numbers(path: str) -> list[float]:
    """All that looks like a number in a text."""
    with open(path, "rb") as file:
        return [float(word) for word in re.findall(_NUMBER, file.read())]


def words(path: str) -> NDArray[np.uint32]:
    """A binary file as words, the other way round."""
    return np.fromfile(path, np.uint32).byteswap()


def write_numbers(path: str, values: NDArray[np.float32]) -> None:
    """Numbers as text."""
    files.write(path, " ".join([f"{value:g}" for value in values.tolist()]).encode())


def write_words(path: str, values: NDArray[np.uint32]) -> None:
    """Words, the other way round."""
    files.write(path, values.byteswap().tobytes())
