"""Building aeon's caches, completing them, and mending them.

A block gets its name when it is whole and on the disk, and the cache its marker when all blocks
are: whenever a builder is ended, what it leaves is no cache to any reader, and the next builder
goes on from it. A journal says which blocks it had done; no other is trusted to be of this manifest
and this block size, and no block is taken away before there is a better one.
"""

from __future__ import annotations

import json
import os
import stat
import time
from collections.abc import Callable, Set
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from exset.codecs.aeon.cpio_write import BlockWriter
from exset.core.errors import Findings, FormatError, Place
from exset.grammars.aeon.block import Block
from exset.grammars.aeon.block_findings import finding_at
from exset.grammars.aeon.manifest import Manifest
from exset.grammars.aeon.manifest_types import ElementType
from exset.io import files
from exset.io.access import USUAL, Access, check_plain
from exset.runtime.aeon.cache import COMPLETE, JOURNAL, Cache, block_name
from exset.runtime.aeon.cache_lock import Lock
from exset.runtime.aeon.elements import ElementError, elements, encoded
from exset.runtime.aeon.selection import BLOCK_SIZE, blocks, cache_name, picked

_SHOWN: Final = 5
_NAMELESS: Final = "no manifest that its name says"
_LONGEST: Final = 1 << 24


@dataclass(frozen=True)
class Plan:
    """What aeon's cache of a manifest is to be.

    manifest: the records that aeon uses, in its order. uid: what it knows them by. root: its
    manifest_root. block_size: what is wanted; blocks: the records of each block that has some.
    access: its roots are the folders that all files must lie in.
    """

    manifest: Manifest
    uid: str
    root: str
    block_size: int
    blocks: tuple[range, ...]
    access: Access = USUAL

    @classmethod
    def of(
        cls,
        manifest: Manifest,
        *,
        root: str = "",
        block_size: int = BLOCK_SIZE,
        subset_fraction: float = 1.0,
        shuffle_manifest: bool = False,
        random_seed: int = 0,
        access: Access = USUAL,
        findings: Findings | None = None,
    ) -> Plan:
        """The plan for a manifest and aeon's configuration, whose words these are.

        Raises ValueError as `picked` and `blocks` do, and FormatError for no records.
        """
        found, uid = picked(
            manifest,
            subset_fraction=subset_fraction,
            shuffle_manifest=shuffle_manifest,
            random_seed=random_seed,
        )
        if len(found) == 0:
            raise FormatError(
                "there are no records, and so there is no cache", code="aeon-no-records"
            )
        wanted = blocks(len(found), block_size)
        if not wanted[-1] and findings is not None:
            words = {"size": block_size, "records": len(found)}
            findings.add(finding_at("aeon-cache-empty-block", None, **words))
        some = tuple(each for each in wanted if each)
        return cls(found, uid, root, block_size, some, access)

    def fitted(self, cache: Cache) -> Plan:
        """The plan with blocks as large as those of a cache, by the first that can be read."""
        for number in cache.blocks:
            with suppress(FormatError, OSError):
                size = len(cache.block(number))
                if size:
                    begins = range(0, len(self.manifest), size)
                    wanted = (range(at, min(at + size, len(self.manifest))) for at in begins)
                    return replace(self, block_size=size, blocks=tuple(wanted))
        return self

    @property
    def folder(self) -> str:
        """The name of the folder, below aeon's cache_directory."""
        return cache_name(self.uid)

    @property
    def token(self) -> list[object]:
        """What tells this plan from others of the same uid."""
        types = [kind.value for kind in self.manifest.types]
        root = os.path.abspath(self.root) if self.root else ""
        return [types, root, len(self.blocks[0]), len(self.manifest)]

    def check(self, cache: Cache, findings: Findings) -> dict[int, Block]:
        """Add a finding for all that is wrong; return the blocks that are as they should be."""
        place = Place.of(cache.path)
        if cache.uid != self.uid:
            findings.add(
                finding_at(
                    "aeon-cache-uid",
                    place,
                    found=cache.uid or _NAMELESS,
                    wanted=self.uid,
                )
            )
        whole = cache.check(findings, len(self.manifest.types))
        many = len(self.blocks)
        for number in [number for number in whole if not self.wants(number, whole[number])]:
            records = len(self.blocks[number]) if number < many else 0
            what = f"block {number} has {len(whole.pop(number)):,} records, or others"
            self._count(findings, cache.blocks[number], what, f"{records:,} there")
        for number in range(max(cache.blocks, default=-1) + 1, many):
            findings.add(finding_at("aeon-cache-gap", place, number=number))
        return whole

    def wants(self, number: int, block: Block) -> bool:
        """Whether a block is of these records, by their number and what the manifest itself says.

        Of files nothing is looked at.
        """
        if number >= len(self.blocks) or len(block) != len(self.blocks[number]):
            return False
        width = len(self.manifest.types)
        if block.width != width:
            return False
        rows = self.blocks[number]
        part = self.manifest.select(np.arange(rows.start, rows.stop))
        for column, kind in enumerate(part.types):
            if kind is ElementType.FILE:
                continue
            found = elements(part, column)
            if found.errors:
                return False
            there = block.elements.data.take(np.arange(column, len(block) * width, width))
            if isinstance(found.values, np.ndarray):
                raw = found.values.astype(found.values.dtype.newbyteorder("<")).tobytes()
                if (there.lengths != 4).any() or b"".join(there) != raw:
                    return False
            elif there.tolist() != found.values.tolist():
                return False
        return True

    def _count(self, findings: Findings, path: str, what: str, wanted: str) -> None:
        words = {"what": what, "size": self.block_size, "wanted": wanted}
        findings.add(finding_at("aeon-cache-count", Place.of(path), **words))


