"""Files elsewhere, such as s3://bucket/x.ex, through fsspec, which the extra `remote` installs.

Only what a user names is looked for there, never what a file names: see `exset.io.files.here`.
"""

from __future__ import annotations

import errno
import io
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, BinaryIO, Final, NoReturn, cast

from exset.core import signals
from exset.core.errors import FormatError, Place, safe
from exset.io.atomic_write import FULL

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

_NAME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")  # one letter is a drive of Windows
_SECRET: Final = re.compile(r"(?<=://)[^/@]*@")
_HERE: Final = ("file", "local")
_SERVERS: Final = ("http", "https")
_WHOLE: Final = ("memory", "s3", "s3a", "gs", "gcs", "abfs", "abfss", "az")
"""Where a file has its new content only when all of it is there."""
_LONGEST: Final = 300
_SILENCE: Final = 60  # seconds
_CODES: Final = {
    FileNotFoundError: errno.ENOENT,
    PermissionError: errno.EACCES,
    IsADirectoryError: errno.EISDIR,
    TimeoutError: errno.ETIMEDOUT,
}

_OURS: Final = frozenset(
    getattr(errno, name)
    for name in (
        *("ECONNREFUSED", "ECONNRESET", "EHOSTUNREACH", "ENETUNREACH", "ETIMEDOUT"),
        *("ENOSPC", "EDQUOT", "EROFS"),
    )
    if hasattr(errno, name)
)
"""What the system says itself, though another library brings the news."""


def is_remote(name: str) -> bool:
    """Tell whether a name is that of a file elsewhere: it begins with a protocol and `://`."""
    return _NAME.match(name) is not None


def shown(name: str) -> str:
    """Return what messages call a file elsewhere: its name without user and password."""
    return _SECRET.sub("", name)


@contextmanager
def opened(name: str) -> Iterator[BinaryIO]:
    """Open a file elsewhere, to be read once from its beginning to its end.

    Whatever goes wrong there is an OSError, and so is a want of what finds it; FormatError for a
    name that is none.
    """
    system, path = _system(name)
    with _told(name):
        # Of a server no size is asked, which its answer tells again.
        file = system.open(path, "rb", **({"size": 1} if _protocol(name) in _SERVERS else {}))
    try:
        yield cast(BinaryIO, _Remote(file, name))
    finally:
        with suppress(Exception):
            file.close()


@contextmanager
def writing(name: str) -> Iterator[BinaryIO]:
    """Write a file elsewhere, which has its new content when all of it is there.

    Until then it is in a temporary file. Errors as `opened`; FormatError where whoever keeps the
    files may leave half of one.
    """
    system, path = _system(name, to_write=True)
    from tempfile import TemporaryDirectory

    kept = TemporaryDirectory(prefix="exset-")
    with kept as folder, signals.tidied(kept.cleanup):
        temp = os.path.join(folder, "whole")
        try:
            with open(temp, "xb") as file:
                yield file
        except OSError as error:
            if error.filename is not None or error.errno not in FULL:
                raise
            raise OSError(error.errno, error.strerror, os.path.dirname(folder)) from None
        with _told(name), system.transaction:
            system.put_file(temp, path)


class _Remote(io.RawIOBase):
    """A file elsewhere; it has no more to do with the system here than a stream of bytes."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        self._file = file
        self._name = name

    def read(self, size: int = -1, /) -> bytes:
        with _told(self._name):
            return self._file.read(size)


def _system(name: str, to_write: bool = False) -> tuple[AbstractFileSystem, str]:
    """Return what keeps a file, and the file's name there."""
    protocol = _protocol(name)
    if protocol in _HERE:
        raise _refusal(name, "a file of this machine is named by its path", "leave the file:// out")
    if to_write and protocol not in _WHOLE:
        what = f"nothing is written to {protocol}://, where half a file might be left"
        raise _refusal(name, what, "write a file here, and copy it")
    try:
        import fsspec
    except ImportError:
        _lack(name, f"{protocol}:// needs fsspec: pip install 'exset[remote]'")
    if protocol not in fsspec.available_protocols():
        raise _refusal(name, f"nothing is known of {protocol}://", None)
    try:
        kind = fsspec.get_filesystem_class(protocol)
    except ImportError as error:
        _lack(name, f"{protocol}:// needs more than fsspec: {error}")
    with _told(name):
        # One of our own: a transaction is of all that anybody writes there meanwhile.
        options = {**kind._get_kwargs_from_urls(name), **_options(protocol)}
        return kind(skip_instance_cache=True, **options), kind._strip_protocol(name)


def _options(protocol: str) -> dict[str, object]:
    """Return what to ask of a server: one answer, packed no further, given in small pieces.

    It may take as long as it likes, or as whoever reads: only silence is an error.
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
def _told(name: str) -> Iterator[None]:
    """Have all that goes wrong elsewhere be an OSError about the file."""
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:
        code, reason = _reason(error)
        raise OSError(code, safe(reason[:_LONGEST]), shown(name)) from None


def _reason(error: Exception) -> tuple[int, str]:
    """Return what went wrong: the system's own code and words, if it was something of that kind."""
    code = next((code for kind, code in _CODES.items() if isinstance(error, kind)), errno.EIO)
    if isinstance(error, OSError) and error.errno is not None and error.errno in _OURS:
        code = error.errno
    if code != errno.EIO:
        return code, os.strerror(code)
    status = getattr(error, "status", 0)
    if isinstance(status, int) and status >= 400 and error.__cause__ is None:
        return code, f"the server says {status} {getattr(error, 'message', '')}".rstrip()
    return code, " ".join(f"{type(error).__name__}: {error}".split())


def _protocol(name: str) -> str:
    found = _NAME.match(name)
    assert found is not None
    return found[1].lower()


def _lack(name: str, message: str) -> NoReturn:
    raise OSError(errno.EPROTONOSUPPORT, message, shown(name)) from None


def _refusal(name: str, message: str, hint: str | None) -> FormatError:
    return FormatError(message, place=Place.of(shown(name)), hint=hint, code="file-name")
