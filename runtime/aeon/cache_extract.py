"""Write the elements of blocks as files, with a manifest. Also write the files of archives."""

import math
from base64 import b64encode
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from exset.core.errors import Findings, FormatError, Place, Severity
from exset.core.limits import DEFAULT, Limits
from exset.core.source import Source
from exset.core.text import counted, safe
from exset.grammars.aeon.block import Block
from exset.grammars.aeon.block_archive import place_name
from exset.grammars.aeon.block_findings import finding_at
from exset.grammars.aeon.manifest import Field, Manifest
from exset.grammars.aeon.manifest_types import NUMBER_DTYPES, ElementType
from exset.io.content_types import suffix_of
from exset.io.extraction import Extractor, parts_of
from exset.parsers.aeon.manifest_text import render
from exset.runtime.aeon.block_rescue import Records
from exset.runtime.aeon.cache import Cache
from exset.runtime.aeon.cache_plan import Plan

MANIFEST: Final = b"manifest.tsv"
"""The name of the manifest of the extracted files."""

_PAYLOAD_OF_NAN: Final = (1 << 22) - 1

Types = Sequence[ElementType] | None
Suffixes = Sequence[str] | None


class Extracted(NamedTuple):
    """The number of written files, and the number of records in the manifest.

    files: does not count the manifest. records: None if no manifest was written.
    """

    files: int
    records: int | None


def extract_cache(
    cache: Cache,
    folder: str,
    *,
    types: Types = None,
    suffixes: Suffixes = None,
    damaged: bool = False,
    plan: Plan | None = None,
    findings: Findings,
) -> Extracted:
    """Write the elements of a cache as files into a folder, with a subfolder for each block.

    types: the types of the elements of a record. If they are known, a manifest is written, too:
    only FILE elements become files, and all others become fields of the manifest. suffixes: the
    suffixes of file names, one for each element of a record, by default detected from the contents.
    damaged: extract the intact records of damaged blocks. plan: the plan of the cache's manifest.
    It replaces `types`, and FILE elements get their file names from the manifest, if these names
    are safe.

    Raises FormatError if there are no blocks, if a block is damaged and `damaged` is false, and if
    an element does not fit its type; and OSError.
    """
    if plan is not None:
        types = plan.manifest.types
    width = len(types or ())
    if plan is None:
        intact = cache.check(findings, width or None)
    else:
        intact = plan.check(cache, findings, compare="nothing")
    if not cache.blocks:
        message = "the cache has no blocks"
        raise FormatError(message, place=Place(cache.path), code="aeon-cache-none")
    if not damaged and len(intact) != len(cache.blocks):
        worst = next(each for each in findings if each.severity is Severity.ERROR)
        hint = "<--damaged or damaged=True> extracts the intact records"
        raise FormatError(worst.message, place=worst.place, hint=hint, code=worst.code)
    width = width or next((block.width for block in intact.values() if block.width), 0)
    with Extractor(folder) as out:
        writer = _Writer(out, types, suffixes)
        for number in cache.blocks:
            names = plan.records(number) if plan is not None else None
            if number in intact:
                records = Records.of(intact[number], width)
            else:
                try:
                    source = cache.source(number)
                    records = Records.rescued(source, cache.limits, width, Findings())
                except (FormatError, OSError):  # `check` has reported it
                    continue
                if not records.is_damaged:  # the block belongs to another plan
                    names = None
            writer.add(records, b"block_%d/" % number, names)
        return writer.finish()


def extract_block(
    block: Block | Source,
    folder: str,
    *,
    types: Types = None,
    suffixes: Suffixes = None,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
) -> Extracted:
    """Write the elements of one block, as `extract_cache` does.

    block: an intact block, or the source of a damaged block. Of a damaged block, the intact records
    are written, and `findings` collects the problems. Raises FormatError if the number of elements
    of a record is unknown, or differs from the number of types.
    """
    if isinstance(block, Block):
        records = Records.of(block, block.known_width())
        if types is not None and len(types) != records.width and len(block):
            has = counted(records.width, "element")
            message = f"each record has {has}, but `types` names {counted(len(types), 'type')}"
            raise FormatError(message, code="aeon-cache-width")
    else:
        findings = Findings() if findings is None else findings
        records = Records.rescued(block, limits, len(types or ()), findings)
        if not records.width:
            message = "the names of the elements do not show how many elements a record has"
            place = Place(block.name)
            hint = "name the types of the elements of a record with <--types or types=...>"
            raise FormatError(message, place=place, hint=hint, code="aeon-block-width")
    with Extractor(folder) as out:
        writer = _Writer(out, types, suffixes)
        writer.add(records)
        return writer.finish()


