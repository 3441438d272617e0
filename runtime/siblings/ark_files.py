"""Archives of Kaldi in all forms: binary, text, and script files (.scp), which name objects."""

import os
import re
from contextlib import suppress
from itertools import groupby
from operator import itemgetter
from typing import Any, Final, NamedTuple

from exset.codecs.siblings import ark
from exset.core.errors import Findings, FormatError, Place
from exset.core.kernels import Engine
from exset.core.limits import Limits
from exset.core.source import Source
from exset.core.text import safe
from exset.grammars.columns.strings import Strings
from exset.grammars.siblings.archive import Archive
from exset.grammars.siblings.findings import ARK
from exset.grammars.tables.cells import Room
from exset.io import files
from exset.io.blocks import Blocks
from exset.parsers.siblings import ark_text, kaldi_table

_BINARY: Final = re.compile(rb"\s*+[^\s\0]++[ \t]?+\0B")
_PLACE: Final = re.compile(r"(.+?)(?::([0-9]{1,18}))?(?:\[([0-9:,]*)\])?", re.DOTALL)
_RANGE: Final = re.compile(r"(?:([0-9]{1,9}):([0-9]{1,9}))?|:")


def parsed(source: Source, *, limits: Limits, findings: Findings, engine: Engine) -> Archive:
    """Return the objects of an archive, binary or text. Raises FormatError for a wrong archive."""
    if _BINARY.match(source.data) or b"\0" in source.data[:4096]:
        return ark.decode(source, limits=limits, findings=findings, engine=engine)
    return ark_text.parse(source, findings=findings, engine=engine)


class _Line(NamedTuple):
    """A line of a script file: the object at an offset of the file `path`, or a part of it."""

    path: str
    offset: int
    ranges: str
    place: Place

    def error(self, code: str, **given: object) -> FormatError:
        """Return the error with the given code about this line."""
        return FormatError.of(ARK.finding(code, self.place, path=safe(self.path), **given))

    def part(self, values: Any) -> Any:
        """Return the part of a matrix or a vector in ranges such as `0:9,0:3`, whose ends count."""
        for axis, text in enumerate(self.ranges.split(",")):
            match = _RANGE.fullmatch(text)
            first, last = (int(each) for each in match.groups("-1")) if match else (1, 0)
            if axis >= values.ndim or last >= values.shape[axis] or first > last:
                raise self.error("ark-range", ranges=self.ranges, shape=values.shape)
            if first >= 0:
                values = values[(slice(None),) * axis + (slice(first, last + 1),)]
        return values


def named(
    source: Source, folder: str, *, limits: Limits, findings: Findings, engine: Engine
) -> Archive:
    """Return the objects that the lines of a script file name. No others are read.

    folder: the folder that must contain the archives, and from which relative paths are resolved.
    Raises FormatError without a folder, for a command, and for a place that has no object.
    """
    if not folder:
        raise FormatError.of(ARK.finding("ark-script", Place(source.name)))
    table = kaldi_table.parse(source, is_words=True, findings=findings, engine=engine)
    lines, objects, stored = list[_Line](), dict[tuple[str, int], Any](), len(source.data)
    for key, value in table.items():
        text = value.decode("utf-8", "surrogateescape")
        place = Place(source.name, field=safe(key.decode("utf-8", "backslashreplace")))
        match = _PLACE.fullmatch(text)
        if match is None or "|" in (text[0], text[-1]) or text == "-":
            raise FormatError.of(ARK.finding("ark-command", place, text=safe(text)))
        lines.append(_Line(match[1], int(match[2] or 0), match[3] or "", place))
    for path, group in groupby(sorted(lines, key=itemgetter(0, 1)), itemgetter(0)):
        where, raws, end = {line.offset: line for line in group}, list[bytes](), 0
        with (
            files.blocks(os.path.join(folder, path), limits=limits, roots=(folder,)) as blocks,
            blocks.kept(limits) as archive,
        ):
            known = dict[int, bytes]()
            for offset, line in where.items():
                if offset not in known:
                    known = _objects_at(offset, archive, limits, engine)
                raws.append(known.get(offset, b"") if offset >= end else b"")
                if not raws[-1]:
                    raise line.error("ark-offset", offset=offset)
                end = offset + len(raws[-1])
            stored += archive.size or 0
        whole = Source(path, b"".join(b"\n%d %b" % each for each in enumerate(raws)))
        found = parsed(whole, limits=limits, findings=findings, engine=engine).objects
        objects |= {(path, offset): each for offset, each in zip(where, found, strict=True)}
    parts = [line.part(objects[line.path, line.offset]) for line in lines]
    Room(source.name, stored, limits).take(1, 1, sum(part.nbytes for part in parts))
    return Archive.of(Strings.of(table), parts)


def _objects_at(offset: int, archive: Blocks, limits: Limits, engine: Engine) -> dict[int, bytes]:
    """Return the bytes of the object at an offset of an archive, and of some that follow it.

    Returns {} if there is no object at the offset. Raises FormatError for a damaged object.
    """
    file = archive.file
    assert file is not None
    file.seek(offset)
    if file.read(2) == b"\0B":
        return ark.objects_at(file, offset, archive.name, limits, engine)
    file.seek(offset)
    raw = [file.readline()]
    while b"[" in raw[0] and b"]" not in raw[-1] and raw[-1]:
        raw.append(file.readline())
    text = b"".join(raw)
    with suppress(FormatError):
        ark_text.parse(Source("", b"0 " + text), findings=Findings(), engine=engine)
        return {offset: text}
    return {}
