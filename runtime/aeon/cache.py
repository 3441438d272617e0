"""aeon's caches: folders of blocks with a marker file, and checks of caches."""

import os
import re
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from exset.codecs.aeon.cpio import decode
from exset.core.errors import Findings, FormatError, Place, Severity
from exset.core.limits import DEFAULT, Limits
from exset.core.source import Source
from exset.core.text import counted
from exset.grammars.aeon.block import Block
from exset.grammars.aeon.block_findings import finding_at
from exset.grammars.columns.sequence import UnitSequence
from exset.io import files
from exset.runtime.aeon import cache_lock
from exset.runtime.aeon.lock_owner import Owner

COMPLETE: Final = "cache_complete"
"""The marker: aeon writes this empty file after the last block."""
JOURNAL: Final = ".exset-journal"
"""The file in which exset records the blocks that a build has finished."""

_BLOCK: Final = re.compile(r"block_(0|[1-9]\d{0,8})\.cpio", re.ASCII)
_OLD_BLOCK: Final = re.compile(r"(0|[1-9]\d{0,8})-\d+\.cpio", re.ASCII)
_FOLDER: Final = re.compile(r"aeon_cache_([0-9a-f]{8})")
_OLD_FOLDER: Final = re.compile(r"[0-9a-f]{16}_([0-9a-f]{8})")
_TEMPORARY: Final = re.compile(rf"\.exset-[0-9a-f]+|{cache_lock.NAME}\.[0-9a-f]+")


def block_name(number: int) -> str:
    """Return the file name of the block with a number."""
    return f"block_{number}.cpio"


