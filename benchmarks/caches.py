"""Measure blocks of aeon's caches, against plain files of the same size."""

import os
from collections.abc import Callable
from functools import partial
from mmap import ACCESS_READ, mmap

import numpy as np

from benchmarks.inputs import Inputs
from benchmarks.measure import Race, race
from benchmarks.rows import Cases, Figures
from exset import api
from exset.codecs.aeon.cpio_write import BlockWriter
from exset.grammars.aeon.block import Block
from exset.io import files

_LARGE, _BYTES = 5000, 100_000
_TINY = 1_000_000


def cases(inputs: Inputs, runs: int) -> Cases:
    """Yield writing and reading of large elements, and the index of very many tiny elements."""
    yield "write 5,000 x 100 kB", partial(_write, inputs, runs)
    yield "read 5,000 x 100 kB", partial(_read, inputs, _copy_pieces, "file.read(100_000)", runs)
    yield "read 5,000 x 100 kB, whole", partial(_read, inputs, _copy_file, "file.read()", runs)
    mapped = partial(_read, inputs, _copy_mapped, "slices of a mapped file", runs)
    yield "read 5,000 x 100 kB, mapped", mapped
    yield "index 1,000,000 tiny records", partial(_index, inputs, runs)


def _payload(inputs: Inputs) -> list[bytes]:
    draw = np.random.default_rng(5)
    one = draw.integers(0, 256, _BYTES + 4096, np.uint8).tobytes()
    count = max(int(_LARGE * inputs.part), 2)
    return [one[i % 4096 : i % 4096 + _BYTES] for i in range(count)]


def _block(path: str, elements: list[bytes]) -> None:
    with files.writing(path) as file:
        writer = BlockWriter(file, lambda: 0)
        for element in elements:
            writer.write([element])
        writer.close()


def _plain(path: str, elements: list[bytes]) -> None:
    with files.writing(path) as file:
        file.writelines(elements)


def _write(inputs: Inputs, runs: int) -> Figures:
    elements = _payload(inputs)
    ours, theirs = (os.path.join(inputs.folder, name) for name in ("ours.cpio", "theirs"))
    result = race(partial(_block, ours, elements), partial(_plain, theirs, elements), runs)
    return _figures(result, len(elements) * _BYTES, "the same bytes and fsync")


def _read(inputs: Inputs, peer: Callable[[str], None], name: str, runs: int) -> Figures:
    elements = _payload(inputs)
    path = os.path.join(inputs.folder, "large.cpio")
    _block(path, elements)
    result = race(partial(_copy_elements, path), partial(peer, path), runs)
    return _figures(result, len(elements) * _BYTES, name)


def _copy_elements(path: str) -> None:
    """Copy each element to separate bytes."""
    for (element,) in api.load(path, model=Block):
        bytes(element)


def _copy_pieces(path: str) -> None:
    """Read the same number of bytes with the same number of system calls."""
    with open(path, "rb") as file:
        while file.read(_BYTES):
            pass


def _copy_mapped(path: str) -> None:
    """Read a mapped file: the cost of any reader that copies no payload."""
    with open(path, "rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as view:
        for begin in range(0, len(view), _BYTES):
            view[begin : begin + _BYTES]


def _copy_file(path: str) -> None:
    with open(path, "rb") as file:
        file.read()


def _index(inputs: Inputs, runs: int) -> Figures:
    path = os.path.join(inputs.folder, "tiny.cpio")
    count = max(int(_TINY * inputs.part), 2)
    _block(path, [b"%06d" % i for i in range(count)])
    act: Callable[[], object] = partial(api.load, path, model=Block)
    return _figures(
        race(act, partial(_copy_file, path), runs), os.path.getsize(path), "the file read"
    )


def _figures(result: Race, size: int, peer: str) -> Figures:
    return {
        "MB": size / 1e6,
        "seconds": result.subject,
        "MB/s": result.subject.rate(size / 1e6),
        "peer": peer,
        "times as long": result.slowness,
    }
