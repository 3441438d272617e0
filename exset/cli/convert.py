"""`exset convert`: files of any format to another."""

import os
import sys
from dataclasses import dataclass

import click

from exset import api, converting, formats, samples
from exset.cli import format_options
from exset.cli.inputs import (
    CommonOptions,
    FormatName,
    jobs_option,
    reading_options,
)
from exset.cli.output import Exit, echo_stderr, for_each_file, usage_error, write_stdout
from exset.cli.paths import some_inputs
from exset.cli.reports import json_option, json_rows, show_findings, write_file_row
from exset.core.errors import Findings
from exset.core.jobs import Outcome
from exset.core.protocols import OptionValue
from exset.core.text import safe
from exset.families.format import Format
from exset.io.access import is_file, is_folder


@dataclass(frozen=True)
class Job:
    """A conversion of one file to a format; as a path-like object, it is the source."""

    source: str
    target: str
    format: Format

    def __fspath__(self) -> str:
        """Return the path of the source."""
        return self.source


@dataclass(frozen=True)
class Converted:
    """The result of a job: how many units, the findings, and perhaps data for the terminal."""

    count: int
    findings: Findings
    data: bytes | None


@dataclass(frozen=True)
class Converter:
    """Converts the file of a job."""

    common: CommonOptions
    options: dict[str, OptionValue]
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
            to=job.format.name,
            strict=False,
            limits=self.common.limits,
            findings=findings,
            reading=self.common.options,
            engine="auto",
            **self.options,
        )
        return Converted(count, findings, None)

    def _for_terminal(self, job: Job) -> Converted:
        """Convert in memory: a terminal must not show half a file, nor control characters."""
        source = api.read_source(job.source, limits=self.common.limits)
        fmt = api.recognise(source, self.common.format)
        api.check_convertible(fmt, job.format, source)
        file = self.common.load_source(source, fmt)
        findings, to = file.findings, job.format.name
        data = api.dumps(file.model, format=to, name=source.name, findings=findings, **self.options)
        return Converted(len(file.model), findings, data)


@click.command(cls=format_options.FormatCommand)
@some_inputs
@json_option()
@click.option("-o", "--output", metavar="OUT", help="Write to this file or folder.")
@click.option("--to", type=FormatName(), help="Write this format.")
@format_options.write_options
@reading_options
@jobs_option
def convert(
    inputs: tuple[str, ...],
    output: str | None,
    to: str | None,
    common: CommonOptions,
) -> int:
    """Convert files to another format.

    \b
      exset convert train.ex train.bex       one file; the suffix says the format
      exset convert --to bex *.ex            each beside its input
      exset convert --to bex -o out/ *.ex    all into a folder
      exset convert - -o - --to ex < a.bex   standard input to standard output

    With -v, exset shows notes, too.
    """
    options = format_options.values(writing=True)
    tasks = plan(inputs, output, to)
    for job in tasks:
        for name in options:
            if job.format.option(name) is None:
                switch = format_options.switch(name, writing=True)
                usage_error(f"{switch} is not an option of {job.format.name} ({safe(job.target)})")
        job.format.chosen(options)
    to_stdout = any(job.target == "-" for job in tasks)
    if to_stdout and json_rows() is not None:
        usage_error("--json and the file would both go to standard output: name another OUTPUT")
    if common.access.roots and tasks:
        for option in tasks[0].format.options:  # all targets have the same format
            if option.untrusted:
                options.setdefault(option.name, option.untrusted)

    def show(outcome: Outcome[Job, Converted]) -> int:
        if json_rows() is not None:
            _write_row(outcome)
        job, done = outcome.item, outcome.result()
        if done.data is not None:
            write_stdout(done.data, job.format)
        if json_rows() is None:
            show_findings(done.findings, common.verbosity)
        if json_rows() is None and common.verbosity >= 0 and job.target != "-":
            count = job.format.family.counted(done.count)
            echo_stderr(f"{safe(job.source)} -> {safe(job.target)}: {count}")
        return Exit.OK

    makes_folder = output is not None and any(job.target != output for job in tasks)
    work = Converter(common, options, makes_folder)
    return for_each_file(
        work, tasks, show, jobs=common.jobs, action="converting", visible=to_stdout
    )