@dataclass(frozen=True)
class Cache(UnitSequence[Block, tuple[Block, ...]]):
    """A folder of blocks. Iteration yields the blocks; a block is mapped into memory when it is
    read.

    The folder is listed only once. `roots`: if not empty, each block must be in one of these
    folders or in the cache itself; the target of a block that is a link must be there, too. Raises
    OSError.

    Before 2017, aeon gave folders and blocks other names, and wrote no marker. exset reads these
    old caches, too.
    """

    path: str
    limits: Limits = DEFAULT
    roots: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        try:
            _ = self.blocks
        except NotADirectoryError as error:
            why = f"{error.strerror}: a cache is a folder; exset validate checks a single block"
            raise NotADirectoryError(error.errno, why, self.path) from None

    @property
    def name(self) -> str:
        """The name of the folder."""
        return os.path.basename(os.path.realpath(self.path))

    @property
    def uid(self) -> str | None:
        """The manifest's checksum, which is in the name of the folder; None if the name has no
        checksum.
        """
        found = _FOLDER.fullmatch(self.name) or _OLD_FOLDER.fullmatch(self.name)
        return None if found is None else found[1]

    @cached_property
    def blocks(self) -> dict[int, str]:
        """The paths of the blocks as {number: path}, in order."""
        found: dict[int, str] = {}
        for name in self._names:
            match = _BLOCK.fullmatch(name) or (self._is_old and _OLD_BLOCK.fullmatch(name)) or None
            path = os.path.join(self.path, name)
            if match is not None and _is_file(path):
                found[int(match[1])] = path
        return dict(sorted(found.items()))

    @property
    def is_complete(self) -> bool:
        """Whether aeon regards the cache as complete: the cache has the marker, or is from before
        2017.
        """
        return COMPLETE in self._names or self._is_old

    @property
    def owner(self) -> Owner | None:
        """The process that made the cache's lock, even if the process has ended; None if there is
        no lock.
        """
        return cache_lock.owner_of(self.path)

    @property
    def others(self) -> list[str]:
        """The names of the files in the folder that are not part of the cache."""
        known = {os.path.basename(path) for path in self.blocks.values()}
        known |= {COMPLETE, JOURNAL, cache_lock.NAME}
        return [name for name in self._names if name not in known]

    @property
    def temporary(self) -> list[str]:
        """The paths of temporary files that a killed builder left behind."""
        return [os.path.join(self.path, name) for name in self.others if _TEMPORARY.fullmatch(name)]

    def __len__(self) -> int:
        return len(self.blocks)

    def __iter__(self) -> Iterator[Block]:
        """Yield the blocks in order. Raises FormatError if the cache is damaged."""
        findings, width = Findings(strict=True), None
        self.check_folder(findings)
        for number in self.blocks:
            block = self.block(number, findings)
            width = width or block.width
            self._has_width(number, block, width, findings)
            yield block

    def _unit(self, row: int) -> Block:
        return self.block(list(self.blocks)[row])

    def _some(self, rows: slice) -> tuple[Block, ...]:
        return tuple(map(self.block, list(self.blocks)[rows]))

    def source(self, number: int) -> Source:
        """Return the file of the block with this number, mapped into memory.

        Raises KeyError for an unknown number, and OSError.
        """
        roots = (self.path, *self.roots) if self.roots else ()
        path = self.blocks[number]
        return files.read(path, limits=self.limits, maps=lambda _: True, roots=roots)

    def block(self, number: int, findings: Findings | None = None) -> Block:
        """Return the block with this number, mapped into memory.

        Raises KeyError for an unknown number, FormatError and OSError.
        """
        return decode(self.source(number), limits=self.limits, findings=findings)

    def check(self, findings: Findings, width: int | None = None) -> dict[int, Block]:
        """Add a finding for each error of the folder and its blocks; return the intact blocks.

        The result is a dict {number: block}. width: the number of elements of a record, by default
        the number in the first intact block.
        """
        return dict(self.intact(findings, width))

    def intact(self, findings: Findings, width: int | None = None) -> Iterator[tuple[int, Block]]:
        """Check the cache as `check` does; yield (number, block) for each intact block.

        width: the number of elements of a record, None if unknown.
        """
        self.check_folder(findings)
        yield from self.intact_among(self.blocks, findings, width)

    def intact_among(
        self, numbers: Iterable[int], findings: Findings, width: int | None = None
    ) -> Iterator[tuple[int, Block]]:
        """Check only the blocks with these numbers; yield (number, block) for each intact block.

        width: the number of elements of a record, None if unknown.
        """
        for number in numbers:
            path, of_block = self.blocks[number], Findings()
            try:
                block = self.block(number, of_block)
            except (FormatError, OSError) as error:
                place = error.place if isinstance(error, FormatError) else None
                why = error.message if isinstance(error, FormatError) else error.strerror
                place = place or Place(path)
                findings.add(finding_at("aeon-cache-block", place, number=number, why=why))
                continue
            findings.add_all(of_block)
            if of_block.worst is Severity.ERROR:
                continue
            width = width or block.width
            if self._has_width(number, block, width, findings):
                yield number, block

    def _has_width(self, number: int, block: Block, width: int | None, findings: Findings) -> bool:
        """Return whether each record of a block has `width` elements; if not, add a finding.

        A block without records has any width.
        """
        if block.width in (width, 0):
            return True
        has = counted(block.width or 0, "element")
        words = {"number": number, "width": has, "expected": width}
        findings.add(finding_at("aeon-cache-width", Place(self.blocks[number]), **words))
        return False

    def check_folder(self, findings: Findings) -> None:
        """Add the findings about the folder itself, not about its blocks."""
        place = Place(self.path)
        if self.uid is None:
            findings.add(finding_at("aeon-cache-name", place, name=self.name))
        if not self.blocks:
            findings.add(finding_at("aeon-cache-none", place))
        for number in range(max(self.blocks, default=-1)):
            if number not in self.blocks:
                findings.add(finding_at("aeon-cache-gap", place, number=number))
            if findings.count("aeon-cache-gap") > findings.keep:
                break
        if not self.is_complete:
            findings.add(finding_at("aeon-cache-incomplete", place))
        if self.owner is not None:
            findings.add(finding_at("aeon-cache-lock", place, who=str(self.owner)))
        for name in self.others:
            findings.add(finding_at("aeon-cache-other", place, name=name))

    @cached_property
    def _names(self) -> list[str]:
        return sorted(os.listdir(self.path))

    @property
    def _is_old(self) -> bool:
        return _OLD_FOLDER.fullmatch(self.name) is not None


def _is_file(path: str) -> bool:
    """Return whether a path is a regular file.

    Also return True if the system cannot tell: reading the file then raises the error.
    """
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except OSError:
        return True
