"""`exset explain`: explain the codes of findings."""

from fnmatch import filter as matching

import click

from exset.cli.commands import Command
from exset.cli.output import argument_errors
from exset.cli.reports import json_option, json_rows
from exset.explain import codes as all_codes
from exset.explain import explain as explanation_of


def _completions(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Return the codes that begin with a text."""
    return [code for code in all_codes() if code.startswith(incomplete)]


@click.command(cls=Command)
@click.argument("codes", metavar="[CODE]...", nargs=-1, shell_complete=_completions)
@json_option("code", "family", "severity", "says", "means", "matters", "fix")
def explain(codes: tuple[str, ...]) -> None:
    """Explain the codes of findings: meaning, reason and fix.

    \b
      exset explain lens-bare-word
      exset explain 'aeon-file-*'

    Without a CODE, exset lists all codes.
    """
    chosen = {code: None for each in codes for code in matching(all_codes(), each) or [each]}
    with argument_errors():
        found = [explanation_of(code) for code in chosen or all_codes()]
    rows = json_rows()
    for number, each in enumerate(found):
        if rows is not None:
            rows.write(vars(each))
        elif codes:
            click.echo("\n" * bool(number) + "\n".join(each.lines()))
        else:
            click.echo(f"{each.code:<24} {each.severity:<16} {each.means}")
