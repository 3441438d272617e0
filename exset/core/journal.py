"""A journal: the outcome of each unit of work, and checksums of the written files, as JSON Lines.

The first line has the command. Each later line has a unit and its outcome, and is written when the
unit is done. If the process is killed while it writes a line, readers ignore this incomplete line.
"""

import json
import os
from array import array
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, BinaryIO

from exset.core.errors import FormatError, Place
from exset.core.outcome import Item, Outcome, outcome_of
from exset.core.plan import Unit
from exset.core.records import outcome_from_json, outcome_to_json
from exset.io.named import open_named

_BLOCK = 1 << 20
_DAMAGE = (ValueError, KeyError, TypeError, AttributeError, RecursionError)


@dataclass(frozen=True)
class Header:
    """The first line of a journal.

    work: an id of the work, so that a journal of different work is not used. command and arguments:
    the command line. share: (I, N) for share I of N; (1, 1) for the whole work.
    """

    work: str
    command: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    share: tuple[int, int] = (1, 1)

    @classmethod
    def read(cls, path: str) -> "Header":
        """Read the first line of a journal. Raises OSError; FormatError if it is no journal."""
        with open_named(path, "rb") as file:
            return cls.parse(path, file.readline(_BLOCK))

    @classmethod
    def parse(cls, path: str, line: bytes) -> "Header":
        """Parse `line`, the first line of the journal `path`.

        Raises FormatError if the file is no journal.
        """
        with suppress(*_DAMAGE):
            row = json.loads(line)
            index, count = (int(each) for each in row["share"])
            command, arguments = (tuple(map(str, row[each])) for each in ("command", "arguments"))
            if row["journal"] == 1 and 1 <= index <= count:
                return cls(str(row["work"]), command, arguments, (index, count))
        hint = "name a file that --journal wrote"
        message = "the file is not a journal"
        raise FormatError(message, place=Place(path), hint=hint, code="journal")

    def with_work(self, more: str) -> "Header":
        """Return a copy of the header with another id of the work, which depends on `more`, too."""
        return replace(self, work=work_id(self.work, more))

    def line(self) -> bytes:
        """Return the header as a line of JSON."""
        row = {"journal": 1, "work": self.work, "share": self.share}
        words = {"command": self.command, "arguments": self.arguments}
        return json.dumps({**row, **words}).encode() + b"\n"


def work_id(*parts: str) -> str:
    """Return an id for some work: a hash of the texts that describe it."""
    import hashlib

    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


class Journals:
    """The outcomes in several journals, by unit of work.

    If several lines have an outcome of the same unit, the last of these lines counts. `parts`: the
    number of parts of each file that was divided, by the path of the file.
    """

    def __init__(self, paths: tuple[str, ...]) -> None:
        """Open the journals at `paths`, and record in which line each unit is.

        Raises FormatError for a file that is not a journal, and OSError for a file that cannot be
        read.
        """
        self.headers = [Header.read(path) for path in paths]
        self.paths = paths
        self.parts: dict[str, int] = {}
        import numpy as np

        columns = array("q"), array("q"), array("q")
        for row in self._found():
            for column, value in zip(columns, row, strict=True):
                column.append(value)
        digests, *places = map(np.asarray, columns)
        order = np.argsort(digests, kind="stable")
        self._digests = digests[order]
        self._places = [each[order] for each in places]
        self._files: dict[int, BinaryIO] = {}

    def _found(self) -> Iterator[tuple[int, int, int]]:
        for number, path in enumerate(self.paths):
            with open_named(path, "rb") as file:
                at = len(file.readline())
                for line in file:
                    with suppress(*_DAMAGE):
                        unit = _unit(json.loads(line))
                        if unit.part is not None:
                            self.parts[unit.input] = int(unit.part.partition("/")[2])
                        yield _digest(unit), number, at
                    at += len(line)

    def row(self, unit: Unit) -> dict[str, Any] | None:
        """Return the last line about a unit, as a dictionary. Return None if no line is about it.

        A line is about the unit if its input, part and output are equal. The size and fingerprint
        of the input may differ.
        """
        digest = _digest(unit)
        at = int(self._digests.searchsorted(digest, "right")) - 1
        if at < 0 or self._digests[at] != digest:
            return None
        number, offset = (int(places[at]) for places in self._places)
        if number not in self._files:
            self._files[number] = open_named(self.paths[number], "rb")
        file = self._files[number]
        file.seek(offset)
        found: dict[str, Any] = json.loads(file.readline())
        return found

    def has(self, unit: Unit) -> bool:
        """Return whether there is a line about a unit."""
        return self.row(unit) is not None

    def outcome(self, item: Item, unit: Unit, kind: object) -> Outcome[Item, Any]:
        """Return the outcome of a unit from the journals. If its line is damaged, return an error.

        `item`: the file of the unit. `kind`: the type of the outcome's value.
        """
        row = self.row(unit)

        def damaged() -> None:
            message, hint = "the journals have a damaged line about this file", "write them again"
            raise FormatError(message, place=Place(unit.input), hint=hint, code="journal")

        with suppress(*_DAMAGE):
            return outcome_from_json(item, kind, (row or {})["outcome"])
        return outcome_of(item, damaged)

    def close(self) -> None:
        """Close the files."""
        for file in self._files.values():
            file.close()
        self._files.clear()


