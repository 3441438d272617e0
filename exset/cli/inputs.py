"""Options that many commands have: for reading files, for access to files, and for processes."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial, wraps
from typing import Any, TypeVar

import click

from exset import api, formats, steps, streaming
from exset.cli import format_options
from exset.cli.executions import taken_execution
from exset.cli.options import Decorator, option, options, secondary_option
from exset.cli.output import Exit, progress, usage_error
from exset.cli.paths import allowed_folders
from exset.core.callers import OptionError
from exset.core.errors import Finding, Findings, FormatError, Severity, with_source_name
from exset.core.jobs import Execution
from exset.core.limits import Limits
from exset.core.protocols import Model
from exset.core.source import Source
from exset.core.text import safe
from exset.families.format import Format
from exset.families.option import named
from exset.io.access import Access
from exset.io.folders import Folder
from exset.streaming import OpenFile, OpenFolder

M = TypeVar("M", bound=Model)


@dataclass(frozen=True)
class LoadedFile:
    """A file that was read: its name, its format, the model and the findings."""

    name: str
    format: Format
    model: Model
    findings: Findings


@dataclass(frozen=True)
class CommonOptions:
    """The options of all commands that read files.

    - `options`: the options of readers.
    - `view`: the options for showing a file as a table.
    - `access`: which of the files that a file names may be opened, and how.
    - `verbosity`: -1 with `--quiet`, 1 with `--verbose`, else 0.
    - `findings`: the findings of all files, for a command that reports them together.
    """

    format: str | None
    options: dict[str, Any]
    view: dict[str, Any]
    limits: Limits
    strict: bool
    access: Access
    verbosity: int
    jobs: Execution
    findings: Findings

    @property
    def reading(self) -> dict[str, Any]:
        """The arguments for any reader. The reader adds its findings to `findings`."""
        return {"limits": self.limits, "findings": self.findings}

    @property
    def probing(self) -> dict[str, Any]:
        """The arguments for any function that opens HDF5 files."""
        return {"limits": self.limits, "access": self.access, "jobs": self.isolated}

    @property
    def isolated(self) -> Execution:
        """How to run work in which the HDF5 library may crash."""
        return replace(self.jobs, isolated=True)

    def prepare(self, module: str) -> None:
        """Start the process for such work, which loads the module that has the work.

        Call this before this process loads the module.
        """
        if self.jobs.executor is None and self.jobs.gathered is None:
            from exset.core.isolation import prepare

            prepare(module)

    def showing(self, action: str) -> "CommonOptions":
        """Return the same options, but let the terminal show the progress of the work.

        action: what the command does, as a verb.
        """
        return replace(self, jobs=replace(self.jobs, watch=partial(progress, action=action)))

    def load(self, path: str) -> LoadedFile:
        """Read a file. Raises FormatError and OSError as `exset.load` does."""
        source = api.read_input(path, self.format, limits=self.limits, roots=self.access.roots)
        return self.load_source(source, api.recognise(source, self.format))

    def load_source(self, source: Source | Folder, fmt: Format) -> LoadedFile:
        """Read a source of the format `fmt`; errors as for `load`."""
        findings, how = self.new_findings(), self.reading_of(fmt)
        model = fmt.read(source, limits=self.limits, findings=findings, **how)
        return self.shown(LoadedFile(source.name, fmt, model, findings))

    def reading_of(self, fmt: Format) -> dict[str, Any]:
        """Return the options that the reader of a format has. The other options are for tables."""
        return {name: self.options[name] for name in self.options if not _is_of_table(fmt, name)}

    def is_table(self, fmt: Format) -> bool:
        """Whether a file of a format is shown as a table."""
        return bool(self.view) or any(_is_of_table(fmt, name) for name in self.options)

    def shown(self, file: LoadedFile) -> LoadedFile:
        """Return a file as a table if the user set options of tables; else return it unchanged.

        The new format is CSV, or JSON Lines if CSV cannot store the table.
        """
        fmt = file.format
        if not self.is_table(fmt):
            return file
        from exset.grammars.columns.strings import Strings
        from exset.grammars.tables.columns import Numbers

        others = self.options.keys() - self.reading_of(fmt).keys()
        given = {**self.view, **{name: self.options[name] for name in others}}
        level, noun = given.pop(format_options.LEVEL, "meant"), fmt.family.noun
        with with_source_name(file.name, noun, findings=file.findings) as findings:
            table = steps.table_of(
                file.model,
                fmt,
                given,
                level=level,
                findings=findings,
                limits=self.limits,
                is_untrusted=bool(self.access.roots),
            )
        is_flat = all(isinstance(each, Numbers | Strings) for each in table.columns.values())
        return replace(file, format=formats.get("csv" if is_flat else "jsonl"), model=table)

    def opened(self, path: str, few: bool = False) -> AbstractContextManager[OpenFile | OpenFolder]:
        """Open a file to read it in chunks. `few`: the argument of `streaming.opened`."""
        how: dict[str, Any] = {"limits": self.limits, "roots": self.access.roots}
        return streaming.opened(path, format=self.format, few=few, **how)

    def load_model(self, path: str, model: type[M], format: str | None = None) -> M:
        """Read a file that must contain a model of the class `model`; collect its findings.

        `format`: the format if the user names none.
        """
        fmt = self.format or format
        return api.load(path, model=model, format=fmt, **self.reading, **self.options)

    def chunks(self, path: str, model: type[M]) -> Iterator[M]:
        """Yield a file's model, in chunks if the file is large; raises like `load_model`."""
        with self.opened(path) as file:
            api.checked_class(file.format, model, file.name)
            for chunk in file.models(self.findings, **self.options):
                assert isinstance(chunk, model)
                yield chunk

    def new_findings(self, findings: Iterable[Finding] = ()) -> Findings:
        """Return a collection of these findings. With `--strict`, a warning raises FormatError."""
        collected = Findings(strict=self.strict)
        for finding in findings:
            collected.add(finding)
        return collected

    def is_failure(self, findings: Findings) -> bool:
        """Return whether a check failed: it has errors or, with `--strict`, warnings."""
        worst = findings.worst
        return worst is Severity.ERROR or (self.strict and worst is Severity.WARNING)

    def exit_of(self, findings: Findings) -> Exit:
        """Return the exit code of a check that gave these findings."""
        if findings.count("limit"):
            return Exit.LIMIT
        return Exit.BAD_FILE if self.is_failure(findings) else Exit.OK


