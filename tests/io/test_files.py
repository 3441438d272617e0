"""Reading files: which file a name finds, how much of it is read, and which are errors."""

import errno
import gzip
import io
import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import NoReturn
from unittest.mock import patch

import pytest

from exset.core.errors import FormatError, LimitError
from exset.core.limits import Limits
from exset.io import blocks, files, named
from exset.io.files import head, read, write
from tests.io.compressed import KINDS, PACK

TEXT = b"name: {one} 1 I: 1 0 T: 1;\n" * 100
SKIPPED = b"\x50*M\x18\4\0\0\0skip"
Stdin = Callable[[bytes], SimpleNamespace]
suffixes = pytest.mark.parametrize("suffix", PACK)


def left(folder: Path) -> list[str]:
    return sorted(item.name for item in folder.iterdir())


def read_bytes(
    folder: Path, data: bytes, name: str = "x.ex", limits: Limits | None = None
) -> bytes:
    (folder / name).write_bytes(data)
    return read(folder / name, limits=limits or Limits()).data


def test_a_plain_file(tmp_path: Path) -> None:
    path = tmp_path / "x.ex"
    path.write_bytes(TEXT)
    for name in (path, str(path), bytes(path)):
        source = read(name)
        assert (source.name, source.data) == (str(path), TEXT)


@suffixes
def test_compressed_file_is_found_with_and_without_suffix(tmp_path: Path, suffix: str) -> None:
    packed = tmp_path / f"x.ex{suffix}"
    packed.write_bytes(PACK[suffix](TEXT))
    for name in (packed, tmp_path / "x.ex"):
        source = read(name)
        assert (source.name, source.data) == (str(packed), TEXT)


def test_search_order_is_that_of_lens(tmp_path: Path) -> None:
    order = ["", ".gz", ".Z", ".bz2", ".bz", ".xz", ".zst"]
    for suffix in order:
        data = suffix.encode()
        (tmp_path / f"x.ex{suffix}").write_bytes(PACK[suffix](data) if suffix else data)
    for suffix in order:
        assert read(tmp_path / "x.ex").data == suffix.encode()
        (tmp_path / f"x.ex{suffix}").unlink()


def test_missing_file_is_named_as_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.ex").write_bytes(TEXT)
    (tmp_path / "y.gz.gz").write_bytes(gzip.compress(TEXT))
    (tmp_path / ".gz").write_bytes(gzip.compress(TEXT))
    for name in ("no.ex", "x.ex.gz", "y.gz", ""):
        path = os.path.join(tmp_path, name) if name else ""
        with pytest.raises(FileNotFoundError) as caught:
            read(path)
        assert caught.value.filename == path


def test_folder_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        read(tmp_path)
    with pytest.raises(IsADirectoryError):
        write(tmp_path, b"")


@pytest.mark.parametrize("name", ["|rm -rf x", "|", "a\0b", "a\ud800"])
@pytest.mark.parametrize("use", [read, lambda name: write(name, b"")])
def test_invalid_names_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, use: Callable[[str], object]
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FormatError) as caught:
        use(name)
    assert caught.value.code == "file-name"
    assert left(tmp_path) == []


def test_standard_input(monkeypatch: pytest.MonkeyPatch, stdin: Stdin) -> None:
    for data in (TEXT, *(pack(TEXT) for pack in KINDS)):
        monkeypatch.setattr(sys, "stdin", stdin(data))
        source = read("-")
        assert (source.name, source.data) == ("<stdin>", TEXT)


def test_closed_standard_input_is_an_os_error(
    monkeypatch: pytest.MonkeyPatch, stdin: Stdin
) -> None:
    closed = stdin(b"")
    closed.buffer.close()
    for stream in (None, closed, io.StringIO()):
        monkeypatch.setattr(sys, "stdin", stream)
        for use in (read, lambda name: head(name, 1)):
            with pytest.raises(OSError) as caught:
                use("-")
            assert (caught.value.errno, caught.value.filename) == (errno.EBADF, "<stdin>")


def test_closed_standard_output_is_an_os_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    with pytest.raises(OSError) as caught:
        write("-", TEXT)
    assert (caught.value.errno, caught.value.filename) == (errno.EBADF, "<stdout>")


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/urandom", "/dev/full"])
def test_devices_are_not_read(monkeypatch: pytest.MonkeyPatch, device: str) -> None:
    if not os.path.exists(device):
        pytest.skip(f"there is no {device}")
    with open(device) as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        for name in (device, "-"):
            with pytest.raises(OSError, match="devices") as caught:
                read(name)
            assert caught.value.errno == errno.EINVAL


