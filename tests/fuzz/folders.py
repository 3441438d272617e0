"""Folders as bytes, so that the fuzzer can change folders as it changes files.

The files follow one another, each below a line `==> NAME <==`, as `tail` prints several files. The
last character of a name marks other kinds: `/` a folder, `|` a pipe, `@` a link; the content of a
link is its target, relative to the folder. Any bytes are a valid folder.
"""

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from tempfile import TemporaryDirectory
from typing import Final

from exset.io.extraction import parts_of

_HEAD: Final = re.compile(rb"\n==> ([^\n]*) <==\n")


def joined(contents: Mapping[str, bytes]) -> bytes:
    """Return a folder as bytes, from names, which may contain slashes, and contents."""
    return b"".join(b"\n==> %s <==\n%s" % (os.fsencode(n), d) for n, d in contents.items())[1:]


def joined_from(folder: str) -> bytes:
    """Return the plain files of a folder and its subfolders as bytes."""
    contents = {}
    for here, _, names in sorted(os.walk(folder)):
        for name in sorted(names):
            path = os.path.join(here, name)
            if os.path.isfile(path):
                with open(path, "rb") as file:
                    contents[os.path.relpath(path, folder)] = file.read()
    return joined(contents)


def separated(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield the names and the contents of a folder that `joined` made."""
    pieces = _HEAD.split(b"\n" + data)[1:]
    return zip(pieces[::2], pieces[1::2], strict=True)


@contextmanager
def created(data: bytes) -> Iterator[str]:
    """Create a temporary folder from bytes, yield its path, and delete it.

    Entries that the system rejects, or that lead out of the folder, are left out.
    """
    with TemporaryDirectory(prefix="exset-") as whole:
        folder = os.path.join(os.path.realpath(whole), "in")
        os.mkdir(folder)
        links: list[tuple[bytes, bytes]] = []
        for name, content in separated(data):
            with suppress(OSError, ValueError):
                mark = name[-1:]
                if b".." in name + content * (mark == b"@"):  # even if `parts_of` allows it
                    continue
                parts = parts_of(name[:-1] if mark in (b"/", b"@", b"|") else name)
                path = os.path.join(os.fsencode(folder), *parts)
                os.makedirs(path if mark == b"/" else os.path.dirname(path), exist_ok=True)
                if mark == b"@":
                    links.append((os.path.join(os.fsencode(folder), *parts_of(content)), path))
                elif mark == b"|" and hasattr(os, "mkfifo"):
                    os.mkfifo(path)
                elif mark != b"/":
                    with open(path, "xb") as file:
                        file.write(content)
        for target, path in links:  # last, so that no file is written through a link
            with suppress(OSError):
                os.symlink(target, path)
        yield folder
