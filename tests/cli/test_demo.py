import os
import warnings
from pathlib import Path

import pytest
from click.testing import CliRunner

import exset
from exset import demo, samples
from exset.cli import cli


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("new") / "demo"


@pytest.fixture(scope="module")
def lines(folder: Path) -> list[str]:
    """The output of the demo in that folder."""
    return list(demo.describe(str(folder)))


def test_the_demo(folder: Path, lines: list[str]) -> None:
    own = sorted(os.listdir(folder))
    assert set(samples.names()) < set(own)
    assert len(own) == 2 * len(samples.names())
    assert all(any(name in line for line in lines) for name in own)
    assert list(demo.describe(str(folder))) == lines, "a second time works"


def test_the_suggested_commands_work(lines: list[str]) -> None:
    commands = [line.split() for line in lines if line.startswith("  exset ")]
    assert len(commands) >= 3
    for _, *arguments in commands:
        assert CliRunner().invoke(cli, arguments).exit_code == 0


def test_the_demo_leaves_the_files_of_others_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(FileExistsError, match=r"mine\.txt"):
        list(demo.describe(str(tmp_path)))
    assert os.listdir(tmp_path) == ["mine.txt"]
    result = CliRunner().invoke(cli, ["demo", str(tmp_path)])
    assert result.exit_code == 3
    result = CliRunner().invoke(cli, ["demo", str(tmp_path / "mine.txt")])
    assert result.exit_code == 3


@pytest.mark.parametrize("name", samples.names())
def test_samples_have_no_warnings(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = exset.load(f"exset::{name}", strict=True)
    assert len(model) >= 2


def test_samples_contain_what_their_names_say() -> None:
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
