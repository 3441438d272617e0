"""Remote files: reading, writing, errors, and names in files."""

import errno
import gzip
import io
import os
import re
import sys
import threading
import time
from collections.abc import Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NoReturn
from unittest.mock import patch

import pytest

import exset
from exset.core.errors import FormatError, LimitError
from exset.core.limits import Limits
from exset.core.protocols import CheckOptions
from exset.io import files, named, remote
from exset.io.files import read, write, writing
from exset.runtime.lbann.list_files import check
from tests.io.compressed import PACK, UNPACK

fsspec = pytest.importorskip("fsspec", reason="the extra remote is not installed")
pytest.importorskip("aiohttp", reason="the extra remote is not installed")
Memory = pytest.importorskip("fsspec.implementations.memory").MemoryFileSystem

TEXT = b"name: {one} 1 I: 1 0 T: 1;\n" * 100
CHUNK = b"I: 1 T: 1;\n" * 6000


@pytest.fixture
def memory() -> Iterator[None]:
    """The memory of fsspec, with nothing in it."""
    Memory.store.clear()
    Memory.pseudo_dirs[:] = [""]
    yield
    Memory.store.clear()


def put(name: str, data: bytes) -> str:
    fsspec.filesystem("memory").pipe_file(name, data)
    return f"memory://{name}"


def kept() -> dict[str, bytes]:
    return {name: file.getvalue() for name, file in Memory.store.items()}


class Server(BaseHTTPRequestHandler):
    """Answers by path; it has no mercy."""

    def log_message(self, *args: object) -> None:
        """Say nothing."""

    def do_HEAD(self) -> None:
        self.answer(False)

    def do_GET(self) -> None:
        self.answer(True)

    def answer(self, whole: bool) -> None:
        getattr(self, self.path.strip("/").partition(".")[0])(whole)

    def begin(self, code: int = 200, **headers: str) -> None:
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()

    def endless(self, whole: bool) -> None:
        self.begin()
        while whole:
            self.wfile.write(CHUNK)

    def liar(self, whole: bool) -> None:
        """Say that it is small, and what the range is; it is not."""
        if not whole:
            self.begin(Content_Length="100", Accept_Ranges="bytes")
            return
        self.begin(206, Content_Range="bytes 0-99/100")
        while True:
            self.wfile.write(CHUNK)

    def short(self, whole: bool) -> None:
        self.begin(Content_Length="100000")
        if whole:
            self.wfile.write(TEXT)

    def broken(self, whole: bool) -> None:
        self.begin(503)

    def wild(self, whole: bool) -> None:
        self.send_response(500, "Out\x1b[31m")
        self.end_headers()

    def invalid_status(self, whole: bool) -> None:
        self.wfile.write(b"no answer\r\n\r\n")

    def circle(self, whole: bool) -> None:
        self.begin(302, Location=self.path)

    def inside(self, whole: bool) -> None:
        self.begin(302, Location="file:///etc/passwd")

    def forbidden(self, whole: bool) -> None:
        self.begin(403)

    def packed(self, whole: bool) -> None:
        """Compress the answer always, as some servers do even for x.ex.gz."""
        data = gzip.compress(TEXT)
        self.begin(Content_Encoding="gzip", Content_Length=str(len(data)))
        if whole:
            self.wfile.write(data)

    def bomb(self, whole: bool) -> None:
        data = gzip.compress(bytes(200 << 20))
        self.begin(Content_Encoding="gzip", Content_Length=str(len(data)))
        if whole:
            self.wfile.write(data)

    def silent(self, whole: bool) -> None:
        time.sleep(1)

    def stuck(self, whole: bool) -> None:
        self.begin(Content_Length="100000")
        self.wfile.write(TEXT)
        time.sleep(1)

    def secret(self, whole: bool) -> None:
        self.begin(302, Location="/missing")

    def missing(self, whole: bool) -> None:
        self.begin(404)


class Quiet(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *args: object) -> None:
        """Print nothing: the client has the error."""


def served(handler: object) -> Iterator[str]:
    with Quiet(("127.0.0.1", 0), handler) as server:  # type: ignore[arg-type]
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(scope="module")
def hostile() -> Iterator[str]:
    yield from served(Server)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[str]:
    """What serves the temporary folder."""

    class Folder(SimpleHTTPRequestHandler):
        def log_message(self, *args: object) -> None:
            """Say nothing."""

    yield from served(partial(Folder, directory=tmp_path))


