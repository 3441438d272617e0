"""Read the frames of an AVI file of Motion JPEG, for aeon's video type. A frame is a JPEG picture.

aeon reads only a few of the layouts that the AVI format allows. exset reads more layouts, with a
finding for each property that aeon does not accept. Source: avi.cpp and cap_mjpeg_decoder.cpp of
aeon.
"""

import re
from dataclasses import dataclass
from typing import Final

import numpy as np

from exset.codecs.aeon.riff import HEADING, Chunks, name_of, number_of, read_chunks
from exset.codecs.engine import Layout
from exset.core.errors import Findings, FormatError
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.source import Source
from exset.grammars.aeon.media_findings import finding_at
from exset.grammars.columns.arrays import Longs, compact
from exset.grammars.columns.blobs import Blobs

_MAIN: Final = Layout("exset.codecs.aeon.riff_layout:MainHeader")
_STREAM: Final = Layout("exset.codecs.aeon.riff_layout:StreamHeader")
_PICTURE: Final = Layout("exset.codecs.aeon.riff_layout:PictureFormat")
_INDEX: Final = Layout("exset.codecs.aeon.riff_layout:Index")
_CODEC: Final = b"MJPG"
_HAS_INDEX: Final = 0x10
_ORDER: Final = re.compile(r"hdrl (INFO )?(JUNK )?movi( idx1.*)?")
_SHOWN: Final = 8
_SIZE: Final = 4
"""The number of bytes of a chunk's size field, which is before the chunk's data."""


@dataclass(frozen=True)
class Video:
    """A video whose frames are JPEG pictures (Motion JPEG).

    width, height: in pixels, from the header of the file. frames: the bytes of each frame's JPEG
    picture, not copied. For an empty picture, players show the previous frame again.
    """

    width: int
    height: int
    frames: Blobs


def decode(
    source: Source,
    *,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
) -> Video:
    """Read a video without decoding the pictures.

    `findings` collects properties of the file that aeon does not accept.

    Raises FormatError for a file that is damaged or is not an AVI file, for any codec except Motion
    JPEG, and for a video without frames.
    """
    findings = Findings() if findings is None else findings
    chunks = read_chunks(source, b"AVI ", limits=limits, findings=findings, engine=engine)
    header = _first(chunks, b"avih", _list(chunks, b"hdrl"))
    main = chunks.read(_MAIN, header)
    number = _video_stream(chunks, findings)
    _check_order(chunks, findings)
    frames = _frames(chunks, number, bool(number_of(main, "dwFlags") & _HAS_INDEX), findings)
    if not frames.size:
        raise _refused(chunks, header, "the video has no frames")
    blobs = Blobs.unchecked(
        data=np.frombuffer(source.view, np.uint8),
        starts=compact(chunks.begins[frames]),
        lengths=compact(chunks.ends[frames] - chunks.begins[frames]),
    )
    return Video(number_of(main, "dwWidth"), number_of(main, "dwHeight"), blobs)


def _video_stream(chunks: Chunks, findings: Findings) -> int:
    """Return the number of the first stream with pictures. Streams are numbered from 0.

    Adds a finding for each other stream.
    """
    chosen: int | None = None
    for number, stream in enumerate(chunks.lists(b"strl", *chunks.inside(_list(chunks, b"hdrl")))):
        header = _first(chunks, b"strh", stream)
        fields = chunks.read(_STREAM, header)
        kind, handler = (fields.strings(name)[0] or b"" for name in ("fccType", "fccHandler"))
        if kind == b"vids" and chosen is None:
            chosen = number
            _check_codec(chunks, stream, header, handler, findings)
        else:
            place = chunks.place(header)
            words = {"number": str(number), "kind": name_of(kind)}
            findings.add(finding_at("aeon-avi-stream", place, **words))
    if chosen is None:
        raise _refused(chunks, _list(chunks, b"hdrl"), "the file has no video stream")
    return chosen


def _check_codec(
    chunks: Chunks, stream: int, header: int, handler: bytes, findings: Findings
) -> None:
    """Raise FormatError unless one of the two headers of a stream names Motion JPEG.

    `stream`: the number of the stream. `header`: the index of the chunk `strh`, the first header.
    `handler`: the codec that this header names. Adds a finding if the handler differs from `MJPG`.
    """
    if handler == _CODEC:
        return
    fields = chunks.read(_PICTURE, _first(chunks, b"strf", stream))
    compression = fields.strings("biCompression")[0] or b""
    if _CODEC not in (handler.upper(), compression.upper()):
        codec = name_of(handler if handler.strip(b"\0 ") else compression)
        message = f"the codec of the video is {codec}: aeon needs Motion JPEG, 'MJPG'"
        raise _refused(chunks, header, message)
    findings.add(finding_at("aeon-avi-handler", chunks.place(header), codec=name_of(handler)))


