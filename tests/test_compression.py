"""Reading compressed files: what is decompressed or refused."""

import bz2
import gzip
import os
import re
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exset import compression, files
from exset.errors import FormatError, LimitError
from exset.files import read
from exset.limits import Limits

TEXT = b"name: {one} 1 I: 1 0 T: 1;\n" * 100
PACK: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".Z": gzip.compress,
    ".bz2": bz2.compress,
    ".bz": bz2.compress,
}
Stdin = Callable[[bytes], SimpleNamespace]
suffixes = pytest.mark.parametrize("suffix", PACK)


def read_bytes(
    folder: Path, data: bytes, name: str = "x.ex", limits: Limits | None = None
) -> bytes:
    (folder / name).write_bytes(data)
    return read(folder / name, limits=limits or Limits()).data


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress])
def test_content_tells_where_the_name_does_not(
    tmp_path: Path, pack: Callable[[bytes], bytes]
) -> None:
    for data in (b"", b"a", TEXT):
        assert read_bytes(tmp_path, pack(data)) == data


@pytest.mark.parametrize("data", [b"", b"\x1f", b"BZh", b"BZh9 is a name", b"\xaa\xaa\xaa\xaa"])
def test_other_content_is_left_as_it_is(tmp_path: Path, data: bytes) -> None:
    assert read_bytes(tmp_path, data) == data


@given(st.lists(st.binary(max_size=50), max_size=4), st.integers(0, 20), st.integers(1, 30))
def test_members_are_joined(stdin: Stdin, parts: list[bytes], zeros: int, chunk: int) -> None:
    with patch.object(files, "_CHUNK", chunk):
        for pack, pad in ((gzip.compress, bytes(zeros)), (bz2.compress, b"")):
            packed = b"".join(pack(part) + pad for part in parts)
            with patch.object(sys, "stdin", stdin(packed)):
                assert read("-").data == b"".join(parts)


@pytest.mark.parametrize("suffix", [".gz", ".bz2"])
def test_every_truncation_is_found(tmp_path: Path, suffix: str) -> None:
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
        if cut < 3 or first < cut < first + 3:
            continue  # so short that it is not yet gzip or bzip2
        assert place.span is not None
        assert place.span.start == cut
        assert caught.value.message.endswith("data end too early")
        told = re.fullmatch(rf"the {cut} bytes before it gave (\d+) bytes", caught.value.hint or "")
        assert told is not None
        if cut > first:
            assert len(TEXT) <= int(told[1]) <= len(TEXT + b"second")


@pytest.mark.parametrize("suffix", [".gz", ".bz2"])
@pytest.mark.parametrize("garbage", [b"x", b"garbage", b"\0\0x", b"\x1f\x00", b"BZ", b"BZx"])
def test_what_follows_the_data_is_an_error_at_its_place(
    tmp_path: Path, suffix: str, garbage: bytes
) -> None:
    packed = PACK[suffix](TEXT)
    with pytest.raises(FormatError, match="comes something else") as caught:
        read_bytes(tmp_path, packed + garbage, f"x.ex{suffix}")
    place = caught.value.place
    assert place is not None
    assert place.span is not None
    padding = len(garbage) - len(garbage.lstrip(b"\0")) if suffix == ".gz" else 0
    assert place.span.start == len(packed) + padding
    assert caught.value.hint is not None
    assert f"gave {len(TEXT)} bytes" in caught.value.hint


def test_zeros_after_bzip2_data_are_no_padding(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="comes something else"):
        read_bytes(tmp_path, bz2.compress(TEXT) + bytes(512))


@pytest.mark.parametrize(
    ("suffix", "offset"), [(".gz", -8), (".gz", -1), (".gz", 2), (".bz2", -5), (".bz2", 10)]
)
def test_a_damaged_byte_is_found(tmp_path: Path, suffix: str, offset: int) -> None:
    packed = bytearray(PACK[suffix](TEXT))
    packed[offset] ^= 0xFF
    with pytest.raises(FormatError, match=r"damaged (gzip|bzip2) data: \w") as caught:
        read_bytes(tmp_path, bytes(packed), f"x.ex{suffix}")
    assert caught.value.code == "compression"
    assert str(caught.value).startswith(f"{tmp_path / 'x.ex'}{suffix}: byte 0: damaged ")


def test_damage_tells_how_far_it_got(tmp_path: Path) -> None:
    good = gzip.compress(os.urandom(300_000))
    bad = bytearray(gzip.compress(TEXT))
    bad[-8] ^= 1
    with pytest.raises(FormatError) as caught:
        read_bytes(tmp_path, good + bytes(bad))
    place = caught.value.place
    assert place is not None
    assert place.span is not None
    assert place.span.start == len(good)
    assert caught.value.hint == f"the {len(good)} bytes before it gave 300000 bytes"


@given(
    st.binary(min_size=1, max_size=80), st.sampled_from([gzip.compress, bz2.compress]), st.data()
)
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
        (TEXT, "off its name"),
        (b"\x1f", "off its name"),
        (b"\xaa\xaa\xaa\xaa\0\0\0\x04", "off its name"),
        ("other", "its name should end in"),
    ],
)
def test_a_suffix_that_the_content_belies(
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


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress])
def test_a_bomb_is_refused_before_it_fills_the_memory(
    tmp_path: Path, pack: Callable[[bytes], bytes]
) -> None:
    path = tmp_path / "bomb"
    path.write_bytes(pack(bytes(1 << 20)) * 1024)
    tracemalloc.start()
    try:
        with pytest.raises(LimitError) as caught:
            read(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert caught.value.code == "limit"
    assert "max_ratio" in (caught.value.hint or "")
    assert peak < 200 << 20


def test_the_ratio_counts_above_the_free_size_only(
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


def test_what_is_packed_twice_is_unpacked_once(tmp_path: Path) -> None:
    once = gzip.compress(TEXT)
    assert read_bytes(tmp_path, gzip.compress(once)) == once
