"""Reading compressed files, and refusing damaged ones."""

import bz2
import gzip
import io
import lzma
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

import exset
from exset.core.errors import FormatError, LimitError
from exset.core.limits import Limits
from exset.io import compression, files
from exset.io.compression import SUFFIXES
from exset.io.files import read
from tests.io.compressed import KINDS, PACK
from tests.peaks import at_most

TEXT = b"name: {one} 1 I: 1 0 T: 1;\n" * 100
Stdin = Callable[[bytes], SimpleNamespace]
suffixes = pytest.mark.parametrize("suffix", PACK)


def read_bytes(
    folder: Path, data: bytes, name: str = "x.ex", limits: Limits | None = None
) -> bytes:
    (folder / name).write_bytes(data)
    return read(folder / name, limits=limits or Limits()).data


@pytest.mark.parametrize("pack", KINDS)
def test_content_decides_without_suffix(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    for data in (b"", b"a", TEXT):
        assert read_bytes(tmp_path, pack(data)) == data


@pytest.mark.parametrize("data", [b"", b"\x1f", b"BZh", b"BZh9 is a name", b"\xaa\xaa\xaa\xaa"])
def test_uncompressed_content_is_unchanged(tmp_path: Path, data: bytes) -> None:
    assert read_bytes(tmp_path, data) == data


@given(st.lists(st.binary(max_size=50), max_size=4), st.integers(0, 20), st.integers(1, 30))
def test_members_are_joined(stdin: Stdin, parts: list[bytes], zeros: int, chunk: int) -> None:
    with patch.object(files, "_CHUNK", chunk):
        pads = (bytes(zeros), b"", bytes(4 * zeros), b"")
        for pack, pad in zip(KINDS, pads, strict=True):
            packed = b"".join(pack(part) + pad for part in parts)
            with patch.object(sys, "stdin", stdin(packed)):
                assert read("-").data == b"".join(parts)


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz", ".zst"])
def test_every_truncation_is_reported(tmp_path: Path, suffix: str) -> None:
    packed = PACK[suffix](TEXT) + PACK[suffix](b"second")
    first = len(PACK[suffix](TEXT))
    for cut in range(1, len(packed)):
        if cut == first:
            continue
        with pytest.raises(FormatError) as caught:
            read_bytes(tmp_path, packed[:cut], f"x.ex{suffix}")
        assert caught.value.code == "compression"
        place = caught.value.place
        assert place is not None
        assert place.source == str(tmp_path / f"x.ex{suffix}")
        magic = len(SUFFIXES[suffix].magics[0])
        if cut < magic or first < cut < first + magic:
            continue  # so short that it is not yet of this kind
        assert place.span is not None
        assert place.span.start == cut
        assert caught.value.message.endswith("data are truncated")
        hint = (caught.value.hint or "").replace(",", "")
        good = re.fullmatch(rf".*: {cut} bytes? which decompress to (\d+) bytes?", hint)
        assert good is not None
        if cut > first:
            assert len(TEXT) <= int(good[1]) <= len(TEXT + b"second")


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz", ".zst"])
@pytest.mark.parametrize("garbage", [b"x", b"garbage", b"\0\0x", b"\x1f\x00", b"BZ", b"BZx"])
def test_trailing_data_is_an_error_at_its_place(
    tmp_path: Path, suffix: str, garbage: bytes
) -> None:
    packed = PACK[suffix](TEXT)
    with pytest.raises(FormatError, match="unexpected data") as caught:
        read_bytes(tmp_path, packed + garbage, f"x.ex{suffix}")
    place = caught.value.place
    assert place is not None
    assert place.span is not None
    padding = len(garbage) - len(garbage.lstrip(b"\0")) if suffix == ".gz" else 0
    assert place.span.start == len(packed) + padding
    assert caught.value.hint is not None
    assert f"decompress to {len(TEXT):,} bytes" in caught.value.hint


def test_zeros_after_bzip2_data_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="unexpected data"):
        read_bytes(tmp_path, bz2.compress(TEXT) + bytes(512))


@pytest.mark.parametrize(
    ("suffix", "offset"),
    [
        *((".gz", offset) for offset in (-8, -1, 2, 3)),
        *((".bz2", offset) for offset in (-5, 10)),
        *((".xz", offset) for offset in (-1, -8, 7, 20)),
        *((".zst", offset) for offset in (-1, 4, 9)),
    ],
)
def test_damaged_byte_is_reported(tmp_path: Path, suffix: str, offset: int) -> None:
    packed = bytearray(PACK[suffix](TEXT))
    packed[offset] ^= 0xFF
    with pytest.raises(FormatError, match=r"damaged (gzip|bzip2|xz|zstd) data: \w") as caught:
        read_bytes(tmp_path, bytes(packed), f"x.ex{suffix}")
    assert caught.value.code == "compression"
    assert str(caught.value).startswith(f"{tmp_path / 'x.ex'}{suffix}: byte 0: damaged ")


def test_damage_reports_how_much_is_good(tmp_path: Path) -> None:
    good = gzip.compress(os.urandom(300_000))
    bad = bytearray(gzip.compress(TEXT))
    bad[-8] ^= 1
    with pytest.raises(FormatError) as caught:
        read_bytes(tmp_path, good + bytes(bad))
    place = caught.value.place
    assert place is not None
    assert place.span is not None
    assert place.span.start == len(good)
    assert f"{len(good):,} bytes, which decompress to 300,000 bytes" in (caught.value.hint or "")


@given(st.binary(min_size=1, max_size=80), st.sampled_from(KINDS), st.data())
def test_any_change_gives_bytes_or_a_format_error(
    stdin: Stdin, content: bytes, pack: Callable[[bytes], bytes], draw: st.DataObject
) -> None:
    packed = bytearray(pack(content))
    for _ in range(draw.draw(st.integers(1, 3))):
        packed[draw.draw(st.integers(0, len(packed) - 1))] = draw.draw(st.integers(0, 255))
    with patch.object(sys, "stdin", stdin(bytes(packed))):
        try:
            data = read("-").data
        except FormatError as error:
            assert error.code == "compression"
        else:
            assert data in (content, bytes(packed))


@suffixes
@pytest.mark.parametrize(
    ("data", "hint"),
    [
        (b"", "the file is empty"),
        (TEXT, "from its name"),
        (b"\x1f", "from its name"),
        (b"\xaa\xaa\xaa\xaa\0\0\0\x04", "from its name"),
        ("other", "end the name in"),
    ],
)
def test_suffix_contradicts_content(
    tmp_path: Path, suffix: str, data: bytes | str, hint: str
) -> None:
    if isinstance(data, str):
        data = bz2.compress(TEXT) if suffix in (".gz", ".Z") else gzip.compress(TEXT)
    with pytest.raises(FormatError, match=f"the name ends in {suffix} but") as caught:
        read_bytes(tmp_path, data, f"x.ex{suffix}")
    assert hint in (caught.value.hint or "")


@pytest.mark.parametrize("name", ["x.ex", "x.ex.Z", "x.ex.gz"])
def test_lzw_data_need_uncompress(tmp_path: Path, name: str) -> None:
    with pytest.raises(FormatError) as caught:
        read_bytes(tmp_path, b"\x1f\x9d\x90abc", name)
    assert "`uncompress`" in (caught.value.hint or "")


@pytest.mark.parametrize("pack", KINDS)
def test_decompression_bomb_is_refused_early(
    tmp_path: Path, pack: Callable[[bytes], bytes]
) -> None:
    path = tmp_path / "bomb"
    path.write_bytes(pack(bytes(1 << 20)) * 1024)
    with at_most(200 << 20), pytest.raises(LimitError) as caught:
        read(path)
    assert caught.value.code == "limit"
    assert "max_ratio" in (caught.value.hint or "")


def test_ratio_is_checked_for_large_data_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compression, "_FREE", 100_000)
    free, more = (gzip.compress(bytes(size)) for size in (100_000, 100_001))
    assert len(read_bytes(tmp_path, free)) == 100_000
    with pytest.raises(LimitError):
        read_bytes(tmp_path, more)
    enough = Limits(max_ratio=100_001 // len(more) + 1)
    assert len(read_bytes(tmp_path, more, limits=enough)) == 100_001
    with pytest.raises(LimitError):
        read_bytes(tmp_path, more, limits=Limits(max_ratio=enough.max_ratio - 1))


def test_data_compressed_twice_are_decompressed_once(tmp_path: Path) -> None:
    once = gzip.compress(TEXT)
    assert read_bytes(tmp_path, gzip.compress(once)) == once


def test_data_compressed_twice_are_an_error(tmp_path: Path) -> None:
    path = tmp_path / "x.ex.gz.xz"
    for pack in KINDS:
        path.write_bytes(PACK[".xz"](pack(TEXT)))
        with pytest.raises(FormatError, match="decompresses only whole files, and only once"):
            exset.load(path)


@pytest.mark.parametrize("suffix", ["", ".zst"])
def test_skippable_zstd_frames(tmp_path: Path, suffix: str) -> None:
    skipped = b"\x5f*M\x18\x05\0\0\0hello"
    packed = skipped + PACK[".zst"](TEXT) + skipped + skipped + PACK[".zst"](b"end")
    assert read_bytes(tmp_path, packed, f"x{suffix}") == TEXT + b"end"
    with pytest.raises(FormatError, match="are truncated"):
        read_bytes(tmp_path, packed + skipped[:-1], f"x{suffix}")


def test_xz_padding(tmp_path: Path) -> None:
    packed = PACK[".xz"](TEXT)
    assert read_bytes(tmp_path, packed + bytes(8) + packed + bytes(4)) == TEXT * 2
    for wrong in (packed + bytes(6), packed + bytes(3) + packed):
        with pytest.raises(FormatError, match="unexpected data") as caught:
            read_bytes(tmp_path, wrong)
        assert str(len(packed)) in (caught.value.hint or "")


def test_window_too_large(tmp_path: Path) -> None:
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 1 << 30}]
    for packed in (lzma.compress(TEXT, filters=filters), b"\x28\xb5\x2f\xfd\0\xa8\x19\0\0abc"):
        with pytest.raises(LimitError, match="need a window of more than 128 MiB"):
            read_bytes(tmp_path, packed)


