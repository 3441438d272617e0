"""`exset convert`: convert files from any format to another."""

import os
import sys
from dataclasses import dataclass
from typing import Any

import click

from exset import api, converting
from exset.cli import format_options
from exset.cli.convert_plan import Job, plan
from exset.cli.each_file import FileResult, for_each_file
from exset.cli.inputs import CommonOptions, FormatName, jobs_option, reading_options
from exset.cli.output import usage_error, write_stdout
from exset.cli.paths import some_inputs
from exset.cli.reports import json_option, json_rows, show_findings
from exset.core.text import safe


@dataclass(frozen=True, kw_only=True)
class Converted(FileResult):
    """The result of a job: the number of units, the findings, and maybe data for the terminal."""

    count: int
    data: bytes | None = None


@dataclass(frozen=True)
class Converter:
    """Converts the file of a job."""

    common: CommonOptions
    options: dict[str, Any]
    makes_folder: bool

    def __call__(self, job: Job) -> Converted:
        """Convert a file; raises FormatError and OSError as `load` and `save` do."""
        if job.target == "-" and (sys.stdout is None or sys.stdout.isatty()):
            return self._for_terminal(job)
        findings = self.common.new_findings()
        if self.makes_folder:
            os.makedirs(os.path.dirname(job.target), exist_ok=True)
        count = converting.convert(
            job.source,
            job.target,
            from_format=self.common.format,
            to=job.to,
            limits=self.common.limits,
            findings=findings,
            reading=self.common.options,
            **self.options,
        )
        return Converted(findings, count=count)

    def _for_terminal(self, job: Job) -> Converted:
        """Convert in memory: a terminal must not show half a file, nor control characters."""
        source = api.read_source(job.source, limits=self.common.limits)
        fmt = api.recognise(source, self.common.format)
        api.check_convertible(fmt.family, job.format, "", source.name)
        file = self.common.load_source(source, fmt)
        findings, to = file.findings, job.format.name
        data = api.dumps(file.model, format=to, name=source.name, findings=findings, **self.options)
        return Converted(findings, count=len(file.model), data=data)


@click.command(cls=format_options.FormatCommand)
@some_inputs
@json_option()
@click.option("-o", "--output", metavar="OUT", help="Write to this file or folder.")
@click.option("--to", metavar="FORMAT", type=FormatName(), help="Write the output in this format.")
@format_options.write_options
@reading_options
@jobs_option
def convert(
    inputs: tuple[str, ...], output: str | None, to: str | None, common: CommonOptions
) -> int:
    """Convert files to another format.

    \b
      exset convert train.ex train.bex       one file; the suffix says the format
      exset convert --to bex *.ex            each next to its input
      exset convert --to bex -o out/ *.ex    all into a folder
      exset convert - -o - --to ex < a.bex   standard input to standard output

    With -v, exset shows notes, too.
    """
    jobs = plan(inputs, output, to)
    to_stdout = any(job.target == "-" for job in jobs)
    options = _options(jobs[0], common)
    if to_stdout and json_rows() is not None:
        usage_error("--json and the file would both go to standard output: name another OUTPUT")

    def row(job: Job, done: Converted | None) -> dict[str, object]:
        return {"target": job.target, "format": job.format.name, "units": done and done.count}

    def show(job: Job, done: Converted) -> None:
        if done.data is not None:
            write_stdout(done.data, job.format)
        show_findings(done.findings, common.verbosity)
        if common.verbosity >= 0 and job.target != "-":
            count = job.format.family.counted(done.count)
            click.echo(f"{safe(job.source)} -> {safe(job.target)}: {count}", err=True)

    makes_folder = output is not None and any(job.target != output for job in jobs)
    return for_each_file(
        Converter(common, options, makes_folder),
        jobs,
        row=row,
        show=show,
        jobs=common.jobs,
        action="converting",
        visible=to_stdout,
    )


def _options(job: Job, common: CommonOptions) -> dict[str, Any]:
    """Return the user's options of writers, which the target format of the job must have."""
    options: dict[str, Any] = format_options.values(writing=True)
    for name in options:
        if job.format.option(name) is None:
            switch = format_options.switch(name, writing=True)
            usage_error(f"unknown option {switch} of {job.format.name} ({safe(job.target)})")
    job.format.chosen(options)
    if common.access.roots:
        unset = {each.name: each.untrusted for each in job.format.options if each.untrusted}
        options = {**unset, **options}
    return options
