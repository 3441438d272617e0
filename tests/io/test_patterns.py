"""Patterns match what Python's `glob` matches, but a folder that cannot be read is an error."""

import os
from glob import glob
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exset.io.patterns import matches

FILES = ("1.ex", ".hidden", "a/1.ex", "a/b/2.ex", "a/b/[x].ex", "a/b/c/3.ex", "a/.h/4.ex", "q/")
PARTS = ("*", "**", "?", "*.ex", "a", "b", "[ab]", ".*", "[[]x].ex", "2.ex", ".", "link", "", "x*")


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("patterns")
    for name in FILES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).mkdir() if name.endswith("/") else (folder / name).touch()
    (folder / "link").symlink_to("a")
    (folder / "circle").symlink_to("circle")
    (folder / "dangling").symlink_to("nothing")
    return folder


@given(st.lists(st.sampled_from(PARTS), min_size=1, max_size=4).map("/".join))
def test_patterns(tree: Path, pattern: str) -> None:
    wanted = {*glob(pattern, root_dir=tree, recursive=True)} if pattern[:1] != "/" else set()
    # Python gives a missing `x/` for `x/**`.
    wanted = {each for each in wanted if os.path.lexists(os.path.join(tree, each))}
    found = {*matches(pattern, str(tree))} - {""} if pattern[:1] != "/" else set()
    assert found == wanted
    whole = os.path.join(tree, pattern)
    if wanted and any(each in pattern for each in "*?["):
        assert {*matches(whole)} == {*filter(os.path.lexists, glob(whole, recursive=True))}


@pytest.mark.parametrize("pattern", ["*/*.ex", "**/*.ex", "a/b/*"])
def test_errors(tree: Path, pattern: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.listdir

    def listdir(path: str) -> list[str]:
        if path.endswith("b") or path.endswith("a"):
            raise PermissionError(13, "Permission denied", path)
        return real(path)

    monkeypatch.setattr(os, "listdir", listdir)
    with pytest.raises(PermissionError):
        list(matches(pattern, str(tree)))
