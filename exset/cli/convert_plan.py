"""Plan `exset convert`: find the source and the target of each conversion."""

import os
from contextlib import suppress
from dataclasses import dataclass

from exset import api, formats, samples
from exset.cli.output import usage_error
from exset.core.errors import FormatError
from exset.core.text import safe
from exset.families.format import Format
from exset.io.access import is_file, is_folder


@dataclass(frozen=True)
class Job:
    """A conversion of one file to a format; as a path-like object, it is the source.

    `to`: the name of the format, unless the suffix of the target chose it.
    """

    source: str
    target: str
    format: Format
    to: str | None

    def __fspath__(self) -> str:
        """Return the path of the source."""
        return self.source


def plan(
    inputs: tuple[str, ...], output: str | None, to: str | None, from_format: str | None = None
) -> list[Job]:
    """Return the jobs for the arguments of the command line; raises UsageError.

    All jobs have the same format. `from_format`: the name of the format of the inputs, if given.
    """
    if output is None and (to is None or (len(inputs) == 2 and not _is_input(inputs[1]))):
        inputs, output = _split(inputs)
    inputs = tuple(dict.fromkeys(inputs))
    into = output is not None and (output.endswith(("/", os.sep)) or is_folder(output))
    if to is not None and formats.get(to).is_folder:
        into = len(inputs) > 1  # one input becomes the folder itself
    folder = output if into else None
    if folder is None and len(inputs) > 1 and output is not None:
        hint = "" if output == "-" or os.path.exists(output) else f": use -o {safe(output)}/"
        usage_error(f"several files need a folder, but {safe(output)} is not a folder{hint}")
    if output is not None and output.startswith(samples.PREFIX):
        usage_error("bundled samples are read-only: name another output")
    fmt = _format(inputs[0], from_format, None if folder else output, to)
    jobs = []
    for source in inputs:
        bare = source.removeprefix(samples.PREFIX).rstrip("/" + os.sep)
        renamed = formats.stem(bare) + fmt.suffix
        target = output
        if target is None:
            target = "-" if source == "-" else renamed
        if folder is not None:
            if source == "-":
                usage_error("standard input has no name for a file in a folder: convert it alone")
            target = os.path.join(folder, os.path.basename(renamed))
        jobs.append(Job(source, target, fmt, to))
    _check(jobs)
    return jobs


def _split(inputs: tuple[str, ...]) -> tuple[tuple[str, ...], str]:
    """Return the input (in a tuple) and the output of two arguments, or raise UsageError."""
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
    """Return whether the second of two paths may be another input: an existing file."""
    return is_file(path) or path.startswith(samples.PREFIX)


def _format(source: str, from_format: str | None, output: str | None, to: str | None) -> Format:
    if to is not None:
        return formats.get(to)
    family = None
    if output is not None and len(formats.with_suffix(output)) > 1 and source != "-":
        with suppress(FormatError, OSError):  # reading the file raises it again
            found = api.detect(source) if from_format is None else formats.get(from_format)
            family = found.family
    fmt = None if output is None else formats.by_suffix(output, family)
    if fmt is None:
        what = "a folder" if output is None else safe(output)
        usage_error(f"{what} has no suffix of a format: use --to FORMAT")
    return fmt


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
    """Return the identity of an existing file, which is the same for all its names, or None."""
    if path == "-":
        return None
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino
