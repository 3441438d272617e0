"""Options for work on many files: the number of processes, shares of the work, journals."""

import os
from contextlib import closing
from dataclasses import replace
from typing import Any

import click

import exset
from exset.cli.commands import raw_arguments
from exset.cli.options import Whole, option, options, secondary_option
from exset.cli.output import data_errors, usage_error
from exset.core.jobs import Execution
from exset.core.journal import Header, Journals, work_id
from exset.core.recorded import Record
from exset.core.shards import Shard

_GATHERED = "exset.cli.gathered"

_HOW = frozenset(
    {"jobs", "plan", "shard", "journal", "resume", "scheduler", "json", "quiet", "verbose"}
)
"""Options that change no result."""

_OUTPUTS = frozenset({"output", "experiment"})
"""Options that name the files into which a command gathers its results."""


class ShardType(click.ParamType[Shard]):
    """A share of the work, `I/N` or `auto`."""

    name = "I/N"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Shard:
        """Return the share in a text, or raise a usage error."""
        try:
            return value if isinstance(value, Shard) else Shard.parse(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


jobs_option = option(
    "-j",
    "--jobs",
    type=Whole(0),
    default=1,
    help="Use up to N processes (0: one for each core).",
)
jobs_options = options(
    jobs_option,
    option(
        "--journal",
        metavar="FILE",
        default="",
        help="Save the result of each input in this file.",
    ),
    option("--resume", is_flag=True, help="Skip inputs whose results are in the journal."),
    secondary_option(
        "--shard",
        type=ShardType(),
        metavar="I/N",
        help="Divide the work into N shares, do only share I, and save its results in --journal;"
        " auto: take I and N from the cluster's job.",
    ),
    secondary_option(
        "--scheduler",
        metavar="URL",
        default="",
        help="Run the work on the Dask cluster of this scheduler.",
    ),
    secondary_option(
        "--plan",
        metavar="FILE",
        default="",
        help="Write a plan of the work to this file, without doing the work.",
    ),
)
"""Add the options of a command that works on many files, one after another or at once."""


def taken_execution(values: dict[str, Any]) -> Execution:
    """Remove the values of `jobs_options` from `values`; return them as an `Execution`."""
    names = ("jobs", "journal", "resume", "shard", "plan", "scheduler")
    jobs, journal, resume, shard, plan, scheduler = (values.pop(name, None) for name in names)
    if jobs is None:
        return Execution()
    ctx = click.get_current_context()
    if (gathered := ctx.meta.get(_GATHERED)) is not None:
        header = gathered.headers[0]
        return Execution(gathered=gathered, work=_work(header.command, header.arguments))
    how = replace(_workers(ctx, jobs, scheduler or ""), plan=plan or "")
    if not journal:
        if resume or shard:
            usage_error("--resume and --shard need --journal FILE")
        return how
    share = (1, 1) if shard is None else (shard.index, shard.count)
    command, arguments = _command(ctx), _arguments(ctx)
    header = Header(_work(command, arguments), command, arguments, share)
    return replace(how, record=Record(journal, header, resume, shard))


def _workers(ctx: click.Context, jobs: int, scheduler: str) -> Execution:
    """Return how to run the work: on a Dask cluster, on the ranks of MPI, or in `jobs` processes.

    scheduler: the address of Dask's scheduler; "" if the user names none.
    """
    if not scheduler:
        given = ctx.find_root().obj
        return given if isinstance(given, Execution) else Execution(jobs)
    from exset.executors import dask

    with data_errors(ImportError):
        return ctx.with_resource(dask(scheduler))


def gathering(ctx: click.Context, paths: tuple[str, ...]) -> Header:
    """Let the command of a context read its results from journals.

    Return the header of the first journal. Raises FormatError for a file that is not a journal, and
    OSError for a file that cannot be read.
    """
    journals = ctx.with_resource(closing(Journals(paths)))
    ctx.meta[_GATHERED] = journals
    return journals.headers[0]


def _command(ctx: click.Context) -> tuple[str, ...]:
    """Return the words of the command's name, such as `("list", "build")`."""
    names = []
    above: click.Context | None = ctx
    while above is not None and above.parent is not None:
        names.append(above.command.name or "")
        above = above.parent
    return tuple(reversed(names))


def _arguments(ctx: click.Context) -> tuple[str, ...]:
    """Return those arguments of the command that decide its results."""
    values, _, _ = ctx.command.make_parser(ctx).parse_args([*raw_arguments(ctx)])
    left_out = _HOW if ctx.command.name == "convert" else _HOW | _OUTPUTS
    words: list[str] = []
    paths: list[str] = []
    for param in ctx.command.params:
        value = values.get(param.name or "")
        if not isinstance(value, str | bool | list | tuple):  # not on the command line
            continue
        if isinstance(param, click.Argument):
            paths += map(str, value if isinstance(value, tuple) else (value,))
        elif isinstance(param, click.Option) and param.name not in left_out:
            for each in value if isinstance(value, list) else [value]:
                texts = each if isinstance(each, tuple) else (each,)
                words += [param.opts[-1], *(() if param.is_flag else texts)]
    return (*words, "--", *paths)


def _work(command: tuple[str, ...], arguments: tuple[str, ...]) -> str:
    """Return an id of the work of a command.

    It is a hash of exset's version, the command, its arguments and the current folder.
    """
    return work_id(exset.__version__, os.getcwd(), *command, *arguments)
