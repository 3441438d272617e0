"""The headers of pictures: what OpenCV makes of the same files, and damaged ones."""

import struct
from pathlib import Path

import numpy as np
import pytest

from exset import FormatError
from exset.codecs.aeon.pictures import Header, read_header
from exset.core.errors import LimitError
from exset.core.limits import DEFAULT
from exset.runtime.aeon.provision import decode
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


@pytest.mark.parametrize("suffix", [".tiff", ".ppm", ".pgm", ".pbm", ".pam", ".pfm"])
def test_tiffs_and_netpbm(suffix: str) -> None:
    pytest.importorskip("cv2")
    pixels = np.zeros((5, 700, 3) if suffix in (".tiff", ".ppm", ".pam") else (5, 700), np.uint8)
    kind = np.float32 if suffix == ".pfm" else np.uint8
    data = opencv().imencode(suffix, pixels.astype(kind))[1].tobytes()
    for engine in ("auto", "reference"):
        assert read_header(data, engine=engine) == Header(700, 5)


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize(("kind", "size"), [(1, "B3x"), (3, "H2x"), (4, "I")])
def test_tiffs_of_both_orders(order: str, kind: int, size: str) -> None:
    """The directory is at the end of the file; sides may have one, two or four bytes."""
    head = struct.pack(f"{order}2sHI", b"II" if order == "<" else b"MM", 42, 12)
    entries = [(256, 7), (257, 5)]
    rows = [struct.pack(f"{order}HHI{size}", tag, kind, 1, side) for tag, side in entries]
    data = head + bytes(4) + struct.pack(f"{order}H", 2) + b"".join(rows)
    assert read_header(data) == Header(7, 5)
    assert read_header(data[:12]) is None
    with pytest.raises(FormatError):
        read_header(data[:-1])
    assert read_header(data.replace(rows[1], bytes(12))) is None


@pytest.mark.parametrize(
    ("text", "size"),
    [
        (b"P6 7 5 255\n", (7, 5)),
        (b"P3\n# a comment 9 9\n7\t# another\r5\n255\n", (7, 5)),
        (b"P7\nDEPTH 3\nHEIGHT 5\n WIDTH 7\nENDHDR\n", (7, 5)),
        (b"P7\nWIDTH 7\nENDHDR\nHEIGHT 5\n", None),
        (b"P67 5 255", None),
        (b"P6 7", None),
        (b"P6 7 x", None),
        (b"P6 " + b"9" * 11 + b" 5", None),
    ],
)
def test_netpbm_texts(text: bytes, size: tuple[int, int] | None) -> None:
    assert read_header(text) == (None if size is None else Header(*size))


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


@pytest.mark.parametrize(
    "data",
    [
        b"P6 30000 30000 255\n" + bytes(99),
        b"P7\nWIDTH 30000\nHEIGHT 30000\nDEPTH 3\nMAXVAL 255\nTUPLTYPE RGB\nENDHDR\n" + bytes(99),
        struct.pack("<2sHIH", b"II", 42, 8, 2)
        + struct.pack("<HHII", 256, 4, 1, 30000)
        + struct.pack("<HHII", 257, 4, 1, 30000),
    ],
)
def test_claims_of_large_sizes(data: bytes) -> None:
    """OpenCV does not see these pictures, for which it would allocate gigabytes."""
    pytest.importorskip("cv2")
    with pytest.raises(LimitError, match="the picture has 900,000,000 bytes"):
        decode.picture(data, 3, DEFAULT)
