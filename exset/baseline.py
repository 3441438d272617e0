"""A baseline: the findings that a project already has, so that a check reports only new findings.

The file is JSON. For each checked file and each code, it has the number of findings with each
fingerprint. A finding that moves to another line keeps its fingerprint. The fingerprint "" has the
number of findings that exset counted but did not keep. Paths of files are relative to the folder of
the baseline.
"""

import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import PurePath
from typing import Final, TypeAlias

from exset.core.errors import Findings, FormatError, Place
from exset.core.text import safe
from exset.io import files
from exset.io.files import FilePath
from exset.reports.checks import fingerprint

_SCHEMA: Final = 1

Known: TypeAlias = dict[str, dict[str, Counter[str]]]
"""The counts of findings by file, code and fingerprint."""


class Baseline:
    """The known findings of files. It also counts the findings of this run."""

    def __init__(self, path: FilePath, known: Known | None = None) -> None:
        """Use the baseline file `path`, which has the findings `known`.

        By default, the baseline is new, and has no findings.
        """
        self.path = os.fsdecode(path)
        self._known: Known = known or {}
        self._present: Known = {}

    @classmethod
    def read(cls, path: FilePath) -> "Baseline":
        """Read a baseline. Raises OSError, and FormatError if the file is not a baseline."""
        source = files.read(path)
        hint = "make the baseline again with --update-baseline"
        try:
            known = _known_of(json.loads(bytes(source.view)))
        except (ValueError, RecursionError):
            raise FormatError(
                "the file is not a baseline of exset",
                place=Place(source.name),
                hint=hint,
                code="baseline",
            ) from None
        return cls(path, known)

    def new(self, path: str, findings: Findings) -> Findings:
        """Count the findings of a checked file; return those that are not in the baseline."""
        name = self._name(path)
        present = self._present[name] = dict(_counts(findings))
        known = {code: counts.copy() for code, counts in self._known.get(name, {}).items()}
        found = Findings(keep=findings.keep)
        found.stopped = findings.stopped
        last = {finding.code: finding for finding in findings}
        for finding in findings:
            counts, mark = known.get(finding.code, Counter()), fingerprint(finding)
            if counts[mark] > 0:
                counts[mark] -= 1
            else:
                found.add(finding)
        for code, finding in last.items():
            more = present[code][""] - known.get(code, Counter())[""]
            if more > 0:
                found.add(finding, more)
        found.sort()
        return found

    @property
    def gone(self) -> int:
        """How many known findings of the checked files no longer occur."""
        return sum(
            (counts - self._present[name].get(code, Counter())).total()
            for name in self._present
            for code, counts in self._known.get(name, {}).items()
        )

    def save(self) -> int:
        """Write the findings of this run, and return how many findings the baseline now has.

        A file that was not checked in this run keeps its entries if it still exists. If the write
        fails, the old baseline stays.
        """
        folder = os.path.dirname(os.path.abspath(self.path))
        kept = {
            name: codes
            for name, codes in {**self._known, **self._present}.items()
            if codes and (name in self._present or os.path.lexists(os.path.join(folder, name)))
        }
        document = {"schema": _SCHEMA, "findings": kept}
        text = json.dumps(document, indent=1, sort_keys=True)
        files.write(self.path, f"{text}\n".encode())
        return sum(counts.total() for codes in kept.values() for counts in codes.values())

    def _name(self, path: str) -> str:
        """Return the name that a file has in the baseline, with forward slashes."""
        if path == "-" or "://" in path or path.startswith("exset::"):
            return path
        folder = os.path.dirname(os.path.abspath(self.path))
        try:
            name = os.path.relpath(path, folder)
        except ValueError:  # on another drive
            name = os.path.abspath(path)
        return safe(PurePath(name).as_posix())


def _counts(findings: Findings) -> Iterator[tuple[str, Counter[str]]]:
    more = findings.unkept()
    for code in dict.fromkeys(finding.code for finding in findings):
        counts = Counter(fingerprint(each) for each in findings if each.code == code)
        counts[""] = more[code]
        yield code, +counts


def _known_of(document: object) -> Known:
    """Return the findings in the JSON document of a baseline.

    Raises ValueError if the document is not a baseline.
    """
    if not isinstance(document, dict) or document.get("schema") != _SCHEMA:
        raise ValueError
    return {
        name: {code: Counter(_whole(counts)) for code, counts in _members(codes)}
        for name, codes in _members(document.get("findings"))
    }


def _members(value: object) -> Iterator[tuple[str, object]]:
    if not isinstance(value, dict):
        raise ValueError
    yield from value.items()


def _whole(value: object) -> dict[str, int]:
    counts = dict(_members(value))
    if not all(isinstance(count, int) and count >= 0 for count in counts.values()):
        raise ValueError
    return {name: count for name, count in counts.items() if isinstance(count, int)}
