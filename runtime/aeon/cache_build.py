"""Build aeon's caches, complete incomplete caches, and repair damaged caches.

A builder may be killed at any moment. A block gets its name when all its data are on disk, and the
cache gets its marker when all its blocks are on disk. So no reader regards an incomplete cache as
complete. The next builder continues the build: it keeps only the blocks that the journal lists, and
only if the journal is of the same plan. A build that fails before its first block is finished
leaves nothing behind.
"""

import json
import os
import stat
import time
from collections.abc import Callable, Set
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from exset.codecs.aeon.cpio_write import BlockWriter
from exset.core.errors import Findings, FormatError, Place, Severity
from exset.core.text import Advice, counted, safe
from exset.io import files
from exset.io.atomic_write import sync_folder
from exset.io.beneath import open_regular
from exset.runtime.aeon.cache import COMPLETE, JOURNAL, Cache, block_name
from exset.runtime.aeon.cache_compare import Compared
from exset.runtime.aeon.cache_lock import NAME as LOCK
from exset.runtime.aeon.cache_lock import locked
from exset.runtime.aeon.cache_plan import Plan
from exset.runtime.aeon.elements import ElementError, encoded
from exset.runtime.aeon.missing_files import Folder

_SHOWN: Final = 5
_LEFT_OUT: Final = (
    "if aeon built the cache, it would leave these elements out and give later ones to wrong"
    " records; exset validate --files --base FOLDER lists all such elements"
)
_MAX_JOURNAL: Final = 1 << 24


@dataclass(frozen=True)
class Built:
    """The result of a build: the folder of the cache, and the numbers of its blocks.

    written: the blocks that the build wrote. kept: the blocks that existed already.
    """

    folder: str
    written: tuple[int, ...]
    kept: tuple[int, ...]


def build(plan: Plan, directory: str, *, clock: Callable[[], float] = time.time) -> Built:
    """Build a cache as a folder in an existing directory, or complete the cache that is there.

    clock: returns the time that is stored with an element, in seconds. Raises BlockingIOError if
    another builder is at work, and OSError. Raises FormatError for elements that cannot be made,
    and for a complete cache of another plan.
    """
    folder = os.path.join(directory, plan.folder)
    try:
        os.mkdir(folder)
    except FileExistsError:
        return _build(plan, folder, clock)
    try:
        sync_folder(directory or os.curdir)
        return _build(plan, folder, clock)
    except BaseException:
        with suppress(OSError):  # it has blocks, which the next build keeps
            os.rmdir(folder)
        raise


def _build(plan: Plan, folder: str, clock: Callable[[], float]) -> Built:
    """Build the planned cache in a folder, or complete the blocks that are already there. clock:
    returns the time to store.
    """
    with locked(folder) as is_held:
        cache, found = Cache(folder, roots=plan.access.roots), Findings()
        keep = _finished_blocks(plan, folder)
        intact = plan.check(cache, found).keys() if keep or cache.is_complete else set()
        if cache.is_complete:
            if len(intact) != len(plan.blocks) or len(cache) != len(intact):
                errors = (each.message for each in found if each.severity is Severity.ERROR)
                why = next(errors, "it has other blocks")
                raise FormatError(
                    f"the folder has a complete cache, but not the requested one: {why}",
                    place=Place(folder),
                    hint="exset cache check shows the difference; exset cache repair fixes it",
                    code="aeon-cache-other",
                )
            keep = intact
        try:
            return _complete(plan, cache, keep & intact, is_held, clock)
        except (FormatError, OSError) as error:
            _add_advice(error, folder, len(_finished_blocks(plan, folder)))
            raise


def _add_advice(error: FormatError | OSError, folder: str, kept: int) -> None:
    """Add to an error's text how many finished blocks the next build keeps.

    folder: of the cache. kept: the number of finished blocks; if 0, nothing is added.
    """
    if not kept:
        return
    blocks = f"{counted(kept, 'finished block')} in {safe(folder)}"
    advice = f"the next build of this cache resumes: it keeps {blocks}"
    if isinstance(error, OSError):
        error.strerror = f"{error.strerror}; {advice}"
    else:
        hint = error.hint.followed_by(advice) if isinstance(error.hint, Advice) else advice
        error.finding = replace(error.finding, hint=hint)


