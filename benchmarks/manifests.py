"""Measure aeon's manifests: reading, writing, and making elements from fields."""

import base64
import binascii
import os
from collections.abc import Callable
from functools import partial

import numpy as np

import exset
from benchmarks.inputs import Inputs
from benchmarks.measure import race
from benchmarks.rows import Cases, Figures
from exset import Manifest
from exset.codecs.shared.crc32c import crc32c
from exset.core.errors import Findings
from exset.parsers.aeon.manifest_text import render
from exset.runtime.aeon.elements import elements

AEON = 106.0
"""MB/s of aeon (C++), which parses into strings, measured once on another machine. It used 480 MB
of memory."""

_RECORDS, _BLOBS, _BLOB = 1_000_000, 4_000, 10_000
_SEED = 5


def cases(inputs: Inputs, runs: int) -> Cases:
    """Yield each task, against a program without exset."""
    yield "read FILE ASCII_INT", partial(_read, inputs, "classes", AEON, runs)
    yield "read FILE BINARY of 10 kB", partial(_read, inputs, "blobs", None, runs)
    yield "write FILE ASCII_INT", partial(_write, inputs, runs)
    yield "elements of ASCII_INT", partial(_elements, inputs, "classes", _ints, runs)
    yield "elements of BINARY", partial(_elements, inputs, "blobs", _decode, runs)
    yield "uid", partial(_uid, inputs, runs)


def path_of(inputs: Inputs, kind: str = "classes") -> str:
    """Return the path of a manifest of at most a million records; for blobs, some thousands."""
    count = max(int((_RECORDS if kind == "classes" else _BLOBS) * inputs.part), 2)
    path = os.path.join(inputs.folder, f"{kind}-{count}.tsv")
    if not os.path.exists(path):
        draw = np.random.default_rng(_SEED)
        with open(path, "w", encoding="ascii") as file:
            if kind == "classes":
                file.write("@FILE\tASCII_INT\n")
                for number, label in enumerate(draw.integers(0, 1000, count).tolist()):
                    file.write(f"images/class{label:03}/picture{number:07}.jpg\t{label}\n")
            else:
                file.write("@FILE\tBINARY\n")
                for number in range(count):
                    file.write(f"{number}.wav\t{base64.b64encode(draw.bytes(_BLOB)).decode()}\n")
    return path


def _load(path: str) -> Manifest:
    return exset.load(path, model=Manifest, findings=Findings(strict=True))


def _read(inputs: Inputs, kind: str, aeon: float | None, runs: int) -> Figures:
    path = path_of(inputs, kind)
    return _figures(partial(_load, path), partial(_split, path), "split", path, aeon, runs)


def _write(inputs: Inputs, runs: int) -> Figures:
    path = path_of(inputs)
    model, rows = _load(path), _split(path)
    return _figures(partial(render, model), partial(_join, rows), "join", path, None, runs)


def _elements(
    inputs: Inputs, kind: str, peer: Callable[[list[bytes]], object], runs: int
) -> Figures:
    path = path_of(inputs, kind)
    model = _load(path)
    fields = [row[1] for row in _split(path)]
    name = "np.array(fields).astype" if kind == "classes" else "binascii"
    return _figures(partial(elements, model, 1), partial(peer, fields), name, path, None, runs)


def _uid(inputs: Inputs, runs: int) -> Figures:
    path = path_of(inputs)
    data = _load(path).fields.data
    subject, peer = partial(crc32c, data), partial(binascii.crc32, data.tobytes())
    return _figures(subject, peer, "binascii.crc32, in C", path, None, runs)


def _split(path: str) -> list[list[bytes]]:
    with open(path, "rb") as file:
        return [line.split(b"\t") for line in file.read().splitlines()[1:]]


def _join(rows: list[list[bytes]]) -> bytes:
    return b"\n".join([b"\t".join(row) for row in rows])


def _ints(fields: list[bytes]) -> object:
    return np.array(fields).astype(np.int32)


def _decode(fields: list[bytes]) -> object:
    return [binascii.a2b_base64(field, strict_mode=True) for field in fields]


def _figures(
    subject: Callable[[], object],
    peer: Callable[[], object],
    name: str,
    path: str,
    aeon: float | None,
    runs: int,
) -> Figures:
    result = race(subject, peer, runs)
    size = os.path.getsize(path) / 1e6
    return {
        "MB": size,
        "seconds": result.subject,
        "MB/s": size / result.subject.median,
        "peer": name,
        "times as fast": result.ratio,
        "aeon, MB/s": aeon,
    }