def extract_archive(archive: Block, folder: str, *, name: str, findings: Findings) -> Extracted:
    """Write the regular files of an archive, under their names in the archive.

    An entry is skipped, with a finding, if it is not a regular file, if its name is not safe, or if
    a file with this name exists. name: the name of the archive in messages. Raises OSError.
    """
    with Extractor(folder) as out:
        regular = archive.elements.is_regular.tolist()
        entries = zip(archive.elements.name, archive.elements.data, regular, strict=True)
        for number, (raw, data, is_regular) in enumerate(entries):
            try:
                if not is_regular:
                    raise ValueError("it is not a regular file")
                out.write(raw or b"", [data])
            except (ValueError, FileExistsError, NotADirectoryError, IsADirectoryError) as error:
                why = str(error)
                if isinstance(error, OSError):
                    why = f"the path exists already ({error.strerror}): choose an empty folder"
                shown = safe((raw or b"").decode("utf-8", "surrogateescape")) or "it"
                place = Place(name, field=f"entries[{number}]")
                findings.add(finding_at("cpio-unsafe-name", place, name=shown, why=why))
        return Extracted(out.count, None)


class _Writer:
    """Writes elements as files, and collects the records of the manifest."""

    def __init__(self, out: Extractor, types: Types, suffixes: Suffixes) -> None:
        self._out = out
        self._types = types
        self._suffixes = suffixes
        self._rows: list[list[Field]] = []
        self._named: set[bytes] = set()

    def add(self, records: Records, prefix: bytes = b"", names: Manifest | None = None) -> None:
        """Write the elements of records as files.

        prefix: the beginning of each file name. names: a manifest; its FILE fields are the names of
        the files.
        """
        elements = iter(records.elements.data)
        for record in records.numbers:
            known = names[record] if names is not None and record < len(names) else None
            fields: list[Field] = []
            for element in range(records.width):
                data = next(elements)
                kind = ElementType.FILE if self._types is None else self._types[element]
                if kind is not ElementType.FILE:
                    where = f"{prefix.decode()}record {record}, element {element}"
                    fields.append(_field(data, kind, where))
                elif known is not None and _is_safe(known[element]):
                    fields.append(self._write_once(known[element], data))
                else:
                    name = prefix + place_name(record, element, self._suffix(element, data))
                    fields.append(name)
                    self._out.write(name, [data])
            self._rows.append(fields)

    def finish(self) -> Extracted:
        """Write the manifest, if the types of the elements are known."""
        count = self._out.count
        if self._types is None:
            return Extracted(count, None)
        self._out.write(MANIFEST, [render(Manifest.of(self._types, self._rows))])
        return Extracted(count, len(self._rows))

    def _write_once(self, name: bytes, data: memoryview) -> bytes:
        """Write a file unless an earlier record has written a file of this name.

        Return the name.
        """
        if name not in self._named:
            self._named.add(name)
            self._out.write(name, [data])
        return name

    def _suffix(self, element: int, data: memoryview) -> str:
        if self._suffixes is None:
            return suffix_of(data)
        return self._suffixes[min(element, len(self._suffixes) - 1)]


def _is_safe(name: bytes) -> bool:
    try:
        return parts_of(name) != [MANIFEST]
    except ValueError:
        return False


def _field(data: memoryview, kind: ElementType, where: str) -> Field:
    """Return the field of a manifest from which aeon would make this element.

    kind: the type of the element. where: the place of the element, for errors.
    """
    if kind is ElementType.STRING:
        return bytes(data)
    if kind is ElementType.BINARY:
        return b64encode(data)
    if len(data) != 4:
        has = counted(len(data), "byte")
        message = f"{where} has {has}, but {kind} needs 4 bytes: are the types right?"
        raise FormatError(message, code="aeon-cache-width")
    number = np.frombuffer(data, NUMBER_DTYPES[kind])[0]
    if not math.isnan(number):
        return str(number)
    # The text that C reads as this NaN, with its sign and its payload.
    bits = int.from_bytes(data, "little")
    payload = bits & _PAYLOAD_OF_NAN
    return f"{'-' * (bits >> 31)}nan{f'({payload})' if payload else ''}"
