"""Read the chunks of RIFF files. WAVE sounds and AVI videos are RIFF files."""

from dataclasses import dataclass, replace
from itertools import product
from typing import Final

import numpy as np
from numpy.typing import NDArray

from exset.codecs.engine import Fields, Layout, read
from exset.core.errors import Findings, FormatError, Place
from exset.core.kernels import Engine
from exset.core.limits import Limits
from exset.core.source import Source, Span
from exset.core.text import safe
from exset.grammars.aeon.media_findings import finding_at
from exset.grammars.columns.arrays import Longs
from exset.grammars.columns.strings import Strings

Names = NDArray[np.bytes_]

_FILE: Final = Layout("exset.codecs.aeon.riff_layout:File")
_HEAD: Final = Layout("exset.codecs.aeon.riff_layout:Head")
_PACKED: Final = Layout("exset.codecs.aeon.riff_layout:Packed")
HEADING: Final = 8
"""The number of bytes of a chunk before its data."""
_AFTER: Final = bytes(2 * HEADING + 1)
"""Zeros that are added after the file: padding, the rest of a truncated heading, an end chunk."""
_OTHER: Final = "the file is truncated, damaged, or not a RIFF file"


@dataclass(frozen=True)
class Chunks:
    """All chunks of a file, in file order. A list is a chunk, too; the chunks in a list follow it.

    ids: the name of each chunk, four bytes. forms: the form of each list, four bytes; b"" for a
    chunk that is not a list. begins, ends: int64, the offsets in the source at which the data of
    each chunk begin and end.
    """

    source: Source
    engine: Engine
    limits: Limits
    ids: Names
    forms: Names
    begins: Longs
    ends: Longs

    def named(self, name: bytes, first: int = 0, stop: int | None = None) -> list[int]:
        """Return the indices of the chunks named `name`, from index `first` to `stop` - 1."""
        return (first + np.flatnonzero(self.ids[first:stop] == name)).tolist()

    def lists(self, form: bytes, first: int = 0, stop: int | None = None) -> list[int]:
        """Return the indices of the lists with the form `form`, from index `first` to `stop` - 1.

        The result does not include lists that are inside such a list.
        """
        found, end = [], -1
        for each in (first + np.flatnonzero(self.forms[first:stop] == form)).tolist():
            if self.begins[each] > end:
                found.append(each)
                end = int(self.ends[each])
        return found

    def inside(self, outer: int) -> tuple[int, int]:
        """Return the range (first, stop) of the indices of the chunks in the list `outer`."""
        return outer + 1, int(np.searchsorted(self.begins, self.ends[outer], side="right"))

    def outermost(self) -> list[int]:
        """Return the indices of the chunks that are in no list."""
        last = np.maximum.accumulate(np.where(self.forms != b"", self.ends, 0))
        is_first = np.arange(self.ids.size) == 0
        return np.flatnonzero(is_first | (self.begins > np.roll(last, 1))).tolist()

    def data(self, chunk: int, before: int = 0) -> memoryview:
        """Return the data of a chunk. With `before`, also return that many bytes in front of the
        data.
        """
        return self.source.view[int(self.begins[chunk]) - before : int(self.ends[chunk])]

    def read(self, layout: Layout, chunk: int, before: int = 0) -> Fields:
        """Read with a layout the data of a chunk, and the `before` bytes in front of the data.

        Raises FormatError if these bytes do not fit the layout.
        """
        source = Source(self.source.name, self.data(chunk, before))
        try:
            return read(layout, source, limits=self.limits, engine=self.engine)
        except FormatError as error:
            raise self.damaged(chunk, f"{name_of(self.ids[chunk])}: {error.message}") from None

    @property
    def whole(self) -> Place:
        """The place of the whole file, for messages."""
        return Place(self.source.name)

    def place(self, chunk: int) -> Place:
        """Return the place of a chunk, for messages."""
        offset = int(self.begins[chunk]) - HEADING
        return Place.in_bytes(self.source, offset, f"chunks[{chunk}]")

    def damaged(self, chunk: int, message: str) -> FormatError:
        """Return the error for a chunk that is invalid; `message` says why."""
        return FormatError(message, place=self.place(chunk), hint=_OTHER, code="aeon-riff")