@pytest.mark.parametrize("suffix", ["", *PACK])
def test_reading(memory: None, folder: str, tmp_path: Path, suffix: str) -> None:
    packed = PACK[suffix](TEXT) if suffix else TEXT
    (tmp_path / f"x.ex{suffix}").write_bytes(packed)
    for name in (put(f"/x.ex{suffix}", packed), f"{folder}/x.ex{suffix}"):
        source = read(name)
        assert (source.name, source.data) == (name, TEXT)
        assert files.head(name, 10).data == TEXT[:10]
        assert len(exset.load(name)) == 100
        assert exset.detect(name).name == "ex"
        assert exset.validate(name).worst is None
        with exset.stream(name) as examples:
            assert sum(1 for _ in examples) == 100


@pytest.mark.parametrize("suffix", UNPACK)
def test_writing(memory: None, suffix: str) -> None:
    examples = exset.loads(TEXT, model=exset.ExampleSet)
    name = f"memory://deep/er/x.ex{suffix}"
    exset.save(examples, name)
    assert UNPACK[suffix](kept()[f"/deep/er/x.ex{suffix}"]).count(b"I:") == 100
    assert exset.load(name) == examples
    with exset.writer(f"memory://w.bex{suffix}") as out:
        out.write(examples)
    assert exset.convert(f"memory://w.bex{suffix}", f"memory://v.ex{suffix}") == 100
    assert exset.load(f"memory://v.ex{suffix}") == examples


def test_failure_leaves_the_old_file(memory: None) -> None:
    name = put("/x", b"old")
    with pytest.raises(RuntimeError), writing(name) as file:
        file.write(TEXT)
        assert kept() == {"/x": b"old"}
        raise RuntimeError
    assert kept() == {"/x": b"old"}

    def failing(*args: object) -> NoReturn:
        raise ValueError("the cloud\nhas\x1b gone")

    for call in ("commit", "write"):
        with (
            patch(f"fsspec.implementations.memory.MemoryFile.{call}", failing),
            pytest.raises(OSError) as caught,
        ):
            write(name, TEXT)
        assert caught.value.filename == name and caught.value.errno == errno.EIO
        assert caught.value.strerror == "ValueError: the cloud has\\x1b gone"
        assert kept() == {"/x": b"old"}


def test_two_writers_at_once(memory: None) -> None:
    with writing("memory://a") as one, writing("memory://b") as two:
        one.write(b"1")
        two.write(b"2")
    assert kept() == {"/a": b"1", "/b": b"2"}


def test_transaction_of_another_writer(memory: None) -> None:
    """What is written is there at once, and what others write waits for them."""
    theirs = fsspec.filesystem("memory")
    with theirs.transaction:
        theirs.pipe_file("/theirs", b"1")
        write("memory://ours", b"2")
        assert kept() == {"/ours": b"2"}
    assert kept() == {"/ours": b"2", "/theirs": b"1"}


def test_protocols_without_atomic_writes_are_refused(hostile: str) -> None:
    for name in (f"{hostile}/x.ex", "ftp://127.0.0.1/x", "HTTPS://127.0.0.1/x"):
        with pytest.raises(FormatError, match="may leave an incomplete file") as caught:
            write(name, TEXT)
        assert caught.value.code == "file-name"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("file:///etc/passwd", "named by its path"),
        ("local://x", "named by its path"),
        ("nothing-of-that-kind://x", "unknown protocol"),
        ("simplecache::memory://x", "No such file"),
    ],
)
def test_other_names(memory: None, name: str, message: str) -> None:
    with pytest.raises((FormatError, OSError), match=message):
        read(name)


def test_missing_remote_file(memory: None, hostile: str) -> None:
    for name in ("memory://none.ex", f"{hostile}/missing.ex", f"{hostile}/secret.ex"):
        with pytest.raises(FileNotFoundError) as caught:
            read(name)
        assert caught.value.filename == name


