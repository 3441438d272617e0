"""Commands and options whose help is in sections; commands report what they return."""

import os
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache, partial
from importlib import import_module
from typing import Any

import click

from exset.cli.output import Exit, echo_stderr, report_error
from exset.cli.reports import Report, write_failure
from exset.core import notices
from exset.core.errors import FormatError
from exset.core.text import safe


class Option(click.Option):
    """An option in a section of the help; the help omits the range of a number."""

    section: str = "Options"

    def get_help_extra(self, ctx: click.Context) -> Any:
        """Return what follows the help in brackets."""
        extra = super().get_help_extra(ctx)
        extra.pop("range", None)
        return extra


class SecondaryOption(Option):
    """An option that few people need: its section is the last one."""

    section: str = "More options"


option = partial(click.option, cls=Option)
"""Declare an option; arguments as of `click.option`."""

secondary_option = partial(click.option, cls=SecondaryOption)
"""Declare a secondary option; arguments as of `click.option`."""


class HelpFormatter(click.HelpFormatter):
    """Formats help in colour; click removes the colours where the output is no terminal."""

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
    """A context whose help has colours."""

    formatter_class = HelpFormatter


class Command(click.Command):
    """A command that returns a `Report`, an exit code, or nothing."""

    context_class = Context

    def invoke(self, ctx: click.Context) -> object:
        """Run the command, write its report, and exit with its code."""
        result = super().invoke(ctx)
        if isinstance(result, Report):
            result = result.write(ctx)
        if result:
            ctx.exit(result)
        return None

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, the secondary ones last."""
        _write_options(self, ctx, formatter)


class Group(click.Group):
    """A command that has commands of its own."""

    context_class = Context
    command_class = Command

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands, then the options."""
        self.format_commands(ctx, formatter)
        _write_options(self, ctx, formatter)


class MainGroup(Group):
    """The group of all commands: it imports them when used, and turns errors into exit codes.

    `sections` maps the heading of each section of the help to its commands. Each command has the
    name of its module, or "module:name" where its name in the module is another.
    """

    def __init__(self, *, sections: Mapping[str, Mapping[str, str]], **attributes: Any) -> None:
        """Declare the commands; nothing is imported."""
        super().__init__(**attributes)
        self.sections = sections
        self.modules = {
            name: module for names in sections.values() for name, module in names.items()
        }

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands in the order of the help."""
        return list(self.modules)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Import a command and return it; None if the name is unknown."""
        if name not in self.modules:
            from difflib import get_close_matches

            if (near := get_close_matches(name, self.modules, 1)) and not ctx.resilient_parsing:
                ctx.fail(f"No such command {name!r}. Did you mean {near[0]!r}?")
            return None
        module, _, attribute = self.modules[name].partition(":")
        command: click.Command = getattr(import_module(module), attribute or name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands, section by section."""
        width = max(map(len, self.modules))
        for heading, names in self.sections.items():
            with formatter.section(heading):
                formatter.write_dl(
                    [
                        (f"{name:<{width}}", command.get_short_help_str(formatter.width))
                        for name in names
                        if (command := self.get_command(ctx, name)) is not None
                    ]
                )

    def invoke(self, ctx: click.Context) -> object:
        """Run a command; errors of files and of the system become messages and exit codes."""
        try:
            try:
                with notices.listening(cache(lambda text: echo_stderr(f"exset: {safe(text)}"))):
                    return super().invoke(ctx)
            finally:
                if sys.stdout is not None:  # None if it was closed before the start
                    sys.stdout.flush()
        except BrokenPipeError:
            _discard_stdout()
            ctx.exit(Exit.BROKEN_PIPE)
        except (FormatError, OSError) as error:
            write_failure(error)
            ctx.exit(report_error(error))
        except MemoryError:
            echo_stderr("exset: not enough memory")
            ctx.exit(Exit.SYSTEM)
        except KeyboardInterrupt:
            echo_stderr("exset: interrupted")
            ctx.exit(Exit.INTERRUPTED)
        except click.exceptions.NoArgsIsHelpError:
            raise
        except click.UsageError as error:
            lines = error.format_message().expandtabs(4).split("\n")
            raise click.UsageError("\n".join(map(safe, lines)), error.ctx) from None


def _write_options(
    command: click.Command, ctx: click.Context, formatter: click.HelpFormatter
) -> None:
    sections: dict[str, list[tuple[str, str]]] = {}
    for param in command.get_params(ctx):
        if isinstance(param, click.Option) and (record := param.get_help_record(ctx)):
            sections.setdefault(getattr(param, "section", Option.section), []).append(record)
    for heading in sorted(sections, key=SecondaryOption.section.__eq__):
        with formatter.section(heading):
            formatter.write_dl(sections[heading])


def _styled(text: str, **style: Any) -> str:
    """Colour a text, unless the user wants no colours or the terminal has none."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return text if plain else click.style(text, **style)


def _discard_stdout() -> None:
    """Redirect standard output to the null device, so that the flush at exit cannot fail."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