def _write_row(outcome: Outcome[Job, Converted]) -> None:
    done = outcome.value
    write_file_row(
        outcome,
        done is not None,
        None if done is None else done.findings,
        target=outcome.item.target,
        format=outcome.item.format.name,
        units=done and done.count,
    )


def plan(inputs: tuple[str, ...], output: str | None, to: str | None) -> list[Job]:
    """Return the jobs for the arguments of the command line; raises UsageError."""
    if output is None and (to is None or (len(inputs) == 2 and not _is_input(inputs[1]))):
        inputs, output = _split(inputs)
    inputs = tuple(dict.fromkeys(inputs))
    folder = output is not None and _is_folder(output)
    if len(inputs) > 1 and output is not None and not folder:
        hint = "" if output == "-" or os.path.exists(output) else f": use -o {safe(output)}/"
        usage_error(f"several files need a folder, but {safe(output)} is not a folder{hint}")
    if output is not None and output.startswith(samples.PREFIX):
        usage_error("bundled samples are read-only: name another output")
    fmt = _format(None if folder else output, to)
    jobs = []
    for source in inputs:
        target = output
        if target is None or folder:
            target = _renamed(source, fmt)
        if output is not None and folder:
            if target == "-":
                usage_error("standard input has no name for a file in a folder: convert it alone")
            target = os.path.join(output, os.path.basename(target))
        jobs.append(Job(source, target, fmt))
    _check(jobs)
    return jobs


def _split(inputs: tuple[str, ...]) -> tuple[tuple[str, ...], str]:
    """Return the one input, and the output, of two arguments."""
    if len(inputs) != 2:
        usage_error("no output: name one INPUT and one OUTPUT, or use -o OUT or --to FORMAT")
    source, target = inputs
    if target != "-" and (source == target or (_identity(source) or 0) == _identity(target)):
        usage_error(f"{safe(target)} is an input, too: name another output")
    if is_file(target) and formats.by_suffix(source) == formats.by_suffix(target):
        usage_error(
            f"{safe(target)} exists: use -o {safe(target)} to overwrite it,"
            " or --to FORMAT to convert both files"
        )
    return (source,), target


def _is_input(path: str) -> bool:
    """Whether the second of two paths may be another input: it is a file that exists."""
    return is_file(path) or path.startswith(samples.PREFIX)


def _is_folder(path: str) -> bool:
    return path.endswith(("/", os.sep)) or is_folder(path)


def _format(output: str | None, to: str | None) -> Format:
    if to is not None:
        return formats.get(to)
    fmt = None if output is None else formats.by_suffix(output)
    if fmt is None:
        what = "a folder" if output is None else safe(output)
        usage_error(f"{what} has no suffix of a format: use --to FORMAT")
    return fmt


def _renamed(source: str, fmt: Format) -> str:
    """Return the path of an input with the suffix of a format; samples go to this folder."""
    if source == "-":
        return source
    return formats.stem(source.removeprefix(samples.PREFIX)) + fmt.suffix


def _check(jobs: list[Job]) -> None:
    """Raise UsageError if a job overwrites an input, or if two jobs write the same file."""
    names = {job.source for job in jobs} - {"-"}
    identities = {_identity(name) for name in names} - {None}
    taken: dict[str, str] = {}
    for job in jobs:
        if job.target in names or _identity(job.target) in identities:
            usage_error(f"{safe(job.target)} is an input, too: name another output with -o")
        other = taken.setdefault(job.target, job.source)
        if other != job.source:
            usage_error(
                f"{safe(other)} and {safe(job.source)} have the same output {safe(job.target)}"
            )


def _identity(path: str) -> tuple[int, int] | None:
    """Return the identity of an existing file, the same for all its names."""
    if path == "-":
        return None
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino
