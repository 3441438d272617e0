"""The manual pages, and the completion of codes."""

from pathlib import Path

import click

import exset
from exset.cli import cli
from tests.cli.command_line import run


def commands(ctx: click.Context) -> list[str]:
    """Return the names of all pages."""
    names = [ctx.command_path.replace(" ", "-")]
    if isinstance(ctx.command, click.Group):
        for name in ctx.command.list_commands(ctx):
            command = ctx.command.get_command(ctx, name)
            assert command is not None
            names += commands(click.Context(command, info_name=name, parent=ctx))
    return names


def test_each_command_has_a_page(tmp_path: Path) -> None:
    assert run("man", tmp_path / "man1").exit_code == 0
    expected = commands(click.Context(cli, info_name="exset"))
    assert sorted(each.name for each in (tmp_path / "man1").iterdir()) == sorted(
        f"{name}.1" for name in expected
    )
    for name in expected:
        page = (tmp_path / "man1" / f"{name}.1").read_text()
        title = name.upper().replace("-", "\\-")
        assert page.startswith(f'.TH "{title}" "1" "" "exset {exset.__version__}"')
        assert "\b" not in page and "\n\n" not in page


def test_a_page(tmp_path: Path) -> None:
    run("man", tmp_path)
    page = (tmp_path / "exset-list-build.1").read_text().splitlines()
    assert ".SH SEE ALSO" in page and "\\fBexset\\-list\\fP(1)" in page
    assert page[page.index(".nf") + 1].startswith("  exset list build")
    page = (tmp_path / "exset.1").read_text().splitlines()
    at = page.index("\\fBexset\\-validate(1)\\fP")
    assert page[at - 1 : at + 2] == [".TP", page[at], "Check files: errors and likely mistakes"]


def test_codes_are_completed() -> None:
    command = cli.get_command(click.Context(cli), "explain")
    assert command is not None
    [codes] = [param for param in command.params if param.name == "codes"]
    found = codes.shell_complete(click.Context(command), "lens-wid")
    assert [each.value for each in found] == ["lens-width"]
