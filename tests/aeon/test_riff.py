"""WAVE and AVI files: what is read, what is refused, and what is a finding."""

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exset.codecs.aeon import avi, wave
from exset.core.errors import Findings, FormatError
from exset.core.kernels import Engine
from exset.core.source import Source
from exset.testing import media
from exset.testing.media import chunk, chunk_list

ENGINES: tuple[Engine, ...] = ("auto", "table", "reference")


def read_wave(data: bytes, engine: Engine = "auto") -> tuple[int, list[int]]:
    sound = wave.decode(Source("x.wav", data), engine=engine)
    return sound.rate, sound.samples.tolist()


def read_avi(data: bytes, engine: Engine = "auto") -> tuple[list[bytes], list[str]]:
    findings = Findings()
    video = avi.decode(Source("x.avi", data), findings=findings, engine=engine)
    return [bytes(frame) for frame in video.frames], [each.code for each in findings]


@given(st.lists(st.integers(-(2**15), 2**15 - 1), max_size=20), st.sampled_from(ENGINES))
def test_sounds(samples: list[int], engine: Engine) -> None:
    data = np.array(samples, "<i2").tobytes()
    assert read_wave(media.wave(data, rate=8000), engine) == (8000, samples)


def test_other_chunks_of_a_sound() -> None:
    fmt = struct.pack("<HHIIHH", 1, 1, 16000, 32000, 2, 16)
    sub = struct.pack("<HHIH", 22, 16, 4, 1) + bytes(14)
    extensible = struct.pack("<H", 0xFFFE) + fmt[2:] + sub
    for form in (fmt, fmt + b"\0\0", extensible):
        others = chunk("LIST", b"INFOnot a list"), chunk("fact", b"odd"), chunk("data", b"\1\0\2")
        data = chunk_list("WAVE", chunk("fmt ", form), *others, chunk("data", b""), name="RIFF")
        assert read_wave(data + b"more bytes") == (16000, [1])


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "the data end inside the field `magic`"),
        (b"ID3\3" + bytes(90), "not a RIFF file: magic must be"),
        (media.avi([b"x"]), "form 'AVI ', not 'WAVE'"),
        (media.wave(b"ab" * 9)[:-1], "'data' ends at byte 62, but the file has 61"),
        (media.wave(b"ab" * 9)[:-18], "more than the remaining bytes"),
        (media.wave(b"ab" * 9)[:40], "'data' ends at byte 44, but the file has 40"),
        (chunk_list("WAVE", name="RIFF"), "no chunk 'fmt '"),
        (chunk_list("WAVE", chunk("fmt ", b"\1\0"), chunk("data", b""), name="RIFF"), "fmt"),
        (media.wave(b"", tag=0x55), "the sound is MP3"),
        (media.wave(b"", tag=0x1234), "the sound is codec 0x1234"),
        (media.wave(b"", channels=2), "2 channels"),
        (media.wave(b"", bits=8), "8 bits a sample"),
    ],
)
def test_sounds_that_are_refused(data: bytes, why: str) -> None:
    found = set()
    for engine in ENGINES:
        with pytest.raises(FormatError, match=why) as caught:
            read_wave(data, engine)
        found.add(str(caught.value.finding))
        assert caught.value.finding.code in ("aeon-riff", "aeon-sound")
    assert len(found) == 1


@given(st.lists(st.binary(max_size=9), min_size=1), st.sampled_from(ENGINES))
def test_frames(frames: list[bytes], engine: Engine) -> None:
    assert read_avi(media.avi(frames), engine) == (frames, [])
    found, codes = read_avi(media.avi(frames, sound=b"abc", index=False), engine)
    assert found == frames and codes == ["aeon-avi-stream", "aeon-avi-index"]


FRAMES = [b"one", b"", b"three"]


