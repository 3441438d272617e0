"""Convert a large file in parts: write each part to its own file, then join these files."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Final

from exset.cli.convert_plan import Job
from exset.cli.dividing import PartResult, count_of, joined_findings, read_part
from exset.cli.inputs import CommonOptions
from exset.core.errors import Findings, FormatError
from exset.core.parts import FilePart, PartState, changed
from exset.core.signals import cleanup_on_signal
from exset.families.format import Format
from exset.io import files
from exset.io.atomic_write import make_folders
from exset.steps import Steps
from exset.writing import part_writer, writer

_BLOCK: Final = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Converted(PartResult):
    """The result of a conversion, or of a part of a conversion.

    count: the number of converted units, such as examples or records. size: the size of the target
    in bytes, if it is not written. data: the bytes to show on a terminal. losses: findings about
    what the target cannot store.
    """

    count: int
    size: int | None = None
    data: bytes | None = None
    losses: Findings = field(default_factory=Findings)


@dataclass(frozen=True)
class PartJob(os.PathLike[str]):
    """A part of a conversion: `job` describes the whole conversion, `range` the part."""

    job: Job
    range: FilePart

    @classmethod
    def of_job(cls, job: Job, rank: int, count: int) -> "PartJob":
        """Return part `rank` of a conversion that is divided into `count` parts."""
        return cls(job, FilePart(job.source, rank, count))

    @property
    def part(self) -> str:
        """The part as plans and journals name it, such as "2/5"."""
        return self.range.part

    @property
    def target(self) -> str:
        """The path of the file to which the units of this part are written."""
        name = f"{self.range.rank + 1}-of-{self.range.count}"
        return os.path.join(_folder(self.job), name)

    def __fspath__(self) -> str:
        return self.job.source


def convert_part(item: PartJob, common: CommonOptions, options: dict[str, Any]) -> Converted:
    """Write the units of a part to a file for this part alone.

    If the state of the part is not certain, its units may be wrong: write no file. Raises OSError,
    and FormatError if the source changed after it was divided.
    """
    findings, losses = common.new_findings(), common.new_findings()
    job, state, count = item.job, None, 0
    make_folders(_folder(job))
    with read_part(item.range, common, findings) as models:
        writing = _steps(models.format, job, common, options).write
        with (
            suppress(FormatError),
            part_writer(item.target, job.format, findings=losses, **writing) as out,
        ):
            for model in models:
                out.write(model)
            if models.state is None or not models.state.is_certain:
                raise changed(job.source)  # no file is written, and nobody sees this error
            state, count = models.state, out.count
        return Converted(
            findings,
            state=state or PartState(is_certain=False),
            source_format=models.format.name,
            count=count,
            losses=losses,
        )


@dataclass
class Divider:
    """Divides conversions of large files, and joins the files of their parts.

    whole: a function that converts a file as a whole. options: the options of writers. divided: the
    conversions that are divided, with the number of their parts.
    """

    whole: Callable[[Job], Converted]
    common: CommonOptions
    options: dict[str, Any]
    divided: dict[Job, int] = field(default_factory=dict)

    def counts(self, jobs: Sequence[Job]) -> list[int]:
        """Return, for each job, into how many parts its source is divided."""
        target = jobs[0].format
        if self.common.options or target.incremental_writer is None:
            return [1] * len(jobs)

        def accepts(source: Format) -> bool:
            return source.family == target.family

        def count(job: Job) -> int:
            found = count_of(job.source, self.common, accepts)
            return found if found == 1 or files.is_file(job.target) else 1

        found = [*map(count, jobs)]
        self.divided.update({job: each for job, each in zip(jobs, found, strict=True) if each > 1})
        return found

    def part_of(self, job: Job, rank: int, count: int) -> PartJob:
        """Return part `rank` of a conversion that is divided into `count` parts."""
        return PartJob.of_job(job, rank, count)

    def joined(self, job: Job, parts: Sequence[Converted]) -> Converted:
        """Join the files of the parts into the target, or convert the source as a whole.

        The source is converted as a whole if the parts cannot be joined. Raises OSError, for
        example if the file of a part is missing.
        """
        found = joined_findings(parts, self.common)
        if found is None:  # the file may have an error
            return self.whole(job)
        findings = self.common.new_findings()
        findings.add_all(found)
        with self.common.opened(job.source) as file:
            writing = _steps(file.format, job, self.common, self.options).write
            first = next(file.stream(Findings()))
            header = file.format.family.unit_functions().header(first)
        name = job.format.name
        how: dict[str, Any] = {"name": job.source, "findings": Findings(), **writing}
        with writer(job.target, format=name, header=header, **how) as out:
            for rank, part in enumerate(parts):
                out.add_losses(part.losses, findings)
                with open(self.part_of(job, rank, len(parts)).target, "rb") as units:
                    out.append(iter(lambda: units.read(_BLOCK), b""), part.count)
        findings.sort(lines_first=True)
        return Converted(findings, count=out.count)

    @contextmanager
    def removed_at_end(self) -> Iterator[None]:
        """Remove the files of parts when the context ends, or when a signal ends the program."""
        with cleanup_on_signal(self._remove):
            try:
                yield
            finally:
                self._remove()

    def _remove(self) -> None:
        while self.divided:
            job, count = self.divided.popitem()
            for rank in range(count):
                with suppress(OSError):
                    os.remove(self.part_of(job, rank, count).target)
            with suppress(OSError):
                os.rmdir(_folder(job))


def _steps(source: Format, job: Job, common: CommonOptions, options: dict[str, Any]) -> Steps:
    untrusted = bool(common.access.roots)
    return Steps.of(source, job.format, options, common.options, is_untrusted=untrusted)


def _folder(job: Job) -> str:
    """Return the folder that contains the files of the parts."""
    return f"{job.target}.parts"