@dataclass(frozen=True)
class Built:
    """What a build did: the folder, and which blocks it wrote and which it kept."""

    folder: str
    written: tuple[int, ...]
    kept: tuple[int, ...]


def build(
    plan: Plan,
    directory: str,
    *,
    clock: Callable[[], float] = time.time,
    heard: Callable[[int], None] | None = None,
) -> Built:
    """Build a cache below a directory, which must be there, or complete one.

    Blocks that an earlier builder of the same plan left whole are kept. clock: gives each entry its
    time. heard: is told each block that is written.

    Raises BlockingIOError if somebody else builds it, FormatError for elements that there are not
    and for a complete cache of other blocks, and OSError.
    """
    folder = os.path.join(directory, plan.folder)
    with suppress(FileExistsError):
        os.mkdir(folder)
    with Lock(folder) as lock:
        cache = Cache(folder)
        if COMPLETE in os.listdir(folder):
            findings = Findings()
            whole = plan.check(cache, findings)
            if len(whole) != len(plan.blocks) or len(cache) != len(whole):
                raise FormatError(
                    "there is a complete cache already, and it is not this one, or is broken",
                    place=Place.of(folder),
                    hint="exset cache check says what is wrong; exset cache repair mends it",
                    code="aeon-cache-other",
                )
            _tidy(cache)
            return Built(folder, (), tuple(whole))
        done = _done(plan, folder)
        whole = plan.check(cache, Findings()) if done else {}
        return _completed(plan, cache, lock, done & whole.keys(), clock, heard)


def repair(
    plan: Plan,
    folder: str,
    *,
    clock: Callable[[], float] = time.time,
    heard: Callable[[int], None] | None = None,
) -> Built:
    """Write the blocks of a cache anew that are missing, broken or not those of the plan.

    Raises as `build`, and FormatError for a cache of another manifest.
    """
    cache = Cache(folder)
    if cache.uid != plan.uid:
        words = {"found": cache.uid or _NAMELESS, "wanted": plan.uid}
        raise FormatError.of(finding_at("aeon-cache-uid", Place.of(folder), **words))
    with Lock(folder) as lock:
        cache = Cache(folder)
        whole = plan.check(cache, Findings())
        return _completed(plan, cache, lock, set(whole), clock, heard)


def _completed(
    plan: Plan,
    cache: Cache,
    lock: Lock,
    kept: Set[int],
    clock: Callable[[], float],
    heard: Callable[[int], None] | None,
) -> Built:
    """Write the blocks that are not kept, take away what is left over, and set the marker."""
    journal = os.path.join(cache.path, JOURNAL)
    wanted = [number for number in range(len(plan.blocks)) if number not in kept]
    done = sorted(kept)
    for number in wanted:
        _note(plan, journal, done)
        _write(plan, number, os.path.join(cache.path, block_name(number)), clock)
        done.append(number)
        if heard is not None:
            heard(number)
    beyond = [path for number, path in cache.blocks.items() if number >= len(plan.blocks)]
    for path in beyond:
        os.unlink(path)
    if not lock.is_held():
        raise BlockingIOError(f"{cache.path}: somebody took the lock away; the cache is not marked")
    files.write(_cleared(os.path.join(cache.path, COMPLETE)), b"")
    _tidy(cache)
    return Built(cache.path, tuple(wanted), tuple(sorted(kept)))


def _tidy(cache: Cache) -> None:
    """Take away what builders leave."""
    for path in (*cache.temporary, os.path.join(cache.path, JOURNAL)):
        with suppress(FileNotFoundError):
            os.unlink(path)


def _note(plan: Plan, journal: str, done: list[int]) -> None:
    """Write down which blocks are done."""
    files.write(_cleared(journal), json.dumps({"plan": plan.token, "done": done}).encode())


def _done(plan: Plan, folder: str) -> Set[int]:
    """Which blocks an earlier builder of the same plan has done."""
    with suppress(OSError, ValueError, TypeError, KeyError, RecursionError):
        path = os.path.join(folder, JOURNAL)
        check_plain(path)
        with open(path, "rb") as file:
            told = json.loads(file.read(_LONGEST))
        if told["plan"] == plan.token:
            return {number for number in told["done"] if isinstance(number, int)}
    return set()


def _write(plan: Plan, number: int, path: str, clock: Callable[[], float]) -> None:
    """Write a block. Raises FormatError for an element that there is not, and OSError."""
    rows = plan.blocks[number]
    failed: list[ElementError] = []
    with files.writing(_cleared(path)) as file:
        writer = BlockWriter(file, clock)
        which = np.arange(rows.start, rows.stop)
        for record in encoded(plan.manifest, which, root=plan.root, access=plan.access):
            errors = [each for each in record if isinstance(each, ElementError)]
            failed += errors
            if not failed:
                writer.write([each for each in record if isinstance(each, bytes)])
        if failed:
            raise _failure(failed)
        writer.close()


def _cleared(path: str) -> str:
    """Return the path of a file of ours; a link or a pipe of that name, which leads away, is gone.

    Raises OSError for a folder.
    """
    with suppress(FileNotFoundError):
        if not stat.S_ISREG(os.lstat(path).st_mode):
            os.unlink(path)
    return path


def _failure(failed: list[ElementError]) -> FormatError:
    shown = [str(each) for each in failed[:_SHOWN]]
    more = [f"and {len(failed) - _SHOWN:,} more in this block"] if len(failed) > _SHOWN else []
    return FormatError(
        "elements cannot be cached: " + "; ".join(shown + more),
        hint="aeon caches such records all the same, and mixes up all that follow: exset validate"
        " --files --base ROOT names them all",
        code=failed[0].code,
    )
