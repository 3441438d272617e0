"""README and the pages of docs/: their examples run, and give the output that they show."""

import contextlib
import io
import os
import re
import shlex
from importlib.util import find_spec
from pathlib import Path

import pytest
from click.testing import CliRunner

import exset
from exset import samples
from exset.cli import cli

ROOT = Path(__file__).parent.parent
PAGES = ["README.md", *(f"docs/{page.name}" for page in sorted((ROOT / "docs").glob("*.md")))]

BLOCK = re.compile(r"^```(console|python)\n(.*?)^```", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ exset (.*?)(?:  # ends with (\d))?\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
SECTION = re.compile(r"^(?=## )", re.MULTILINE)
NEEDS = re.compile(r"^Needs ([A-Za-z_, ]+)[.:]", re.MULTILINE)
"""The libraries without which the examples of a page, or of a section, cannot run."""

LINK = re.compile(r"\]\((?!https?:)([^)#]+)")


def run_console(block: str) -> None:
    """Every command gives the output below it; `...` matches any output."""
    for command, code, expected in COMMAND.findall(block):
        shown = CliRunner().invoke(cli, shlex.split(command))
        assert shown.exit_code == int(code or 0), (command, shown.output)
        pattern = re.escape(expected).replace(re.escape("...\n"), "(?:.*\n)*")
        pattern = pattern.replace(re.escape(" ..., "), " .*, ")
        assert re.fullmatch(pattern, shown.stdout + shown.stderr), (command, shown.output)


def run_python(block: str, names: dict[str, object], page: str) -> None:
    """The comments `# ->` are the output."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(block, page, "exec"), names)
    assert out.getvalue().splitlines() == re.findall(r"  # -> (.*)$", block, re.MULTILINE)


@pytest.mark.usefixtures("etl_types")
@pytest.mark.parametrize("page", PAGES)
def test_a_page(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The commands and the Python of a page, in their order, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "__page__"}
    missing: set[str] = set()
    for section in SECTION.split((ROOT / page).read_text()):
        needed = {name for found in NEEDS.findall(section) for name in found.split(", ")}
        if lacking := {name for name in needed if find_spec(name) is None}:
            missing |= lacking
            continue
        for kind, block in BLOCK.findall(section):
            if kind == "console":
                run_console(block)
            else:
                run_python(block, names, page)
    if missing:
        pytest.skip(f"not installed, so not all examples ran: {', '.join(sorted(missing))}")


def test_the_jobs_are_short() -> None:
    """Each of the ten jobs takes one command, or five lines of Python."""
    _, *jobs = SECTION.split((ROOT / "docs" / "jobs.md").read_text())
    assert len(jobs) == 10
    for job in jobs:
        for kind, block in BLOCK.findall(job):
            lines = [line for line in block.splitlines() if line and "# ->" not in line[:6]]
            assert kind == "console" or len(lines) <= 5, block


def test_there_is_something_to_run() -> None:
    found = [kind for kind, _ in BLOCK.findall((ROOT / "README.md").read_text())]
    assert found.count("console") >= 4 and found.count("python") >= 6


@pytest.mark.parametrize("page", PAGES)
def test_the_links_of_a_page(page: str) -> None:
    for target in LINK.findall((ROOT / page).read_text()):
        assert (ROOT / page).parent.joinpath(target).exists(), target


def test_every_public_name_has_its_place() -> None:
    shown = set(re.findall(r":: exset\.(\w+)", (ROOT / "docs" / "python.md").read_text()))
    assert shown == set(exset.__all__) - {"__version__", "formats"}


def test_every_verb_has_its_place() -> None:
    shown = re.findall(r"} exset (\w+) --help", (ROOT / "docs" / "commands.md").read_text())
    assert shown == list(cli.modules)


@pytest.mark.usefixtures("torch")
def test_training_with_torch() -> None:
    """The page on training, with its blocks for torch."""
    text = (ROOT / "docs" / "train.md").read_text()
    script = "".join(re.findall(r"^```py(?:thon)?\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(script, "train.md", "exec"), {})
    assert out.getvalue().splitlines() == re.findall(r"  # -> (.*)$", script, re.MULTILINE)


def test_the_recipe_of_pictures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The commands of the page on Lens, on a set with such groups and names."""
    pytest.importorskip("matplotlib", reason="the extra plot is not installed")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.ex").write_bytes(samples.read("groups.ex").data.replace(b"bee", b"bat"))
    text = (ROOT / "docs" / "lens.md").read_text()
    (script,) = re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    for command in script.splitlines():
        done = CliRunner().invoke(cli, shlex.split(command.removeprefix("exset ")))
        assert done.exit_code == 0, done.stderr
    assert sorted(os.listdir()) == ["some.svg", "train.ex", "train.png"]
