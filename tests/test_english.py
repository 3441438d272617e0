"""Pages, messages, help and docstrings use the usual technical words: see `WORDS`."""

import ast
import re
from collections.abc import Iterator

import click

from exset.cli import cli
from tests.house import ROOT, modules, tree
from tests.messages import FOLDER

WORDS = {
    r"traps?|doubts?": "warning, finding",
    r"mend(s|ed|ing)?": "fix, repair",
    r"told|tells? of|heard|sayable": "report, finding",
    r"spoken|spelt|heed": "write, follow",
    r"thereof|whereof|of late|under way": "(leave it out)",
    r"part by part": "in chunks",
    r"taken for|takes? .* for (an?|the) ": "read as",
    r"(lies|lie|stands?) in": "is in",
    r"stands? for": "represents",
    r"(is|are|be) wanted|as wanted|than wanted": "expected",
    r"passed over": "skipped, ignored",
    r"as many as": "(a number)",
    r"(is|are|seems?|looks?) odd": "unusual, invalid",
    r"that which|those of which|that of which": "(a noun)",
    r"beside": "next to",
    r"for ever": "forever",
    r"tripped|trips? over": "fails on",
    r"cannot be (meant|had|said)|that there (is|are) not": "invalid, missing, unknown",
    r"nobody can": "exset cannot",
}
"""Words that these texts do not use, as patterns, and the words to use instead."""


def texts() -> Iterator[tuple[str, str]]:
    """Yield pages, messages, help and docstrings, each with its name."""
    pages = {*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *FOLDER.glob("*.txt")}
    pages |= {*ROOT.glob("exset/core/*.findings"), *ROOT.glob("grammars/**/*.findings")}
    for path in sorted(pages):
        yield str(path.relative_to(ROOT)), path.read_text("utf-8")
    for name in modules():
        for node in ast.walk(tree(name)):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                yield f"{name}:{getattr(node, 'lineno', 1)}", ast.get_docstring(node) or ""
    yield from helps(cli, "exset")


def helps(command: click.Command, name: str) -> Iterator[tuple[str, str]]:
    """Yield the help of a command and of its subcommands."""
    with command.context_class(command, info_name=name) as context:
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
