"""README and the pages of docs/: what they show is what happens."""

import contextlib
import io
import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

import exset
from exset.cli import VERBS, cli

ROOT = Path(__file__).parent.parent
PAGES = ["README.md", *(f"docs/{page.name}" for page in sorted((ROOT / "docs").glob("*.md")))]

BLOCK = re.compile(r"^```(console|python)\n(.*?)^```", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ exset (.*?)(?:  # ends with (\d))?\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
LINK = re.compile(r"\]\((?!https?:)([^)#]+)")


def run_console(block: str) -> None:
    """Every command gives what is shown below it; `...` stands for what may be there."""
    for command, code, wanted in COMMAND.findall(block):
        shown = CliRunner().invoke(cli, shlex.split(command))
        assert shown.exit_code == int(code or 0), (command, shown.output)
        pattern = re.escape(wanted).replace(re.escape("...\n"), "(?:.*\n)*")
        pattern = pattern.replace(re.escape(" ..., "), " .*, ")
        assert re.fullmatch(pattern, shown.stdout + shown.stderr), (command, shown.output)


def run_python(block: str, names: dict[str, object], page: str) -> None:
    """What is printed is what the comments `# ->` say."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(block, page, "exec"), names)
    assert out.getvalue().splitlines() == re.findall(r"  # -> (.*)$", block, re.MULTILINE)


@pytest.mark.parametrize("page", PAGES)
def test_a_page(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The commands and the Python of a page, in their order, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "__page__"}
    for kind, block in BLOCK.findall((ROOT / page).read_text()):
        if kind == "console":
            run_console(block)
        else:
            run_python(block, names, page)


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
    assert shown == list(VERBS)
