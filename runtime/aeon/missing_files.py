"""Find the likely mistake in the path of a file that does not exist.

aeon uses the bytes of a field unchanged as the path. So a blank, a quotation mark or a wrong letter
in a field makes aeon open another file.
"""

import os
import re
import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, NamedTuple

from exset.core.text import safe
from exset.grammars.aeon.manifest import joined
from exset.io.access import Access, is_inside

SETTING: Final = "<--base FOLDER or base=FOLDER> (manifest_root in aeon)"
"""How a user names the folder in which relative paths start."""

_LISTED: Final = 100_000
_DEEPEST: Final = 64
_NEAR: Final = 1_000
_LOOKS: Final = (
    (rb"\A([\"'`]).*\1\Z", "aeon reads the quotation marks as part of the name: remove them"),
    (rb"\A[ \t]|[ \t]\Z", "aeon reads the space before or after the name as part of it: remove it"),
    (rb"\A~[^/]*/", "aeon does not replace ~ by a home folder: write the whole path"),
    (rb"\$\{?[A-Za-z_]", "aeon does not replace variables such as $HOME: write the whole path"),
    (rb"\A[A-Za-z][A-Za-z0-9+.-]+://", "aeon opens only local files, and no URLs: write a path"),
    (rb"\A[A-Za-z]:[\\/]", "this is a path of Windows: write the file's path on this machine"),
    (rb"\\", "aeon reads a backslash as part of a name: write / between folders"),
)
"""Patterns of paths, each with the advice for a missing file whose path matches it."""


class Mistake(NamedTuple):
    """The likely mistake in a path. advice: what to do. meant: the path that was probably meant.

    Both are "" if unknown.
    """

    advice: str = ""
    meant: str = ""

    @property
    def correction(self) -> str:
        """A question that proposes the path that was probably meant. It is "" if this path is
        unknown.
        """
        return f"did you mean {self.meant}?" if self.meant else ""

    def __str__(self) -> str:
        return f"{self.advice}; {self.correction}" if self.meant else self.advice


@dataclass(frozen=True)
class Folder:
    """The folder in which relative paths start. If `path` is empty, it is the current folder.

    access: its roots are the folders that may be examined. setting: the option by which a user
    names the folder.
    """

    path: bytes
    access: Access
    setting: str = SETTING
    _names: dict[bytes, dict[str, bytes]] = field(default_factory=dict)

    def __str__(self) -> str:
        shown = safe(os.fsdecode(self.path or os.getcwdb()))
        if not self.path:
            return f"the current folder, '{shown}'"
        return f"the folder '{shown}'" + ("" if self._has(b".") else ", which does not exist")

    def hint(self, name: bytes, *, source: str = "") -> str:
        """Return advice on `name`, the path of a missing file.

        source: the file in which the path is written.
        """
        if (found := self.mistake(name)).advice:
            return str(found)
        if name.startswith(b"/"):
            return f"absolute paths ignore {self.setting}: is the file on this machine?"
        if (there := next(self._elsewhere(name, source), None)) is not None:
            folder = safe(os.fsdecode(there))
            return f"the file is in '{folder}': name this folder with {self.setting}"
        return f"relative paths start at {self}; {self.setting} names another folder"

    def hint_if_missing(self, name: bytes, *, source: str = "") -> str | None:
        """Return advice on the path `name` if no such file exists.

        Return None if the file exists, or if exset may not look for it. source: the file in which
        the path is written.
        """
        path = joined(self.path, name)
        is_missing = self._may_open(path) and not os.path.exists(path)
        return self.hint(name, source=source) if is_missing else None

    def mistake(self, name: bytes) -> Mistake:
        """Return the likely mistake in `name`, the path of a missing file."""
        if name.endswith(b"\r") and self._has(name[:-1]):
            return Mistake(
                "the file exists without the carriage return at the end of this name: save the"
                " manifest with Unix line ends, as dos2unix does"
            )
        for pattern, advice in _LOOKS:
            if re.search(pattern, name):
                return Mistake(advice)
        path = joined(self.path, name)
        if self._may_open(path) and os.path.islink(path):
            return Mistake("the name is a link to a file that does not exist")
        if repeated := self._repeated(name):
            return Mistake(
                f"relative paths already start in the folder '{repeated}': remove {repeated}/ from"
                f" the path, or name the folder above with {self.setting}"
            )
        if other := self._in_other_letters(path):
            advice = "case matters in names of files, and so does the encoding of accents"
            return Mistake(advice, safe(os.fsdecode(other)))
        return Mistake()

    def _has(self, name: bytes) -> bool:
        path = joined(self.path, name)
        return self._may_open(path) and os.path.exists(path)

    def _may_open(self, path: bytes) -> bool:
        return is_inside(os.fsdecode(path or b"."), self.access.roots)

    def _repeated(self, name: bytes) -> str:
        """Return the folders at the end of this folder's path that `name` repeats at its start.

        name: the path of a missing file, relative to this folder. Return "" if it repeats no
        folders, or if the file does not exist without the repeated folders, either.
        """
        parts, folders = name.split(b"/"), os.path.abspath(self.path).split(b"/")
        for count in range(1, min(len(parts), _DEEPEST)):
            rest = b"/".join(parts[count:])
            if rest and parts[:count] == folders[-count:] and self._has(rest):
                return safe(os.fsdecode(b"/".join(parts[:count])))
        return ""

    def _in_other_letters(self, path: bytes) -> bytes | None:
        """Return the path of an existing file that differs from `path` only in case or in Unicode
        normalisation.

        Return None if there is no such file.
        """
        found = b"/" if path.startswith(b"/") else b""
        parts = list(filter(None, path.split(b"/")))
        for part in parts if len(parts) <= _DEEPEST else ():
            if not os.path.lexists(inside := os.path.join(found, part)):
                other = self._names_in(found or b".").get(_folded(part))
                if other is None:
                    return None
                inside = os.path.join(found, other)
            found = inside
        return found or None

    def _names_in(self, folder: bytes) -> dict[str, bytes]:
        """Return a dict of the names in a folder.

        Names that differ only in case have the same key.
        """
        if folder not in self._names:
            self._names[folder] = {}
            if self._may_open(folder):
                with suppress(OSError), os.scandir(folder) as found:
                    some = islice(found, _LISTED)
                    self._names[folder] = {_folded(each.name): each.name for each in some}
        return self._names[folder]

    def _elsewhere(self, name: bytes, source: str) -> Iterator[bytes]:
        """Yield folders in which the file `name` exists: near `source`, and near this folder."""
        beside = os.path.dirname(os.fsencode(source)) if os.path.isfile(source) else self.path
        for folder in dict.fromkeys((beside, self.path)):
            inside = islice(self._names_in(folder or b".").values(), _NEAR)
            for near in (folder or b".", *(joined(folder, each) for each in inside)):
                path = joined(near, name)
                if self._may_open(path) and os.path.isfile(path):
                    yield near


def _folded(name: bytes) -> str:
    return unicodedata.normalize("NFC", os.fsdecode(name)).casefold()