def read_chunks(
    source: Source, form: bytes, *, limits: Limits, findings: Findings, engine: Engine
) -> Chunks:
    """Read the chunks of a RIFF file. form: b"WAVE" or b"AVI ".

    Bytes after the last chunk are ignored. Adds a finding for data of odd size without a padding
    byte. Raises FormatError for a file of another form, and for a truncated or damaged file.
    """
    whole = _source_of(source, form, limits, engine)
    first: FormatError | None = None
    for layout, part in product((_FILE, _PACKED), whole):
        try:
            chunks = _chunks(layout, part, limits, engine)
        except FormatError as error:
            first = first or error
            continue
        odd = np.flatnonzero((chunks.ends - chunks.begins) % 2 != 0)
        if layout is _PACKED and odd.size:
            findings.add(finding_at("aeon-riff-padding", chunks.place(int(odd[0]))))
        return chunks
    assert first is not None
    raise first


def _source_of(source: Source, form: bytes, limits: Limits, engine: Engine) -> list[Source]:
    """Return two sources to try: the whole file, and the file up to the size in its header.

    form: the form that the file must have. Raises FormatError for a file of another form, and for
    a truncated file.
    """
    try:
        head = read(_HEAD, source, limits=limits, engine=engine)
    except FormatError as error:
        message = f"this is not a RIFF file: {error.message}"
        raise FormatError(message, place=error.place, hint=error.hint, code="aeon-riff") from None
    found = head.strings("form")[0] or b""
    if found != form:
        message = f"the file has the form {name_of(found)}, not {name_of(form)}"
        place = Place.in_bytes(source, HEADING, "form")
        raise FormatError(message, place=place, hint=_OTHER, code="aeon-riff")
    end = HEADING + number_of(head, "size")
    return [source, replace(source, content=source.view[: end + end % 2])]


def _chunks(layout: Layout, source: Source, limits: Limits, engine: Engine) -> Chunks:
    longer = Source(source.name, source.data + _AFTER)
    try:
        fields = read(layout, longer, limits=limits, engine=engine)
    except FormatError as error:
        raise _damaged(error, source) from None
    starts = fields.starts["chunks"][:-1]
    ids = _names(fields.strings("chunks.id"))[:-1]
    sizes = np.asarray(fields["chunks.size"], np.int64)[:-1]
    forms = np.zeros(starts.size, "S4")
    forms[(ids == b"LIST") | (ids == b"RIFF")] = _names(fields.strings("chunks.content.form"))
    begins = starts + HEADING
    chunks = Chunks(source, engine, limits, ids, forms, begins, begins + sizes)
    _check_ends(chunks, fields.starts["chunks"])
    return chunks


def _check_ends(chunks: Chunks, starts: Longs) -> None:
    """Raise FormatError for a chunk that ends after the file, or a list that ends inside a chunk.

    starts: the offset of each chunk, and then the offset of the file's end.
    """
    size = len(chunks.source.view)
    is_list = chunks.forms != b""
    wrong = chunks.ends > size + is_list  # the padding at the end of the file may be missing
    fits = np.isin(chunks.ends, starts) | np.isin(chunks.ends + 1, starts)
    inside = is_list & ~fits
    for chunk in np.flatnonzero(wrong | inside)[:1].tolist():
        name, end = name_of(chunks.forms[chunk] or chunks.ids[chunk]), int(chunks.ends[chunk])
        message = f"{name} ends inside of another chunk, at byte {end}"
        if wrong[chunk]:
            message = f"{name} ends at byte {end}, but the file has {size}"
        raise chunks.damaged(chunk, message)


def _damaged(error: FormatError, source: Source) -> FormatError:
    """Return the error for a damaged file, made from an error of the engine.

    If the engine's error is at a place after the end of the file, the new error is at the end.
    """
    place, size = error.place or Place(source.name), len(source.view)
    if place.span is not None and place.span.end > size:
        place = replace(place, span=Span(min(place.span.start, size), size))
    hint = error.hint or _OTHER
    return FormatError(error.message, place=place, hint=hint, code="aeon-riff")


def _names(strings: Strings) -> Names:
    return np.ascontiguousarray(strings.data).view("S4")


def number_of(fields: Fields, name: str) -> int:
    """Return the only value of a field that occurs once, such as a number in a header."""
    return int(np.asarray(fields[name])[0])


def name_of(name: bytes) -> str:
    """Return the name of a chunk, a list or a codec as text for messages."""
    return repr(safe(bytes(name).decode("latin-1")))