def repair(
    plan: Plan, folder: str, *, compare: Compared = "sizes", clock: Callable[[], float] = time.time
) -> Built:
    """Write those blocks of a cache again that are missing, damaged or different from the plan.

    compare: as in `Plan.check`. Raises the errors of `build`, and FormatError for the cache of
    another manifest.
    """
    if (cache := Cache(folder, roots=plan.access.roots)).uid != plan.uid:
        raise FormatError.of(plan.wrong_uid(cache))
    with locked(folder) as is_held:
        cache = Cache(folder, roots=plan.access.roots)
        keep = plan.check(cache, Findings(), compare=compare).keys()
        return _complete(plan, cache, keep, is_held, clock)


def _complete(
    plan: Plan,
    cache: Cache,
    keep: Set[int],
    is_held: Callable[[], bool],
    clock: Callable[[], float],
) -> Built:
    """Write all blocks of a cache except those in `keep`. Then remove blocks beyond the plan, and
    write the file that marks the cache as complete.

    is_held: returns whether this builder still has the lock of the folder. clock: returns the time
    to store.
    """
    journal = os.path.join(cache.path, JOURNAL)
    finished = sorted(keep)
    for number in range(len(plan.blocks)):
        if number not in keep:
            if finished and not cache.is_complete:
                text = json.dumps({"plan": plan.key, "done": finished})
                files.write(_cleared(journal), text.encode())
            else:
                _remove(journal)
            _write_block(plan, number, os.path.join(cache.path, block_name(number)), clock)
            finished.append(number)
    for number, path in cache.blocks.items():
        if number >= len(plan.blocks):
            os.unlink(path)
    if not is_held():
        raise BlockingIOError(
            f"{cache.path}: another process removed the lock {LOCK}, so exset did not mark the "
            "cache as complete: build it again when no other process builds it"
        )
    files.write(_cleared(os.path.join(cache.path, COMPLETE)), b"")
    for path in (*cache.temporary, journal):
        _remove(path)
    return Built(cache.path, tuple(finished[len(keep) :]), tuple(sorted(keep)))


def _finished_blocks(plan: Plan, folder: str) -> Set[int]:
    """Return the numbers of the blocks that an earlier build of this plan finished."""
    with suppress(OSError, ValueError, TypeError, KeyError, RecursionError):
        path = os.path.join(folder, JOURNAL)
        with open_regular(path) as file:
            journal = json.loads(file.read(_MAX_JOURNAL))
        if journal["plan"] == plan.key:
            return {number for number in journal["done"] if isinstance(number, int)}
    return set()


def _write_block(plan: Plan, number: int, path: str, clock: Callable[[], float]) -> None:
    """Write the block `number` of the plan to `path`.

    Raises FormatError if an element cannot be made, and OSError.
    """
    rows = plan.blocks[number]
    which = slice(rows.start, rows.stop)
    failed: list[ElementError] = []
    with files.writing(_cleared(path)) as file:
        writer = BlockWriter(file, clock)
        for record in encoded(plan.manifest, which, base=plan.base, access=plan.access):
            failed += [each for each in record if isinstance(each, ElementError)]
            if not failed:
                writer.write([each for each in record if isinstance(each, bytes)])
        if failed:
            base = Folder(os.fsencode(plan.base), plan.access)
            shown = [*map(str, failed[:_SHOWN])]
            if len(failed) > _SHOWN:
                shown.append(f"and {len(failed) - _SHOWN:,} more in this block")
            raise FormatError(
                "exset cannot make these elements of the cache: " + "; ".join(shown),
                hint="; ".join(filter(None, [failed[0].hint(base), _LEFT_OUT])),
                code=failed[0].code,
            )
        writer.close()


def _remove(path: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(path)


def _cleared(path: str) -> str:
    """Return the path. If a link or a pipe is there, remove it first.

    Writing to a link or a pipe could write outside the folder.
    """
    with suppress(FileNotFoundError):
        if not stat.S_ISREG(os.lstat(path).st_mode):
            os.unlink(path)
    return path
