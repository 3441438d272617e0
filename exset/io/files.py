"""Open files: read and decompress them, or write them so that no incomplete file remains.

A name is a path, `-` for standard input and output, or a remote file such as `https://...` or
`s3://...`. exset refuses a name that starts with `|`: Lens would run it as a command, exset
executes nothing. A name that is in a file's content is always a path: see `local`.
"""

import errno
import io
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from itertools import islice
from typing import BinaryIO, TextIO, TypeAlias

from exset.core import progress
from exset.core.limits import DEFAULT, Limits
from exset.core.source import Source
from exset.core.text import Advice
from exset.io import remote
from exset.io.atomic_write import replacing
from exset.io.beneath import PathInside, open_regular
from exset.io.blocks import Blocks, check_device, size_of, too_long
from exset.io.compression import MAGIC, SUFFIXES, compressing, kind_of
from exset.io.named import open_named, with_file_name

FilePath: TypeAlias = str | bytes | os.PathLike[str] | os.PathLike[bytes]

_CHUNK = 1 << 16
_STEP = 1 << 22  # bytes written at once
_HEAD = 4096
_LARGE = 1 << 22  # bytes
_COMPARED = 1000  # files of a folder, to suggest one
_FILES = Advice.both("name a file in it", "name the files in it, as in 'FOLDER/*'")
_STREAMS = ("/dev/fd/", "/dev/std", "/proc/")  # links to open files, not to paths


def read(
    path: FilePath,
    *,
    limits: Limits = DEFAULT,
    maps: Callable[[bytes], bool] | None = None,
    roots: tuple[str, ...] = (),
) -> Source:
    """Read a whole file and decompress it. If `x.ex` is missing, try `x.ex.gz` and so on.

    `maps`: a function that gets the first 4096 bytes, and returns whether to map the file into
    memory instead of reading it. Do not truncate a mapped file while it is in use: the operating
    system ends the process. `roots`: the folders that must contain the file, as in
    `exset.io.beneath`. With `roots`, the file must be a regular file.

    The content decides how a file is compressed. If both `x.ex` and `x.ex.gz` exist, the
    uncompressed file is read (Lens, util.c: file name search).

    Raises FormatError for compressed data that are truncated or damaged, or that contradict the
    suffix. Raises LimitError above `max_ratio` or `max_bytes`. Raises OSError from the system, and
    for a device that may never end, which is any but a terminal and the null device.
    """
    with _opened(path, limits, roots) as (file, name):
        if (size := size_of(file)) and (content := _uncompressed(file, name, size, maps)):
            return Source(name, content, path=local_path(path, name))
        whole = io.BytesIO()
        for chunk in Blocks.of(file, name, limits, _CHUNK):
            whole.write(chunk)
    return Source(name, whole.getvalue(), path=local_path(path, name))


@contextmanager
def blocks(
    path: FilePath, *, limits: Limits = DEFAULT, size: int = _CHUNK, roots: tuple[str, ...] = ()
) -> Iterator[Blocks]:
    """Open a file to read it in blocks of about `size` bytes. Names and errors are those of `read`.

    A block of a pipe has the bytes that are available. An error in the data is raised when the
    block with the error is read.
    """
    with _opened(path, limits, roots) as (file, name):
        yield Blocks.of(file, name, limits, size)


def local_path(path: FilePath, name: str) -> str:
    """Return the path of a file on this machine. Return "" for standard input and remote files.

    name: the name under which `path` was found; it may have a suffix of compression.
    """
    given = os.fsdecode(path)
    return "" if given == "-" or remote.is_remote(given) else name


def is_plain(name: str) -> bool:
    """Return whether a name is a path on this machine, without a suffix of compression."""
    return is_file(name) and not name.endswith((*SUFFIXES, ".Z"))


def is_file(name: str) -> bool:
    """Return whether a name is the path of a regular file, or of a new file, on this machine."""
    if name == "-" or remote.is_remote(name):
        return False
    try:
        return stat.S_ISREG(os.stat(name).st_mode) and not name.startswith(_STREAMS)
    except FileNotFoundError:
        return True


def local(path: str) -> str:
    """Return a path from a file's content as a name that always means a path.

    In such a name, `-` and `https://` have no special meaning.
    """
    return os.path.join(os.curdir, path)


def head(path: FilePath, size: int) -> Source:
    """Return the first `size` decompressed bytes of a file. Return fewer if the file is shorter.

    This reads little more than these bytes. Raises the errors of `read`.
    """
    with blocks(path, size=size) as chunks:
        return Source(chunks.name, chunks.head(size))


def write(path: FilePath, data: bytes | bytearray | memoryview | Iterable[bytes]) -> None:
    """Write a whole file as `writing` does. `data`: its bytes, or chunks of them."""
    with writing(path) as file:
        if not isinstance(data, bytes | bytearray | memoryview):
            for chunk in data:
                file.write(chunk)
            return
        view = memoryview(data)
        with progress.task("writing", os.fsdecode(path), len(view)):
            for at in range(0, len(view), _STEP):
                file.write(view[at : at + _STEP])
                progress.advance(len(view[at : at + _STEP]))


