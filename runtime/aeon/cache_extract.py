"""Elements of blocks, and files of archives, as files of their own, and a manifest of them."""

from __future__ import annotations

import math
import struct
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from exset.codecs.aeon.cpio import decode, salvage
from exset.codecs.aeon.cpio_lint import short_records
from exset.core.errors import Findings, FormatError, Place, Severity, safe
from exset.core.limits import DEFAULT, Limits
from exset.core.source import Source
from exset.grammars.aeon.block import Block, Entries, record_numbers
from exset.grammars.aeon.block_archive import place_name
from exset.grammars.aeon.block_findings import finding_at
from exset.grammars.aeon.manifest import Field, Manifest
from exset.grammars.aeon.manifest_types import ElementType
from exset.io import files
from exset.io.content_types import suffix_of
from exset.io.extraction import Extractor, parts_of
from exset.parsers.aeon.manifest_text import render
from exset.runtime.aeon.cache import Cache
from exset.runtime.aeon.cache_build import Plan

MANIFEST: Final = b"manifest.tsv"
"""The name of the manifest of what was extracted."""

_FORMATS: Final = {ElementType.ASCII_INT: "<i", ElementType.ASCII_FLOAT: "<f"}
_HELD_BY_NAN: Final = (1 << 22) - 1


@dataclass(frozen=True)
class Extracted:
    """What was extracted: files, their bytes, and the records that the manifest has, if any."""

    files: int
    bytes: int
    records: int | None


def extract_cache(
    cache: Cache,
    folder: str,
    *,
    types: Sequence[ElementType] | None = None,
    suffixes: Sequence[str] | None = None,
    damaged: bool = False,
    plan: Plan | None = None,
    findings: Findings,
) -> Extracted:
    """Write the elements of a cache below a folder, those of each block in a folder of its own.

    types: of the elements of a record; with them a manifest is written, FILE elements become files
    and all others fields of it. suffixes: those of the names of each element of a record, otherwise
    told from the contents. damaged: take from broken blocks the records that are whole. plan: what
    the cache was built from, whose types these are, and whose names of files, where they are safe.

    Raises FormatError for a broken block otherwise, for no blocks, and for elements that cannot be
    of the types; as `Extractor.write`, and OSError.
    """
    if plan is not None:
        types = plan.manifest.types
    width = len(types) if types is not None else None
    whole = cache.check(findings, width) if plan is None else plan.check(cache, findings)
    if not cache.blocks:
        raise FormatError("there are no blocks", place=Place.of(cache.path), code="aeon-cache-none")
    if not damaged and len(whole) != len(cache.blocks):
        worst = next(each for each in findings if each.severity is Severity.ERROR)
        raise FormatError(
            worst.message,
            place=worst.place,
            hint="--damaged extracts what is whole",
            code=worst.code,
        )
    width = width or next((block.width for block in whole.values() if block.width), None)
    with Extractor(folder) as out:
        rows = _Rows(out, types, suffixes)
        for number in cache.blocks:
            prefix = b"block_%d/" % number
            names: Manifest | None = None
            if plan is not None and number < len(plan.blocks):
                there = plan.blocks[number]
                names = plan.manifest.select(slice(there.start, there.stop))
            if number in whole:
                rows.add(whole[number].elements, width or 0, prefix, names)
                continue
            try:
                source = files.read(cache.blocks[number], limits=cache.limits, maps=lambda _: True)
                saved = _saved(source, cache.limits, width or 0, Findings())
            except (FormatError, OSError):  # of which `check` has told
                continue
            given = names if saved.is_broken else None
            rows.add(saved.elements, saved.width, prefix, given, saved.records)
        return rows.done()


def extract_block(
    block: Block,
    folder: str,
    *,
    types: Sequence[ElementType] | None = None,
    suffixes: Sequence[str] | None = None,
) -> Extracted:
    """Write the elements of one block, as `extract_cache`."""
    width = block.known_width()
    if types is not None and len(types) != width and len(block):
        message = f"records have {width} elements, not {len(types)}"
        raise FormatError(message, code="aeon-cache-width")
    with Extractor(folder) as out:
        rows = _Rows(out, types, suffixes)
        rows.add(block.elements, width, b"")
        return rows.done()


def extract_archive(archive: Block, folder: str, *, name: str, findings: Findings) -> Extracted:
    """Write the plain files of an archive by their names; of equal names the first is kept.

    What is no plain file, is there already, or has a name that is not safe, is left out, with a
    finding. name: what messages call the archive. Raises OSError.
    """
    with Extractor(folder) as out:
        regular = archive.elements.is_regular.tolist()
        entries = zip(archive.elements.name, archive.elements.data, regular, strict=True)
        for number, (raw, data, is_regular) in enumerate(entries):
            place = Place(name, field=f"entries[{number}]")
            shown = safe((raw or b"").decode("utf-8", "surrogateescape")) or "it"
            if not is_regular:
                findings.add(
                    finding_at("cpio-unsafe-name", place, name=shown, why="it is no plain file")
                )
                continue
            try:
                out.write(raw or b"", [data])
            except ValueError as error:
                findings.add(finding_at("cpio-unsafe-name", place, name=shown, why=str(error)))
            except (FileExistsError, NotADirectoryError, IsADirectoryError) as error:
                why = f"something is in its way ({error.strerror})"
                findings.add(finding_at("cpio-unsafe-name", place, name=shown, why=why))
        return Extracted(out.count, out.bytes, None)


