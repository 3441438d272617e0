"""Find the files in a folder that has one subfolder for each class."""

import os
from collections.abc import Iterator, Sequence

from exset.io.access import raise_error


def class_folders(folder: str) -> list[str]:
    """Return the sorted names of a folder's subfolders, without hidden subfolders.

    Raises OSError if the folder cannot be read.
    """
    with os.scandir(folder) as found:
        return sorted(each.name for each in found if each.is_dir() and not _is_hidden(each.name))


def files_below(folder: str, name: str, suffixes: Sequence[str] = ()) -> Iterator[str]:
    """Yield the sorted paths of all files in `name`, a subfolder of `folder`, at any depth.

    The paths are relative to `folder`, with slashes. `suffixes`: yield only files with these
    suffixes, written in lower case; by default all files. Hidden files and folders are left out.
    Raises OSError if a folder cannot be read.
    """
    for inside, folders, files in os.walk(os.path.join(folder, name), onerror=raise_error):
        folders[:] = sorted(each for each in folders if not _is_hidden(each))
        for each in sorted(files):
            if not _is_hidden(each) and each.lower().endswith(tuple(suffixes) or ("",)):
                path = os.path.relpath(os.path.join(inside, each), folder)
                yield path.replace(os.sep, "/")


def _is_hidden(name: str) -> bool:
    return name.startswith(".")