def test_the_null_device_is_an_empty_file(monkeypatch: pytest.MonkeyPatch) -> None:
    assert read(os.devnull).data == b""
    with open(os.devnull) as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        assert read("-").data == b""


def test_a_terminal_is_read() -> None:
    ours, theirs = os.openpty()
    try:
        os.write(ours, b"I:1;\n\x04\x04\x04")
        assert read(os.ttyname(theirs)).data == b"I:1;\n"
    finally:
        os.close(ours)
        os.close(theirs)


class Endless(io.RawIOBase):
    """Some bytes, and then one piece over and over; it says how much of it was read."""

    def __init__(self, begin: bytes, then: bytes) -> None:
        self.waiting = begin
        self.then = then
        self.given = 0

    def read(self, size: int = -1) -> bytes:
        assert size >= 0, "an endless stream cannot be read as a whole"
        while len(self.waiting) < size:
            self.waiting += self.then * (size // len(self.then) + 1)
        data, self.waiting = self.waiting[:size], self.waiting[size:]
        self.given += size
        return data


@pytest.mark.parametrize(
    ("begin", "then"),
    [
        (b"", b"I:1;\n"),
        (gzip.compress(TEXT), b"\0"),
        *((b"", pack(b"")) for pack in KINDS),
        (b"", SKIPPED),
        (b"", gzip.compress(TEXT)),
    ],
    ids=["plain", "padding", "empty gzip", "empty bz2", "empty xz", "empty zstd", "skipped", "gz"],
)
def test_endless_stream_exceeds_the_limit(
    monkeypatch: pytest.MonkeyPatch, begin: bytes, then: bytes
) -> None:
    endless = Endless(begin, then)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=endless))
    most = 1 << 20
    with pytest.raises(LimitError) as caught:
        read("-", limits=Limits(max_bytes=most))
    assert "max_bytes" in (caught.value.hint or "")
    assert endless.given < 2 * most


@pytest.mark.parametrize("pack", [bytes, *KINDS])
def test_limit_is_inclusive(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    enough = Limits(max_bytes=len(TEXT))
    assert read_bytes(tmp_path, pack(TEXT), limits=enough) == TEXT
    with pytest.raises(LimitError, match=f"more than {len(TEXT) - 1:,} bytes"):
        read_bytes(tmp_path, pack(TEXT), limits=Limits(max_bytes=len(TEXT) - 1))


def test_huge_file_is_refused_before_reading(tmp_path: Path) -> None:
    with open(tmp_path / "huge", "wb") as file:
        try:
            file.truncate(Limits().max_bytes + 1)
        except OSError:
            pytest.skip("no file can be so large here")
    with (
        patch.object(blocks, "available", side_effect=AssertionError),
        pytest.raises(LimitError, match="more than"),
    ):
        read(tmp_path / "huge")


@pytest.mark.parametrize("pack", [bytes, *KINDS])
def test_a_head_is_the_beginning(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "x"
    path.write_bytes(pack(TEXT) + (b"" if pack is bytes else pack(TEXT)))
    whole = TEXT if pack is bytes else TEXT + TEXT
    for size in (1, 4, 10, 11, len(TEXT), len(TEXT) + 1, 10**6):
        found = head(path, size)
        assert (found.name, found.data) == (str(path), whole[:size])


@pytest.mark.parametrize(
    ("begin", "then"),
    [(b"", b"x"), *((b"", pack(os.urandom(10**5))) for pack in KINDS)],
    ids=["plain", "gzip", "bzip2", "xz", "zstd"],
)
def test_head_reads_only_what_it_needs(
    monkeypatch: pytest.MonkeyPatch, begin: bytes, then: bytes
) -> None:
    endless = Endless(begin, then)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=endless))
    assert len(head("-", 4096).data) == 4096
    assert endless.given < 2 * 10**5


