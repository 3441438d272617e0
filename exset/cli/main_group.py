"""The group of all commands: it imports a command on use, and turns errors into exit codes."""

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from typing import Any

import click

from exset.cli import commands
from exset.cli.byte_progress import ByteProgress
from exset.cli.output import Exit, report_error
from exset.cli.reports import write_failure
from exset.core import progress
from exset.core.errors import FormatError
from exset.core.jobs import WorkerError
from exset.core.plan import PlanWritten
from exset.core.recorded import JournalError, ShareDone
from exset.core.text import counted, safe


class MainGroup(commands.Group):
    """The group of all commands: it imports a command on use, and turns errors into exit codes.

    `sections`: the sections of the help, by heading. A section has modules of `exset.cli`, each
    with the names of its commands. In "module:name", `name` is what the module calls the command.
    """

    def __init__(self, *, sections: Mapping[str, Mapping[str, str]], **attributes: Any) -> None:
        """Declare the commands of each section; import none of them yet."""
        super().__init__(**attributes)
        self.sections = sections
        self.modules = {
            name: f"exset.cli.{module}"
            for modules in sections.values()
            for module, names in modules.items()
            for name in names.split()
        }

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands in the order of the help."""
        return list(self.modules)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Import a command and return it. Return None if the name is unknown."""
        if name not in self.modules:
            from exset.core.suggestions import similar

            if (near := similar(name, self.modules, 2)) and not ctx.resilient_parsing:
                ctx.fail(f"No such command {name!r}. Did you mean {' or '.join(map(repr, near))}?")
            return None
        module, _, attribute = self.modules[name].partition(":")
        command: click.Command = getattr(import_module(module), attribute or name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands, section by section."""
        width = max(map(len, self.modules))
        for heading, modules in self.sections.items():
            with formatter.section(heading):
                formatter.write_dl(
                    [
                        (f"{name:<{width}}", command.get_short_help_str(formatter.width))
                        for name in " ".join(modules.values()).split()
                        if (command := self.get_command(ctx, name)) is not None
                    ]
                )

    def invoke(self, ctx: click.Context) -> object:
        """Run a command. Turn errors of files and of the system into messages and exit codes."""
        try:
            try:
                with progress.listening(ByteProgress()):
                    return super().invoke(ctx)
            finally:
                if sys.stdout is not None:  # None if it was closed before the start
                    sys.stdout.flush()
        except PlanWritten as plan:
            click.echo(f"{safe(plan.path)}: {counted(plan.units, 'unit')} of work", err=True)
            return None
        except ShareDone as share:
            click.echo(_share_text(share), err=True)
            return None
        except BrokenPipeError:
            # Redirect standard output, so that the flush at exit cannot fail.
            with suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            ctx.exit(Exit.BROKEN_PIPE)
        except (FormatError, OSError) as error:
            write_failure(error)
            ctx.exit(report_error(error))
        except JournalError as error:
            write_failure(error.error)
            ctx.exit(report_error(error.error))
        except WorkerError as error:
            click.echo(f"exset: {safe(str(error))}", err=True)
            ctx.exit(Exit.SYSTEM)
        except MemoryError:
            click.echo("exset: not enough memory", err=True)
            ctx.exit(Exit.SYSTEM)
        except KeyboardInterrupt:
            click.echo("exset: interrupted", err=True)
            ctx.exit(Exit.INTERRUPTED)
        except click.exceptions.NoArgsIsHelpError:
            raise
        except click.UsageError as error:
            lines = error.format_message().expandtabs(4).split("\n")
            raise click.UsageError("\n".join(map(safe, lines)), error.ctx) from None


def _share_text(share: ShareDone) -> str:
    """Return what a share of the work did, in words."""
    failed = f", {share.failed:,} of them with an error" if share.failed else ""
    units = counted(share.units, "unit")
    return f"{safe(share.record.file)}: share {share.record.shard}, {units} of work{failed}"
