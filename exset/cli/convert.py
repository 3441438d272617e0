"""`exset convert`: one file or many, from any format to another."""

import os
import sys
from dataclasses import dataclass

import click

from exset import api, converting, formats, samples
from exset.cli import models
from exset.cli.common import (
    DIALECTS,
    FINE,
    FormatName,
    each,
    jobs_option,
    progress,
    put,
    say,
    wrong,
)
from exset.cli.inputs import (
    Reading,
    as_json,
    found,
    reading_options,
    row_of,
    some_inputs,
    write_row,
)
from exset.core.errors import Findings, safe
from exset.core.jobs import Outcome, run
from exset.core.protocols import Option
from exset.families.format import Format
from exset.grammars.lbann.list_types import Kind

SHOWN = 3
"""How many findings of each kind are shown for a file that was converted all the same."""


@dataclass(frozen=True)
class Job:
    """One conversion: from a path to a path, in a format. As a path it is its source."""

    source: str
    target: str
    format: Format

    def __fspath__(self) -> str:
        """Return the path of the source."""
        return self.source


@dataclass(frozen=True)
class Done:
    """What a conversion tells: how many units were converted; data: what is to be shown."""

    count: int
    findings: Findings
    data: bytes | None


@dataclass(frozen=True)
class Work:
    """How all files are converted."""

    reading: Reading
    options: dict[str, Option]
    makes_folder: bool

    def __call__(self, job: Job) -> Done:
        """Convert a file; FormatError and OSError as those of `load` and `save`."""
        if job.target == "-" and (sys.stdout is None or sys.stdout.isatty()):
            return self._shown(job)
        findings = self.reading.findings()
        if self.makes_folder:
            os.makedirs(os.path.dirname(job.target), exist_ok=True)
        count = converting.convert(
            job.source,
            job.target,
            from_format=self.reading.format,
            to=job.format.name,
            strict=False,
            limits=self.reading.limits,
            findings=findings,
            reading=self.reading.options,
            engine="auto",
            **self.options,
        )
        return Done(count, findings, None)

    def _shown(self, job: Job) -> Done:
        """Convert all at once: a terminal is shown nothing of what fails, nor what is not safe."""
        source = api.read_source(job.source, limits=self.reading.limits)
        known = api.convertible(api.recognise(source, self.reading.format), job.format, source)
        read = self.reading.of(source, known)
        findings, to = read.findings, job.format.name
        data = api.dumps(read.model, format=to, name=source.name, findings=findings, **self.options)
        return Done(len(read.model), findings, data)


@click.command()
@some_inputs
@as_json
@click.option("-o", "--output", metavar="OUT", help="The file to write, or a folder for several.")
@click.option("--to", type=FormatName(), help="Write this format.")
@click.option("--lossy", is_flag=True, help="Write what the format can hold, and say what not.")
@click.option("--unshare", is_flag=True, help="Copy shared lists where text cannot share them.")
@click.option("--compact", is_flag=True, help="Write text with as few bytes as possible.")
@click.option(
    "--kind",
    metavar="TYPE",
    type=click.Choice([kind.value for kind in Kind], case_sensitive=False),
    help="Write a sample list of another type, such as CONDUIT_HDF5_INCLUSION.",
)
@click.option("--expand", is_flag=True, help="Write whole numbers one by one, no ranges.")
@click.option("--labels", metavar="FILE", help="The label file that a sample list is to name.")
@click.option("--base", metavar="FOLDER", help="Where the base directory of a list counts from.")
@click.option("--root", metavar="FOLDER", help="Ask no HDF5 file of a list outside of it.")
@click.option("--dialect", type=click.Choice(DIALECTS), help="Write for this version of aeon.")
@reading_options
@jobs_option
@click.pass_context
def convert(
    ctx: click.Context,
    inputs: tuple[str, ...],
    as_json: bool,
    output: str | None,
    to: str | None,
    lossy: bool,
    unshare: bool,
    compact: bool,
    kind: str | None,
    expand: bool,
    labels: str | None,
    base: str | None,
    root: str | None,
    dialect: str | None,
    reading: Reading,
    jobs: int,
) -> None:
    """Convert files.

    \b
      exset convert train.ex train.bex       one file; the suffix says the format
      exset convert --to bex *.ex            each beside its input
      exset convert --to bex -o out/ *.ex    all into a folder
      exset convert - -o - --to ex < a.bex   standard input to standard output

    With -v findings that are mere notes are told, too. With --json each file has the keys schema,
    file, ok, error, target, format, units, counts and findings.
    """
    options: dict[str, Option] = {
        "lossy": lossy,
        "unshare": unshare,
        "compact": compact,
        "kind": kind or "",
        "expand": expand,
        "labels": labels or "",
        "base": base or "",
        "root": root or "",
        "dialect": dialect or "",
    }
    tasks = plan(inputs, output, to)
    for job in tasks:
        for name in (name for name, value in options.items() if value):
            if name not in job.format.options:
                wrong(f"--{name} has no meaning for {job.format.name} ({safe(job.target)})")
        job.format.chosen(options)
    if as_json and any(job.target == "-" for job in tasks):
        wrong("--json would stand among the data on standard output: name another OUTPUT")
    if reading.untrusted and all("root" in job.format.options for job in tasks):
        options["root"] = root or os.curdir

    def tell(outcome: Outcome[Job, Done]) -> int:
        if as_json:
            _write_row(outcome)
        job, done = outcome.item, outcome.result()
        if done.data is not None:
            put(done.data, job.format)
        if reading.voice >= 0 and not as_json:
            models.tell(done.findings, SHOWN, reading.voice)
            if job.target != "-":
                counted = job.format.family.counted(done.count)
                say(f"{safe(job.source)} -> {safe(job.target)}: {counted}")
        return FINE

    makes_folder = output is not None and any(job.target != output for job in tasks)
    work = Work(reading, options, makes_folder)
    count = 0 if any(job.target == "-" for job in tasks) else len(tasks)
    ctx.exit(each(progress(run(work, tasks, jobs=jobs), count, "converting"), tell))