def test_messages_hide_passwords(hostile: str) -> None:
    name = hostile.replace("://", "://me:secret@") + "/missing"
    with pytest.raises(FileNotFoundError) as caught:
        read(name)
    assert caught.value.filename == f"{hostile}/missing"


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("short", "ClientPayloadError: Response payload is not completed"),
        ("broken", "the server answered 503 Service Unavailable$"),
        ("forbidden", "the server answered 403 Forbidden$"),
        ("wild", r"the server answered 500 Out\\x1b\[31m$"),
        ("invalid_status", "ClientResponseError: 400, message=.Bad status line"),
        ("circle", "TooManyRedirects"),
        ("inside", "NonHttpUrlRedirectClientError: file:///etc/passwd$"),
    ],
)
def test_servers_that_fail(hostile: str, path: str, message: str) -> None:
    for name in (f"{hostile}/{path}", f"{hostile}/{path}.ex".replace("//", "//me:secret@")):
        with pytest.raises(OSError) as caught:
            read(name)
        assert caught.value.errno == errno.EIO and re.match(message, caught.value.strerror or "")
        assert caught.value.filename == name.replace("me:secret@", "")
        assert "secret" not in str(caught.value)


def test_refused_connection() -> None:
    for protocol in ("http", "ftp"):
        with pytest.raises(ConnectionRefusedError) as caught:
            read(f"{protocol}://127.0.0.1:9/x.ex")
        assert caught.value.filename == f"{protocol}://127.0.0.1:9/x.ex"


@pytest.mark.parametrize("path", ["endless", "liar"])
def test_endless_answers(hostile: str, path: str) -> None:
    limits = Limits(max_bytes=1 << 20)
    with pytest.raises(LimitError):
        read(f"{hostile}/{path}", limits=limits)
    with pytest.raises(LimitError):
        for _ in exset.stream(f"{hostile}/{path}.ex", limits=limits):
            pass
    assert len(files.head(f"{hostile}/{path}", 4096).data) == 4096


def test_servers_that_compress(hostile: str) -> None:
    for name in ("packed.ex", "packed.ex.gz"):
        assert read(f"{hostile}/{name}").data == TEXT
    with pytest.raises(LimitError, match="gzip"):
        read(f"{hostile}/bomb")


def test_user_settings_are_kept() -> None:
    settings = {"http": {"headers": {"Authorization": "me"}, "client_kwargs": {"trust_env": True}}}
    with patch.dict("fsspec.config.conf", settings):
        system, _ = remote._system("http://127.0.0.1/x")
    assert system.kwargs["headers"] == {"Accept-Encoding": "identity", "Authorization": "me"}
    assert not system.client_kwargs["auto_decompress"] and system.client_kwargs["trust_env"]


def test_only_silent_servers_time_out(hostile: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The total time is unlimited, silence is not."""
    session = fsspec.asyn.sync(*(lambda it: (it.loop, it.set_session))(remote._system(hostile)[0]))
    assert (session.timeout.total, session.timeout.sock_read) == (None, 60)
    monkeypatch.setattr(remote, "_SILENCE", 0.1)
    for name in ("silent", "stuck"):
        with pytest.raises(TimeoutError, match="timed out") as caught:
            read(f"{hostile}/{name}")
        assert caught.value.filename == f"{hostile}/{name}"


def test_full_local_disk_for_a_remote_file(
    memory: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error names the folder of temporary files."""

    class Full(io.FileIO):
        def write(self, data: object, /) -> int:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    full = patch.object(named, "open", lambda name, *_, **__: Full(name, "xb"), create=True)
    with full, pytest.raises(OSError, match="No space") as caught, writing("memory://x") as file:
        file.write(TEXT)
    assert caught.value.filename == str(tmp_path)
    assert kept() == {} and not list(tmp_path.iterdir())


def test_without_fsspec(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    for use in (read, partial(write, data=b"")):
        with pytest.raises(OSError, match=r"pip install 'exset\[remote\]'"):
            use("s3://bucket/x.ex")


def test_missing_library_of_a_protocol() -> None:
    why = ImportError("Install s3fs to access S3")
    with (
        patch("fsspec.get_filesystem_class", side_effect=why),
        pytest.raises(OSError, match=r"s3:// needs more than fsspec: Install s3fs"),
    ):
        read("s3://bucket/x.ex")


def test_names_in_files_are_never_remote(memory: None, tmp_path: Path) -> None:
    """`-` in a file is not standard input, either."""
    labels = put("/labels", b"a 1\n")
    for name in (labels, "-", "http://127.0.0.1:9/x"):
        text = f"SINGLE-SAMPLE\n1\n{tmp_path}\n{name}\na\n".encode()
        samples = exset.loads(text, model=exset.SampleList)
        assert samples.label_file == name.encode()
        findings = exset.Findings()
        with patch("exset.io.remote.opened", side_effect=AssertionError):
            check(samples, findings, CheckOptions("list"))
        assert findings.count("lbann-missing-labels") == 1