@pytest.mark.parametrize(
    ("data", "codes"),
    [
        (media.avi(FRAMES), []),
        (media.avi(FRAMES) + b"\0" * 99, []),
        (media.avi(FRAMES, before=[("JUNK", b"12345")]), []),
        (media.avi(FRAMES, before=[("JUNK", b""), ("JUNK", b"")]), ["aeon-avi-layout"]),
        (media.avi(FRAMES, flags=0), ["aeon-avi-index"]),
        (media.avi(FRAMES, handler=b"mjpg"), ["aeon-avi-handler"]),
        (media.avi(FRAMES).replace(b"vidsMJPG", b"vids\0\0\0\0"), ["aeon-avi-handler"]),
        (
            media.avi(FRAMES).replace(struct.pack("<II", 16, 4), struct.pack("<II", 16, 6)),
            ["aeon-avi-index"],
        ),
    ],
)
def test_notes(data: bytes, codes: list[str]) -> None:
    assert read_avi(data) == (FRAMES, codes)


def test_the_index_orders_the_frames() -> None:
    data = media.avi([b"12", b"34"])
    at = data.index(b"idx1") + 8
    turned = data[:at] + data[at + 16 : at + 32] + data[at : at + 16]
    assert read_avi(turned) == ([b"34", b"12"], [])
    assert read_avi(data[: at - 4] + struct.pack("<I", 16) + data[at : at + 16])[0] == [b"12"]


def test_several_movies() -> None:
    """A large file goes on in lists AVIX; lists `rec ` group the chunks of a moment."""
    more = chunk_list("movi", chunk_list("rec ", chunk("00dc", b"more"), chunk("01wb", b"")))
    data = media.avi(FRAMES) + chunk_list("AVIX", more, name="RIFF")
    assert read_avi(data) == ([*FRAMES, b"more"], ["aeon-avi-index"])


def test_padding_may_be_missing() -> None:
    data = media.avi([b"12"], index=False)
    at = data.index(b"00dc")
    odd = b"00dc\3\0\0\0abc00dc\1\0\0\0d"
    packed = data[: at - 8] + struct.pack("<I", 4 + len(odd)) + b"movi" + odd
    found, codes = read_avi(packed)
    assert found == [b"abc", b"d"] and codes == ["aeon-riff-padding", "aeon-avi-index"]
    assert read_avi(media.avi([b"abc"], index=False)[:-1])[0] == [b"abc"]


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (media.avi([]), "no frames"),
        (media.avi(FRAMES, handler=b"XVID"), "the codec of the video is 'XVID'"),
        (media.avi(FRAMES).replace(b"vids", b"auds"), "no video stream"),
        (media.avi(FRAMES)[:-70], "ends at byte|more than"),
        (media.avi(FRAMES)[:-58], "'movi' ends at byte 258, but the file has 256"),
        (media.avi(FRAMES).replace(b"movi", b"mova"), "no list 'movi'"),
        (media.avi(FRAMES).replace(b"hdrl", b"hdrx"), "no list 'hdrl'"),
        (media.avi(FRAMES).replace(b"strh", b"strx"), "no chunk 'strh'"),
        (media.avi(FRAMES).replace(b"LIST", b"LIST\1\0\0\0"), "size is 1, but must"),
        (media.wave(b""), "form 'WAVE', not 'AVI '"),
    ],
)
def test_videos_that_are_refused(data: bytes, why: str) -> None:
    found = set()
    for engine in ENGINES:
        with pytest.raises(FormatError, match=why) as caught:
            read_avi(data, engine)
        assert caught.value.finding.place is not None
        found.add(str(caught.value.finding))
    assert len(found) == 1


def test_a_list_that_ends_inside_of_a_chunk() -> None:
    data = bytearray(media.avi([b"1234", b"5678"], index=False))
    at = data.index(b"movi") - 4
    data[at : at + 4] = struct.pack("<I", 10)
    with pytest.raises(FormatError, match="'movi' ends inside of another chunk"):
        read_avi(bytes(data))


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("form", ["movi", "strl"])
def test_many_lists_are_read_in_linear_time(form: str, nested: bool) -> None:
    """Each chunk is looked at a few times, however many lists there are, or how deep."""
    chunks = b""
    for _ in range(2000):
        chunks = chunk_list(form, chunks) if nested else chunks + chunk_list(form)
    data = media.avi([b"x"])
    if form == "movi":
        found, codes = read_avi(data + chunks)
        assert found == [b"x"] and codes.count("aeon-avi-index") <= 1
    else:
        parts = chunk_list("hdrl", chunk("avih", bytes(56)), chunks)
        with pytest.raises(FormatError, match="no chunk 'strh'"):
            read_avi(chunk_list("AVI ", parts, name="RIFF"))
