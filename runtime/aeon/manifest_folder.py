"""Make manifests from a folder with one folder for each class."""

import os
from collections.abc import Iterable, Sequence

from exset.core.errors import FormatError, Place
from exset.grammars.aeon.manifest import Manifest
from exset.grammars.aeon.manifest_types import ElementType
from exset.io.access import raise_error


def from_folder(
    folder: str, *, suffixes: Sequence[str] = (), label: ElementType = ElementType.ASCII_INT
) -> tuple[Manifest, tuple[str, ...]]:
    """Make a manifest of the files in a folder that has one folder for each class.

    Also return the names of the classes, in the order of their numbers.

    Classes and files are sorted by name; files may be at any depth. Paths are relative to the
    folder, which must become aeon's manifest_root. suffixes: those of the files to include, in
    lower case, by default all; hidden files are left out. label: ASCII_INT or STRING. Raises
    OSError, and FormatError if there are no classes or no files.
    """
    with os.scandir(folder) as found:
        names = sorted(each.name for each in found if each.is_dir() and not _is_hidden(each.name))
    if not names:
        raise _nothing(folder, "the folder has no folders", "each class needs a folder of its own")
    records = [
        (path, number)
        for number, name in enumerate(names)
        for path in _files(folder, name, tuple(suffixes))
    ]
    if not records:
        expected = " ".join(suffixes) or "any name"
        raise _nothing(folder, f"the folders of classes have no files of {expected}", None)
    return Manifest.of((ElementType.FILE, label), records), tuple(names)


def _files(folder: str, name: str, suffixes: tuple[str, ...]) -> Iterable[str]:
    for inside, folders, files in os.walk(os.path.join(folder, name), onerror=raise_error):
        folders[:] = sorted(each for each in folders if not _is_hidden(each))
        for each in sorted(files):
            if not _is_hidden(each) and each.lower().endswith(suffixes or ("",)):
                path = os.path.relpath(os.path.join(inside, each), folder)
                yield path.replace(os.sep, "/")


def _is_hidden(name: str) -> bool:
    return name.startswith(".")


def _nothing(folder: str, message: str, hint: str | None) -> FormatError:
    return FormatError(message, place=Place.of(folder), hint=hint, code="aeon-nothing-to-build")
