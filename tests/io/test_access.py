"""A file that cannot be inspected is not a file that does not exist."""

import builtins
import errno
import os
from pathlib import Path
from typing import Any

import pytest

import exset
from exset.core.errors import Findings, FormatError
from exset.grammars.aeon.manifest import Manifest
from exset.io.access import is_file, is_folder
from exset.runtime.aeon.cache import Cache
from exset.runtime.aeon.cache_build import build
from exset.runtime.aeon.cache_extract import extract_cache
from exset.runtime.aeon.cache_plan import Plan
from exset.runtime.lbann.hdf5_files import files_in
from tests.aeon.caches import codes

ERRORS = [errno.EIO, getattr(errno, "ESTALE", errno.EIO), errno.EACCES]


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """A cache of three blocks."""
    lines = b"".join(b"%d\n" % number for number in range(10))
    manifest = exset.loads(b"@ASCII_INT\n" + lines, format="manifest")
    assert isinstance(manifest, Manifest)
    return Path(build(Plan.of(manifest, block_size=4), str(tmp_path)).folder)


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Paths with the error that the operating system reports for them."""
    errors: dict[str, int] = {}
    for module, name in ((os, "stat"), (os, "open"), (builtins, "open"), (os, "scandir")):
        real = getattr(module, name)

        def call(path: Any, *arguments: Any, _real: Any = real, **options: Any) -> Any:
            if isinstance(path, str | os.PathLike) and (code := errors.get(os.fspath(path))):
                raise OSError(code, os.strerror(code), os.fspath(path))
            return _real(path, *arguments, **options)

        monkeypatch.setattr(module, name, call)
    return errors


def test_a_missing_path_is_neither_file_nor_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert is_file(str(tmp_path / "file")) and not is_folder(str(tmp_path / "file"))
    assert is_folder(str(tmp_path)) and not is_file(str(tmp_path))
    for name in ("none", "file/none", "\0"):
        assert not is_file(str(tmp_path / name)) and not is_folder(str(tmp_path / name))


@pytest.mark.parametrize("code", ERRORS)
def test_a_path_that_cannot_be_inspected_raises(broken: dict[str, int], code: int) -> None:
    broken["here"] = code
    for test in (is_file, is_folder):
        with pytest.raises(OSError) as raised:
            test("here")
        assert raised.value.errno == code


@pytest.mark.parametrize("code", ERRORS)
def test_a_block_that_cannot_be_inspected_is_an_error(
    cache: Path, tmp_path: Path, broken: dict[str, int], code: int
) -> None:
    whole = len(Cache(str(cache)))
    broken[str(cache / "block_2.cpio")] = code
    assert len(Cache(str(cache))) == whole
    with pytest.raises((OSError, FormatError)):
        extract_cache(Cache(str(cache)), str(tmp_path / "out"), findings=Findings())


def test_a_block_that_is_a_dangling_link_is_an_error(cache: Path, tmp_path: Path) -> None:
    (cache / "block_2.cpio").unlink()
    (cache / "block_2.cpio").symlink_to(tmp_path / "none")
    assert codes(Cache(str(cache))) == ["aeon-cache-block"]
    with pytest.raises(FormatError) as raised:
        extract_cache(Cache(str(cache)), str(tmp_path / "out"), findings=Findings())
    assert raised.value.code.startswith("aeon-cache")


def test_a_folder_that_cannot_be_listed_is_an_error(tmp_path: Path, broken: dict[str, int]) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "data.h5").touch()
    assert len(files_in([str(tmp_path)])) == 2
    broken[str(tmp_path / "b")] = errno.EACCES
    with pytest.raises(PermissionError):
        files_in([str(tmp_path)])
