"""`exset man`: manual pages, made from the help of the commands."""

import os
from collections.abc import Iterator
from inspect import cleandoc
from typing import Final

import click

import exset
from exset.cli.commands import Command, option_sections
from exset.core.text import counted, safe
from exset.io import files

_EXIT: Final = (
    ("0", "Success."),
    ("1", "A file is not valid, or a difference was found."),
    ("2", "The command is wrong."),
    ("3", "The system cannot read or write a file."),
    ("4", "A file exceeds a limit."),
)


@click.command(cls=Command)
@click.argument("folder")
@click.pass_context
def man(ctx: click.Context, folder: str) -> None:
    """Write the manual pages to a folder.

    \b
      exset man ~/.local/share/man/man1
      man exset-validate
    """
    os.makedirs(folder, exist_ok=True)
    root = ctx.find_root()
    contexts = [*_contexts(click.Context(root.command, info_name="exset", parent=None))]
    for each in contexts:
        name = each.command_path.replace(" ", "-")
        files.write(os.path.join(folder, f"{name}.1"), _page(each, name).encode())
    click.echo(f"{safe(folder)}: {counted(len(contexts), 'page')}")


def _contexts(ctx: click.Context) -> Iterator[click.Context]:
    """Yield the context of a command, and the contexts of all its subcommands."""
    yield ctx
    if isinstance(ctx.command, click.Group):
        for name in ctx.command.list_commands(ctx):
            if (command := ctx.command.get_command(ctx, name)) is not None:
                yield from _contexts(click.Context(command, info_name=name, parent=ctx))


def _page(ctx: click.Context, name: str) -> str:
    """Return the manual page of a command, as roff with the macros of man(7)."""
    command = ctx.command
    version = f"exset {exset.__version__}"
    pieces = " ".join(command.collect_usage_pieces(ctx))
    lines = [f'.TH "{_text(name.upper())}" "1" "" "{version}" "exset"', ".SH NAME"]
    lines += [f"{_text(name)} \\- {_text(_summary(command))}", ".SH SYNOPSIS"]
    lines += [f"\\fB{_text(ctx.command_path)}\\fP {_text(pieces)}", ".SH DESCRIPTION"]
    lines += _description(command.help or "")
    if isinstance(command, click.Group):
        lines.append(".SH COMMANDS")
        for each in command.list_commands(ctx):
            found = command.get_command(ctx, each)
            lines += _entry(f"{name}-{each}(1)", _summary(found) if found else "")
    for heading, records in option_sections(command, ctx).items():
        lines.append(f".SH {_text(heading.upper())}")
        for names, text in records:
            lines += _entry(names, text)
    lines.append(".SH EXIT STATUS")
    for code, text in _EXIT:
        lines += _entry(code, text)
    if ctx.parent is not None:
        above = ctx.parent.command_path.replace(" ", "-")
        lines += [".SH SEE ALSO", f"\\fB{_text(above)}\\fP(1)"]
    return "\n".join([*lines, ""])


def _summary(command: click.Command) -> str:
    """Return the first sentence of a command's help."""
    return (command.help or "").partition("\n\n")[0].replace("\n", " ").strip().removesuffix(".")


def _description(help: str) -> Iterator[str]:
    """Yield the paragraphs of a help text. A paragraph after a line `\b` keeps its lines."""
    for number, paragraph in enumerate(cleandoc(help).split("\n\n")):
        if number:
            yield ".PP"
        if paragraph.startswith("\b\n"):
            yield from [".nf", *map(_line, paragraph.split("\n")[1:]), ".fi"]
        else:
            yield _line(" ".join(paragraph.split()))


def _entry(name: str, text: str) -> Iterator[str]:
    yield from (".TP", f"\\fB{_text(name)}\\fP", _line(text))


def _line(text: str) -> str:
    """Return a line of text with an escape before a dot or apostrophe at its start.

    Otherwise roff would read the line as a command.
    """
    return f"\\&{_text(text)}" if text.startswith((".", "'")) else _text(text)


def _text(text: str) -> str:
    return text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
