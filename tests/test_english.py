"""Public texts use the usual technical words: see `WORDS`."""

import inspect
import re
from collections.abc import Iterator

import click

import exset
from exset.cli import cli
from tests.house import ROOT

WORDS = {
    r"traps?|doubts?": "warning, finding",
    r"mend(s|ed|ing)?": "fix, repair",
    r"told|tells? of|heard|sayable": "report, finding",
    r"spoken|spelt|heed": "write, follow",
    r"thereof|whereof|of late|under way": "(leave it out)",
    r"part by part": "in chunks",
    r"taken for": "read as",
    r"lies in|lie in": "is in",
    r"(is|are) wanted": "expected",
    r"passed over": "skipped, ignored",
}
"""Words that these texts do not use, as patterns, and the words to use instead."""


def texts() -> Iterator[tuple[str, str]]:
    """Yield public texts, each with its name."""
    pages = {*(ROOT / "docs").rglob("*.md"), *ROOT.glob("exset/core/*.findings")}
    pages |= {*ROOT.glob("grammars/**/*.findings")}
    for path in (ROOT / "README.md", *sorted(pages)):
        yield str(path.relative_to(ROOT)), path.read_text("utf-8")
    yield from helps(cli, "exset")
    for name in exset.__all__:
        yield name, inspect.getdoc(getattr(exset, name)) or ""


def helps(command: click.Command, name: str) -> Iterator[tuple[str, str]]:
    """Yield the help of a command and of its subcommands."""
    with click.Context(command, info_name=name) as context:
        yield f"{name} --help", command.get_help(context)
        if isinstance(command, click.Group):
            for each in command.list_commands(context):
                if (found := command.get_command(context, each)) is not None:
                    yield from helps(found, f"{name} {each}")


def test_public_texts_use_usual_words() -> None:
    wrong = [
        f"{name}: {match[0]!r}: write {better}"
        for name, text in texts()
        for word, better in WORDS.items()
        for match in re.finditer(rf"\b({word})\b", text)
    ]
    assert not wrong, "\n".join(wrong)
