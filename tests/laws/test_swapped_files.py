"""Another process swaps files and folders for links to the outside while exset reads them."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import h5py
import numpy as np
import pytest

from exset.core.errors import FormatError
from exset.core.limits import DEFAULT
from exset.grammars.aeon.manifest import Manifest
from exset.io import files
from exset.io.access import Access
from exset.io.folders import Folder
from exset.runtime.aeon.cache import Cache
from exset.runtime.aeon.elements import encoded
from exset.runtime.hdf5.file import File
from tests.aeon.cpio_files import block

SWAPPER = """
import os, sys
print(flush=True)
while True:
    for name in sys.argv[1:]:
        os.symlink("../out/" + name, "link")
        os.replace("link", name)
        os.link("../kept/" + name, "again")
        os.replace("again", name)
    os.rename("sub", "was")
    os.symlink("../out", "sub")
    os.unlink("sub")
    os.rename("was", "sub")
"""
SECONDS = 0.35
NAMES = ["x", "x.h5", "block_0.cpio"]


@contextmanager
def swapping(folder: Path) -> Iterator[None]:
    """Let another process swap the files in a folder, and the folder `sub` in it."""
    command = [sys.executable, "-S", "-c", SWAPPER, *NAMES]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield
            assert process.poll() is None, "the attack has failed"
        finally:
            process.kill()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder whose files are swapped, next to a folder `out` with secrets."""
    for name, word in (("in", b"inside"), ("kept", b"inside"), ("out", b"secret")):
        for where in (tmp_path / name, tmp_path / name / "sub"):
            where.mkdir()
            (where / "x").write_bytes(word)
            (where / "block_0.cpio").write_bytes(block([[word, word]]))
            with h5py.File(where / "x.h5", "w") as file:
                file["word"] = np.frombuffer(word, np.uint8)
    (tmp_path / "out" / "x").chmod(0o644)
    return tmp_path / "in"


def read_plain(folder: str, name: str) -> bytes:
    return files.read(f"{folder}/{name}", roots=(folder,)).data


def read_of_folder(folder: str, name: str) -> bytes:
    return Folder(folder, roots=("nowhere",)).read(name).data


def read_manifest(folder: str, name: str) -> bytes:
    given = Manifest.of(["FILE"], [(name,)])
    [[element]] = encoded(given, base=folder, access=Access(roots=(folder,)))
    return element if isinstance(element, bytes) else b""


def read_hdf5(folder: str, name: str) -> bytes:
    with File(f"{folder}/{name}.h5", Access(roots=(folder,))) as file:
        values = np.empty(6, np.uint8)
        file.read(file.find("word"), values, "word")
        return values.tobytes()


def read_block(folder: str, name: str) -> bytes:
    [record] = Cache(folder, DEFAULT, (folder,)).block(0)
    return bytes(record[0])


@pytest.mark.parametrize("read", [read_plain, read_of_folder, read_manifest, read_hdf5, read_block])
def test_no_outside_bytes(folder: Path, read: Callable[[str, str], bytes]) -> None:
    inside = 0
    with swapping(folder):
        end = time.monotonic() + SECONDS
        while time.monotonic() < end or not inside:
            for name in ("x", "sub/x"):
                with suppress(OSError, FormatError, KeyError):
                    found = read(str(folder), name)
                    assert found != b"secret"
                    inside += found == b"inside"


def test_a_file_that_is_open_stays_the_same(folder: Path) -> None:
    """What was opened and checked is read, whatever has the name later."""
    opened = File(str(folder / "x.h5"), Access(roots=(str(folder),)))
    os.replace(folder.parent / "out" / "x.h5", folder / "x.h5")
    with opened, closing(opened.raw(opened.find("word"))) as raw:
        assert b"inside" in raw.read()
