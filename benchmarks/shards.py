"""Measure files of shards, against the packages that people write and read them with.

Rows whose peer is not installed are left out. The peer of MDS is the loop of its writer, as
mosaicml-streaming does not install beside a current NumPy; `benchmarks/incumbents.py` uses it.
"""

import os
import struct
import tarfile
from collections.abc import Callable
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

import exset
from benchmarks.inputs import Inputs
from benchmarks.measure import Race, race
from benchmarks.rows import Cases, Figures
from exset.grammars.columns.strings import Strings
from exset.grammars.tables.table import Table
from exset.io import files

_SIZE = 256
_SAMPLES = 100_000
_BLOB = 20_000
_BLOBS = 2_000


def cases(inputs: Inputs, runs: int) -> Cases:
    """Yield writing, and reading, of small samples, and writing of large ones."""
    count = max(int(_SAMPLES * inputs.part), 200)
    small = blobs(count, _SIZE)
    peers: dict[str, tuple[str, Callable[[str, list[bytes]], object]]] = {
        "webdataset": ("webdataset.TarWriter", write_webdataset),
        "tfrecord": ("tfrecord.TFRecordWriter", write_tfrecord),
        "mds": ("loop of MDSWriter", write_mds),
    }
    libraries = {name for name in ("webdataset", "tfrecord") if find_spec(name) is not None}
    peers = {name: each for name, each in peers.items() if name in libraries | {"mds"}}
    for name, (peer, write) in peers.items():
        yield f"{name}, write", partial(_written, inputs, name, small, peer, write, runs)
    readers = {
        "webdataset": ("tarfile", read_tar),
        "tfrecord": ("tfrecord_loader", read_tfrecord),
    }
    for name, (peer, read) in readers.items():
        if name not in libraries:
            continue
        yield f"{name}, read", partial(_read, inputs, name, small, peer, read, runs)
    large = blobs(max(int(_BLOBS * inputs.part), 20), _BLOB)
    for name in peers:
        yield f"{name}, write 20 kB", partial(_written, inputs, name, large, "copy", copy, runs)


def blobs(count: int, size: int) -> Table:
    """Return a table of one column of random bytes."""
    data = np.random.default_rng(1).integers(0, 256, count * size, np.uint8)
    offsets = np.arange(count + 1, dtype=np.int64) * size
    return Table.of({"bin": Strings(data, offsets, np.ones(count, np.bool_))})


def _written(
    inputs: Inputs,
    name: str,
    table: Table,
    peer: str,
    write: Callable[[str, list[bytes]], object],
    runs: int,
) -> Figures:
    rows = [bytes(row) for row in table["bin"]]  # type: ignore[arg-type]
    numbers = iter(range(10**6))

    def ours() -> None:
        path = os.path.join(inputs.folder, f"ours-{name}-{len(table)}-{next(numbers)}")
        exset.save(table, path, format=name)

    def theirs() -> None:
        write(os.path.join(inputs.folder, f"theirs-{name}-{len(table)}-{next(numbers)}"), rows)

    return _figures(race(ours, theirs, runs), table, peer)


def _read(
    inputs: Inputs, name: str, table: Table, peer: str, read: Callable[[str], object], runs: int
) -> Figures:
    path = os.path.join(inputs.folder, f"read-{name}")
    exset.save(table, path, format=name)
    return _figures(
        race(partial(exset.load, path, format=name), partial(read, path), runs), table, peer
    )


def write_webdataset(path: str, rows: list[bytes]) -> None:
    """Write an archive with the package, without times."""
    writer: Any = import_module("webdataset").TarWriter(path, mtime=0)
    for number, row in enumerate(rows):
        writer.write({"__key__": f"{number:08d}", "bin": row})
    writer.close()


def read_tar(path: str) -> int:
    """Return the bytes of all members of an archive, read with the standard library."""
    with tarfile.open(path) as archive:
        contents = (archive.extractfile(member) for member in archive)
        return sum(len(each.read()) for each in contents if each is not None)


def write_tfrecord(path: str, rows: list[bytes]) -> None:
    """Write a TFRecord file with the package."""
    writer: Any = import_module("tfrecord").TFRecordWriter(path)
    for row in rows:
        writer.write({"bin": (row, "byte")})
    writer.close()


def read_tfrecord(path: str) -> int:
    """Count the records of a file with the package."""
    return sum(1 for _ in import_module("tfrecord").tfrecord_loader(path, None))


def write_mds(path: str, rows: list[bytes]) -> None:
    """Write a shard sample by sample, as `MDSWriter` does, without its index and its hash."""
    encodings: dict[str, Callable[[bytes], bytes]] = {"bytes": bytes}
    columns = [("bin", "bytes", None)]
    samples: list[bytes] = []
    size = 0
    for row in rows:
        sizes, data = [], []
        for name, encoding, fixed in columns:
            datum = encodings[encoding.partition(":")[0]]({"bin": row}[name])
            if fixed is None:
                sizes.append(len(datum))
            data.append(datum)
        samples.append(np.array(sizes, np.uint32).tobytes() + b"".join(data))
        size += len(samples[-1]) + 4
    offsets = np.cumsum([8 + 4 * len(samples), *map(len, samples)]).astype(np.uint32)
    files.write(path, struct.pack("<I", len(samples)) + offsets.tobytes() + b"".join(samples))


def copy(path: str, rows: list[bytes]) -> None:
    """Write all bytes to a file that is whole and on disk."""
    files.write(path, b"".join(rows))


def _figures(result: Race, table: Table, peer: str) -> Figures:
    return {
        "samples": float(len(table)),
        "seconds": result.subject,
        "samples/s": result.subject.rate(len(table)),
        "peer": peer,
        "times as fast": result.ratio,
    }