def _write_row(outcome: Outcome[Job, Done]) -> None:
    """Write what came of a conversion as JSON."""
    done = outcome.value
    findings = Findings() if done is None else done.findings
    write_row(
        {
            **row_of(outcome, done is not None),
            "target": outcome.item.target,
            "format": outcome.item.format.name,
            "units": done and done.count,
            **found(findings),
        }
    )


def plan(inputs: tuple[str, ...], output: str | None, to: str | None) -> list[Job]:
    """Return what is to be written where; UsageError for what cannot be meant."""
    if output is None and (to is None or (len(inputs) == 2 and not _is_input(inputs[1]))):
        inputs, output = _split(inputs)
    inputs = tuple(dict.fromkeys(inputs))
    folder = output is not None and _is_folder(output)
    if len(inputs) > 1 and output is not None and not folder:
        advice = "" if output == "-" or os.path.exists(output) else f"; say -o {safe(output)}/"
        wrong(f"several files cannot be written as one: {safe(output)} is not a folder{advice}")
    if output is not None and output.startswith(samples.PREFIX):
        wrong("a bundled sample cannot be written: name another output")
    known = _format(None if folder else output, to)
    jobs = []
    for source in inputs:
        target = output
        if target is None or folder:
            target = _renamed(source, known)
        if output is not None and folder:
            if target == "-":
                wrong("standard input has no name to use in a folder: convert it by itself")
            target = os.path.join(output, os.path.basename(target))
        jobs.append(Job(source, target, known))
    _check(jobs)
    return jobs


def _split(inputs: tuple[str, ...]) -> tuple[tuple[str, ...], str]:
    """Take the output from the end of two arguments."""
    if len(inputs) != 2:
        wrong("say where to: one INPUT and one OUTPUT, or -o OUT, or --to FORMAT")
    source, target = inputs
    if target != "-" and (source == target or (_identity(source) or 0) == _identity(target)):
        wrong(f"{safe(target)} is an input itself: name another output")
    if os.path.isfile(target) and formats.by_suffix(source) == formats.by_suffix(target):
        wrong(
            f"{safe(target)} exists: say -o {safe(target)} to replace it,"
            " or --to FORMAT to convert both files"
        )
    return (source,), target


def _is_input(path: str) -> bool:
    """Whether the second of two paths may be another input: only what is there to be read."""
    return os.path.isfile(path) or path.startswith(samples.PREFIX)


def _is_folder(path: str) -> bool:
    return path.endswith(("/", os.sep)) or os.path.isdir(path)


def _format(output: str | None, to: str | None) -> Format:
    if to is not None:
        return formats.get(to)
    known = None if output is None else formats.by_suffix(output)
    if known is None:
        what = "a folder" if output is None else safe(output)
        wrong(f"{what} does not say which format to write: say --to FORMAT")
    return known


def _renamed(source: str, known: Format) -> str:
    """Return the input's path with the suffix of the format; `-` stays, samples come here."""
    if source == "-":
        return source
    return formats.stem(source.removeprefix(samples.PREFIX)) + known.suffix


def _check(jobs: list[Job]) -> None:
    """Refuse to overwrite an input, or to write two results in one place."""
    names = {job.source for job in jobs} - {"-"}
    identities = {_identity(name) for name in names} - {None}
    taken: dict[str, str] = {}
    for job in jobs:
        if job.target in names or _identity(job.target) in identities:
            wrong(f"{safe(job.target)} is an input itself: name another output with -o")
        other = taken.setdefault(job.target, job.source)
        if other != job.source:
            wrong(f"{safe(other)} and {safe(job.source)} would both be {safe(job.target)}")


def _identity(path: str) -> tuple[int, int] | None:
    """Return what tells one existing file from another, by whatever name."""
    if path == "-":
        return None
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino
