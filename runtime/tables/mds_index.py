"""The index of a folder of MDS shards, `index.json`.

Source: mosaicml-streaming, `base/format/index.py` and `base/format/mds/reader.py`.
"""

import errno
import hashlib
import json
import os
import stat
from dataclasses import dataclass
from typing import Any, Final

from exset.core.errors import Findings, FormatError, Place
from exset.core.limits import Limits
from exset.core.text import safe
from exset.grammars.tables.shard_findings import finding_at
from exset.io.blocks import too_long
from exset.io.compression import content_of, decompressed
from exset.io.folders import Folder
from exset.io.named import open_named
from exset.runtime.tables.mds_columns import size_of

INDEX: Final = "index.json"
VERSION: Final = 2
_HASHES: Final = ("blake2b", "blake2s", "md5", "sha1", "sha224", "sha256", "sha384", "sha512")
_ZIPPED: Final = {"zstd": "zstd", "gz": "gzip", "bz2": "bzip2"}
_MOST_COLUMNS: Final = 4096


@dataclass(frozen=True)
class File:
    """A file of a shard: its name in the folder, its size in bytes, and its hashes by algorithm."""

    basename: str
    bytes: int
    hashes: dict[str, str]


@dataclass(frozen=True)
class Shard:
    """A shard as the index describes it: its files, its columns and the number of its samples.

    names, encodings, sizes: of each column. raw, zipped: the file, and the compressed file.
    """

    names: tuple[str, ...]
    encodings: tuple[str, ...]
    sizes: tuple[int | None, ...]
    samples: int
    compression: str | None
    raw: File
    zipped: File | None

    @classmethod
    def of(cls, value: Any) -> "Shard":
        """Read a shard from its JSON value. Raises ValueError or KeyError for an invalid value."""
        if value["version"] != VERSION or value["format"] != "mds":
            raise ValueError(
                f"a shard is {value['format']!r}, version {value['version']!r}, not 'mds',"
                f" version {VERSION}"
            )
        _ = value["hashes"], value["size_limit"]
        names, encodings, sizes = (
            value[f"column_{each}"] for each in ("names", "encodings", "sizes")
        )
        if not len(names) == len(encodings) == len(sizes) or not 0 < len(names) <= _MOST_COLUMNS:
            raise ValueError("column_names, column_encodings and column_sizes differ in length")
        if len(set(names)) < len(names) or not all(isinstance(each, str) for each in names):
            raise ValueError("column_names must be different texts")
        for name, encoding, size in zip(names, encodings, sizes, strict=True):
            if size_of(encoding) != size:
                raise ValueError(f"the column {name!r} is {encoding!r}, but has the size {size!r}")
        if not any(size is None or size for size in sizes):
            raise ValueError("samples of 0 bytes are not possible")
        samples = value["samples"]
        if type(samples) is not int or samples < 0:
            raise ValueError(f"{samples!r} is not a number of samples")
        zipped = None if value["zip_data"] is None else _file(value["zip_data"])
        return cls(
            tuple(names),
            tuple(encodings),
            tuple(sizes),
            samples,
            value["compression"],
            _file(value["raw_data"]),
            zipped,
        )

    def content(self, folder: Folder, limits: Limits, findings: Findings) -> tuple[str, bytes]:
        """Return the name and the content of the shard, decompressed.

        Raises FormatError for a wrong hash and for a compression that exset cannot undo, and
        OSError.
        """
        if self.zipped is None or self.raw.basename in folder.names:
            return self.raw.basename, _read(folder, self.raw, limits, findings)
        data = _read(folder, self.zipped, limits, findings)
        name = self.zipped.basename
        kind = content_of(data[:10])
        expected = _ZIPPED.get(str(self.compression).partition(":")[0])
        if expected is None or kind is None or kind.name != expected:
            message = f"exset cannot decompress {safe(str(self.compression))} data"
            hint = "write the shards with zstd or gz, or without compression"
            raise FormatError(message, place=_place(folder, name), hint=hint, code="compression")
        empty = iter((data,))
        chunks = decompressed(lambda _: next(empty, b""), b"", name, kind, limits, 1 << 20)
        return name, b"".join(chunks)


def parsed(folder: Folder, limits: Limits) -> list[Shard]:
    """Read the index of a folder; return the shards that it lists. Raises FormatError and
    OSError.
    """
    source = folder.read(INDEX)
    try:
        if len(source.view) > limits.max_text:
            raise ValueError("it is too large")
        value = json.loads(source.data)
        if value["version"] != VERSION:
            raise ValueError(f"it has version {value['version']!r}, not {VERSION}")
        found = [Shard.of(each) for each in value["shards"]]
        if not found:
            raise ValueError("it has no shards")
        return found
    except KeyError as error:
        raise _unusable(folder, f"{error.args[0]!r} is missing") from None
    except (TypeError, AttributeError):
        raise _unusable(folder, "a value in it is of a wrong kind") from None
    except (ValueError, RecursionError, OverflowError) as error:
        raise _unusable(folder, str(error)) from None


def _unusable(folder: Folder, problem: str) -> FormatError:
    message = f"index.json cannot be used: {safe(problem)}"
    return FormatError(message, place=_place(folder, INDEX), code="mds-index")


def _file(value: Any) -> File:
    name, size, hashes = value["basename"], value["bytes"], value["hashes"]
    if not isinstance(name, str) or not isinstance(hashes, dict) or type(size) is not int:
        raise ValueError("each file needs the keys basename, bytes and hashes")
    return File(name, size, {str(key): str(each) for key, each in hashes.items()})


def _read(folder: Folder, file: File, limits: Limits, findings: Findings) -> bytes:
    """Return the bytes of a file, after checking its size and its hashes."""
    path = folder.path_of(file.basename)
    status = os.stat(path)
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "the shard is not a regular file", path)
    if status.st_size > limits.max_bytes:
        raise too_long(path, limits)
    with open_named(path, "rb") as opened:
        data = opened.read(status.st_size)
    place = _place(folder, file.basename)
    for name, expected in file.hashes.items():
        if name not in _HASHES:
            findings.add(finding_at("mds-hash-unknown", place, name=safe(name)))
        elif hashlib.new(name, data, usedforsecurity=False).hexdigest() != expected:
            message = f"its {name} is not the one in index.json"
            hint = "the file is damaged: write or download it again"
            raise FormatError(message, place=place, hint=hint, code="mds-hash")
    if len(data) != file.bytes:
        words = {"count": len(data), "other": file.bytes}
        findings.add(finding_at("mds-bytes", place, **words))
    return data


def _place(folder: Folder, name: str) -> Place:
    return Place(os.path.join(folder.name, name))
