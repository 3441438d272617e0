"""Cut the power at any moment of a job, and give back what a disk may then have.

While a job runs, `recorded` notes what it makes durable: the bytes of a file when it is flushed,
and the names in a folder when the folder is flushed. After a cut, a file has the bytes that were
flushed, and the names of a folder are those of its last flush or of any later moment before the
cut. A file that was never flushed is empty, or has a part of its bytes.
"""

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

_open = os.open

NAMES = ("open", "replace", "rename", "link", "unlink", "mkdir", "rmdir")
"""The calls that change names, or may."""

Names = dict[str, int]
"""The files in one folder: the number of each, by name; 0 for a folder."""


@dataclass
class Moment:
    """The state after a call: the names of each folder, and the flushed bytes of each file.

    oldest: for each folder, the first moment whose names may still be those on the disk.
    """

    folders: dict[str, Names]
    flushed: dict[int, bytes]
    oldest: dict[str, int]


@dataclass
class Recording:
    """The moments of a job in a folder; the last one is that of its end."""

    root: Path
    moments: list[Moment] = field(default_factory=list)
    _flushed: dict[int, bytes] = field(default_factory=dict)
    _oldest: dict[str, int] = field(default_factory=dict)
    _open: dict[int, int] = field(default_factory=dict)
    """All files, held open so that no other file gets the number of one that was removed."""

    def begin(self) -> None:
        """Take all that is in the folder as durable."""
        for path in self.root.rglob("*"):
            if path.is_file():
                self._flushed[path.stat().st_ino] = path.read_bytes()
        self.add()

    def add(self) -> None:
        """Add the moment after a call."""
        folders = {
            str(folder.relative_to(self.root)): {
                each.name: 0 if each.is_dir() else each.stat().st_ino for each in folder.iterdir()
            }
            for folder in (self.root, *filter(Path.is_dir, self.root.rglob("*")))
        }
        for folder, names in folders.items():
            for name, number in names.items():
                if number and number not in self._open:
                    self._open[number] = _open(self.root / folder / name, os.O_RDONLY)
        for folder in folders:
            self._oldest.setdefault(folder, len(self.moments))
        self.moments.append(Moment(folders, dict(self._flushed), dict(self._oldest)))

    def flush(self, handle: int) -> None:
        """Make a file or the names of a folder durable."""
        status = os.fstat(handle)
        here = os.path.realpath(f"/proc/self/fd/{handle}")
        if stat.S_ISDIR(status.st_mode):
            if here == str(self.root) or here.startswith(f"{self.root}{os.sep}"):
                self._oldest[os.path.relpath(here, self.root)] = len(self.moments)
        else:
            with open(f"/proc/self/fd/{handle}", "rb") as file:
                self._flushed[status.st_ino] = file.read()
        self.add()

    def close(self) -> None:
        """Close the files."""
        for handle in self._open.values():
            os.close(handle)
        self._open.clear()

    def cuts(self) -> Iterator[tuple[bool, dict[str, bytes | None]]]:
        """Yield the files that a cut may leave, by path: None for bytes that were not flushed.

        Also yield whether the job had ended.
        """
        for at, moment in enumerate(self.moments):
            is_last = at + 1 == len(self.moments)
            for seen in range(min(moment.oldest.values()), at + 1):
                files: dict[str, bytes | None] = {}
                for folder in moment.folders:
                    then = self.moments[max(seen, moment.oldest[folder])]
                    for name, number in then.folders.get(folder, {}).items():
                        if number:
                            files[os.path.join(folder, name)] = moment.flushed.get(number)
                yield is_last, _reachable(files, self, moment, seen)


def _reachable(
    files: dict[str, bytes | None], recording: Recording, moment: Moment, seen: int
) -> dict[str, bytes | None]:
    """Return the files whose folders have durable names, too."""

    def is_there(folder: str) -> bool:
        if folder in (".", ""):
            return True
        above, name = os.path.split(folder)
        above = above or "."
        then = recording.moments[max(seen, moment.oldest.get(above, 0))]
        return name in then.folders.get(above, {}) and is_there(above)

    found = {}
    for path, data in files.items():
        if is_there(os.path.dirname(path)):
            found[os.path.normpath(path)] = data
    return found


@contextmanager
def recorded(root: Path) -> Iterator[Recording]:
    """Record the calls of a job in a folder, of this process."""
    recording = Recording(root)
    recording.begin()

    def noting(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **options: Any) -> Any:
            result = function(*args, **options)
            recording.add()
            return result

        return call

    with ExitStack() as patches:
        for name in NAMES:
            patches.enter_context(patch.object(os, name, noting(getattr(os, name))))
        patches.enter_context(patch.object(os, "fsync", recording.flush))
        yield recording
    recording.add()
    recording.close()
