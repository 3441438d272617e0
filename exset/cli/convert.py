"""`exset convert`: convert files from any format to another."""

import os
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import click

from exset import api, converting, formats
from exset.cli import format_options
from exset.cli.convert_parts import Converted, Divider, PartJob, convert_part
from exset.cli.convert_plan import Job, plan
from exset.cli.each_file import for_each_file
from exset.cli.executions import jobs_options
from exset.cli.inputs import CommonOptions, FormatName, reading_options
from exset.cli.options import option, secondary_option
from exset.cli.output import usage_error, write_stdout
from exset.cli.paths import some_inputs
from exset.cli.reports import json_option, json_rows, show_findings
from exset.core.protocols import Level
from exset.core.text import safe, size
from exset.io.atomic_write import make_folders
from exset.steps import Steps


@dataclass(frozen=True)
class Converter:
    """Converts a file, as a `Job` describes, or a part of a file."""

    common: CommonOptions
    options: dict[str, Any]
    makes_folder: bool
    level: Level | None
    dry_run: bool

    @property
    def is_untrusted(self) -> bool:
        """Whether the user limits the folders in which files may be opened."""
        return bool(self.common.access.roots)

    def __call__(self, job: Job | PartJob) -> Converted:
        """Convert a file or a part of it. Raises the errors of `load` and `save`."""
        if isinstance(job, PartJob):
            return convert_part(job, self.common, self.options)
        return self.whole(job)

    def whole(self, job: Job) -> Converted:
        """Convert a file as a whole; raises FormatError and OSError."""
        if job.target == "-" and not self.dry_run and (sys.stdout is None or sys.stdout.isatty()):
            return self._for_terminal(job)
        findings = self.common.new_findings()
        if self.makes_folder and not self.dry_run:
            make_folders(os.path.dirname(job.target))
        done = converting.conversion(
            job.source,
            job.target,
            from_format=self.common.format,
            to=job.to,
            level=self.level,
            dry_run=self.dry_run,
            limits=self.common.limits,
            findings=findings,
            reading=self.common.options,
            engine="auto",
            options=self.options,
            roots=self.common.access.roots,
        )
        findings.sort(lines_first=True)
        return Converted(findings, count=done.count, size=done.size)

    def _for_terminal(self, job: Job) -> Converted:
        """Convert a file and return its bytes, which a terminal will show.

        A terminal must not show an incomplete file or control characters.
        """
        how: dict[str, Any] = {"limits": self.common.limits, "roots": self.common.access.roots}
        source = api.read_input(job.source, self.common.format, **how)
        fmt = api.recognise(source, self.common.format)
        api.check_convertible(fmt.family, job.format, "", source.name)
        common, untrusted = self.common, self.is_untrusted
        steps = Steps.of(fmt, job.format, self.options, common.options, is_untrusted=untrusted)
        findings, limits = common.new_findings(), common.limits
        reading: dict[str, Any] = {"limits": limits, "findings": findings, **steps.read}
        model = fmt.read(source, **reading)
        model = steps.converted(
            model, job.format, source.name, level=self.level, findings=findings, limits=limits
        )
        writing: dict[str, Any] = {"findings": findings, **steps.write}
        data = api.dumps(model, format=job.format.name, name=source.name, **writing)
        findings.sort(lines_first=True)
        return Converted(findings, count=len(model), data=data)


@click.command(cls=format_options.FormatCommand)
@some_inputs
@json_option()
@click.option("-o", "--output", metavar="OUT", help="Write to this file or folder.")
@click.option("--to", metavar="FORMAT", type=FormatName(), help="Write the output in this format.")
@option(
    "-n", "--dry-run", is_flag=True, help="Write nothing; report what would be written or lost."
)
@secondary_option(
    "--level",
    type=click.Choice(["said", "meant"]),
    help="said: store in a table only the values that the file writes; meant: store dense arrays"
    " with all defaults filled in.",
)
@format_options.write_options
@format_options.table_options
@reading_options
@jobs_options
def convert(
    inputs: Sequence[str],
    output: str | None,
    to: str | None,
    dry_run: bool,
    level: Level | None,
    common: CommonOptions,
) -> int:
    """Convert files to another format.

    \b
      exset convert train.ex train.bex       one file; the suffix sets the format
      exset convert --to bex *.ex            each next to its input
      exset convert --to bex -o out/ *.ex    all into a folder
      exset convert - -o - --to ex < a.bex   standard input to standard output
      exset convert -n train.ex train.npz    report what would be lost

    With -v, exset shows notes, too.
    """
    jobs = plan(inputs, output, to, common.format)
    to_stdout = not dry_run and jobs.writes_stdout
    options = _options(jobs[0])
    if to_stdout and json_rows() is not None:
        usage_error("--json and the file would both go to standard output: name another OUTPUT")

    def row(job: Job, done: Converted | None) -> dict[str, object]:
        sizes = {"bytes": done and done.size, "written": False} if dry_run else {}
        units = done and done.count
        return {"target": job.target, "format": job.format.name, "units": units, **sizes}

    def show(job: Job, done: Converted) -> None:
        if done.data is not None:
            write_stdout(done.data, job.format)
        show_findings(done.findings, common.verbosity)
        if common.verbosity >= 0 and (dry_run or job.target != "-"):
            count = job.format.family.counted(done.count)
            if dry_run:
                count = f"{count}, {size(done.size or 0)}; nothing is written"
            click.echo(f"{safe(job.source)} -> {safe(job.target)}: {count}", err=True)

    how = common.jobs
    converter = Converter(common, options, jobs.folder is not None, level, dry_run)
    # Parts are written twice: this pays only if others write them, too.
    can_divide = not dry_run and (how.workers > 1 or how.is_partial)
    divider = Divider(converter.whole, common, options)
    with nullcontext() if how.is_partial else divider.removed_at_end():
        return for_each_file(
            converter,
            jobs,
            row=row,
            show=show,
            jobs=how,
            action="converting",
            visible=to_stdout,
            returns=Converted,
            divider=divider if can_divide else None,
        )


def _options(job: Job) -> dict[str, Any]:
    """Return the options of writers and of tables that the user set.

    Raises a usage error for an option of another format's writer that tables do not have.
    """
    options: dict[str, Any] = format_options.values("write")
    of_tables = {option.name for family in formats.families() for option in family.table_options}
    for name in options:
        if job.format.option(name) is None and name not in of_tables:
            switch = format_options.switch(name, "write")
            usage_error(
                f"the format {job.format.name} of {safe(job.target)} has no option {switch}"
            )
    return {**options, **format_options.values("table")}
