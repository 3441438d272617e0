"""Hypothesis strategies for WAVE sounds and AVI videos, as aeon's loader reads them."""

import struct
from collections.abc import Sequence
from typing import Final

from hypothesis import strategies as st

_HAS_INDEX: Final = 0x10
_KEY_FRAME: Final = 0x10
_FRAME: Final = 40_000  # microseconds
_JUNK: Final = ("JUNK", b"\0" * 6)


def chunk(name: str, data: bytes) -> bytes:
    """Return a RIFF chunk: its name, its length, its data, and padding to an even length."""
    return name.encode("latin-1") + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2)


def chunk_list(form: str, *chunks: bytes, name: str = "LIST") -> bytes:
    """Return a RIFF list: a chunk called `name` that contains the type `form` and other chunks."""
    return chunk(name, form.encode("latin-1") + b"".join(chunks))


def wave(
    data: bytes, *, tag: int = 1, channels: int = 1, rate: int = 16000, bits: int = 16
) -> bytes:
    """Return a WAVE file. data: the bytes of the samples. tag: the number of the codec."""
    size = channels * bits // 8
    fmt = struct.pack("<HHIIHH", tag, channels, rate, rate * size, size, bits)
    return chunk_list("WAVE", chunk("fmt ", fmt), chunk("data", data), name="RIFF")


def avi(
    frames: Sequence[bytes],
    *,
    size: tuple[int, int] = (2, 2),
    handler: bytes = b"MJPG",
    flags: int = _HAS_INDEX,
    index: bool = True,
    sound: bytes = b"",
    before: Sequence[tuple[str, bytes]] = (),
) -> bytes:
    """Return an AVI file as programs write it; with the defaults, aeon can read it.

    - frames: the pictures. size: their width and height. handler: the codec.
    - flags: the flags of the header: they say whether there is an index.
    - index: whether there is an index.
    - sound: the bytes of a second stream, written after each frame.
    - before: chunks to write before the list `movi`.
    """
    streams = 1 + bool(sound)
    main = struct.pack("<10I", _FRAME, 0, 0, flags, len(frames), 0, streams, 0, *size)
    picture = struct.pack("<IiiHH4s5I", 40, *size, 1, 24, handler, 0, 0, 0, 0, 0)
    headers = [chunk("avih", main + bytes(16)), _stream(b"vids", handler, picture)]
    if sound:
        headers.append(_stream(b"auds", bytes(4), bytes(16)))
    movie, entries, at = [], [], 4
    for frame in frames:
        for name, data in [("00dc", frame), ("01wb", sound)][:streams]:
            entries.append(struct.pack("<4s3I", name.encode(), _KEY_FRAME, at, len(data)))
            movie.append(chunk(name, data))
            at += len(movie[-1])
    parts = [chunk_list("hdrl", *headers), *(chunk(*each) for each in before)]
    parts.append(chunk_list("movi", *movie))
    if index:
        parts.append(chunk("idx1", b"".join(entries)))
    return chunk_list("AVI ", *parts, name="RIFF")


def _stream(kind: bytes, handler: bytes, form: bytes) -> bytes:
    return chunk_list("strl", chunk("strh", kind + handler + bytes(48)), chunk("strf", form))


def waves() -> st.SearchStrategy[bytes]:
    """Return a strategy for WAVE files that aeon reads."""
    return st.builds(wave, st.binary(max_size=60), rate=st.sampled_from([8000, 16000, 44100]))


def avis() -> st.SearchStrategy[bytes]:
    """Return a strategy for AVI files of Motion JPEG. The frames have arbitrary bytes."""
    return st.builds(
        avi,
        st.lists(st.binary(max_size=9), min_size=1, max_size=4),
        handler=st.sampled_from([b"MJPG", b"MJPG", b"mjpg"]),
        flags=st.sampled_from([_HAS_INDEX, _HAS_INDEX, 0]),
        index=st.booleans(),
        sound=st.sampled_from([b"", b"", b"abc"]),
        before=st.sampled_from([(), (_JUNK,), (_JUNK, _JUNK)]),
    )
