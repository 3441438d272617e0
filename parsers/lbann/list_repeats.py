"""Find the files that a sample list names more than once, while its chunks are read."""

from bisect import bisect_right
from typing import Final

import numpy as np

from exset.core.errors import Findings, FormatError, Place
from exset.core.source import Source, Span
from exset.core.text import counted
from exset.grammars.columns.arrays import Longs, compact
from exset.grammars.columns.growing import Growing
from exset.grammars.columns.strings import Strings
from exset.grammars.lbann.list_findings import finding_at
from exset.grammars.lbann.sample_list import Counts, SampleList
from exset.parsers.engine.errors import shown

_HINT: Final = "name each file once, with all its ids"
_SIDES: Final = ("left", "right")


class RepeatedFiles:
    """Stores the names of the files of a list, and finds the names that occur again.

    `findings` has a finding for each repeated name. `error` is the error for the first file that is
    repeated with another number of samples.
    """

    def __init__(self) -> None:
        self.findings = Findings()
        self.error: FormatError | None = None
        self._count = 0
        self._totals: list[Counts] = []
        self._ends: list[int] = []
        self._runs: list[tuple[Longs, Longs]] = []
        """Hashes of names, sorted, and the number of the file of each."""
        self._others = Growing(np.int64)
        """A second hash of each name: together they are equal only for equal names."""
        self._again: dict[bytes, int] = {}

    def add(self, samples: SampleList, starts: Longs, source: Source) -> None:
        """Add the files of a chunk. `starts`: where the name of each file begins in the source."""
        if samples.kind.is_single or self.error is not None:
            return
        begin, self._count = self._count, self._count + len(samples.name)
        totals = samples.included + samples.excluded  # modulo 2**64, as LBANN computes it
        found = totals if samples.kind.is_exclusion else samples.included
        self._totals.append(compact(totals))
        self._ends.append(self._count)
        again: list[int] = []

        def span(row: int) -> Span:
            return Span(int(starts[row]), int(starts[row]) + len(samples.name[row] or b""))

        for row in self._candidates(samples.name, begin).tolist():
            first = self._first(samples.name[row] or b"")
            if first == begin + row:
                continue
            if found[row] != (expected := self._total(first)):
                self.error = FormatError(
                    f"the list names this file again with {counted(int(found[row]), 'sample')},"
                    f" but first with {expected:,}: LBANN accepts only equal numbers",
                    source=source,
                    span=span(row),
                    hint=_HINT,
                    code="lbann-repeated-file",
                )
                break
            again.append(row)
        self.findings.add_each(
            again,
            lambda row: finding_at(
                "lbann-repeated-file",
                Place.in_text(source, span(row)),
                name=shown(samples.name[row] or b""),
            ),
        )

    def _candidates(self, names: Strings, begin: int) -> Longs:
        """Add the names of a chunk. Return the rows of the names that may have occurred before.

        Such a name has the same hash as an earlier name. begin: the number of the chunk's first
        file.
        """
        hashes = np.fromiter(map(hash, names), np.int64, len(names))
        self._others.add(np.fromiter(map(_other_hash, names), np.int64, len(names)))
        order = np.argsort(hashes, kind="stable")
        ordered = hashes[order]
        rows = [order[1:][ordered[1:] == ordered[:-1]]]
        for known, _ in self._runs:
            places = np.minimum(known.searchsorted(hashes), known.size - 1)
            rows.append(np.flatnonzero(known[places] == hashes))
        if ordered.size:
            self._runs.append((ordered, order + begin))
        # Runs of about equal sizes become one: so there are few, and each hash moves seldom.
        while len(self._runs) > 1 and self._runs[-2][0].size < 2 * self._runs[-1][0].size:
            runs = [self._runs.pop(-2), self._runs.pop()]
            hashes, numbers = (np.concatenate(each) for each in zip(*runs, strict=True))
            runs.clear()  # a merge needs the most memory of all
            order = np.argsort(hashes, kind="stable")
            hashes.sort(kind="stable")
            self._runs.append((hashes, numbers[order]))
        return np.unique(np.concatenate(rows))

    def _first(self, name: bytes) -> int:
        """Return the number of the first file that has this name."""
        if name not in self._again:
            numbers: list[int] = []
            for hashes, files in self._runs:
                low, high = (int(hashes.searchsorted(hash(name), side)) for side in _SIDES)
                numbers += files[low:high].tolist()
            other = _other_hash(name)
            self._again[name] = min(each for each in numbers if self._others[each] == other)
        return self._again[name]

    def _total(self, number: int) -> int:
        chunk = bisect_right(self._ends, number)
        return int(self._totals[chunk][number - self._ends[chunk]])


def _other_hash(name: bytes | None) -> int:
    return hash((name or b"") + b"\n")
