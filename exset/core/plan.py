"""The plan of work on many files: a list of all units of work, as JSON Lines, made before any work.

The order, the names and the bytes of all outputs depend only on the plan, not on which process does
the work.
"""

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from exset.core.outcome import Item, output_of, part_of
from exset.io import files


@dataclass(frozen=True)
class Unit:
    """A unit of work: the input, which is a file or a part of a file, and the file that it writes.

    size: the size of the input in bytes. fingerprint: the time of the last change of the input, in
    nanoseconds. Both are None for a remote file and for a missing file.
    """

    input: str
    part: str | None
    output: str | None
    size: int | None
    fingerprint: str | None

    @classmethod
    def of(cls, item: str | os.PathLike[str]) -> "Unit":
        """Return the unit for a path, or for an object with a path, without opening the file."""
        path = os.fsdecode(item)
        size, changed = _status(path)
        return cls(path, part_of(item), output_of(item), size, changed)


class PlanWritten(Exception):
    """Raised when the plan is written, to end the command successfully before any work."""

    def __init__(self, path: str, units: int) -> None:
        super().__init__(path, units)
        self.path = path
        self.units = units


def write_plan(path: str, items: Sequence[Item]) -> PlanWritten:
    """Write a plan, with a unit for each item; return the exception that ends the command."""
    files.write(path, _lines(items))
    return PlanWritten(path, len(items))


def _lines(items: Sequence[Item]) -> Iterator[bytes]:
    for item in items:
        yield json.dumps(vars(Unit.of(item))).encode() + b"\n"


def _status(path: str) -> tuple[int | None, str | None]:
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None, None
    return status.st_size, str(status.st_mtime_ns)
