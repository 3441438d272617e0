"""Help: sections, examples, colours; and how commands and groups are found."""

import re
from collections.abc import Iterator

import click
import pytest
from click.testing import CliRunner

from exset.cli import SECTIONS, cli
from tests.cli.command_line import run


def commands(group: click.Group = cli, path: str = "") -> Iterator[tuple[str, click.Command]]:
    """Yield every command that is not a group, by its words."""
    context = group.context_class(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from commands(command, f"{path}{name} ")
        else:
            yield path + name, command


COMMANDS = dict(commands())
GROUPS = ("list", "manifest", "schema", "cache", "config", "sampler")


def headings(text: str) -> list[str]:
    return re.findall(r"^(\S.*):$", text, re.MULTILINE)


def test_the_main_help_has_a_section_for_each_purpose() -> None:
    text = run("--help").stdout
    assert headings(text) == [*SECTIONS, "Options"]
    assert all(re.search(rf"^  {name}  ", text, re.MULTILINE) for name in cli.modules)
    assert len(text.splitlines()) < 58 and max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize("path", COMMANDS)
def test_help_is_short_and_has_an_example(path: str) -> None:
    text = run(*path.split(), "--help").stdout
    assert re.search(rf"^    exset {path}\b", text, re.MULTILINE)
    everyday = re.split(
        "^(?:Options of formats|Options of tables|More options):", text, flags=re.MULTILINE
    )[0]
    assert len(everyday.splitlines()) < 40 and max(map(len, text.splitlines())) <= 80
    for option in COMMANDS[path].params:
        assert not isinstance(option, click.Option) or option.help, option.name


def test_secondary_options_are_in_the_last_section() -> None:
    text = run("info", "--help").stdout
    assert headings(text)[0] == "Options" and headings(text)[-1] == "More options"
    everyday, _, rest = text.partition("More options:")
    assert "--json" in everyday and "--limit" in rest and "--untrusted" in rest


@pytest.mark.parametrize("group", GROUPS)
def test_a_group_without_a_command_shows_its_help_once(group: str) -> None:
    done = run(group)
    assert done.exit_code == 2 and done.stderr.count("Usage:") == 1 and "Error" not in done.stderr
    assert headings(done.stderr) == ["Commands", "Options"]


def test_help_has_colours_unless_the_user_wants_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    plain = run("info", "--help").stdout

    def on_terminal() -> str:
        return CliRunner().invoke(cli, ["info", "--help"], color=True).stdout

    assert "\x1b" not in plain and click.unstyle(on_terminal()) == plain != on_terminal()
    for name, value in (("NO_COLOR", "1"), ("TERM", "dumb")):
        with monkeypatch.context() as patch:
            patch.setenv(name, value)
            assert on_terminal() == plain


def test_an_unknown_command_has_a_suggestion() -> None:
    assert "Did you mean 'info'?" in run("inof", "x.ex").stderr
    assert run("qqqq").exit_code == 2