def extract_damaged(
    source: Source,
    folder: str,
    *,
    types: Sequence[ElementType] | None = None,
    suffixes: Sequence[str] | None = None,
    limits: Limits = DEFAULT,
    findings: Findings,
) -> Extracted:
    """Write the elements of the records of one block that are whole, as `extract_block`.

    What is wrong with it is among the findings. Raises FormatError if there is no telling how many
    elements a record has.
    """
    saved = _saved(source, limits, len(types or ()), findings)
    if not saved.width:
        raise FormatError(
            "there is no telling how many elements a record has, by the names of these",
            place=Place.of(source.name),
            hint="--types says how many, and what they are",
            code="aeon-block-width",
        )
    with Extractor(folder) as out:
        rows = _Rows(out, types, suffixes)
        rows.add(saved.elements, saved.width, b"", records=saved.records)
        return rows.done()


@dataclass(frozen=True)
class _Saved:
    """The whole records of a block: their elements, how many each has, and their numbers.

    is_broken: whether anything is wrong with it.
    """

    elements: Entries
    width: int
    records: list[int]
    is_broken: bool = True


def _saved(source: Source, limits: Limits, width: int, findings: Findings) -> _Saved:
    """What is whole of a block, whose records have so many elements; 0 if that is not known.

    Where elements are missing their places say nothing: the names that aeon gave them do, and
    without these nothing is saved.
    """
    is_cut, is_broken = False, True
    try:
        block = decode(source, limits=limits, findings=findings)
        entries = block.elements
        width = width or block.width or 0
        is_broken = block.width != width or bool(short_records(block))
    except FormatError as error:
        is_cut = True
        findings.add(error.finding)
        entries = salvage(source, limits=limits)
    records = record_numbers(entries.name)
    if records is None:
        count = len(entries) // width if width and (is_cut or not is_broken) else 0
        some = entries.take(np.arange(count * width))
        return _Saved(some, width, list(range(count)), is_broken)
    counts = np.bincount(records)
    width = width or int(counts.max())
    whole = np.flatnonzero(counts == width).tolist()
    some = entries.take(np.flatnonzero(np.isin(records, whole)))
    return _Saved(some, width, whole, is_broken)


class _Rows:
    """Writes elements as files, and keeps what the manifest says of each record."""

    def __init__(
        self,
        out: Extractor,
        types: Sequence[ElementType] | None,
        suffixes: Sequence[str] | None,
    ) -> None:
        self._out = out
        self._types = types
        self._suffixes = suffixes
        self._rows: list[list[Field]] = []
        self._given: set[bytes] = set()

    def add(
        self,
        entries: Entries,
        width: int,
        prefix: bytes,
        names: Manifest | None = None,
        records: Sequence[int] | None = None,
    ) -> None:
        """Add the records that some elements are.

        names: the records of the manifest, whose files are to have these names. records: the
        numbers of those that there are, by default all.
        """
        each = iter(entries.data)
        for record in range(len(entries) // width if width else 0) if records is None else records:
            is_known = names is not None and record < len(names)
            given = names[record] if names is not None and is_known else None
            fields: list[Field] = []
            for element in range(width):
                data = next(each)
                kind = ElementType.FILE if self._types is None else self._types[element]
                if kind is not ElementType.FILE:
                    where = f"{prefix.decode()}record {record}, element {element}"
                    fields.append(_field(data, kind, where))
                elif given is not None and _is_safe(given[element]):
                    fields.append(self._named(given[element], data))
                else:
                    fields.append(self._placed(data, prefix, record, element))
            if self._types is not None:
                self._rows.append(fields)

    def done(self) -> Extracted:
        """Write the manifest, if there is to be one."""
        if self._types is None:
            return Extracted(self._out.count, self._out.bytes, None)
        made = Extracted(self._out.count, self._out.bytes, len(self._rows))
        self._out.write(MANIFEST, [render(Manifest.of(self._types, self._rows))])
        return made

    def _named(self, name: bytes, data: memoryview) -> bytes:
        """Write a file that has a name, once."""
        if name not in self._given:
            self._given.add(name)
            self._out.write(name, [data])
        return name

    def _placed(self, data: memoryview, prefix: bytes, record: int, element: int) -> bytes:
        """Write a file that is named for its place."""
        suffix = suffix_of(data)
        if self._suffixes is not None:
            suffix = self._suffixes[min(element, len(self._suffixes) - 1)]
        name = prefix + place_name(record, element, suffix)
        self._out.write(name, [data])
        return name


def _is_safe(name: bytes) -> bool:
    try:
        return parts_of(name) != [MANIFEST]
    except ValueError:
        return False


def _field(data: memoryview, kind: ElementType, where: str) -> Field:
    """The field that an element was made from, or one like it."""
    if kind is ElementType.STRING:
        return bytes(data)
    if kind is ElementType.BINARY:
        return b64encode(data)
    if len(data) != 4:
        message = f"{where}: {len(data)} bytes, but {kind} has four: other --types?"
        raise FormatError(message, code="aeon-cache-width")
    number = struct.unpack(_FORMATS[kind], data)[0]
    if kind is ElementType.ASCII_INT:
        return int(number)
    return _nan(data) if math.isnan(number) else str(np.float32(number))


def _nan(data: memoryview) -> str:
    """The word that C reads as this NaN, with its sign and what else it holds."""
    bits = int.from_bytes(data, "little")
    held = bits & _HELD_BY_NAN
    return f"{'-' * (bits >> 31)}nan{f'({held})' if held else ''}"
