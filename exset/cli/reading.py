"""What the verbs that work on files of any format share: which files, and how they are read."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import TypeVar, cast

import click

from exset import api, files, samples
from exset.cli.frame import FAILED_ROW, as_finding, from_option, limit_option, read_options
from exset.errors import Findings, FormatError, safe
from exset.format import Format
from exset.jobs import Item, Outcome, Value
from exset.limits import DEFAULT, Limits
from exset.protocols import Model, Option
from exset.source import Source

SCHEMA = 1
"""The version of what `--json` writes; it changes when a key goes or means something else."""

_JSON = "exset.cli.json"

LISTED = "@"
"""What an argument begins with that names a file of paths."""

Command = TypeVar("Command", bound=Callable[..., object])


@dataclass(frozen=True)
class Read:
    """A file that was read: its bytes, its format, what it says and what was found on the way."""

    source: Source
    format: Format
    model: Model
    findings: Findings


@dataclass(frozen=True)
class Reading:
    """How files are read."""

    format: str | None
    options: dict[str, Option]
    limits: Limits
    strict: bool

    def __call__(self, path: str) -> Read:
        """Read a file; FormatError and OSError as those of `load`."""
        source = api.read_source(path, limits=self.limits)
        return self.of(source, api.recognise(source, self.format))

    def of(self, source: Source, known: Format) -> Read:
        """Read a source that is known to be of a format."""
        findings = Findings(strict=self.strict)
        model = known.read(
            source, limits=self.limits, findings=findings, engine="auto", **self.options
        )
        return Read(source, known, model, findings)


def reading_options(command: Command) -> Command:
    """Add all that says how files are read, which a command takes as a `Reading`."""

    @wraps(command)
    def gathering(
        *args: object,
        from_format: str | None,
        reading: dict[str, Option],
        limits: Limits,
        strict: bool,
        **rest: object,
    ) -> object:
        return command(*args, reading=Reading(from_format, reading, limits, strict), **rest)

    strict = click.option(
        "--strict", is_flag=True, help="Take every trap of a format for an error."
    )
    return cast(Command, strict(from_option(read_options(limit_option(gathering)))))


def voice_options(command: Command) -> Command:
    """Add `-q` and `-v`, which a command takes as `voice`: -1, 0 or 1."""

    @wraps(command)
    def speaking(*args: object, quiet: bool, verbose: bool, **rest: object) -> object:
        return command(*args, voice=verbose - quiet, **rest)

    quiet = click.option("-q", "--quiet", is_flag=True, help="Say nothing of what went well.")
    verbose = click.option("-v", "--verbose", is_flag=True, help="Say more.")
    return cast(Command, quiet(verbose(speaking)))


def expanded(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> tuple[str, ...]:
    """Return the files that are meant by arguments; the callback of arguments that are paths."""
    if ctx.resilient_parsing:
        return given
    found = tuple(named(given))
    if given and not found:
        raise click.BadParameter("the lists name no file", ctx, param)
    return found


def alone(ctx: click.Context, param: click.Parameter, given: str) -> str:
    """Return the one file that is meant by an argument; the callback of one that is a path."""
    if ctx.resilient_parsing:
        return given
    found = list(named((given,)))
    if len(found) != 1:
        raise click.BadParameter(
            f"one file is wanted, {safe(given)} names {len(found):,}", ctx, param
        )
    return found[0]


def json_option(*keys: str, **given: str) -> Callable[[Command], Command]:
    """Add `--json`, for one object: `wants_json` tells whether it was given, `write_one` writes it.

    keys: those of the object besides schema, ok and error; given: keys that have the value of a
    parameter, each with its name. All are there, too, if the verb fails: keys are null then.
    """

    def keep(ctx: click.Context, param: click.Parameter, wanted: bool) -> None:
        def fail(error: FormatError | OSError) -> None:
            named = {key: ctx.params.get(name) for key, name in given.items()}
            row = named | dict.fromkeys(keys)
            write_one(row, ok=False, error=as_finding(error).to_dict())

        ctx.meta[_JSON] = wanted
        if wanted:
            ctx.meta[FAILED_ROW] = fail

    return click.option(
        "--json", is_flag=True, expose_value=False, callback=keep, help="One JSON object."
    )


def wants_json() -> bool:
    """Whether `json_option` was given."""
    return bool(click.get_current_context().meta.get(_JSON))


as_json = click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")


def files_argument(name: str, metavar: str) -> Callable[[Command], Command]:
    """Add an argument of one file or more, which may be patterns and lists: see `named`."""
    return click.argument(
        name, metavar=metavar, nargs=-1, required=True, type=click.Path(), callback=expanded
    )


some_files = files_argument("files", "FILE...")
some_inputs = files_argument("inputs", "INPUT... [OUTPUT]")
one_file = click.argument("file", type=click.Path(), callback=alone)


def named(paths: Iterable[str]) -> Iterator[str]:
    """Yield the files that are meant: those of an `@list`, and those that are like a pattern.

    A list has a path a line, which stands for itself. A pattern with `*`, `?`, `[` or `**` is for
    shells that do not expand it, or was quoted; one that nothing is like stays as it is, and there
    will be no such file.
    """
    for path in paths:
        if path.startswith(LISTED):
            text = files.read(path.removeprefix(LISTED), limits=DEFAULT).data
            yield from (os.fsdecode(line) for line in text.splitlines() if line.strip())
        elif set("*?[") & set(path) and "://" not in path and not os.path.lexists(path):
            yield from _alike(path) or [path]
        else:
            yield path


def _alike(pattern: str) -> list[str]:
    """Return the files, or bundled samples, whose names are like a pattern, sorted."""
    if pattern.startswith(samples.PREFIX):
        from fnmatch import filter as alike

        bare = pattern.removeprefix(samples.PREFIX)
        return [samples.PREFIX + name for name in alike(samples.names(), bare)]
    from glob import glob

    return sorted(glob(pattern, recursive=True))


def row_of(outcome: Outcome[Item, Value], ok: bool) -> dict[str, object]:
    """Return what the JSON of every file begins with."""
    error = None if outcome.error is None else as_finding(outcome.error).to_dict()
    path: str | os.PathLike[str] = outcome.item
    return {"schema": SCHEMA, "file": os.fspath(path), "ok": ok, "error": error}


def write_one(row: Mapping[str, object], *, ok: bool = True, error: object = None) -> None:
    """Write the one JSON object of a verb."""
    write_row({"schema": SCHEMA, "ok": ok, "error": error, **row})


def write_row(row: dict[str, object]) -> None:
    """Write one JSON object as a line of ASCII, so that nothing in it can reach a terminal."""
    import json

    click.echo(json.dumps(row, allow_nan=False))
