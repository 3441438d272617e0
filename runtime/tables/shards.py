"""Read folders of shards of WebDataset and TFRecord, with an index, checksums and metadata.

`index.json` lists the shards as webdataset's `wids` does, with the SHA-256 of each.
"""

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Final

from exset.core.errors import Findings, FormatError, Place
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.source import Source
from exset.core.text import safe
from exset.grammars.tables import sidecar
from exset.grammars.tables.cells import Room
from exset.grammars.tables.table import Table
from exset.io.compression import SUFFIXES
from exset.io.folders import Folder
from exset.runtime.tables import tfrecord, webdataset
from exset.runtime.tables.joined import joined
from exset.runtime.tables.shard_plan import checksum
from exset.runtime.tables.shard_stream import streamed_folder

INDEX: Final = "index.json"
METADATA: Final = "exset.json"
TARS: Final = (".tar", ".tgz")
RECORDS: Final = (".tfrecord", ".tfrecords")

ReadShard = Callable[[Source, int, Findings], Table]
"""Reads a shard, given the number of its first row."""


def read_webdataset(
    folder: Folder,
    *,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
) -> Table:
    """Return the table of a folder of archives. Raises the errors of `webdataset.read`."""
    return _read(folder, TARS, _archives(limits, engine), limits, findings)


def stream_webdataset(
    folder: Folder,
    *,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
) -> Iterator[Table]:
    """Yield the table of each archive; arguments and errors are as for `read_webdataset`."""
    return _stream(folder, TARS, _archives(limits, engine), limits, findings)


def read_tfrecord(
    folder: Folder,
    *,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
    damaged: bool = False,
    raw: bool = False,
) -> Table:
    """Return the table of a folder of TFRecord files; arguments and errors: see `tfrecord.read`."""
    return _read(folder, RECORDS, _records(limits, engine, damaged, raw), limits, findings)


def stream_tfrecord(
    folder: Folder,
    *,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
    damaged: bool = False,
    raw: bool = False,
) -> Iterator[Table]:
    """Yield the table of each TFRecord file; arguments and errors are as for `tfrecord.read`."""
    return _stream(folder, RECORDS, _records(limits, engine, damaged, raw), limits, findings)


def _archives(limits: Limits, engine: Engine) -> ReadShard:
    def read(source: Source, first: int, findings: Findings) -> Table:
        return webdataset.read(source, limits=limits, findings=findings, engine=engine, first=first)

    return read


def _records(limits: Limits, engine: Engine, damaged: bool, raw: bool) -> ReadShard:
    def read(source: Source, first: int, findings: Findings) -> Table:
        return tfrecord.read(
            source, limits=limits, findings=findings, engine=engine, damaged=damaged, raw=raw
        )

    return read


def _read(
    folder: Folder,
    suffixes: tuple[str, ...],
    read: ReadShard,
    limits: Limits,
    findings: Findings | None,
) -> Table:
    found = Findings() if findings is None else findings
    tables = [*_tables(folder, suffixes, read, limits, found)]
    table = joined(tables, folder.name, Room(folder.name, folder.size, limits))
    return sidecar.restored(table, described(folder), found)


def _stream(
    folder: Folder,
    suffixes: tuple[str, ...],
    read: ReadShard,
    limits: Limits,
    findings: Findings | None,
) -> Iterator[Table]:
    found = Findings() if findings is None else findings
    yield from streamed_folder(
        lambda some: _tables(folder, suffixes, read, limits, some),
        lambda: _read(folder, suffixes, read, limits, found),
        described(folder),
        found,
        folder.notes,
    )


def _tables(
    folder: Folder, suffixes: tuple[str, ...], read: ReadShard, limits: Limits, findings: Findings
) -> Iterator[Table]:
    """Yield the table of each shard of a folder. Raises FormatError if there are no shards.

    suffixes: those that files of shards have. read: reads the table of a shard.
    """
    index = _index(folder, limits)
    names = list(index) if index else [name for name in folder.names if _is_shard(name, suffixes)]
    rows = 0
    for name in names:
        source = folder.read(name)
        _check(source, index.get(name, {}), name)
        table = read(replace(source, path=""), rows, findings)
        rows += len(table)
        yield table
    if not names:
        message = f"the folder has no file that ends in {' or '.join(suffixes)}"
        raise FormatError(message, place=Place(folder.name), code="shards-index")


def described(folder: Folder) -> Source:
    """Return a source without content for a folder of shards; its sidecar is the file with the
    folder's metadata, None if there is none.
    """
    content = folder.read(METADATA).data if METADATA in folder.names else None
    return Source(folder.name, b"", sidecar=content)


def _is_shard(name: str, suffixes: tuple[str, ...]) -> bool:
    """Return whether a file is a shard, such as `NAME.tar.gz` or `NAME.tfrecord-00000-of-00010`."""
    bare, suffix = os.path.splitext(name)
    bare = bare if suffix in SUFFIXES else name
    return bare.endswith(suffixes) or any(f"{suffix}-" in bare for suffix in suffixes)


def _index(folder: Folder, limits: Limits) -> dict[str, dict[str, Any]]:
    """Return the entry of each shard in the index of a folder, by the shard's name.

    Return an empty dictionary if there is no index.
    """
    if INDEX not in folder.names:
        return {}
    source = folder.read(INDEX)
    try:
        if len(source.view) > limits.max_text:
            raise ValueError("it is too large")
        value = json.loads(source.data)
        if not isinstance(value, dict) or not isinstance(value.get("shardlist"), list):
            raise ValueError("it has no shardlist")
        found = {str(each["url"]): dict(each) for each in value["shardlist"]}
        if not found or len(found) < len(value["shardlist"]):
            raise ValueError("it lists no shards, or one of them twice")
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        message = f"index.json is not an index of shards: {safe(str(error))}"
        hint = "if another program wrote it, remove it from the folder"
        place = Place(os.path.join(folder.name, INDEX))
        raise FormatError(message, place=place, hint=hint, code="shards-index") from None
    return found


def _check(source: Source, known: dict[str, Any], name: str) -> None:
    """Raise FormatError unless a shard has the size and the checksum that the index gives.

    known: the shard's entry in the index.
    """
    if name.endswith(tuple(SUFFIXES)):
        return
    size, expected = known.get("filesize"), known.get("sha256")
    if size in (None, len(source.view)) and expected in (None, checksum(source.view)):
        return
    message = "the shard is not the one of index.json: its size or its SHA-256 differs"
    hint = "the shard is damaged or not of this index: write the folder again, or remove index.json"
    raise FormatError(message, place=Place(source.name), hint=hint, code="shards-checksum")
