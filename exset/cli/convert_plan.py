"""Plan `exset convert`: find the source and the target of each conversion."""

import os
from array import array
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final, overload

from exset import api, formats, samples
from exset.cli.output import usage_error
from exset.core.errors import FormatError
from exset.core.text import safe
from exset.families.format import Format
from exset.io.access import is_file, is_folder
from exset.io.many_paths import Paths, repeated

_BLOCK: Final = 1 << 16


@dataclass(frozen=True)
class Job:
    """The conversion of one file. As an `os.PathLike`, it is the path of the source.

    `to`: the name of the target's format; None if the suffix of the target decides the format.
    """

    source: str
    target: str
    format: Format
    to: str | None

    def __fspath__(self) -> str:
        """Return the path of the source."""
        return self.source


@dataclass(frozen=True)
class Jobs(Sequence[Job]):
    """The conversions of several files to one format; each `Job` is made on access.

    output: the target of the only source; None if there are several sources. folder: the folder of
    all targets; None: each target is next to its source. to: as in `Job`.
    """

    sources: Sequence[str]
    output: str | None
    folder: str | None
    format: Format
    to: str | None

    @property
    def writes_stdout(self) -> bool:
        """Whether a target is standard output."""
        return self.output == "-" or (self.output is None and "-" in self.sources)

    def targets(self) -> Iterable[str]:
        """Return the targets in order."""
        return map(self._target, self.sources)

    def __len__(self) -> int:
        return len(self.sources)

    @overload
    def __getitem__(self, index: int) -> Job: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Job]: ...
    def __getitem__(self, index: int | slice) -> Job | Sequence[Job]:
        if isinstance(index, slice):
            return replace(self, sources=self.sources[index])
        source = self.sources[index]
        return Job(source, self._target(source), self.format, self.to)

    def _target(self, source: str) -> str:
        if self.output is not None:
            return self.output
        if source == "-":
            return "-"
        bare = source.removeprefix(samples.PREFIX).rstrip("/" + os.sep)
        renamed = formats.stem(bare) + self.format.suffix
        if self.folder is None:
            return renamed
        return os.path.join(self.folder, os.path.basename(renamed))


def plan(
    inputs: Sequence[str], output: str | None, to: str | None, from_format: str | None = None
) -> Jobs:
    """Return the jobs for the arguments of the command line. Raises UsageError for wrong arguments.

    All jobs have the same format. `from_format`: the format of the inputs, if the user names it.
    """
    if output is None and (to is None or (len(inputs) == 2 and not _is_input(inputs[1]))):
        inputs, output = _split(inputs)
    inputs = inputs.distinct() if isinstance(inputs, Paths) else tuple(dict.fromkeys(inputs))
    into = output is not None and (output.endswith(("/", os.sep)) or is_folder(output))
    if to is not None and formats.get(to).is_folder:
        into = len(inputs) > 1  # one input becomes the folder itself
    folder = output if into else None
    if folder is None and len(inputs) > 1 and output is not None:
        hint = "" if output == "-" or os.path.exists(output) else f": use -o {safe(output)}/"
        usage_error(f"several inputs need a folder, but {safe(output)} is not a folder{hint}")
    if output is not None and output.startswith(samples.PREFIX):
        usage_error("bundled samples are read-only: name another output")
    fmt = _format(inputs[0], from_format, None if folder else output, to)
    if folder is not None and "-" in inputs:
        usage_error(
            "standard input has no file name to use in a folder: convert it alone, to a file"
        )
    jobs = Jobs(inputs, None if into else output, folder, fmt, to)
    _check(jobs)
    return jobs


def _split(inputs: Sequence[str]) -> tuple[tuple[str, ...], str]:
    """Return the input and the output of two arguments. Raises UsageError for other arguments."""
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
    """Return whether a path may be an input, which is an existing file or a bundled sample."""
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
        what = "a folder" if output is None else f"the suffix of {safe(output)}"
        usage_error(f"{what} does not show which format to write: use --to FORMAT")
    return fmt


def _check(jobs: Jobs) -> None:
    """Raise UsageError if a conversion would overwrite an input, or if two have the same target.

    Names are first compared by hash, as a million names take much memory.
    """
    targets, existing = array("q"), array("q")
    for target in jobs.targets():
        if target != "-":
            targets.append(hash(target))
        if (identity := _identity(target)) is not None:
            existing.append(hash(identity))
    doubled = repeated(targets)
    inputs = _common(targets, map(hash, jobs.sources))
    same = _common(existing, (hash(_identity(source)) for source in jobs.sources))
    if not (inputs or same or doubled):
        return
    names = {source for source in jobs.sources if hash(source) in inputs}
    files = {_identity(source) for source in jobs.sources} - {None} if same else set()
    taken: dict[str, str] = {}
    for job in jobs:
        if job.target in names or (files and _identity(job.target) in files):
            usage_error(f"{safe(job.target)} is an input, too: name another output with -o")
        if hash(job.target) in doubled:
            other = taken.setdefault(job.target, job.source)
            if other != job.source:
                usage_error(
                    f"{safe(other)} and {safe(job.source)} have the same output {safe(job.target)}"
                )


def _common(numbers: "array[int]", others: Iterable[int]) -> set[int]:
    """Return the numbers in `others` that are also in `numbers`."""
    if not numbers:
        return set()
    import numpy as np

    found = np.sort(np.frombuffer(numbers, np.int64))
    common: set[int] = set()
    iterator = iter(others)
    while some := [*islice(iterator, _BLOCK)]:
        block = np.array(some, np.int64)
        places = np.minimum(found.searchsorted(block), found.size - 1)
        common.update(block[found[places] == block].tolist())
    return common


def _identity(path: str) -> tuple[int, int] | None:
    """Return what identifies a file under all its names. Return None if there is no such file."""
    if path == "-":
        return None
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino
