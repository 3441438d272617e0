"""Commands that write the report that they return. Their help has sections and colours."""

import os
from collections.abc import Iterable
from typing import Any

import click

from exset.cli.options import Option, SecondaryOption
from exset.cli.reports import Report

_RAW = "exset.cli.arguments"


def raw_arguments(ctx: click.Context) -> tuple[str, ...]:
    """Return the arguments of the command as they were on the command line."""
    arguments: tuple[str, ...] = ctx.meta.get(_RAW, ())
    return arguments


class HelpFormatter(click.HelpFormatter):
    """Formats help texts in colour; click removes the colours if the output is not a terminal."""

    def write_heading(self, heading: str) -> None:
        """Write the heading of a section."""
        super().write_heading(_styled(heading, bold=True))

    def write_dl(
        self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2
    ) -> None:
        """Write options or commands, each with its help."""
        coloured = [(_styled(name, fg="cyan"), text) for name, text in rows]
        super().write_dl(coloured, col_max, col_spacing)


class Context(click.Context):
    """A context with colours in the help, which shows the help for `-h`, too."""

    formatter_class = HelpFormatter

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **{"help_option_names": ["-h", "--help"], **options})
        if self.parent is not None and self.parent.resilient_parsing:
            self.resilient_parsing = True


class Command(click.Command):
    """A command whose function returns a `Report`, an exit code, or nothing."""

    context_class = Context

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep a copy of the arguments for `raw_arguments`, then parse them."""
        ctx.meta[_RAW] = tuple(args)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        """Run the command, write its report, and exit with its code.

        If the object of the context is an error, only raise this error.
        """
        if isinstance(ctx.obj, Exception):
            raise ctx.obj
        result = super().invoke(ctx)
        if isinstance(result, Report):
            result = result.write(ctx)
        if result:
            ctx.exit(result)
        return None

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, secondary options last."""
        _write_options(self, ctx, formatter)


class Group(click.Group):
    """A command that has subcommands."""

    context_class = Context
    command_class = Command

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands, then the options."""
        self.format_commands(ctx, formatter)
        _write_options(self, ctx, formatter)


def option_sections(command: click.Command, ctx: click.Context) -> dict[str, list[tuple[str, str]]]:
    """Return, by heading, the sections of a command's options: the name and help of each option."""
    sections: dict[str, list[tuple[str, str]]] = {}
    for param in command.get_params(ctx):
        if isinstance(param, click.Option) and (record := param.get_help_record(ctx)):
            sections.setdefault(getattr(param, "section", Option.section), []).append(record)
    return {each: sections[each] for each in sorted(sections, key=SecondaryOption.section.__eq__)}


def _write_options(
    command: click.Command, ctx: click.Context, formatter: click.HelpFormatter
) -> None:
    for heading, records in option_sections(command, ctx).items():
        with formatter.section(heading):
            formatter.write_dl(records)


def _styled(text: str, **style: Any) -> str:
    """Colour a text, unless the user wants no colours or the terminal has none."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return text if plain else click.style(text, **style)
