"""The headers of pictures: what OpenCV makes of the same files, and damaged ones."""

import struct
from pathlib import Path

import numpy as np
import pytest

from exset import FormatError
from exset.codecs.aeon.pictures import Header, read_header
from exset.runtime.aeon.provision.opencv import opencv


def encoded(suffix: str, colours: bool, *flags: int) -> bytes:
    shape = (5, 700, 3) if colours else (5, 700)
    pixels = np.random.default_rng(0).integers(0, 256, shape).astype(np.uint8)
    data: bytes = opencv().imencode(suffix, pixels, flags)[1].tobytes()
    return data


@pytest.mark.parametrize("colours", [True, False])
@pytest.mark.parametrize("suffix", [".png", ".jpg", ".bmp", ".webp"])
def test_headers(suffix: str, colours: bool) -> None:
    pytest.importorskip("cv2")
    known = ("colours" if colours else "grey") if suffix in (".png", ".jpg") else ""
    data = encoded(suffix, colours)
    for engine in ("auto", "reference"):
        assert read_header(data, engine=engine) == Header(700, 5, known)


def test_other_webps() -> None:
    """Lossy and extended ones."""
    pytest.importorskip("cv2")
    lossy = encoded(".webp", True, opencv().IMWRITE_WEBP_QUALITY, 50)
    assert b"VP8 " in lossy[:16] and read_header(lossy) == Header(700, 5)
    sides = (699).to_bytes(3, "little") + (65536).to_bytes(3, "little")
    extended = b"RIFF\x1e\0\0\0WEBPVP8X\x0a\0\0\0\x10\0\0\0" + sides
    assert read_header(extended) == Header(700, 65537)


def test_older_and_upside_down_bmps() -> None:
    head = b"BM" + bytes(12)
    assert read_header(head + struct.pack("<IHH", 12, 7, 5)) == Header(7, 5)
    assert read_header(head + struct.pack("<Iii", 40, 7, -5)) == Header(7, 5)


def test_exif_data_may_turn_a_jpeg() -> None:
    pytest.importorskip("cv2")
    data = encoded(".jpg", True)
    exif = b"\xff\xe1\0\x0aExif\0\0ab"
    found = read_header(data[:2] + exif + data[2:])
    assert found == Header(700, 5, "colours", has_exif=True)
    assert found.sizes == ((700, 5), (5, 700))


@pytest.mark.parametrize("suffix", [".png", ".jpg", ".bmp", ".webp"])
def test_cut_headers(suffix: str) -> None:
    """An error, but None for a JPEG, and for what has too few bytes for a name."""
    pytest.importorskip("cv2")
    data = encoded(suffix, True)
    whole, is_whole = read_header(data), False
    for size in range(min(len(data), 700)):
        try:
            found = read_header(data[:size])
        except FormatError:
            assert not is_whole and suffix != ".jpg"
            continue
        is_whole = is_whole or found is not None
        assert found == (whole if is_whole else None)


def test_corpus(corpus: Path) -> None:
    """OpenCV decodes each picture to one of its sizes."""
    pytest.importorskip("cv2")
    cv2, seen = opencv(), 0
    for path in sorted((corpus / "aeon" / "provision" / "inputs").rglob("*.*")):
        pixels = cv2.imread(str(path)) if path.is_file() else None
        header = None if pixels is None else read_header(path.read_bytes())
        if header is not None and pixels is not None:
            assert pixels.shape[1::-1] in header.sizes, path
            seen += 1
    assert seen > 30
