"""`exset explain`: what a code means, why it matters and how to mend it."""

from fnmatch import filter as alike

import click

from exset.cli.common import wrong
from exset.cli.inputs import json_option, wants_json, write_one
from exset.explain import codes, page
from exset.explain import explain as explained


@click.command()
@click.argument("codes", metavar="[CODE]...", nargs=-1)
@json_option("code", "family", "severity", "says", "means", "matters", "mend")
@click.option("--markdown", is_flag=True, help="Write all of it as a page, docs/findings.md.")
def explain(codes: tuple[str, ...], markdown: bool) -> None:
    """Say what a code means, why it matters, and how to mend it.

    \b
      exset explain lens-bare-word
      exset explain 'aeon-file-*'

    Without a CODE all codes are listed.
    """
    if markdown:
        if codes:
            wrong("--markdown is a page of all codes")
        click.echo(page(), nl=False)
        return
    try:
        found = [explained(code) for code in _meant(codes)]
    except ValueError as error:
        wrong(str(error))
    for number, each in enumerate(found):
        if wants_json():
            write_one(each.to_dict())
        elif codes:
            if number:
                click.echo()
            for line in each.lines():
                click.echo(line)
        else:
            click.echo(f"{each.code:<24} {each.severity:<16} {each.means}")


def _meant(given: tuple[str, ...]) -> list[str]:
    """Return the codes that are meant: all, or those that are like a pattern."""
    if not given:
        return [*codes()]
    found = [alike(codes(), each) or [each] for each in given]
    return [*dict.fromkeys(code for each in found for code in each)]
