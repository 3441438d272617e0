"""Open HDF5 files that may be hostile, and find objects. Each step of a path is checked first.

Soft and external links are refused by default. Errors of the HDF5 library are raised as
FormatError. A crash of the library ends the process, so `exset.core.jobs` can read files in other
processes.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from io import SEEK_END, BytesIO, RawIOBase, UnsupportedOperation
from typing import Any, BinaryIO, Final, NoReturn, Self

import h5py
from h5py import h5, h5d, h5f, h5g, h5i, h5l, h5o

from exset.core import supervised
from exset.core.errors import FormatError, LimitError, Place
from exset.core.limits import DEFAULT, Limits, limit_hint
from exset.io.access import DEFAULT_ACCESS, Access
from exset.io.beneath import OutsideError, open_regular
from exset.io.named import with_file_name

_HOPS: Final = 16
"""The most links that one path may follow."""
DEEPEST: Final = 200
"""The greatest depth of nested groups."""


_DESCRIPTORS: Final = "/proc/self/fd"
"""The folder in which Linux has a name for each open file of a process."""


class _Padded(RawIOBase):
    """An open file, on disk or in memory, that has zeros after its end, as HDF5 needs.

    h5py ignores short reads. Without the zeros, HDF5 would use old contents of memory as bytes of
    the file.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._size = file.seek(0, SEEK_END)

    def readinto(self, into: Any, /) -> int:
        """Fill a buffer with the next bytes, and return its length."""
        data = self._file.read(len(into))
        into[: len(data)] = data
        into[len(data) :] = bytes(len(into) - len(data))
        return len(into)

    def seek(self, offset: int, whence: int = 0, /) -> int:
        """Go to a position in the file, but not beyond the end. Return the new position."""
        return self._file.seek(min(offset, self._size), whence)


@dataclass(frozen=True)
class _Opened:
    """An open file: the path by which it was found, and the file object."""

    path: str
    file: BinaryIO


