"""Write several files that belong together. After a failure, all old files are unchanged."""

import errno
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial

from exset.core import signals
from exset.io import files
from exset.io.atomic_write import is_taken, permit, sync_name
from exset.io.files import FilePath
from exset.io.named import open_named, sync, with_file_name


def write(path: FilePath, data: bytes, others: Mapping[str, bytes]) -> None:
    """Write a file and other files; all get their names when all are complete and on disk.

    `others`: the contents of the other files, by path. If there are any, no file may be compressed,
    and all must be on this machine. Raises the errors of `exset.io.files.write`.
    """
    if not others:
        files.write(path, data)
        return
    with ExitStack() as stack:
        contents = {**others, os.fsdecode(path): data}
        staged = [stack.enter_context(_staging(name, each)) for name, each in contents.items()]
        changed = []
        try:
            for each in staged:
                changed.append(each)
                each.replace()
        except BaseException:
            for each in reversed(changed):
                each.restore()
            raise
    for folder in dict.fromkeys(os.path.dirname(each.target) for each in staged):
        sync_name(os.fsdecode(path), folder)


@dataclass
class _Staged:
    """A new file with a temporary name. `backup`: the second name of an old file, if any."""

    target: str
    temp: str
    backup: str
    has_old: bool

    def replace(self) -> None:
        """Give the new file its final name, and keep the old file under its name `backup`."""
        if self.has_old:
            try:
                os.link(self.target, self.backup)
            except OSError:  # a file system without hard links
                os.rename(self.target, self.backup)
        os.replace(self.temp, self.target)

    def restore(self) -> None:
        """Undo `replace`, if it ran: restore the old file; remove the new file if none was old."""
        with suppress(OSError):
            if self.has_old:
                os.replace(self.backup, self.target)
            elif not os.path.lexists(self.temp):
                os.unlink(self.target)

    def remove(self) -> None:
        """Remove the temporary file and the backup."""
        for path in (self.temp, self.backup):
            with suppress(OSError):
                os.unlink(path)


@contextmanager
def _staging(name: str, data: bytes) -> Iterator[_Staged]:
    """Write a file with a temporary name next to its target `name`; yield this file.

    When the context ends, the temporary name is removed.
    """
    old = None
    with suppress(FileNotFoundError):
        old = os.stat(name)
    if old is not None and not stat.S_ISREG(old.st_mode):
        code = errno.EISDIR if stat.S_ISDIR(old.st_mode) else errno.EEXIST
        raise OSError(code, os.strerror(code), name)
    if old is not None and not os.access(name, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), name)
    target = os.path.realpath(name)
    hidden = os.path.join(os.path.dirname(target), f".exset-{os.urandom(8).hex()}")
    staged = _Staged(target, hidden, f"{hidden}-old", old is not None)
    create = partial(os.open, mode=0o666 if old is None else 0o600)
    try:
        with with_file_name(name), signals.cleanup_on_signal(staged.remove, hidden, staged.backup):
            try:
                with open_named(hidden, "xb", opener=create) as file:
                    file.write(data)
                    file.flush()
                    if old is not None:
                        permit(hidden, target, old)
                    sync(file, hidden)
                yield staged
            except BaseException as error:
                if not is_taken(hidden, error):
                    staged.remove()
                raise
            staged.remove()
    except OSError as error:
        if error.filename not in (hidden, staged.backup, target):
            raise
        raise OSError(error.errno, error.strerror, name) from None
