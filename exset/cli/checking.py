"""The work of `exset validate`: the check of a file, or of a part of a large file."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from exset import checking
from exset.cli.dividing import PartResult, count_of, joined_findings, read_part
from exset.cli.inputs import CommonOptions
from exset.core.errors import Findings
from exset.core.jobs import Execution
from exset.core.parts import FilePart


@dataclass(frozen=True)
class Check:
    """Checks one file, or a part of a file; with a `base`, also the files that it names.

    base: the folder of relative names, "" for the current folder; None: do not check the named
    files. jobs: the processes that check the named files. options: the options of readers and
    checks.
    """

    common: CommonOptions
    base: str | None = None
    jobs: Execution = field(default_factory=Execution)
    decode: bool = False
    options: dict[str, Any] = field(default_factory=dict)

    def __call__(self, item: str | FilePart) -> PartResult:
        """Check a file, or a part of it. Raises OSError if the file cannot be opened."""
        if isinstance(item, FilePart):
            return self._part(item)
        findings = checking.validate(
            item,
            format=self.common.format,
            limits=self.common.limits,
            check_files=self.base is not None,
            base=self.base or "",
            access=self.common.access,
            jobs=self.jobs,
            decode=self.decode,
            **self.options,
        )
        return PartResult(findings, self.common.exit_of(findings))

    def counts(self, paths: Sequence[str]) -> list[int]:
        """Return into how many parts each file is divided."""
        if self.base is not None or self.options:
            return [1] * len(paths)
        return [count_of(path, self.common) for path in paths]

    def part_of(self, path: str, rank: int, count: int) -> FilePart:
        """Return part `rank` of a file that is divided into `count` parts."""
        return FilePart(path, rank, count)

    def joined(self, path: str, parts: Sequence[PartResult]) -> PartResult:
        """Join the results of a file's parts. If this is not possible, check the whole file."""
        if (findings := joined_findings(parts, self.common)) is None:
            return self(path)
        findings.sort()
        return PartResult(findings, self.common.exit_of(findings))

    def _part(self, part: FilePart) -> PartResult:
        """Check a part of a file; the places of its findings count from the start of the part."""
        findings, mistakes = Findings(), Findings()
        with read_part(part, self.common, findings) as models:
            check = models.format.family.model_check()
            for model in models:
                if check is not None:
                    check(model, mistakes, first=0)
            state = models.state
            if mistakes.count() and state is not None:
                state = replace(state, is_certain=False)  # the places need the whole file
            common = () if check is None else check.common
            return PartResult(
                findings, state=state, source_format=models.format.name, common=common
            )
