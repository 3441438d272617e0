"""`exset help`: the help of a command."""

import click

from exset.cli.commands import Command
from exset.cli.output import usage_error


@click.command(cls=Command)
@click.argument("command", nargs=-1)
@click.pass_context
def show_help(ctx: click.Context, command: tuple[str, ...]) -> None:
    """Show the help of a command.

    \b
      exset help convert
      exset help list build

    This is the same as "exset COMMAND --help".
    """
    shown = ctx.find_root()
    for name in command:
        group = shown.command
        if not isinstance(group, click.Group):
            usage_error(f"no command {name!r}: {shown.command_path} has no subcommands")
        found = group.get_command(shown, name)
        if found is None:
            usage_error(f"No such command {name!r}.")
        shown = found.context_class(found, parent=shown, info_name=name)
    click.echo(shown.command.get_help(shown), color=ctx.color)