def test_a_pipe_is_read_to_its_end(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    data = gzip.compress(os.urandom(200_000))
    writer = threading.Thread(target=pipe.write_bytes, args=(data,))
    writer.start()
    got = read(pipe).data
    writer.join()
    assert got == gzip.decompress(data)


@pytest.mark.parametrize("name", [None, 5, ["x"]])
def test_other_types_are_type_errors(name: object) -> None:
    for use in (read, lambda name: head(name, 1), lambda name: write(name, b"")):
        with pytest.raises(TypeError, match=r"expected str, bytes or os\.PathLike"):
            use(name)  # type: ignore[arg-type]


def test_some_files_are_mapped(tmp_path: Path) -> None:
    heads: list[bytes] = []

    def maps(head: bytes) -> bool:
        heads.append(head)
        return head.startswith(b"map me")

    path = tmp_path / "x"
    for content, mapped in ((b"map me" * 1000, True), (b"not me", False), (b"", False)):
        path.write_bytes(content)
        source = files.read(path, maps=maps)
        assert isinstance(source.content, memoryview) is mapped
        assert source.data == content == source.view
    assert [len(head) for head in heads] == [4096, 6]
    packed = tmp_path / "x.gz"
    packed.write_bytes(gzip.compress(b"map me"))
    assert files.read(packed, maps=maps).content == b"map me" and len(heads) == 2
    path.write_bytes(b"map me")
    with pytest.raises(LimitError):
        files.read(path, limits=Limits(max_bytes=3), maps=maps)


@pytest.mark.parametrize("pack", [bytes, *KINDS])
def test_blocks_come_as_they_are_written(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    pipe, taken = tmp_path / "pipe", threading.Semaphore(0)
    os.mkfifo(pipe)
    parts = [b";\n", b"I: 1;\n", TEXT]

    def write() -> None:
        with open(pipe, "wb", buffering=0) as file:
            for part in parts:
                file.write(pack(part))
                assert taken.acquire(timeout=60)

    writer = threading.Thread(target=write)
    writer.start()
    got = []
    with files.blocks(pipe) as blocks:
        assert blocks.is_pipe and blocks.size is None
        assert blocks.head(4096, least=1) == parts[0]
        for block in blocks:
            got.append(block)
            taken.release()
    writer.join()
    assert got == parts if pack is bytes else b"".join(got) == b"".join(parts)


def test_blocks_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(TEXT)
    with files.blocks(tmp_path / "x", size=7) as blocks:
        assert (blocks.name, blocks.size, blocks.is_pipe) == (str(tmp_path / "x"), len(TEXT), False)
        assert blocks.head(9) == TEXT[:9]
        assert b"".join(blocks) == TEXT


def test_is_ready(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    read_end, write_end = os.pipe()
    with os.fdopen(read_end, "rb") as pipe, os.fdopen(write_end, "wb", buffering=0) as other:
        other.write(b"I: 1;\nI: 2;\n")
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=pipe))
        with files.blocks("-") as given:
            assert given.is_pipe and given.head(3) == b"I: " and given.is_ready(0)
            assert b"".join(next(given) for _ in range(2)) == b"I: 1;\nI: 2;\n"
            assert not given.is_ready(0) and not given.is_ready(-1)
            other.write(b";")
            assert given.is_ready(0) and next(given) == b";"
            other.close()
            assert given.is_ready(0) and next(given, None) is None
    (tmp_path / "x").write_bytes(TEXT)
    with files.blocks(tmp_path / "x") as given:
        assert not given.is_pipe and not given.is_ready(0)


def test_non_blocking_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty read of a non-blocking pipe is not its end."""
    read_end, write_end = os.pipe()
    os.set_blocking(read_end, False)
    with os.fdopen(read_end, "rb") as pipe:
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=pipe))

        parts = (b"I: 1;\n", b"I: 2;\n", gzip.compress(TEXT))

        def write() -> None:
            with os.fdopen(write_end, "wb", buffering=0) as other:
                for part in parts:
                    time.sleep(0.05)
                    other.write(part)

        writer = threading.Thread(target=write)
        writer.start()
        assert read("-").data == b"".join(parts)
        writer.join()


@pytest.mark.skipif(not os.path.exists("/proc/self/mem"), reason="the system has no such file")
def test_errors_of_reading_name_the_file() -> None:
    for use in (read, lambda name: head(name, 9)):
        with pytest.raises(OSError, match="Input/output") as caught:
            use("/proc/self/mem")
        assert caught.value.filename == "/proc/self/mem"


def test_errors_of_reading_a_plain_file_name_it(tmp_path: Path) -> None:
    class Broken(io.FileIO):
        """A file on a disk that fails."""

        def readinto(self, buffer: object, /) -> NoReturn:
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    path = tmp_path / "x"
    path.write_bytes(TEXT)
    opened = patch.object(named, "open", lambda name, *_, **__: Broken(name), create=True)
    with opened, pytest.raises(OSError, match="Input/output") as caught:
        read(path)
    assert (caught.value.filename, caught.value.errno) == (str(path), errno.EIO)