def _is_of_table(fmt: Format, name: str) -> bool:
    """Return whether the option `name` belongs to tables, and not to the format's reader."""
    is_read = named(fmt.read_options, name) is not None
    return not is_read and named(fmt.family.table_options, name) is not None


def _with_common_options(command: Callable[..., object]) -> Callable[..., object]:
    @wraps(command)
    def with_common_options(
        *args: object,
        limits: Limits,
        strict: bool,
        untrusted: bool,
        quiet: bool,
        verbose: bool,
        from_format: str | None = None,
        roots: tuple[str, ...] = (),
        follow_links: bool = False,
        allow_plugins: bool = False,
        no_locking: bool = False,
        **rest: object,
    ) -> object:
        common = CommonOptions(
            format=from_format,
            options=format_options.values("read"),
            view=format_options.values("view"),
            limits=limits,
            strict=strict,
            access=Access(
                roots=allowed_folders(roots, untrusted),
                links=follow_links,
                plugins=allow_plugins,
                locking=False if no_locking else None,
            ),
            verbosity=verbose - quiet,
            jobs=taken_execution(rest),
            findings=Findings(strict=strict),
        )
        try:
            return command(*args, common=common, **rest)
        except OptionError as error:
            usage_error(safe(str(error)))

    return with_common_options


class FormatName(click.Choice[str]):
    """The name of a format of exset or of another package."""

    def __init__(self) -> None:
        """Offer the names of exset's formats; nothing is imported."""
        super().__init__(formats.names())

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name of a format. For an unknown name, a usage error lists the formats."""
        try:
            return formats.get(value).name
        except FormatError:
            raise
        except ValueError as error:
            self.fail(str(error), param, ctx)


def _parse_limits(ctx: click.Context, option: click.Parameter, values: tuple[str, ...]) -> Limits:
    pairs = [value.partition("=") for value in values]
    for name, equals, _ in pairs:
        if not equals:
            raise click.BadParameter(f"{name} is not of the form NAME=VALUE", ctx, option)
    try:
        return Limits().with_(**{name.strip(): value.strip() for name, _, value in pairs})
    except ValueError as error:
        raise click.BadParameter(str(error), ctx, option) from None


base_option = option(
    "--base", metavar="FOLDER", default="", help="Resolve relative paths from this folder."
)
roots_option = secondary_option(
    "--root",
    "roots",
    metavar="FOLDER",
    multiple=True,
    is_eager=True,  # needed to check the paths in lists of files
    help="Open no file outside of this folder.",
)
access_options = options(
    secondary_option(
        "--follow-links",
        is_flag=True,
        help="Follow links in HDF5 files, and read datasets whose data is in other files.",
    ),
    roots_option,
    secondary_option(
        "--allow-plugins", is_flag=True, help="Let HDF5 load its plugins to decompress data."
    ),
    secondary_option(
        "--no-locking", is_flag=True, help="Do not lock HDF5 files (for parallel file systems)."
    ),
)
"""Add the options for access to HDF5 files; must be above `common_options`."""

verbosity_options = options(
    secondary_option(
        "-q", "--quiet", is_flag=True, help="Print only results and errors, no other messages."
    ),
    secondary_option("-v", "--verbose", is_flag=True, help="Print more: notes and explanations."),
)
"""Add `--quiet` and `--verbose` to a command that reads no file."""

common_options = options(
    option("--strict", is_flag=True, help="Treat warnings as errors."),
    verbosity_options,
    secondary_option(
        "--untrusted",
        is_flag=True,
        is_eager=True,  # as `--root`
        help="Open only files in the folders of --root, by default in the current folder.",
    ),
    secondary_option(
        "--limit",
        "limits",
        metavar="NAME=VALUE",
        multiple=True,
        callback=_parse_limits,
        help="Change a safety limit, such as max_depth=64.",
    ),
    _with_common_options,
)
"""Add the options of all commands that read files; the command gets them as `common`."""

_from_option = option(
    "--from",
    "from_format",
    metavar="FORMAT",
    type=FormatName(),
    help="Read as this format (default: detected).",
)

reading_options = options(_from_option, format_options.read_options, common_options)
"""Add the options of `common_options`, `--from`, and the options of all readers."""


view_options = options(reading_options, format_options.view_options)
"""Add `reading_options` and the options of tables, for commands that show a file."""


def reading_options_of(name: str) -> Decorator:
    """Add `reading_options` to a command that reads only the family of the format `name`."""
    return options(_from_option, format_options.read_options_of(name), common_options)
