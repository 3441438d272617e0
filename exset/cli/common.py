"""What all verbs share: exit codes, how errors and findings are shown, the common options."""

import errno
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache, wraps
from importlib import import_module
from typing import Any, NoReturn, TypeVar, cast

import click

from exset import formats
from exset.core import notices
from exset.core.errors import Finding, Findings, FormatError, LimitError, Place, Severity, safe
from exset.core.jobs import Item, Outcome, Value
from exset.core.text import counted
from exset.families.format import Format
from exset.io import remote
from exset.io.access import Access
from exset.io.atomic_write import FULL

DIALECTS = tuple(dict.fromkeys(name for known in formats.FORMATS for name in known.dialects))
"""The versions of aeon for which manifests and loader configurations are."""

FINE, BAD, USAGE, FAILED, LIMIT, INTERRUPTED, PIPE = 0, 1, 2, 3, 4, 130, 141

FAILED_ROW = "exset.cli.failed_row"
"""Where in click's `meta` a verb leaves what writes an error as JSON, if that is wanted."""

ALL = 100
"""How many findings of each kind are shown with -v."""

_DEFAULT = click.core.ParameterSource.DEFAULT

Command = TypeVar("Command", bound=Callable[..., object])
T = TypeVar("T")


class Verbs(click.Group):
    """The group of all verbs: turns what a user may meet into one line and an exit code.

    homes: the module of each verb, which is imported when the verb is asked for; "module:name"
    where the command has another name there.
    """

    def __init__(self, *, homes: Mapping[str, str], **attributes: Any) -> None:
        """Name the verbs; nothing is imported."""
        super().__init__(**attributes)
        self.homes = homes

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the verbs in the order in which they were given, the order of use."""
        return list(self.homes)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Return a verb, or None if there is none of that name."""
        if name not in self.homes:
            from difflib import get_close_matches

            if (near := get_close_matches(name, self.homes, 1)) and not ctx.resilient_parsing:
                ctx.fail(f"No such command {name!r}. Did you mean {near[0]!r}?")
            return None
        home, _, attribute = self.homes[name].partition(":")
        found: click.Command = getattr(import_module(home), attribute or name)
        return found

    def invoke(self, ctx: click.Context) -> object:
        """Run a verb; no error of a file or of the system leaves it as a traceback."""
        try:
            try:
                with notices.heard_by(_once()):
                    return super().invoke(ctx)
            finally:
                if sys.stdout is not None:  # as it is where it was closed before we began
                    sys.stdout.flush()
        except BrokenPipeError:
            _silence()
            ctx.exit(PIPE)
        except (FormatError, OSError) as error:
            if failed := ctx.meta.get(FAILED_ROW):
                failed(error)
            ctx.exit(report(error))
        except MemoryError:
            say("exset: not enough memory")
            ctx.exit(FAILED)
        except KeyboardInterrupt:
            say("exset: interrupted")
            ctx.exit(INTERRUPTED)
        except click.exceptions.NoArgsIsHelpError:
            raise
        except click.UsageError as error:
            lines = error.format_message().expandtabs(4).split("\n")
            message = "\n".join(map(safe, lines))
            raise click.UsageError(message, error.ctx) from None


def each(
    outcomes: Iterable[Outcome[Item, Value]], act: Callable[[Outcome[Item, Value]], int]
) -> int:
    """Do something with what came of every file: an error is reported, the rest goes on.

    Returns the worst exit code.
    """
    worst = FINE
    for outcome in outcomes:
        try:
            code = act(outcome)
        except BrokenPipeError:
            raise
        except (FormatError, OSError) as error:
            code = report(error)
        worst = max(worst, code)
    return worst


def report(error: FormatError | OSError) -> int:
    """Say what went wrong, and return its exit code."""
    if isinstance(error, FormatError):
        say(str(error))
        return LIMIT if isinstance(error, LimitError) else BAD
    say(f"exset: {reason(error)}")
    return FAILED


def as_finding(error: FormatError | OSError) -> Finding:
    """Return an error as a finding; what the system has against a file has the code `system`."""
    if isinstance(error, FormatError):
        return error.finding
    place = None if error.filename is None else Place.of(os.fsdecode(error.filename))
    return Finding("system", Severity.ERROR, error.strerror or str(error), place)


def reason(error: OSError) -> str:
    """Return what the system has against a file, in a line that is safe to show."""
    why = safe(error.strerror or str(error))
    if error.errno == errno.ENOENT and (missing := _missing_folder(error.filename)):
        return f"{safe(os.fsdecode(error.filename))}: {why}: there is no folder {safe(missing)}"
    if error.filename is None:  # files that are written are named, if there is no room for them
        return f"standard output: {why}" if error.errno in FULL else why
    return f"{safe(os.fsdecode(error.filename))}: {why}"


def _missing_folder(name: object) -> str | None:
    """Return the folder of a file, if there is none."""
    path = os.fsdecode(name) if isinstance(name, str | bytes) else ""
    folder = "" if remote.is_remote(path) else os.path.dirname(path)
    return folder if folder and not os.path.isdir(folder) else None


