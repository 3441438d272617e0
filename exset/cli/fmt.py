"""`exset fmt`: give files canonical white space in place."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import click

from exset import api, formatting
from exset.cli.each_file import FileResult, for_each_file
from exset.cli.executions import jobs_options
from exset.cli.format_options import FormatCommand
from exset.cli.inputs import CommonOptions, reading_options
from exset.cli.options import option
from exset.cli.output import Exit, usage_error, write_stdout
from exset.cli.paths import some_files
from exset.cli.reports import json_option, json_rows
from exset.core.errors import Findings, FormatError, Place
from exset.core.source import Source
from exset.core.text import safe
from exset.families.format import Format
from exset.io import files as io_files
from exset.io.compression import compressed_alike

_HINT: Final = "download the file, or convert the sample to a file"


@dataclass(frozen=True, kw_only=True)
class Formatted(FileResult):
    """The result of `exset fmt` for a file: whether the file was not in canonical form.

    text: the canonical text, only for standard input.
    """

    format: Format
    changed: bool
    text: bytes | None = None


@dataclass(frozen=True)
class Formatter:
    """Gives a file canonical white space. With `check`, only finds out whether it has this."""

    common: CommonOptions
    check: bool

    def __call__(self, path: str) -> Formatted:
        """Format a file. Raises FormatError and OSError. After an error, the file is unchanged."""
        common = self.common
        source = api.read_input(
            path, common.format, limits=common.limits, roots=common.access.roots
        )
        fmt = api.recognise(source, common.format)
        if not isinstance(source, Source) or (path != "-" and not source.path):
            message = "exset formats only files on this machine"
            raise FormatError(message, place=Place(source.name), hint=_HINT, code="format")
        text = formatting.canonical_text(
            source, fmt, limits=common.limits, engine="auto", options=common.options
        )
        changed = text != source.data
        if changed and not self.check and path != "-":
            io_files.write(source.path, compressed_alike(text, source.path))
        failed = Exit.BAD_FILE if changed and self.check else Exit.OK
        shown = text if path == "-" and not self.check else None
        return Formatted(Findings(), failed, format=fmt, changed=changed, text=shown)


@click.command(cls=FormatCommand)
@some_files
@option("--check", is_flag=True, help="Write nothing; exit with 1 if exset would change a file.")
@json_option()
@reading_options
@jobs_options
def fmt(files: Sequence[str], check: bool, common: CommonOptions) -> int:
    """Format files in place: change nothing but white space.

    \b
      exset fmt train.ex test.ex
      exset fmt --check '**/*.ex' '**/*.sample_list'
      exset fmt - < train.ex > tidy.ex

    exset formats Lens text, sample lists, schemas, manifests and loader configurations. A file that
    exset cannot read stays as it is.
    """
    if "-" in files and not check and json_rows() is not None:
        usage_error("--json and the text would both go to standard output: use --check")

    def show(path: str, done: Formatted) -> None:
        if done.text is not None:
            write_stdout(done.text, done.format)
            return
        if not done.changed:
            verdict = "unchanged" if not check else "ok"
        else:
            verdict = "not canonical" if check else "formatted"
        if common.verbosity >= (1 if verdict in ("unchanged", "ok") else 0):
            click.echo(f"{safe('<stdin>' if path == '-' else path)}: {verdict}")

    return for_each_file(
        Formatter(common, check),
        files,
        row=lambda path, done: {
            "format": done and done.format.name,
            "changed": done and done.changed,
        },
        show=show,
        jobs=common.jobs,
        action="formatting",
        returns=Formatted,
    )
