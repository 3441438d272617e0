"""`exset report`: write a page about files, for a browser."""

from collections.abc import Sequence

import click

from exset.cli.commands import Command
from exset.cli.inputs import CommonOptions, access_options, base_option, reading_options
from exset.cli.options import option, secondary_option
from exset.cli.output import data_errors, require_option
from exset.cli.paths import some_files
from exset.cli.plot_options import batch_options
from exset.cli.reports import Report, json_option
from exset.core.errors import Findings
from exset.core.text import counted, safe
from exset.io import files as io_files


@click.command(cls=Command)
@some_files
@option("-o", "--output", metavar="FILE", required=True, help="Write the page to this .html file.")
@option("--title", metavar="TEXT", help="Give the page this title.")
@option("--whole", is_flag=True, help="Read all of a large file, not only its beginning.")
@json_option("files", "counts", "findings", output="output")
@batch_options
@secondary_option("--column", metavar="NAME", help="Take the labels of batches from this column.")
@base_option
@access_options
@reading_options
def report(
    files: Sequence[str],
    output: str,
    title: str | None,
    whole: bool,
    base: str,
    width: int | None,
    samples: int | None,
    sampler: str,
    seed: int,
    column: str | None,
    common: CommonOptions,
) -> Report:
    """Write an HTML page about files: findings, statistics, pictures.

    \b
      exset report train.ex test.ex -o report.html
      exset report --base /data train.tsv -o report.html
      exset report speakers.csv -o report.html -n 8 -m 4 --column speaker

    The page is a single file, which loads nothing and runs nothing. exset reads only the beginning
    of a large file; the page says how much was read. Reports need matplotlib and jinja2: pip
    install 'exset[plot]'.
    """
    from exset.plotting import BatchOptions
    from exset.reporting import ReportOptions, report_of
    from exset.reports.page import page

    batches = None
    if width is not None and samples is not None:
        batches = BatchOptions(width, samples, sampler, seed)
    else:
        require_option("both -n and -m", "width", "samples", "sampler", "seed", "column")
    how = ReportOptions(
        whole,
        base,
        common.access,
        common.format,
        common.limits,
        common.options,
        batches,
        column,
    )
    found, pages = Findings(), []
    with data_errors(ImportError):
        for number, path in enumerate(files):
            about, findings = report_of(path, how, number)
            pages.append(about)
            found.add_all(findings)
        io_files.write(output, page(title or "exset report", pages))
    status = [f"{safe(output)}: {counted(len(files), 'file')}"]
    return Report({"files": len(files)}, found, status=status, shown=0)