@pytest.mark.parametrize("pack", KINDS)
def test_many_small_members_take_linear_time(pack: Callable[[bytes], bytes]) -> None:
    """The data after a member are copied for each member, so reads are short."""
    given: list[int] = []

    class Watched(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            assert size is not None
            given.append(size)
            return super().read(size)

    file = Watched(pack(b"x") * 2000)
    kind = compression.content_of(file.read(10))
    assert kind is not None
    file.seek(0)
    whole = b"".join(compression.decompressed(file.read, b"", "x", kind, Limits(), 1 << 20))
    assert whole == b"x" * 2000 and max(given) <= 1 << 15


@pytest.fixture(params=["isal", "zlib"])
def library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The library that decompresses gzip: isal, or zlib without isal."""
    name: str = request.param
    if name == "zlib":
        monkeypatch.setitem(sys.modules, "isal", None)
    else:
        pytest.importorskip("isal", reason="the extra fast is not installed")
    return name


def test_library_for_gzip(library: str) -> None:
    assert type(compression.SUFFIXES[".gz"].decompressor()).__name__ == (
        "_Isal" if library == "isal" else "_Zlib"
    )


@pytest.mark.parametrize(
    ("offset", "what"),
    [
        *((-8, "a checksum is wrong"), (-1, "a checksum is wrong")),
        *((2, "the header is wrong"), (3, "the header is wrong")),
        (10, "invalid content"),
    ],
)
def test_libraries_have_equal_messages(
    tmp_path: Path, library: str, offset: int, what: str
) -> None:
    packed = bytearray(gzip.compress(bytes(range(100)) + TEXT))
    packed[offset] = 7 if offset == 10 else packed[offset] ^ 0xFF  # no block is of that type
    with pytest.raises(FormatError) as caught:
        read_bytes(tmp_path, bytes(packed), f"{library}.gz")
    assert caught.value.message == f"damaged gzip data: {what}"
    assert "0 bytes, which decompress to 0 bytes" in (caught.value.hint or "")


@given(st.binary(max_size=80), st.integers(0, 9), st.data())
def test_libraries_agree(content: bytes, level: int, draw: st.DataObject) -> None:
    packed = bytearray(gzip.compress(content, level))
    for _ in range(draw.draw(st.integers(0, 2))):
        packed[draw.draw(st.integers(0, len(packed) - 1))] = draw.draw(st.integers(0, 255))
    found: list[bytes | str] = []
    for missing in ({}, {"isal": None}):
        with patch.dict(sys.modules, missing):
            try:
                gzipped = compression.SUFFIXES[".gz"]
                file = io.BytesIO(packed)
                found.append(
                    b"".join(
                        compression.decompressed(file.read, b"", "x", gzipped, Limits(), 1 << 16)
                    )
                )
            except FormatError as error:
                found.append(str(error))
    either = "invalid content", "are truncated"  # of damage that hides where the data end
    if found[0] != found[1]:
        assert all(isinstance(each, str) for each in found), found
        assert all(any(word in str(each) for word in (*either, "checksum")) for each in found)


def test_missing_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("bz2", "lzma", "compression", "backports"):
        monkeypatch.setitem(sys.modules, name, None)
    for suffix in (".bz2", ".xz", ".zst"):
        with pytest.raises(FormatError, match="this Python has no library for"):
            read_bytes(tmp_path, PACK[suffix](TEXT), f"x{suffix}")
        with pytest.raises(FormatError, match="this Python has no library for"):
            files.write(tmp_path / f"y{suffix}", TEXT)
        assert not (tmp_path / f"y{suffix}").exists()