class Journal:
    """A journal that exset writes; with `resume`, it continues an existing journal."""

    def __init__(self, path: str, header: Header, *, resume: bool) -> None:
        """Open the journal at `path` for writing; `header` is its first line.

        Without `resume`, raises FormatError if the file exists. With `resume`, raises FormatError
        if the existing journal is of other work.
        """
        self._old: Journals | None = None
        if os.path.exists(path) and os.path.getsize(path):
            if not resume:
                hint = "continue it with --resume, or name another file"
                message = "the journal exists already"
                raise FormatError(message, place=Place(path), hint=hint, code="journal")
            self._old = Journals((path,))
            old = self._old.headers[0]
            if (old.work, old.share) != (header.work, header.share):
                hint = "name another file, or delete this one"
                message = "the file is the journal of another command or share"
                raise FormatError(message, place=Place(path), hint=hint, code="journal")
        self._file = open_named(path, "ab")
        try:
            # The last line of an old journal may be incomplete.
            self._write(b"\n" if self._old else header.line())
        except OSError:
            self.close()
            raise

    def has(self, unit: Unit) -> bool:
        """Return whether the journal says that a unit is done, and its files have not changed.

        These files are the unit's input and outputs. A unit that ended with an error of the system
        is not done.
        """
        row = None if self._old is None else self._old.row(unit)
        with suppress(*_DAMAGE):
            if row is not None and "system" not in row["outcome"] and _unit(row) == unit:
                outputs = dict(row["outputs"])
                return all(checksum(path) == outputs[path] for path in outputs)
        return False

    def outcome(self, item: Item, unit: Unit, kind: object) -> Outcome[Item, Any] | None:
        """Return the outcome of a unit for which `has` is True. Return None if its line is damaged.

        `item`: the file of the unit. `kind`: the type of the outcome's value.
        """
        row = None if self._old is None else self._old.row(unit)
        with suppress(*_DAMAGE):
            return None if row is None else outcome_from_json(item, kind, row["outcome"])
        return None

    def add(self, unit: Unit, outcome: Outcome[Item, Any], outputs: Mapping[str, str]) -> None:
        """Write the outcome of a unit. `outputs`: the checksum of each file it wrote, by path."""
        row = {**vars(unit), "outputs": outputs, "outcome": outcome_to_json(outcome)}
        self._write(json.dumps(row).encode() + b"\n")

    def _write(self, line: bytes) -> None:
        self._file.write(line)
        self._file.flush()

    def close(self) -> None:
        """Close the files."""
        self._file.close()
        if self._old is not None:
            self._old.close()


def checksum(path: str) -> str | None:
    """Return the SHA-256 of a file; for a folder, of the names and contents of its files.

    Return None if nothing is at `path`. Raises OSError for a file that cannot be read.
    """
    import hashlib

    digest = hashlib.sha256()
    if os.path.isdir(path):
        for name in sorted(os.listdir(path)):
            inside = checksum(os.path.join(path, name)) or ""
            digest.update(os.fsencode(name) + b"\0" + inside.encode())
        return digest.hexdigest()
    try:
        with open_named(path, "rb") as file:
            while block := file.read(_BLOCK):
                digest.update(block)
    except FileNotFoundError:
        return None
    return digest.hexdigest()


def _unit(row: Mapping[str, Any]) -> Unit:
    return Unit(*(row[name] for name in ("input", "part", "output", "size", "fingerprint")))


def _digest(unit: Unit) -> int:
    import hashlib

    name = json.dumps([unit.input, unit.part, unit.output]).encode()
    return int.from_bytes(hashlib.blake2b(name, digest_size=7).digest())
