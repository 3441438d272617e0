"""What the verbs that work on files of any format share: which files, and how they are read."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import wraps
from typing import TypeVar, cast

import click

from exset import api, samples
from exset.cli.common import DIALECTS, FAILED_ROW, FormatName, allowed, as_finding, tally, wrong
from exset.core.errors import Finding, Findings, FormatError, safe
from exset.core.jobs import Item, Outcome, Value
from exset.core.limits import DEFAULT, Limits
from exset.core.protocols import Model, Option
from exset.core.source import Source
from exset.families.format import Format, OptionError
from exset.io import files
from exset.io.access import lies_in

SCHEMA = 1
"""The version of what `--json` writes; it changes when a key goes or means something else."""

_JSON = "exset.cli.json"

PATH = click.Path(readable=False)
"""The type of paths; whether a file may be read shows when it is read, and the others go on."""

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
    """How files are read, and how much is said of them: what all verbs that read have in common."""

    format: str | None
    options: dict[str, Option]
    limits: Limits
    strict: bool
    untrusted: bool
    voice: int
    """-1 to say nothing of what went well, 1 to say more, else 0."""

    def __call__(self, path: str) -> Read:
        """Read a file; FormatError and OSError as those of `load`."""
        source = api.read_source(path, limits=self.limits)
        return self.of(source, api.recognise(source, self.format))

    def of(self, source: Source, known: Format) -> Read:
        """Read a source that is known to be of a format."""
        findings = self.findings()
        model = known.read(
            source, limits=self.limits, findings=findings, engine="auto", **self.options
        )
        return Read(source, known, model, findings)

    def findings(self, given: Iterable[Finding] = ()) -> Findings:
        """Return what collects findings, and has these; FormatError for what strict refuses."""
        heard = Findings(strict=self.strict)
        for finding in given:
            heard.add(finding)
        return heard


def common_options(command: Command) -> Command:
    """Add what all verbs that read have in common, which a command takes as a `Reading`."""

    @wraps(command)
    def gathering(
        *args: object,
        limits: Limits,
        strict: bool,
        untrusted: bool,
        quiet: bool,
        verbose: bool,
        from_format: str | None = None,
        ids: str | None = None,
        from_dialect: str | None = None,
        **rest: object,
    ) -> object:
        chosen = {"ids": ids, "dialect": from_dialect}
        options: dict[str, Option] = {
            name: value for name, value in chosen.items() if value is not None
        }
        reading = Reading(from_format, options, limits, strict, untrusted, voice=verbose - quiet)
        try:
            return command(*args, reading=reading, **rest)
        except OptionError as error:
            wrong(safe(str(error)))

    strict = click.option(
        "--strict", is_flag=True, help="Take every trap of a format for an error."
    )
    limit = click.option(
        "--limit",
        "limits",
        metavar="NAME=VALUE",
        multiple=True,
        callback=_limits,
        help="Change a limit, such as max_depth=64.",
    )
    untrusted = click.option(
        "--untrusted",
        is_flag=True,
        is_eager=True,  # for lists of files
        help="Open no file outside of the current folder, or of those of --root.",
    )
    return cast(Command, strict(untrusted(limit(_quiet(_verbose(gathering))))))


def reading_options(command: Command) -> Command:
    """Add what `common_options` adds, and what says of which format files are."""
    ids = click.option(
        "--ids",
        type=click.Choice(["text", "integer"]),
        help="What the ids of a sample list are, which it does not say itself.",
    )
    dialect = click.option(
        "--from-dialect",
        type=click.Choice(DIALECTS),
        help="What version of aeon a manifest is for, which is guessed otherwise.",
    )
    known = click.option("--from", "from_format", type=FormatName(), help="Read as this format.")
    return known(ids(dialect(common_options(command))))


def voice_options(command: Command) -> Command:
    """Add `-q` and `-v` to a verb that reads nothing, which takes them as `voice`: -1, 0 or 1."""

    @wraps(command)
    def speaking(*args: object, quiet: bool, verbose: bool, **rest: object) -> object:
        return command(*args, voice=verbose - quiet, **rest)

    return cast(Command, _quiet(_verbose(speaking)))


_quiet = click.option("-q", "--quiet", is_flag=True, help="Say nothing of what went well.")
_verbose = click.option("-v", "--verbose", is_flag=True, help="Say more.")


def _limits(ctx: click.Context, option: click.Parameter, values: tuple[str, ...]) -> Limits:
    pairs = [value.partition("=") for value in values]
    for name, equals, _ in pairs:
        if not equals:
            raise click.BadParameter(f"NAME=VALUE is wanted, not {name}", ctx, option)
    try:
        return Limits.parse({name.strip(): value.strip() for name, _, value in pairs})
    except ValueError as error:
        raise click.BadParameter(str(error), ctx, option) from None


def expanded(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> tuple[str, ...]:
    """Return the files that are meant by arguments; the callback of arguments that are paths."""
    if ctx.resilient_parsing:
        return given
    found = tuple(named(given, _roots(ctx)))
    if given and not found:
        raise click.BadParameter("the lists name no file", ctx, param)
    return found


def alone(ctx: click.Context, param: click.Parameter, given: str) -> str:
    """Return the one file that is meant by an argument; the callback of one that is a path."""
    if ctx.resilient_parsing:
        return given
    found = list(named((given,), _roots(ctx)))
    if len(found) != 1:
        raise click.BadParameter(
            f"one file is wanted, {safe(given)} names {len(found):,}", ctx, param
        )
    return found[0]


def json_option(*keys: str, **given: str) -> Callable[[Command], Command]:
    """Add `--json`, for objects that are of no file: `wants_json` tells whether it was given.

    `write_one` writes one.

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
        "--json", is_flag=True, expose_value=False, callback=keep, help="JSON, an object a line."
    )


