"""`exset gather`: join the results of the shares of a command."""

from collections.abc import Sequence

import click

from exset.cli.commands import Command
from exset.cli.executions import gathering
from exset.cli.inputs import verbosity_options
from exset.cli.paths import files_argument
from exset.core.errors import FormatError, Place
from exset.core.journal import Header


@click.command(cls=Command)
@files_argument("journals", "JOURNAL...")
@click.option(
    "-o", "--output", metavar="FILE", help="Write the joined list or schema to this file."
)
@click.option(
    "--experiment", metavar="FILE", help="Write the joined experiment schema to this file."
)
@click.option("--json", "as_json", is_flag=True, help="Print results as JSON, one object per line.")
@verbosity_options
@click.pass_context
def gather(
    ctx: click.Context,
    journals: Sequence[str],
    output: str | None,
    experiment: str | None,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> object:
    """Join the results of a command that ran in several shares (--shard).

    \b
      exset validate --shard 1/2 --journal shares/ 'data/*.ex'
      exset validate --shard 2/2 --journal shares/ 'data/*.ex'
      exset gather 'shares/*'

    The journals name the command, and have the results of its shares. From these results, exset
    makes the output and the exit code that the command would have without --shard. exset does not
    process the files again; it only joins the converted parts of large files. Run "exset gather" in
    the folder in which the shares ran.
    """
    header = gathering(ctx, tuple(journals))
    command = _command(ctx, journals[0], header)
    given = {"--output": output, "--experiment": experiment}
    words = [word for name, value in given.items() if value for word in (name, value)]
    flags = {"--json": as_json, "--quiet": quiet, "--verbose": verbose}
    words += [name for name, is_set in flags.items() if is_set]
    with command.make_context(header.command[-1], [*words, *header.arguments], parent=ctx) as below:
        return command.invoke(below)


def _command(ctx: click.Context, path: str, header: Header) -> click.Command:
    """Return the command that wrote the journal `path`, which must be one that supports --shard.

    header: the journal's first line.
    """
    command: click.Command | None = ctx.find_root().command
    for name in header.command:
        command = command.get_command(ctx, name) if isinstance(command, click.Group) else None
    if command is None or not any(param.name == "shard" for param in command.params):
        message = f"the journal is of {' '.join(header.command)!r}, which has no option --shard"
        raise FormatError(message, place=Place(path), code="journal")
    return command
