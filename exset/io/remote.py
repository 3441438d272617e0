"""Open remote files, such as s3://bucket/x.ex, through fsspec (extra `remote`).

Only a name that the user gives may be remote. A name in a file's content is never remote: see
`exset.io.files.local`.
"""

import errno
import io
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, BinaryIO, Final, cast

from exset.core import signals
from exset.core.errors import FormatError, Place
from exset.core.text import safe
from exset.io.named import open_named

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

_NAME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")  # a single letter is a Windows drive
_SECRET: Final = re.compile(r"(?<=://)[^/@]*@")
_HERE: Final = ("file", "local")
_SERVERS: Final = ("http", "https")
_WHOLE: Final = ("memory", "s3", "s3a", "gs", "gcs", "abfs", "abfss", "az")
"""Protocols that show a file only when it is complete."""
_LONGEST: Final = 300
_SILENCE: Final = 60  # seconds
_CODES: Final = {
    FileNotFoundError: errno.ENOENT,
    PermissionError: errno.EACCES,
    IsADirectoryError: errno.EISDIR,
    TimeoutError: errno.ETIMEDOUT,
}

_SYSTEM: Final = (
    *("ECONNREFUSED", "ECONNRESET", "EHOSTUNREACH", "ENETUNREACH", "ETIMEDOUT"),
    *("ENOSPC", "EDQUOT", "EROFS"),
)
"""Errors of the system itself, reported through another library."""


def is_remote(name: str) -> bool:
    """Return whether a name is remote: it begins with a protocol and `://`."""
    return _NAME.match(name) is not None


def shown(name: str) -> str:
    """Return a remote name for messages: without its user and password."""
    return _SECRET.sub("", name)


@contextmanager
def opened(name: str) -> Iterator[BinaryIO]:
    """Open a remote file to read it once, from beginning to end.

    Raises OSError for any error of the remote system and for a missing library. Raises FormatError
    for an unknown protocol.
    """
    system, path = _system(name)
    with _as_os_error(name):
        # The answer of a server has the size: do not ask for it first.
        file = system.open(path, "rb", **({"size": 1} if _protocol(name) in _SERVERS else {}))
    try:
        yield cast(BinaryIO, _Remote(file, name))
    finally:
        with suppress(Exception):
            file.close()


@contextmanager
def writing(name: str) -> Iterator[BinaryIO]:
    """Write a remote file: write a local temporary file, and send it when it is complete.

    Raises the errors of `opened`, and FormatError if the protocol may leave an incomplete file.
    """
    system, path = _system(name, to_write=True)
    from tempfile import TemporaryDirectory

    kept = TemporaryDirectory(prefix="exset-")
    with kept as folder, signals.cleanup_on_signal(kept.cleanup, kept.name):
        temp = os.path.join(folder, "complete")
        with open_named(temp, "xb", name=os.path.dirname(folder)) as file:
            yield file
        with _as_os_error(name), system.transaction:
            system.put_file(temp, path)


class _Remote(io.RawIOBase):
    """A remote file: a stream of bytes without a file descriptor."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        self._file = file
        self._name = name

    def read(self, size: int = -1, /) -> bytes:
        with _as_os_error(self._name):
            return self._file.read(size)


def _system(name: str, to_write: bool = False) -> "tuple[AbstractFileSystem, str]":
    """Return the file system of a remote file, and the path of the file in it.

    to_write: whether the caller writes the file. If so, raises FormatError if the file system may
    leave an incomplete file.
    """
    protocol = _protocol(name)
    if protocol in _HERE:
        raise refusal(name, "a local file is named by its path", "remove the file://")
    if to_write and protocol not in _WHOLE:
        what = f"exset does not write to {protocol}://, which may leave an incomplete file"
        raise refusal(name, what, "write a local file and copy it")
    with _as_os_error(name):
        import fsspec

        if protocol not in fsspec.available_protocols():
            raise refusal(name, f"unknown protocol {protocol}://", None)
        kind = fsspec.get_filesystem_class(protocol)
        # Not a shared instance: its transaction would include the writes of others.
        options = {**kind._get_kwargs_from_urls(name), **_options(protocol)}
        return kind(skip_instance_cache=True, **options), kind._strip_protocol(name)


def _options(protocol: str) -> dict[str, object]:
    """Return the options that fsspec needs for a protocol.

    They ask the server not to compress the file, and set no limit for the total time: only a server
    that stops answering causes an error.
    """
    if protocol not in _SERVERS:
        return {}
    from aiohttp import ClientTimeout
    from fsspec.config import conf

    set_by_user = conf.get(protocol, {})
    return {
        "block_size": 0,
        "headers": {"Accept-Encoding": "identity", **set_by_user.get("headers", {})},
        "client_kwargs": {
            "auto_decompress": False,
            "timeout": ClientTimeout(sock_connect=_SILENCE, sock_read=_SILENCE),
            **set_by_user.get("client_kwargs", {}),
        },
    }


@contextmanager
def _as_os_error(name: str) -> Iterator[None]:
    """Raise every error of this context as an OSError that names the file."""
    try:
        yield
    except (FormatError, MemoryError):
        raise
    except Exception as error:
        code, reason = _reason(error, _protocol(name))
        raise OSError(code, safe(reason[:_LONGEST]), shown(name)) from None


def _reason(error: Exception, protocol: str) -> tuple[int, str]:
    """Return the system's code (`errno`) and the reason, as text, for an error of a remote file."""
    if isinstance(error, ImportError):
        if error.name == "fsspec":
            reason = f"{protocol}:// needs fsspec: pip install 'exset[remote]'"
        else:
            reason = f"{protocol}:// needs more than fsspec: {error}"
        return errno.EPROTONOSUPPORT, reason
    code = next((code for kind, code in _CODES.items() if isinstance(error, kind)), errno.EIO)
    if isinstance(error, OSError) and errno.errorcode.get(error.errno or 0) in _SYSTEM:
        code = error.errno or code
    if code != errno.EIO:
        return code, os.strerror(code)
    status = getattr(error, "status", 0)
    if isinstance(status, int) and status >= 400 and error.__cause__ is None:
        return code, f"the server answered {status} {getattr(error, 'message', '')}".rstrip()
    return code, " ".join(f"{type(error).__name__}: {error}".split())


def _protocol(name: str) -> str:
    found = _NAME.match(name)
    assert found is not None
    return found[1].lower()


def refusal(name: str, message: str, hint: str | None) -> FormatError:
    """Return the error for a refused file name. message: what is wrong. hint: what to do."""
    return FormatError(message, place=Place(shown(name)), hint=hint, code="file-name")
