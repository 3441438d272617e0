"""Output of the commands: data to standard output, messages to standard error, exit codes."""

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import IntEnum
from typing import NoReturn

import click

from exset.core.errors import Finding, FormatError, LimitError
from exset.core.outcome import Item, Outcome, Value, part_of
from exset.core.progress import listening
from exset.core.text import for_command_line, safe, size
from exset.families.format import Format
from exset.io import remote
from exset.io.atomic_write import FULL


class Exit(IntEnum):
    """The exit codes."""

    OK = 0
    BAD_FILE = 1
    USAGE = 2
    SYSTEM = 3
    LIMIT = 4
    INTERRUPTED = 130
    BROKEN_PIPE = 141


def write_stdout(data: bytes, fmt: Format) -> None:
    """Write a file's bytes to standard output. A terminal gets only text, with escapes."""
    if sys.stdout is None:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF), "standard output")
    if not sys.stdout.isatty():
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    elif fmt.binary:
        data_error(f"{fmt.name} is a binary format, not for a terminal: use -o FILE or redirect")
    else:
        for line in data.decode("utf-8", "surrogateescape").splitlines():
            click.echo("\t".join(map(safe, line.split("\t"))))


def usage_error(message: str) -> NoReturn:
    """Raise a UsageError, which gives exit code 2."""
    raise click.UsageError(message, click.get_current_context(silent=True))


class _DataError(click.ClickException):
    exit_code = Exit.USAGE


def data_error(message: str) -> NoReturn:
    """Raise an error for arguments that do not fit the data: exit code 2, without a usage line."""
    raise _DataError(message)


@contextmanager
def argument_errors(prefix: str = "") -> Iterator[None]:
    """In this context, raise a ValueError as a usage error; leave a FormatError as it is.

    prefix: a text before the message.
    """
    try:
        yield
    except FormatError:
        raise
    except ValueError as error:
        usage_error(prefix + safe(str(error)))


@contextmanager
def data_errors(also: type[Exception] = ValueError) -> Iterator[None]:
    """In this context, raise ValueErrors, and errors of the class `also`, as a `data_error`.

    FormatErrors stay as they are.
    """
    try:
        yield
    except FormatError:
        raise
    except (ValueError, also) as error:
        data_error(safe(str(error)))


def require_option(needed: str, *names: str) -> None:
    """Raise a usage error if the user set an option of `names` without the option `needed`."""
    ctx = click.get_current_context()
    for param in ctx.command.params:
        source = ctx.get_parameter_source(param.name or "")
        if param.name in names and source is not click.core.ParameterSource.DEFAULT:
            usage_error(f"{param.opts[-1]} needs {needed}")


def progress(
    outcomes: Iterator[Outcome[Item, Value]],
    count: int,
    /,
    *,
    action: str,
    is_share: bool,
    visible: bool = False,
) -> Iterator[Outcome[Item, Value]]:
    """Show how many files are done, their bytes, and how many failed; yield outcomes unchanged.

    This is a `Watch`. A part of a large file counts as a file. exset shows the progress only if
    standard error is a terminal. `visible`: whether the command writes results. exset shows no
    progress if a terminal shows these results. A share of the work writes no results. A file counts
    as failed if its outcome is an error, or a value whose exit code, `exit`, is not OK.
    """
    is_hidden = visible and not is_share and sys.stdout is not None and sys.stdout.isatty()
    if count < 2 or not sys.stderr.isatty() or is_hidden:
        yield from outcomes
        return
    from rich import progress as bars
    from rich.console import Console

    bar = bars.Progress(
        bars.TextColumn("{task.description}", markup=False),
        bars.BarColumn(),
        bars.MofNCompleteColumn(),
        bars.TextColumn("{task.fields[text]}", markup=False),
        bars.TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        redirect_stdout=False,
    )
    done, failures = 0, 0
    with listening(None), bar:  # two bars cannot be shown at once
        row = bar.add_task(action, total=count, text="")
        for outcome in outcomes:
            with suppress(OSError, ValueError):
                parts = (part_of(outcome.item) or "1/1").partition("/")[2]
                done += os.stat(outcome.item).st_size // int(parts)
            if outcome.error or getattr(outcome.value, "exit", Exit.OK) is not Exit.OK:
                failures += 1
            text = f"{size(done)}, {failures:,} failed" if failures else size(done)
            bar.update(row, advance=1, text=text)
            yield outcome


def report_error(error: FormatError | OSError) -> Exit:
    """Write the message of an error to standard error, and return its exit code."""
    if isinstance(error, FormatError):
        click.echo(str(error.changed(Finding.for_command_line)), err=True)
        return Exit.LIMIT if isinstance(error, LimitError) else Exit.BAD_FILE
    click.echo(f"exset: {_reason(error)}", err=True)
    return Exit.SYSTEM


def _reason(error: OSError) -> str:
    """Return the message of a system error, in one line that is safe to show."""
    why = safe(for_command_line(error.strerror or str(error)))
    if error.filename is None:  # errors of files being written have file names
        return f"standard output: {why}" if error.errno in FULL else why
    path = os.fsdecode(error.filename)
    if error.errno == errno.ENOENT and "://" not in path and set("*?[") & set(path):
        return f"no file matches {safe(path)}"
    folder = "" if remote.is_remote(path) else os.path.dirname(path)
    if error.errno == errno.ENOENT and folder and not os.path.isdir(folder):
        why += f": the folder '{safe(folder)}' does not exist"
    return f"{safe(path)}: {why}"
