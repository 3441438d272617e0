import contextlib
import io
import os
import re
import shlex
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

import exset
from exset import demo, samples
from exset.cli import cli

README = Path(__file__).parent.parent / "README.md"


def test_the_demo(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "demo"
    said = list(demo.run(str(folder)))
    own = sorted(os.listdir(folder))
    assert set(samples.names()) < set(own)
    assert len(own) == 2 * len(samples.names())
    assert all(any(name in line for line in said) for name in own)
    assert list(demo.run(str(folder))) == said, "a second time is fine"


def test_what_the_demo_suggests_works(tmp_path: Path) -> None:
    commands = [line.split() for line in demo.run(str(tmp_path)) if line.startswith("  exset ")]
    assert len(commands) >= 3
    for _, *arguments in commands:
        assert CliRunner().invoke(cli, arguments).exit_code == 0


def test_the_demo_leaves_the_files_of_others_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(FileExistsError, match=r"mine\.txt"):
        list(demo.run(str(tmp_path)))
    assert os.listdir(tmp_path) == ["mine.txt"]
    result = CliRunner().invoke(cli, ["demo", str(tmp_path)])
    assert result.exit_code == 3 and "name another" in result.stderr
    result = CliRunner().invoke(cli, ["demo", str(tmp_path / "mine.txt")])
    assert result.exit_code == 3


@pytest.mark.parametrize("name", samples.names())
def test_samples_have_no_traps(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = exset.load(f"exset::{name}", strict=True)
    assert len(model) >= 3


def test_samples_show_what_they_say() -> None:
    sets = {
        name: exset.load(f"exset::{name}", model=exset.ExampleSet)
        for name in samples.names()
        if name.endswith(("ex", "bex"))
    }
    assert exset.dumps(sets["xor.ex"], format="bex") == samples.read("xor-binary.bex").data
    assert sets["xor.ex"] == sets["xor-binary.bex"]
    dense, sparse = sets["xor.ex"].ranges, sets["xor-sparse.ex"].ranges
    assert dense.values.values.size and not dense.units.values.size
    assert sparse.units.values.size and not sparse.values.values.size
    both = sets["xor-both.ex"].events
    assert (both.inputs == both.targets).all()
    assert sets["xor-events.ex"].header.proc and sets["xor-events.ex"].num_events == 8
    assert len(sets["groups.ex"].groups) == 5
    assert sets["pulse.ex"].effective("max_time").tolist()[:3] == [1, 2, 3]


def blocks(kind: str) -> Iterator[str]:
    """The fenced blocks of a kind in README."""
    yield from re.findall(rf"^```{kind}\n(.*?)^```", README.read_text(), re.MULTILINE | re.DOTALL)


def test_readme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every command that README shows gives what README shows; its Python runs, in order."""
    monkeypatch.chdir(tmp_path)
    ran = 0
    for block in blocks("console"):
        for command, wanted in re.findall(
            r"^\$ exset (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE
        ):
            shown = CliRunner().invoke(cli, shlex.split(command))
            assert shown.exit_code == 0, (command, shown.output)
            pattern = re.escape(wanted).replace(re.escape("...\n"), "(?:.*\n)*")
            assert re.fullmatch(pattern, shown.stdout + shown.stderr), (command, shown.output)
            ran += 1
    assert ran >= 4
    names: dict[str, object] = {}
    for block in blocks("python"):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(block, "README.md", "exec"), names)
        wanted = re.findall(r"^(?:print\(.*\)|[^\n]*)  # -> (.*)$", block, re.MULTILINE)
        assert out.getvalue().splitlines() == wanted
        ran += 1
    assert ran >= 6
