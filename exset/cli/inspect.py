"""`exset info` and `exset stats`: files in numbers."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import click

from exset.cli.format_options import FormatCommand
from exset.cli.inputs import CommonOptions, jobs_option, reading_options
from exset.cli.output import Exit, for_each_file
from exset.cli.paths import some_files
from exset.cli.reports import json_option, json_rows, show_findings, tally_text, write_file_row
from exset.core.errors import Findings
from exset.core.jobs import Outcome
from exset.core.protocols import Summary
from exset.core.text import safe, size
from exset.families.format import Format


@dataclass(frozen=True)
class FileSummary:
    """The format of a file, its size in bytes, its numbers and its findings."""

    name: str
    format: Format
    bytes: int
    summary: Summary
    findings: Findings


def inspect_options(command: Callable[..., object]) -> Callable[..., object]:
    """Add the files and the options of `info` and `stats`."""
    return some_files(json_option()(reading_options(jobs_option(command))))


@click.command(cls=FormatCommand)
@inspect_options
def info(files: tuple[str, ...], common: CommonOptions) -> int:
    """Summarise files: format, counts, groups, sizes.

    \b
      exset info train.ex test.bex.gz
      exset info --json '*.sample_list' | jq .summary.samples

    With -v, exset shows the findings, too.
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
    work = partial(_summarise, common=common, full=full)
    separators = iter(("",))

    def show(outcome: Outcome[str, FileSummary]) -> int:
        if json_rows() is not None:
            _write_row(outcome)
        found = outcome.result()
        if json_rows() is None:
            click.echo(next(separators, "\n"), nl=False)
            _show(found, common.verbosity)
        return Exit.OK

    return for_each_file(work, files, show, jobs=common.jobs, action="reading")


def _summarise(path: str, common: CommonOptions, full: bool) -> FileSummary:
    file = common.load(path)
    family = file.format.family
    summary = (family.describe if full else family.summarise)(file.model)
    return FileSummary(file.source.name, file.format, len(file.source.view), summary, file.findings)


def _write_row(outcome: Outcome[str, FileSummary]) -> None:
    found = outcome.value
    write_file_row(
        outcome,
        found is not None,
        None if found is None else found.findings,
        format=found and found.format.name,
        bytes=found and found.bytes,
        summary=found and found.summary.to_dict(),
    )


def _show(found: FileSummary, verbosity: int) -> None:
    click.echo(f"{safe(found.name)}: {found.format.title}, {size(found.bytes)}")
    rows = found.summary.rows()
    if len(found.findings) and verbosity == 0:
        rows.append(("findings", f"{tally_text(found.findings)} (see exset validate)"))
    for label, text in rows:
        click.echo(f"  {label:<11} {safe(text)}")
    show_findings(found.findings, verbosity, shown=0)
