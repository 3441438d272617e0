"""Files are opened inside given folders only: links, names, and systems that open by paths."""

import os
import pickle
from collections.abc import Iterator
from pathlib import Path

import pytest

from exset.core.errors import FormatError
from exset.io import beneath, files
from exset.io.beneath import OutsideError, PathInside, file_size, open_regular, status
from exset.io.folders import Folder
from tests.cli.command_line import run


@pytest.fixture(params=["descriptors", "paths"])
def tree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Iterator[Path]:
    """A folder `in`, and a secret outside of it; also without descriptors of folders."""
    if request.param == "paths":
        monkeypatch.setattr(beneath, "_CAN", False)
        monkeypatch.delattr(os, "O_NOFOLLOW")
        monkeypatch.setattr(os, "supports_dir_fd", set())
    (tmp_path / "in" / "a").mkdir(parents=True)
    (tmp_path / "in" / "a" / "x").write_bytes(b"inside")
    (tmp_path / "secret").write_bytes(b"secret")
    monkeypatch.chdir(tmp_path)
    os.symlink("a/x", "in/near")
    os.symlink(tmp_path / "in" / "a", "in/b")
    os.symlink("../secret", "in/out")
    os.symlink("..", "in/up")
    os.symlink("in", "root")
    os.mkfifo("in/pipe")
    yield tmp_path


@pytest.mark.parametrize("path", ["in/a/x", "in/near", "in/b/x", "in/b/../a/x", "in/up/in/a/x"])
@pytest.mark.parametrize("root", ["in", "root", "."])
def test_paths_that_lead_inside(tree: Path, path: str, root: str) -> None:
    for each in (path, os.fsencode(path), str(tree / path)):
        with open_regular(each, ["none", root]) as file:
            assert file.read() == b"inside"
        assert file_size(each, [root]) == status(each, [root]).st_size == 6


@pytest.mark.parametrize("path", ["secret", "in/out", "in/../secret", "in/up/secret", "in2", ".."])
def test_paths_that_lead_outside(tree: Path, path: str) -> None:
    for each in (path, str(tree / path)):
        for function in (open_regular, file_size, status):
            with pytest.raises(OutsideError) as caught:
                function(each, ["in"])
            assert caught.value.filename == each


@pytest.mark.parametrize(
    ("path", "error"),
    [
        *(("in/none", FileNotFoundError), ("in/a/x/y", NotADirectoryError)),
        *(("in/a", IsADirectoryError), ("in", IsADirectoryError), ("in/pipe", OSError)),
        *(("in/\0", OSError), ("in/\ud800", OSError)),
    ],
)
def test_other_errors_have_the_name(tree: Path, path: str, error: type[OSError]) -> None:
    for roots in ([], ["in"]):
        with pytest.raises(error) as caught:
            open_regular(path, roots)
        assert type(caught.value) is error and caught.value.filename == path


def test_a_suffix_leads_outside(tree: Path) -> None:
    """A name that exists only with a suffix is checked with the suffix."""
    os.symlink("../secret", "in/x.ex.gz")
    with pytest.raises(OutsideError):
        files.read("in/x.ex", roots=("in",))
    assert files.read("in/a/x", roots=("in",)).data == b"inside"


def test_folders_with_roots(tree: Path) -> None:
    assert Folder("in").read("out").data == b"secret"
    inside = Folder("in", roots=(str(tree / "none"),))
    assert inside.read("b/x").data == b"inside"
    with inside.open("near") as file:
        assert file.read() == b"inside"
    for function in (inside.read, inside.open, inside.blocks):
        with pytest.raises(OutsideError):
            function("out").__enter__()  # type: ignore[union-attr]
    with pytest.raises(FormatError):
        inside.read("../secret")


def test_lists_of_paths(tree: Path) -> None:
    """The path of a list is checked when it is opened, too."""
    Path("in/a.ex").write_text("name: {a} I: 1 T: 1;\n")
    Path("list").write_text("in/a.ex\n")
    assert run("info", "--untrusted", "@list").exit_code == 0
    path = pickle.loads(pickle.dumps(PathInside("in/out", ("in",))))
    with pytest.raises(OutsideError):
        files.read(path)
