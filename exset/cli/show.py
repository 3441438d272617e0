"""`exset cat` and `exset head`: print a file as text, or its first examples or records."""

from dataclasses import replace
from typing import Any

import click

from exset import api, formats
from exset.cli.format_options import FormatCommand
from exset.cli.inputs import CommonOptions, LoadedFile, view_options
from exset.cli.options import Whole, option, options
from exset.cli.output import data_error
from exset.cli.paths import one_file
from exset.cli.reports import Report, tally_text
from exset.core.errors import Severity, with_source_name
from exset.core.protocols import Selectable
from exset.core.text import safe, with_article

text_options = options(
    view_options,
    option("--compact", is_flag=True, help="Print text with as few bytes as possible."),
    option(
        "--unshare",
        is_flag=True,
        help="Copy a list that several events share, if text cannot express the sharing.",
    ),
    option("--lossy", is_flag=True, help="Drop what the text cannot store, and report it."),
)
"""Add the options of text output, as parameters of the command."""


@click.command(cls=FormatCommand)
@one_file
@text_options
def cat(file: str, common: CommonOptions, **writing: bool) -> Report:
    """Print a file as text, whatever its format.

    \b
      exset cat train.bex
      exset cat - < train.bex.gz | less
    """
    return _as_text(common.load(file), writing, common.verbosity)


@click.command(cls=FormatCommand)
@one_file
@option(
    "-n",
    "--units",
    "count",
    type=Whole(0),
    default=10,
    help="Print N examples or records (default: 10).",
)
@text_options
def head(file: str, count: int, common: CommonOptions, **writing: bool) -> Report:
    """Print the first examples or records of a file as text.

    \b
      exset head -n 2 train.bex

    exset reads only the beginning of a Lens file or a manifest, as far as it needs.
    """
    return _as_text(_first(file, count, common), writing, common.verbosity)


def _first(path: str, count: int, common: CommonOptions) -> LoadedFile:
    """Read the first units of a file, such as examples. Raise UsageError if it has no units."""
    findings, chunks, left = common.new_findings(), [], count
    with common.opened(path, few=True) as file:
        fmt = file.format
        how = common.reading_of(fmt)
        if common.is_table(fmt):  # the whole file decides the columns
            found = common.shown(LoadedFile(file.name, fmt, file.model(findings, **how), findings))
            assert isinstance(found.model, Selectable), "it is a table"
            return replace(found, model=found.model.select(slice(count)))
        for chunk in file.models(findings, **how):
            if not isinstance(chunk, Selectable):
                noun = with_article(fmt.family.noun)
                data_error(f"exset head cannot select {fmt.family.unit}s of {noun}: use exset cat")
            chunks.append(chunk.select(slice(left)))
            left -= len(chunks[-1])
            if left <= 0:
                break
    model = fmt.family.joined(chunks)
    return LoadedFile(file.name, fmt, model, findings)


def _as_text(file: LoadedFile, writing: dict[str, Any], verbosity: int) -> Report:
    """Return a report whose `data` is the file as text. writing: the options of the writer."""
    findings, name = file.findings, file.name
    with with_source_name(name):
        fmt = formats.text_of(file.format)
    data = api.dumps(file.model, format=fmt.name, name=name, findings=findings, **writing)
    report = Report(findings=findings, shown=0, data=data, fmt=fmt)
    if verbosity == 0 and findings.worst not in (None, Severity.NOTE):
        report.status = [f"{safe(name)}: {tally_text(findings)} (see exset validate)"]
    return report