def wants_json() -> bool:
    """Whether `json_option` was given."""
    return bool(click.get_current_context().meta.get(_JSON))


as_json = click.option("--json", "as_json", is_flag=True, help="JSON, an object a line.")


def files_argument(name: str, metavar: str) -> Callable[[Command], Command]:
    """Add an argument of one file or more, which may be patterns and lists: see `named`."""
    return click.argument(
        name, metavar=metavar, nargs=-1, required=True, type=PATH, callback=expanded
    )


some_files = files_argument("files", "FILE...")
some_inputs = files_argument("inputs", "INPUT... [OUTPUT]")


def file_argument(name: str, metavar: str) -> Callable[[Command], Command]:
    """Add an argument of one file, which may be a pattern or a list of one: see `named`."""
    return click.argument(name, metavar=metavar, type=PATH, callback=alone)


one_file = file_argument("file", "FILE")


def named(paths: Iterable[str], roots: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield the files that are meant: those of an `@list`, and those that are like a pattern.

    A list has a path a line, which stands for itself. A pattern with `*`, `?`, `[` or `**` is for
    shells that do not expand it, or was quoted; one that nothing is like stays as it is, and there
    will be no such file. BadParameter for what a list names outside of the roots, if there are any;
    OSError for a folder that may not be read.
    """
    for path in paths:
        if path.startswith(LISTED):
            text = files.read(path.removeprefix(LISTED), limits=DEFAULT).data
            for line in filter(bytes.strip, text.splitlines()):
                name = os.fsdecode(line)
                if roots and ("://" in name or not lies_in(name, roots)):
                    raise click.BadParameter(
                        f"{safe(path)}: {safe(name)} lies outside of {safe(', '.join(roots))}"
                    )
                yield name
        elif set("*?[") & set(path) and "://" not in path and not os.path.lexists(path):
            yield from _alike(path) or [path]
        else:
            yield path


def _roots(ctx: click.Context) -> tuple[str, ...]:
    """Return the folders that files must lie in that a list names; none if any will do."""
    return allowed(ctx.params.get("roots", ()), ctx.params.get("untrusted", False)).roots


def _alike(pattern: str) -> list[str]:
    """Return the files, or bundled samples, whose names are like a pattern, sorted."""
    if pattern.startswith(samples.PREFIX):
        from fnmatch import filter as alike

        bare = pattern.removeprefix(samples.PREFIX)
        return [samples.PREFIX + name for name in alike(samples.names(), bare)]
    from glob import glob

    if not (found := sorted(glob(pattern, recursive=True))):
        # Of a folder that may not be read it says nothing: that is as if it were empty.
        before = os.path.dirname(re.split(r"[*?[]", pattern, maxsplit=1)[0])
        with suppress(FileNotFoundError, NotADirectoryError):
            os.scandir(before or os.curdir).close()
    return found


def found(findings: Findings) -> dict[str, object]:
    """Return what the JSON of every verb that reads ends with."""
    return {"counts": tally(findings), "findings": [finding.to_dict() for finding in findings]}


def row_of(outcome: Outcome[Item, Value], ok: bool) -> dict[str, object]:
    """Return what the JSON of every file begins with."""
    error = None if outcome.error is None else as_finding(outcome.error).to_dict()
    path: str | os.PathLike[str] = outcome.item
    return {"schema": SCHEMA, "file": os.fspath(path), "ok": ok, "error": error}


def write_one(row: Mapping[str, object], *, ok: bool = True, error: object = None) -> None:
    """Write a JSON object that is of no file alone."""
    write_row({"schema": SCHEMA, "ok": ok, "error": error, **row})


def write_row(row: dict[str, object]) -> None:
    """Write one JSON object as a line of ASCII, so that nothing in it can reach a terminal."""
    import json

    click.echo(json.dumps(row, allow_nan=False))
