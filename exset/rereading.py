"""Read a file in chunks more than once, for writers that need the whole file before they write."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, cast

from exset import bridge
from exset.core.callers import option_errors
from exset.core.errors import Findings, FormatError, Place
from exset.core.kernels import Engine
from exset.core.limits import Limits
from exset.core.protocols import Joinable, Level, Model, OptionValue
from exset.families.family import Family
from exset.families.format import Format
from exset.families.tables import TABLE
from exset.streaming import OpenFile, OpenFolder

if TYPE_CHECKING:
    from exset.grammars.tables.table import Table


KEPT: Final = 3 << 24
"""How many bytes of chunks stay in memory at most, to be used again."""
_JOINED: Final = 1 << 24
"""How many bytes of them become one chunk, as each takes time of its own."""


def can_reread(file: OpenFile | OpenFolder, target: Format) -> bool:
    """Return whether to convert a file in chunks that are read more than once.

    Both formats must allow it. A small file is converted as a whole, which is faster. But if other
    files must be opened to make its tables, even a small file is converted in chunks.
    """
    family = file.format.family
    if file.format.streamer is None or not (target.is_folder or target.chunk_writer is not None):
        return False
    if target.can_write(family):
        return not file.is_small()
    if family.table_chunks is None or target.family != TABLE:
        return False
    return family.tables_open_files or not file.is_small()


class OnceFindings:
    """Collects each finding of a file only once, although the file is read several times.

    These are the findings of the first complete reading.
    """

    def __init__(self, findings: Findings) -> None:
        self._findings: Findings | None = findings

    @contextmanager
    def of_one(self) -> Iterator[Findings]:
        """Yield a collection for the findings of one reading.

        A reading is complete at its end or at an error.
        """
        found = Findings(strict=self._findings is not None and self._findings.strict)
        try:
            yield found
        except FormatError:
            self._report(found)
            raise
        self._report(found)

    def _report(self, found: Findings) -> None:
        if self._findings is not None:
            self._findings.add_all(found)
            self._findings = None


@dataclass
class Kept(Iterable[Model]):
    """Chunks of a model. If the whole model is small, the first iteration keeps it in memory.

    `chunks`: an iterable that can be read again, but this takes long. If there is only one chunk,
    it is kept even if it is large.
    """

    chunks: Iterable[Model]
    family: Family
    _kept: list[Model] | None = field(default=None, init=False)

    def __iter__(self) -> Iterator[Model]:
        if self._kept is not None:
            yield from self._kept
            return
        from exset.runtime.reports.report import memory_of

        kept: list[list[Model]] = []
        size = joined = 0
        for count, chunk in enumerate(self.chunks):
            more = memory_of(chunk)
            size += more
            if count and size > KEPT:
                kept.clear()
            elif kept and joined + more <= _JOINED:
                kept[-1].append(chunk)
                joined += more
            else:
                kept.append([chunk])
                joined = more
            yield chunk
        for number, chunks in enumerate(kept):  # one after the other, to need little memory
            kept[number] = [self.family.joined(cast("list[Joinable]", chunks))]
        self._kept = [chunk for [chunk] in kept] or None


@dataclass
class FileChunks(Iterable[Model]):
    """The models of a file's chunks; each iteration reads the file again.

    `opened`: a function that opens the file. `findings`: collects the findings of each iteration.
    Raises the errors of `Format.stream`, and FormatError if the file changes between two
    iterations.
    """

    opened: Callable[[], AbstractContextManager[OpenFile | OpenFolder]]
    options: Mapping[str, OptionValue]
    engine: Engine
    findings: "OnceFindings"
    _state: tuple[int, int] | None = field(default=None, init=False)
    _notes: dict[str, object] = field(default_factory=dict, init=False)

    def __iter__(self) -> Iterator[Model]:
        with self.findings.of_one() as findings, self.opened() as file:
            self._check_state(file)
            if isinstance(file, OpenFolder):
                file.folder.notes = self._notes
            else:
                file.blocks.notes = self._notes
            yield from file.stream(findings, engine=self.engine, **self.options)

    def _check_state(self, file: OpenFile | OpenFolder) -> None:
        """Raise FormatError if the file changed since the first iteration."""
        state = _state(file)
        self._state = self._state or state
        if state != self._state:
            message = "the file changed while exset converted it"
            hint = "convert it again when no program writes it"
            raise FormatError(message, place=Place(file.name), hint=hint, code="file-changed")


def _state(file: OpenFile | OpenFolder) -> tuple[int, int]:
    """Return two numbers that change if a file changes: its size and the time of its last change.

    For a folder, the numbers are the total size of its files, and 0. If no file has this name, the
    time is 0, too.
    """
    if isinstance(file, OpenFolder) or not os.path.exists(file.name):
        return file.size, 0
    status = os.stat(file.name)
    return status.st_size, status.st_mtime_ns


@dataclass
class FileTables(Iterable["Table"]):
    """The tables of a file that is read in chunks; each iteration reads the file again.

    `findings`: collects the findings of each iteration. The first iteration reads the file twice:
    the first time, it only finds the columns of the tables.
    """

    chunks: Iterable[Model]
    family: Family
    level: Level
    limits: Limits
    findings: Findings
    options: Mapping[str, object]
    _layout: object = field(default=None, init=False)
    _once: "OnceFindings" = field(init=False)

    def __post_init__(self) -> None:
        self._once = OnceFindings(self.findings)

    def __iter__(self) -> "Iterator[Table]":
        if self._layout is None:
            self._layout = self._found_layout()
        with self._once.of_one() as findings:
            yield from bridge.tables_of(
                self.family, self.chunks, self._layout, findings=findings, limits=self.limits
            )

    def _found_layout(self) -> object:
        with option_errors():
            return bridge.layout_of(
                self.family,
                self.chunks,
                level=self.level,
                findings=self.findings,
                limits=self.limits,
                **self.options,
            )