def progress(outcomes: Iterable[T], count: int, what: str, *, shown: bool = False) -> Iterable[T]:
    """Show on a terminal, on standard error alone, how many of several files are done.

    shown: that what comes of each goes to standard output; a terminal is shown that instead.
    """
    if count < 2 or not sys.stderr.isatty() or (shown and sys.stdout and sys.stdout.isatty()):
        return outcomes
    return _tracked(outcomes, count, what)


def _tracked(outcomes: Iterable[T], count: int, what: str) -> Iterator[T]:
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    with Progress(console=console, transient=True, redirect_stdout=False) as bar:
        yield from bar.track(outcomes, count, description=what)


def say(text: str) -> None:
    """Talk to the user, on standard error; the text is safe already."""
    click.echo(text, err=True)


def put(data: bytes, known: Format) -> None:
    """Write a file's bytes to standard output; a terminal gets text alone, and that made safe."""
    if sys.stdout is None:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF), "standard output")
    if not sys.stdout.isatty():
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    elif known.binary:
        wrong(f"{known.title}, is not for a terminal: say where to with -o FILE, or redirect")
    else:
        for line in data.decode("utf-8", "surrogateescape").splitlines():
            click.echo("\t".join(map(safe, line.split("\t"))))


def together(with_: str, *names: str) -> None:
    """Refuse parameters that were given and mean nothing without the option `with_`."""
    ctx = click.get_current_context()
    for param in ctx.command.params:
        if param.name in names and ctx.get_parameter_source(param.name) is not _DEFAULT:
            wrong(f"{param.opts[-1]} means nothing without {with_}")


def wrong(message: str) -> NoReturn:
    """Refuse what the user asked for: exit code 2."""
    raise click.UsageError(message, click.get_current_context(silent=True))


def lines(findings: Findings, keep: int, notes: bool = True) -> Iterator[str]:
    """Yield the findings as text, the first `keep` of each code and then how many more."""
    seen: Counter[str] = Counter()
    for finding in findings:
        if finding.severity is Severity.NOTE and not notes:
            continue
        seen[finding.code] += 1
        if seen[finding.code] <= keep:
            yield _line(finding)
    for code in seen:
        if (more := findings.count(code) - min(seen[code], keep)) > 0:
            yield f"... and {more:,} more [{code}]"


def tally(findings: Findings) -> dict[Severity, int]:
    """Return how many findings of each severity there were, kept or not."""
    codes = {finding.code: finding.severity for finding in findings}
    counts = dict.fromkeys(Severity, 0)
    for code, severity in codes.items():
        counts[severity] += findings.count(code)
    return counts


def tallied(findings: Findings) -> str:
    """Return the tally in words, `1 error, 2 warnings`; nothing for none."""
    return ", ".join(
        counted(count, severity) for severity, count in tally(findings).items() if count
    )


class FormatName(click.Choice[str]):
    """The name of a format: exset's own are shown, those of other packages are taken, too."""

    def __init__(self) -> None:
        """Take the names there are; nothing is imported."""
        super().__init__(formats.names())

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name of a format; a usage error lists those there are."""
        try:
            return formats.get(value).name
        except FormatError:
            raise
        except ValueError as error:
            self.fail(str(error), param, ctx)


def jobs_option(command: Command) -> Command:
    """Add `--jobs N`, how many processes work on several files."""
    return click.option(
        "-j",
        "--jobs",
        metavar="N",
        type=click.IntRange(min=0),
        default=1,
        help="Work on N files at a time, in processes of their own; 0: one for each core.",
    )(command)


def access_options(command: Command) -> Command:
    """Add what may be done to get at HDF5 files, which a command takes as `access`.

    It goes outside of the options that all verbs share, of which it looks at `--untrusted`.
    """

    @wraps(command)
    def accessing(
        *args: object,
        follow_links: bool,
        roots: tuple[str, ...],
        untrusted: bool,
        no_locking: bool,
        **rest: object,
    ) -> object:
        locking = False if no_locking else None
        access = replace(allowed(roots, untrusted), links=follow_links, locking=locking)
        return command(*args, access=access, untrusted=untrusted, **rest)

    links = click.option("--follow-links", is_flag=True, help="Follow links in HDF5 files.")
    unlocked = click.option(
        "--no-locking", is_flag=True, help="Lock no HDF5 file, as parallel file systems want."
    )
    return cast(Command, links(roots_option(unlocked(accessing))))


def allowed(roots: tuple[str, ...], untrusted: bool) -> Access:
    """Return what may be opened: what lies in some folders, or with none and `untrusted` here."""
    return Access(roots=roots or ((os.curdir,) if untrusted else ()))


roots_option = click.option(
    "--root",
    "roots",
    metavar="FOLDER",
    multiple=True,
    is_eager=True,  # for lists of files
    help="Open no file outside of it.",
)


def _line(finding: Finding) -> str:
    """Return a finding as text; one that is no error says so after its place."""
    text = str(finding)
    place = "" if finding.place is None else f"{finding.place}: "
    if finding.severity is Severity.ERROR or not text.startswith(place):
        return text
    return f"{place}{finding.severity}: {text[len(place) :]}"


def _once() -> Callable[[str], None]:
    """Return what shows what the library says, such as that kernels are compiled, once each."""
    return cache(lambda text: say(f"exset: {safe(text)}"))


def _silence() -> None:
    """Leave nothing in the buffer of standard output that could fail once more at the exit."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
