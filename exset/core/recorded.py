"""Run work and keep a journal; do one share of the work; join the results of all shares."""

import os
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any, Generic

from exset.core.errors import FormatError, Place
from exset.core.journal import Header, Journal, Journals, checksum
from exset.core.outcome import Item, Outcome, Value, output_of
from exset.core.parts import divided
from exset.core.plan import Unit
from exset.core.shards import Shard
from exset.core.text import counted

_NAMED = 8


@dataclass(frozen=True)
class Record:
    """Where to keep the outcomes of work, and which share of the work to do.

    path: the journal. It may be a folder, with a separator at the end; the journal of a share is
    then `share-I-of-N.jsonl` in this folder. header: the first line of the journal. resume: skip
    the units that the journal already has. shard: the share to do.
    """

    path: str
    header: Header
    resume: bool = False
    shard: Shard | None = None

    @property
    def file(self) -> str:
        """The path of the journal."""
        if not self.path.endswith(("/", os.sep)):
            return self.path
        shard = self.shard or Shard(1, 1)
        width = len(str(shard.count))
        return os.path.join(self.path, f"share-{shard.index:0{width}}-of-{shard.count}.jsonl")


class ShareDone(Exception):
    """Raised when a share of the work is done, to end the command successfully."""

    def __init__(self, record: Record, units: int, failed: int) -> None:
        super().__init__(record, units, failed)
        self.record = record
        self.units = units
        self.failed = failed


@dataclass(frozen=True)
class Summing(Generic[Item, Value]):
    """Does `work` on a file, and also returns the checksum of the file that the work wrote."""

    work: Callable[[Item], Value]

    def __call__(self, item: Item) -> tuple[Value, dict[str, str]]:
        """Return the value of the work, and a dictionary from the output file to its checksum."""
        value = self.work(item)
        target = output_of(item)
        if target is None or target == "-" or (found := checksum(target)) is None:
            return value, {}
        return value, {target: found}


class JournalError(Exception):
    """A journal cannot be used for this work; the attribute `error` says why.

    It is no FormatError, because exset would report a FormatError as a finding of the checked file.
    """

    def __init__(self, error: FormatError) -> None:
        super().__init__(error)
        self.error = error


@contextmanager
def _journal_errors() -> Iterator[None]:
    try:
        yield
    except FormatError as error:
        raise JournalError(error) from None


def recorded(
    items: Sequence[Item],
    record: Record,
    kind: object,
    start: Callable[[Sequence[Item]], Generator[Outcome[Item, tuple[Any, dict[str, str]]]]],
) -> Generator[Outcome[Item, Any], None, None]:
    """Yield the outcome of each file, in order, from the journal or from new work.

    The outcomes of new work are added to the journal. kind: the type of the values. start: a
    function that runs the work on the files that are not in the journal. Raises JournalError if the
    file of `record` cannot be used as the journal.
    """
    os.makedirs(os.path.dirname(record.file) or os.curdir, exist_ok=True)
    with _journal_errors():
        opened = Journal(record.file, record.header, resume=record.resume)
    with closing(opened) as journal:
        done = bytearray(len(items))
        for rank, item in enumerate(items if record.resume else ()):
            unit = Unit.of(item)
            done[rank] = journal.has(unit) and journal.outcome(item, unit, kind) is not None
        # Each unit has one part, or none if it is done: none is created before its turn.
        left = divided(items, bytearray(not each for each in done), lambda item, *_: item)
        with closing(start(left)) as fresh:
            for rank, item in enumerate(items):
                unit = Unit.of(item)
                outcome = journal.outcome(item, unit, kind) if done[rank] else None
                if outcome is None:
                    new = next(fresh)
                    value, outputs = (None, {}) if new.value is None else new.value
                    outcome = Outcome(item, value, new.error)
                    journal.add(unit, outcome, outputs)
                yield outcome


def gathered(
    items: Sequence[Item], journals: Journals, work: str, kind: object
) -> Generator[Outcome[Item, Any], None, None]:
    """Yield the outcome of each file, in order, from the journals of all shares.

    work: the id of the work. kind: the type of the values. Raises JournalError if a journal is of
    other work, or if a share is missing or not complete. The error names the missing and incomplete
    shares.
    """
    with _journal_errors():
        _check_complete(items, journals, work)
    for item in items:
        yield journals.outcome(item, Unit.of(item), kind)


def _check_complete(items: Sequence[Item], journals: Journals, work: str) -> None:
    counts = {header.share[1] for header in journals.headers}
    for path, header in zip(journals.paths, journals.headers, strict=True):
        if header.work != work or len(counts) > 1:
            hint = "gather the journals of one command, with one number of shares"
            message = "the file is the journal of another command, or has another number of shares"
            raise FormatError(message, place=Place(path), hint=hint, code="journal")
    [count] = counts
    missing = dict.fromkeys(range(1, count + 1), 0)
    for rank, item in enumerate(items):
        missing[rank % count + 1] += not journals.has(Unit.of(item))
    there = {header.share[0] for header in journals.headers}
    texts = []
    if absent := [str(index) for index in missing if index not in there]:
        texts.append(f"the journal of share {_some(absent)} of {count} is missing")
    if partial := [index for index in missing if index in there and missing[index]]:
        names = [f"{index} ({counted(missing[index], 'unit')} of work left)" for index in partial]
        texts.append(f"share {_some(names)} of {count} is not finished")
    if texts:
        hint = "run the command again for these shares, with --resume, then gather all journals"
        place = Place(journals.paths[0])
        raise FormatError("; ".join(texts), place=place, hint=hint, code="shares-missing")


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more}"