class Objects:
    """The groups and datasets of an HDF5 file, open for reading; a context manager.

    Raises OSError if the file cannot be opened, FormatError if it is not HDF5 or outside the roots.
    """

    def __init__(
        self,
        path: str,
        access: Access = DEFAULT_ACCESS,
        limits: Limits = DEFAULT,
        content: bytes | BinaryIO | None = None,
    ) -> None:
        """Open the file at `path`.

        content: its bytes, or the open file; then no link is followed.
        """
        self.path = path
        self.access = access if content is None else replace(access, links=False)
        self.limits = limits
        self._content = content
        self._groups: dict[tuple[int, int], Any] = {}
        self._opened: dict[str, _Opened] = {}
        self._stack = ExitStack()
        with self._stack:
            self._stack.enter_context(supervised.reading(path))
            self._root = self._first()
            self._stack = self._stack.pop_all()

    def _first(self) -> Any:
        """Open the file, and return its root group."""
        if self._content is None:
            return self._open(self.path, self.access.roots, None)
        file = BytesIO(self._content) if isinstance(self._content, bytes) else self._content
        return self._root_of(_target(file), _Opened(self.path, file), self._stack, None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        with self.guarded("/"):
            self._stack.close()

    def find(self, path: str, start: Any = None, where: str = "") -> Any:
        """Return the group or dataset at a path, or None. start: where the path begins, by default
        the root.

        where: the path of `start`, for messages. Raises FormatError for a link that exset must not
        follow, and for an object that is neither a group nor a dataset.
        """
        hops = [_HOPS]
        whole = f"{where}/{path}" if where else path
        return self._walk(self._root if start is None else start, path.split("/"), whole, hops)

    def names(self, group: Any, path: str) -> list[str]:
        """Return the names of a group's members, in creation order if the file keeps it."""
        order = h5.INDEX_CRT_ORDER if self.is_ordered(group, path) else h5.INDEX_NAME
        found: list[bytes] = []
        with self.guarded(path):
            group.links.iterate(found.append, idx_type=order)
        names = [text_of(name) for name in found]
        if len(names) > self.limits.max_objects:
            self._limit(path)
        return names

    def paths_at(self, depth: int) -> list[str]:
        """Return the paths of all objects inside `depth` nested groups. 0 means the top level.

        The paths are in creation order if the file keeps it. Raises LimitError for too many
        objects, and FormatError for a too large `depth`.
        """
        if depth > DEEPEST:
            self.refuse(None, f"the file has no objects inside {depth} nested groups", "hdf5")
        level, left = [("", self._root)], self.limits.max_objects
        for _ in range(depth):
            above, level = level, []
            for where, group in above:
                for name in self.names(group, where):
                    left -= 1
                    if left < 0:
                        self._limit(where)
                    each = self.find(name, group, where)
                    if each is not None and is_group(each):
                        level.append((f"{where}/{name}" if where else name, each))
        return [
            f"{where}/{name}" if where else name
            for where, group in level
            for name in self.names(group, where)
        ]

    def is_ordered(self, group: Any, path: str) -> bool:
        """Return whether a group keeps the creation order of its members."""
        with self.guarded(path):
            return bool(group.get_create_plist().get_link_creation_order() & 1)

    def has(self, group: Any, name: str, path: str) -> bool:
        """Return whether a group has a member `name`. Links are refused as in `find`."""
        raw = name.encode("utf-8", "surrogateescape")
        with self.guarded(path):
            if b"\0" in raw or not group.links.exists(raw):
                return False
            if group.links.get_info(raw).type == h5l.TYPE_HARD:
                return True
        return self.find(name, group, path.rpartition("/")[0]) is not None

    def datasets(self, group: Any, path: str) -> Iterator[tuple[str, Any]]:
        """Yield (path, dataset) for each dataset below a group, depth first.

        The path is relative to the group. A group with several links is entered once, so that
        cycles end.
        """
        seen = {self._identity(group, path)}
        left = self.limits.max_objects
        stack = [("", group)]
        while stack:
            above, here = stack.pop()
            if not is_group(here):
                yield above, here
                continue
            below = []
            for name in self.names(here, f"{path}/{above}"):
                inside = f"{above}/{name}" if above else name
                whole = f"{path}/{inside}"
                each = self.find(name, here, f"{path}/{above}" if above else path)
                left -= 1
                if each is None:
                    hint = "remove the link, or repair its target"
                    self.refuse(whole, "the target of this link does not exist", "hdf5-link", hint)
                if left < 0:
                    self._limit(path)
                if inside.count("/") > DEEPEST:
                    self.refuse(whole, f"groups are nested more than {DEEPEST} deep", "hdf5")
                if is_group(each):
                    if (identity := self._identity(each, whole)) in seen:
                        continue
                    seen.add(identity)
                below.append((inside, each))
            stack += reversed(below)

    def _walk(self, start: Any, steps: Sequence[str], path: str, hops: list[int]) -> Any:
        """Return the object to which the names `steps` lead from `start`, or None.

        path: for messages. hops: a list with one number, how many more links may be followed.
        Nested walks share the list.
        """
        here = start
        for step in steps:
            if step == "":
                continue
            if step in (".", "..") or "\0" in step:
                self.refuse(path, f"{step!r} cannot be the name of an object", "hdf5-path")
            if not is_group(here):
                return None
            name = step.encode("utf-8", "surrogateescape")
            with self.guarded(path):
                if not here.links.exists(name):
                    return None
                kind = here.links.get_info(name).type
                if kind == h5l.TYPE_HARD:
                    here = h5o.open(here, name)
                    continue
            here = self._followed(here, name, kind, path, hops)
            if here is None:
                return None
        if not is_group(here) and not isinstance(here, h5d.DatasetID):
            self.refuse(path, "the object is neither a group nor a dataset", "hdf5-type")
        return here

    def _followed(self, group: Any, name: bytes, kind: int, path: str, hops: list[int]) -> Any:
        """Return the object to which the link `name` of a group leads, or None.

        Refuse a link that is not allowed. kind: the type of the link. hops: as in `_walk`.
        """
        if kind not in (h5l.TYPE_SOFT, h5l.TYPE_EXTERNAL):
            self.refuse(path, "user-defined links are not supported", "hdf5-link")
        word = "a soft link" if kind == h5l.TYPE_SOFT else "an external link"
        if not self.access.links:
            hint = "if you trust the file, use <--follow-links or Access(links=True)>"
            self.refuse(path, f"the path contains {word}", "hdf5-link", hint)
        hops[0] -= 1
        if hops[0] < 0:
            self.refuse(path, f"the path follows more than {_HOPS} links", "hdf5-link")
        with self.guarded(path):
            value = group.links.get_val(name)
        if kind == h5l.TYPE_SOFT:
            target = text_of(value)
            with self.guarded(path):
                start = h5g.open(h5i.get_file_id(group), b"/") if target.startswith("/") else group
            return self._walk(start, target.split("/"), path, hops)
        other, target = text_of(value[0]), text_of(value[1])
        root = self.file_beside(group, other, path)
        return self._walk(root, target.split("/"), path, hops)

    def beside(self, found: Any, name: str) -> str:
        """Return the path of the file `name` in the folder of the object `found`'s file."""
        return os.path.join(os.path.dirname(os.path.abspath(self._file_of(found).path)), name)

    def open_beside(self, found: Any, name: str, path: str) -> BinaryIO:
        """Open the file `name` in the folder of the object `found`'s file. path: for messages.

        Raises OSError, and FormatError for a file outside the folders to which links may lead.
        """
        return self._inside(self.beside(found, name), self._roots_of_links, path)

    def file_beside(self, found: Any, name: str, path: str) -> Any:
        """Return the root group of the HDF5 file `name` in the folder of `found`'s file."""
        return self._open(self.beside(found, name), self._roots_of_links, path)

    @property
    def _roots_of_links(self) -> tuple[str, ...]:
        return self.access.roots or (os.path.dirname(os.path.abspath(self.path)),)

    def _inside(self, path: str, roots: tuple[str, ...], link: str | None) -> BinaryIO:
        """Open a file. Refuse a file outside the roots. link: the link that names the file."""
        try:
            name = os.fsencode(path)
        except UnicodeEncodeError:
            name = b"\0"
        if b"\0" in name:
            self.refuse(link, "invalid file name", "file-name")
        try:
            return open_regular(name.decode("utf-8", "surrogateescape"), roots)
        except OutsideError:
            hint = "if you trust it, add its folder with <--root or Access(roots=...)>"
            self.refuse(link, f"{path} is outside the allowed folders", "hdf5-roots", hint)

    def _open(self, path: str, roots: tuple[str, ...], link: str | None) -> Any:
        """Open a file only once. Return its root group. link: the link that names the file."""
        with ExitStack() as stack:
            file = stack.enter_context(self._inside(path, roots, link))
            with with_file_name(path):
                status = os.fstat(file.fileno())
            key = status.st_dev, status.st_ino
            if key not in self._groups:
                opened = _Opened(path, file)
                self._groups[key] = self._root_of(_target(file), opened, stack, link)
                self._stack.push(stack.pop_all())
            return self._groups[key]

    def _root_of(
        self,
        target: str | _Padded,
        opened: _Opened,
        stack: ExitStack,
        link: str | None,
    ) -> Any:
        """Return the root group of an open file. target: the file as h5py opens it.

        stack: closes the file at its end. link: the link that names the file, or None.
        """
        locking = self.access.locking if isinstance(target, str) else None
        with self.guarded(link):
            try:
                file = h5py.File(target, "r", locking=locking)
            except OSError as error:
                if error.errno is not None and isinstance(target, str):
                    raise OSError(error.errno, os.strerror(error.errno), opened.path) from None
                hint = "write the file again, or leave it out"
                self.refuse(link, "not an HDF5 file, or a damaged one", "hdf5", hint, error)
            stack.callback(file.close)
            self._opened[text_of(h5f.get_name(file.id))] = opened
            return h5g.open(file.id, b"/")

    def _file_of(self, found: Any) -> _Opened:
        """Return the open file of an object."""
        with self.guarded(None):
            return self._opened[text_of(h5f.get_name(found))]

    def raw(self, found: Any) -> BinaryIO:
        """Return the open file that contains an object; this context manager closes it."""
        return self._file_of(found).file

    def _identity(self, found: Any, path: str) -> tuple[int, int]:
        with self.guarded(path):
            info = h5o.get_info(found)
            return int(info.fileno), int(info.addr)

    @contextmanager
    def guarded(self, path: str | None) -> Iterator[None]:
        """Raise errors of HDF5 in this context as a FormatError about the object `path`.

        Errors of the system stay OSError.
        """
        try:
            with supervised.CALL:
                yield
        except (FormatError, MemoryError):
            raise
        except Exception as error:
            if isinstance(error, OSError) and error.errno is not None and self._content is None:
                raise
            self.refuse(path, "HDF5 cannot read it", "hdf5", cause=error)

    def refuse(
        self,
        path: str | None,
        message: str,
        code: str,
        hint: str | None = None,
        cause: Exception | None = None,
    ) -> NoReturn:
        """Raise FormatError about the object `path`, or the file if None. cause: HDF5's error."""
        why = "" if cause is None else f": {' '.join(str(cause).split())[:200]}"
        raise FormatError(message + why, place=self.place(path), hint=hint, code=code) from cause

    def _limit(self, path: str) -> NoReturn:
        message = f"the group has more than {self.limits.max_objects:,} objects"
        raise LimitError(message, place=self.place(path), hint=limit_hint("max_objects"))

    def place(self, path: str | None) -> Place:
        """Return the place of the object `path`, or of the file if `path` is None."""
        return Place(self.path, field=path or None)


def _target(file: BinaryIO) -> "str | _Padded":
    """Return the argument with which h5py opens exactly this open file.

    With the file's path instead, h5py could open another file that another process has put there.
    """
    try:
        name = f"{_DESCRIPTORS}/{file.fileno()}"
    except UnsupportedOperation:  # it is in memory
        return _Padded(file)
    # HDF5 looks for the path, which a temporary file does not have.
    return name if os.path.exists(os.path.realpath(name)) else _Padded(file)


def is_group(found: Any) -> bool:
    """Return whether an object that `Objects.find` returned is a group."""
    return isinstance(found, h5g.GroupID)


def text_of(name: bytes | str) -> str:
    """Return a name of HDF5 as text. Bytes that are not UTF-8 become lone surrogates."""
    return name.decode("utf-8", "surrogateescape") if isinstance(name, bytes) else name