def _check_order(chunks: Chunks, findings: Findings) -> None:
    """Add a finding if the lists and chunks of the file are not in the order that aeon reads."""
    outermost = chunks.outermost()
    names = [bytes(chunks.forms[each] or chunks.ids[each]) for each in outermost[: _SHOWN + 1]]
    order = " ".join(name.decode("latin-1") for name in names)
    if _ORDER.fullmatch(order) is None:
        shown = ", ".join(map(name_of, names[:_SHOWN])) + (" ..." if len(names) > _SHOWN else "")
        findings.add(finding_at("aeon-avi-layout", chunks.place(outermost[0]), order=shown))


def _frames(chunks: Chunks, number: int, has_index: bool, findings: Findings) -> Longs:
    """Return the indices of the chunks that contain the frames of stream `number`.

    The chunks are in the order of the file's index `idx1`. Without a usable `idx1`, they are in
    file order, and a finding says why. `has_index`: whether the main header says that the file has
    an index.
    """
    name = b"%02ddc" % number
    movies = chunks.lists(b"movi")
    if not movies:
        raise chunks.damaged(_list(chunks, b"hdrl"), "the file has no list 'movi'")
    found: list[Longs] = [np.empty(0, np.int64)]
    reasons: dict[str, int] = {}  # where each is found first
    for movie, after in zip(movies, [*movies[1:], chunks.ids.size], strict=True):
        first, stop = chunks.inside(movie)
        if first == stop:
            continue
        frames = np.array(chunks.named(name, first, stop), np.int64)
        indexes = chunks.named(b"idx1", movie, after)
        why = "the index idx1 is missing"
        if indexes and not has_index:
            why = "the header avih does not say that the file has an index"
        elif indexes:
            indexed = _indexed(chunks, movie, indexes[0], frames, name)
            if indexed is not None:
                found.append(indexed)
                continue
            why = "the index idx1 disagrees with the list 'movi'"
        reasons.setdefault(why, movie)
        found.append(frames)
    for why, movie in reasons.items():
        findings.add(finding_at("aeon-avi-index", chunks.place(movie), why=why))
    return np.concatenate(found)


def _indexed(chunks: Chunks, movie: int, index: int, frames: Longs, name: bytes) -> Longs | None:
    """Return the elements of `frames` in the order of the file's index `idx1`.

    Returns None if `idx1` names a chunk that is not in `frames`. `frames`: the indices of the
    chunks with the name `name` in the list `movie`. `index`: the index of the chunk `idx1`.
    """
    fields = chunks.read(_INDEX, index, _SIZE)
    ids = np.ascontiguousarray(fields.strings("entries.ckid").data).view("S4")
    offsets, sizes = (
        np.asarray(fields[f"entries.{each}"], np.int64)[ids == name]
        for each in ("dwChunkOffset", "dwChunkLength")
    )
    begins = offsets + chunks.begins[movie] + HEADING
    if not frames.size:
        return None if begins.size else frames
    which = np.minimum(np.searchsorted(chunks.begins[frames], begins), frames.size - 1)
    chosen: Longs = frames[which]
    same = (chunks.begins[chosen] == begins) & (chunks.ends[chosen] - begins == sizes)
    return chosen if same.all() else None


def _list(chunks: Chunks, form: bytes) -> int:
    """Return the index of the first list of this form. Raises FormatError if there is none."""
    for each in chunks.lists(form)[:1]:
        return each
    raise _refused(chunks, None, f"the file has no list {name_of(form)}")


def _first(chunks: Chunks, name: bytes, inside: int) -> int:
    """Return the index of the first chunk of this name in the list `inside`.

    Raises FormatError if there is none.
    """
    for each in chunks.named(name, *chunks.inside(inside))[:1]:
        return each
    raise chunks.damaged(inside, f"the list has no chunk {name_of(name)}")


def _refused(chunks: Chunks, chunk: int | None, message: str) -> FormatError:
    """Return the error for a video that aeon does not decode.

    chunk: the index of the chunk with the problem; None for the whole file.
    """
    place = chunks.whole if chunk is None else chunks.place(chunk)
    hint = "convert it, for example with ffmpeg -i IN -c:v mjpeg -an OUT.avi"
    return FormatError(message, place=place, hint=hint, code="aeon-video")
