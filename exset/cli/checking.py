"""The work of `exset validate`: the check of a file, or of a part of a large one."""

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Final, cast

from exset import checking
from exset.cli.each_file import FileResult
from exset.cli.inputs import CommonOptions
from exset.core.errors import Findings, FormatError
from exset.core.jobs import Execution
from exset.core.parts import FilePart, PartState, changed
from exset.families.incremental import PartsOf
from exset.streaming import SMALL, OpenFile, OpenFolder

_LARGE: Final = 2 * SMALL
"""A file of at least this many bytes is divided, if its format allows it."""


@dataclass(frozen=True, kw_only=True)
class Checked(FileResult):
    """The findings of a file or of a part of it; `state`: the state of a part, None for a file."""

    state: PartState | None = None


@dataclass(frozen=True)
class Check:
    """Checks a file or a part of one; with a `base`, also the files that it names.

    base: the folder of relative names, empty for the current one; None: do not check these files.
    jobs: the processes that check these files. options: the options of readers and checks.
    """

    common: CommonOptions
    base: str | None = None
    jobs: Execution = field(default_factory=Execution)
    decode: bool = False
    options: dict[str, Any] = field(default_factory=dict)

    def __call__(self, item: str | FilePart) -> Checked:
        """Check a file, or a part of it. Raises OSError."""
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
        return Checked(findings, self.common.exit_of(findings))

    def counts(self, paths: Sequence[str]) -> list[int]:
        """Return into how many parts each file is divided."""
        if self.base is not None or self.options:
            return [1] * len(paths)
        return [self._count(path) for path in paths]

    def joined(self, path: str, parts: Sequence[Checked]) -> Checked:
        """Join the results of the parts of a file, or read the file as a whole."""
        states = [(part.state, part.findings) for part in parts if part.state is not None]
        with self.common.opened(path) as file:
            divider = _divider(file)
            findings = None if divider is None else divider.joined(states, self.common.limits)
        if findings is None:
            return self(path)
        findings.sort()
        return Checked(findings, self.common.exit_of(findings))

    def _part(self, part: FilePart) -> Checked:
        """Check a part of a file; the places of findings are relative to the part."""
        common, findings = self.common, Findings()
        with common.opened(part.path) as file:
            if isinstance(file, OpenFolder) or (divider := _divider(file)) is None:
                raise changed(part.path)
            assert file.blocks.file is not None
            name, limits = file.name, common.limits
            state = divider.check(file.blocks.file, name, part, findings, limits, "auto")
        return Checked(findings, state=state)

    def _count(self, path: str) -> int:
        with suppress(OSError, ValueError, FormatError):
            if path != "-" and os.path.getsize(path) >= _LARGE:
                with self.common.opened(path) as file:
                    if isinstance(file, OpenFile) and (divider := _divider(file)) is not None:
                        return divider.count(file.blocks.size or 0)
        return 1


def _divider(file: OpenFile | OpenFolder) -> PartsOf | None:
    """Return the functions that check an open file in parts; None if it must be read at once."""
    if isinstance(file, OpenFolder) or file.blocks.file is None or file.format.parts is None:
        return None
    return cast(PartsOf, import_module(file.format.parts))
