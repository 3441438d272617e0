"""`exset info` and `exset stats`: summarise files in numbers."""

from dataclasses import dataclass
from functools import partial
from typing import Final

import click

from exset import formats
from exset.cli.each_file import FileResult, for_each_file
from exset.cli.executions import jobs_options
from exset.cli.format_options import FormatCommand
from exset.cli.inputs import CommonOptions, reading_options
from exset.cli.options import options
from exset.cli.paths import some_files
from exset.cli.reports import json_option, show_findings, tally_text
from exset.core.text import safe, size

_LABEL: Final = 11
"""The usual width of a label."""


@dataclass(frozen=True, kw_only=True)
class FileSummary(FileResult):
    """The name and format of a file, its size in bytes, and its summary, as numbers and as text."""

    name: str
    format: str
    bytes: int
    numbers: dict[str, object]
    rows: list[tuple[str, str]]


inspect_options = options(some_files, json_option(), reading_options, jobs_options)
"""Add the files and the options of `info` and `stats`."""


@click.command(cls=FormatCommand)
@inspect_options
def info(files: tuple[str, ...], common: CommonOptions) -> int:
    """Summarise files: format, counts, groups, sizes.

    \b
      exset info train.ex test.bex.gz
      exset info --json '*.sample_list' | jq .summary.samples

    With -v, exset shows the findings, too. Large Lens files and manifests are read in chunks, which
    takes little memory.
    """
    return _inspect(files, common, full=False)


@click.command(cls=FormatCommand)
@inspect_options
def stats(files: tuple[str, ...], common: CommonOptions) -> int:
    """Summarise files in full: all counts and distributions.

    \b
      exset stats train.ex

    This includes the output of "exset info", and may take longer.
    """
    return _inspect(files, common, full=True)


def _inspect(files: tuple[str, ...], common: CommonOptions, full: bool) -> int:
    separators = iter(("",))

    def show(path: str, found: FileSummary) -> None:
        click.echo(next(separators, "\n"), nl=False)
        _show(found, common.verbosity)

    work = partial(_summarise, common=common.in_worker, full=full)
    return for_each_file(
        work, files, row=_row, show=show, jobs=common.jobs, action="reading", returns=FileSummary
    )


def _summarise(path: str, common: CommonOptions, full: bool) -> FileSummary:
    findings = common.new_findings()
    with common.opened(path) as file:
        models = file.models(findings, **common.options)
        summary = file.format.family.summarise(models, detailed=full)
        return FileSummary(
            name=file.name,
            format=file.format.name,
            numbers=summary.to_dict(),
            rows=summary.rows(),
            bytes=file.size,
            findings=findings,
        )


def _row(path: str, found: FileSummary | None) -> dict[str, object]:
    return {
        "format": found and found.format,
        "bytes": found and found.bytes,
        "summary": found and found.numbers,
    }


def _show(found: FileSummary, verbosity: int) -> None:
    click.echo(f"{safe(found.name)}: {formats.get(found.format).title}, {size(found.bytes)}")
    rows = [*found.rows]
    if len(found.findings) and verbosity == 0:
        rows.append(("findings", f"{tally_text(found.findings)} (see exset validate)"))
    width = max(_LABEL, *(len(label) for label, _ in rows))
    for label, text in rows:
        click.echo(f"  {label:<{width}} {safe(text)}")
    show_findings(found.findings, verbosity, shown=0)