@contextmanager
def writing(path: FilePath) -> Iterator[BinaryIO]:
    """Open a file for writing; it gets its name only when it is complete and on disk.

    After any failure, an old file stays unchanged, and no other file is left.

    - The owner, group and permissions of an old file are kept as far as the system allows.
    - Other hard links to an old file keep the old content.
    - A symbolic link is followed.
    - Pipes and devices are written directly.
    - If the name ends in `.gz`, `.bz2`, `.bz`, `.xz` or `.zst`, the data are compressed.

    Raises OSError from the system. Raises FormatError for `|command`, for `.Z`, and for remote
    files that could be left incomplete.
    """
    name = _checked(path)
    if name.endswith(".Z"):
        raise remote.refusal(name, "exset cannot write .Z files", "use a name ending in .gz")
    if name == "-":
        file = _standard(sys.stdout, "<stdout>")
        sys.stdout.flush()
        yield file
        file.flush()
        return
    old = None
    with ExitStack() as stack:
        if remote.is_remote(name):
            file = stack.enter_context(remote.writing(name))
        else:
            with suppress(FileNotFoundError):
                old = os.stat(name)
            special = old and (not stat.S_ISREG(old.st_mode) or name.startswith(_STREAMS))
            if special or not os.path.basename(name):
                file = stack.enter_context(open_named(name, "wb"))
            elif old is not None and not os.access(name, os.W_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), name)
            else:
                file = stack.enter_context(replacing(name, old))
        yield stack.enter_context(compressing(file, name))


def _checked(path: FilePath) -> str:
    name = os.fsdecode(path)
    if name.startswith("|"):
        hint = "run the command yourself and pipe its output into exset, with `-` as the file"
        raise remote.refusal(name, "the name is a command, and exset never executes one", hint)
    try:
        encoded = os.fsencode(name)
    except UnicodeEncodeError:
        raise remote.refusal(name, "invalid file name: it is not text", None) from None
    if b"\0" in encoded:
        raise remote.refusal(name, "invalid file name: it contains a NUL", None)
    return name


def _open(name: str, roots: tuple[str, ...]) -> tuple[str, BinaryIO]:
    def open_file(path: str) -> BinaryIO:
        return open_regular(path, roots) if roots else open_named(path, "rb")

    try:
        return name, open_file(name)
    except IsADirectoryError as error:
        texts = (f"{error.strerror}; {each}" for each in (_FILES, _FILES.command))
        raise IsADirectoryError(error.errno, Advice.both(*texts), name) from None
    except FileNotFoundError as error:
        is_whole = not os.path.basename(name) or name.endswith(tuple(SUFFIXES))
        for suffix in () if is_whole else SUFFIXES:
            with suppress(FileNotFoundError):
                return name + suffix, open_file(name + suffix)
        if roots or (near := _nearest(name)) is None:
            raise
        why = f"{error.strerror}; did you mean {near}?"
        raise FileNotFoundError(error.errno, why, name) from None


def _nearest(name: str) -> str | None:
    """Return the path of the file in the same folder whose name is most similar to `name`.

    Return None if no name is similar.
    """
    from exset.core.suggestions import nearest

    folder, base = os.path.split(name)
    with suppress(OSError), os.scandir(folder or os.curdir) as entries:
        # Names are compared up to their first dot: a suffix that two files share says nothing.
        some = (each.name for each in islice(entries, _COMPARED) if each.is_file())
        names = {each.partition(".")[0]: each for each in some}
        if near := nearest(base.partition(".")[0], names):
            return os.path.join(folder, names[near])
    return None


@contextmanager
def _opened(
    path: FilePath, limits: Limits, roots: tuple[str, ...]
) -> Iterator[tuple[BinaryIO, str]]:
    """Open a file or standard input; yield the open file, and its name for messages."""
    name = _checked(path)
    with ExitStack() as stack:
        if name == "-":
            name = "<stdin>"
            file = _standard(sys.stdin, name)
        elif remote.is_remote(name):
            file = stack.enter_context(remote.opened(name))
            name = remote.shown(name)
        else:
            inside = name.roots if isinstance(name, PathInside) else roots
            name, file = _open(name, inside)
            stack.enter_context(file)
        check_device(file, name)
        if (size_of(file) or 0) > limits.max_bytes:
            raise too_long(name, limits)
        with progress.task("reading", name, size_of(file)):
            yield file, name


def _standard(stream: TextIO | None, name: str) -> BinaryIO:
    """Return the binary file of a standard stream. Raises OSError if it is closed or missing."""
    file: BinaryIO | None = getattr(stream, "buffer", None)
    if file is None or file.closed:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF), name)
    return file


def _uncompressed(
    file: BinaryIO, name: str, size: int, maps: Callable[[bytes], bool] | None
) -> bytes | memoryview | None:
    """Return the content of a regular file, read or mapped, without copying the content.

    Return None if the file is compressed. maps: as for `read`.
    """
    with with_file_name(name):
        start = file.tell()
        head = file.read(_HEAD if maps is not None else MAGIC)
        file.seek(start)
        if kind_of(head[:MAGIC], name) is not None:
            return None
        if maps is not None and not start and maps(head):
            import mmap

            # Some file systems do not support this.
            with suppress(OSError, ValueError):
                return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        if size < _LARGE:
            return file.read(size)
        from exset.io import large_read

        return large_read.read(file, size)
