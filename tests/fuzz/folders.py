"""Folders as bytes, so that what makes files wrong makes folders wrong, too.

Files stand one after the other, each below a line with its name, as `tail` shows several:
`==> NAME <==`. The end of a name says what is no file: `/` a folder, `|` a pipe, `@` a link, which
leads to what stands below, counted from the folder. All bytes are a folder.
"""

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from tempfile import TemporaryDirectory
from typing import Final

from exset.io.extraction import parts_of

_HEAD: Final = re.compile(rb"\n==> ([^\n]*) <==\n")


def packed(contents: Mapping[str, bytes]) -> bytes:
    """Return a folder as bytes: names, which may have slashes in them, and what they hold."""
    return b"".join(b"\n==> %s <==\n%s" % (os.fsencode(n), d) for n, d in contents.items())[1:]


def packed_from(folder: str) -> bytes:
    """Return the plain files of a folder, those below it too, as bytes."""
    contents = {}
    for here, _, names in sorted(os.walk(folder)):
        for name in sorted(names):
            path = os.path.join(here, name)
            if os.path.isfile(path):
                with open(path, "rb") as file:
                    contents[os.path.relpath(path, folder)] = file.read()
    return packed(contents)


def unpacked(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield the names and the contents that some bytes are."""
    pieces = _HEAD.split(b"\n" + data)[1:]
    return zip(pieces[::2], pieces[1::2], strict=True)


@contextmanager
def laid_out(data: bytes) -> Iterator[str]:
    """Give the path of a new folder that is what some bytes say, and take it away.

    What cannot be, or would lead out of it, is left out.
    """
    with TemporaryDirectory(prefix="exset-") as whole:
        folder = os.path.join(os.path.realpath(whole), "in")
        os.mkdir(folder)
        links: list[tuple[bytes, bytes]] = []
        for name, content in unpacked(data):
            with suppress(OSError, ValueError):
                mark = name[-1:]
                if b".." in name + content * (mark == b"@"):  # whatever `parts_of` says
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
        for target, path in links:  # last, so that nothing is written through one
            with suppress(OSError):
                os.symlink(target, path)
        yield folder
