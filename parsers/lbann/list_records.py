"""The records of a sample list as columns. A record is the line of one file."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import numpy as np
from numpy.typing import NDArray

from exset.core.errors import LimitError
from exset.core.limits import Limits
from exset.core.text import counted
from exset.grammars.columns.arrays import compact, constant, offsets_of, row_indices
from exset.grammars.columns.ragged import Strings
from exset.grammars.columns.spans import Spans
from exset.grammars.lbann.list_findings import finding_at
from exset.grammars.lbann.list_ids import overlaps
from exset.grammars.lbann.list_types import Kind
from exset.grammars.lbann.sample_list import Counts
from exset.parsers.engine.errors import shown
from exset.parsers.engine.stream import ParseStream
from exset.parsers.lbann import list_columns as c
from exset.parsers.lbann.list_columns import Ints, Note, Verdict
from exset.parsers.lbann.list_tokens import RECORD, Words

_BLOCK: Final = 1 << 16
_HASH_OF_ROW: Final = np.uint64(0x9E3779B97F4A7C15)

_NOTES: Final[Mapping[Note, str]] = MappingProxyType(
    {
        Note.NO_BEGIN: "it has no first number, so it starts at 1",
        Note.DOWN: "it goes down, so it contains only its first number",
        Note.SAME_END: "both ends are equal, so LBANN takes the next number as its end",
        Note.CHAINED: "it continues another range, which is repeated",
    }
)
_ERRORS: Final[Mapping[Verdict, tuple[str, str]]] = MappingProxyType(
    {
        Verdict.NOT_A_NUMBER: (
            "the id {raw} is neither an integer nor `...`",
            'if ids are names, read the list with <--ids text or ids="text">',
        ),
        Verdict.BEYOND_64_BITS: ("the id {raw} is beyond 64 bits", "write a smaller number"),
        Verdict.TWO_MARKS: ("this range starts inside another one", "write `first ... last`"),
        Verdict.NO_END: ("the line ends before the end of the range", "write `first ... last`"),
    }
)


@dataclass(frozen=True)
class Records:
    """The records of a chunk, as indices of their words.

    names: int64 [records], the word that is the name of the file. ids: int64, the words that are
    ids, of all records. offsets: int64 [records + 1], where the ids of each record begin in `ids`.
    """

    words: Words
    kind: Kind
    names: Ints
    ids: Ints
    offsets: Ints

    def columns(self, sort: str, limits: Limits) -> dict[str, object]:
        """Return these records as columns of a `SampleList`.

        sort: the type of the ids, "text" or "integer".
        """
        words = self.words
        name, _ = words.strings(self.names)
        words.check_lengths(limits)
        is_integer = sort == "integer"
        if self.kind.is_single:
            return {
                "name": name,
                "others": constant(0, len(name), np.uint64),
                "id_offsets": constant(0, len(name) + 1, np.int64),
                "ids": Spans.empty() if is_integer else Strings.empty(0),
            }
        others = constant(0, len(name), np.uint64)
        if self.kind.has_excluded:
            others = self._counts(self.names + (1 if self.kind.is_exclusion else 2))
            others = compact(others)
        declared = self.names + (2 if self.kind.is_exclusion else 1)
        read = self._ranges if is_integer else self._texts
        ids, id_offsets = read(declared)
        return {"name": name, "others": others, "id_offsets": id_offsets, "ids": ids}

    def _counts(self, numbers: Ints) -> Counts:
        values, negative = self.words.counts(numbers)
        if negative.size and self.kind.is_exclusion:
            word = int(numbers[negative[0]])
            raise self.words.error(word, "lbann-count", "the number of samples is negative")
        self.words.findings.add_each(
            negative.tolist(),
            lambda row: finding_at(
                "lbann-wrapped-count", self.words.place(int(numbers[row])), value=int(values[row])
            ),
        )
        return values

    def _check_counts(self, declared: Ints, found: Ints, tails: Ints | None = None) -> None:
        """Raise FormatError for a record that states another number of ids than it has.

        declared: for each record, the index of the word that states the number. found: the number
        of ids of each record. tails: indices of the ids of which LBANN reads only the first digits.
        """
        values, _ = self.words.counts(declared)
        wrong = np.flatnonzero(values != found.astype(np.uint64))
        if not wrong.size:
            return
        row = int(wrong[0])
        value, count = int(values[row]), int(found[row])
        what = "excluded" if self.kind.is_exclusion else "included"
        hint = f"if the ids are correct, write {count:,} as this number"
        if self.kind.is_exclusion:
            hint += f": in a {self.kind} list, ids name the excluded samples"
        elif self.kind is Kind.MULTI_SAMPLE_INCLUSION_V2 and count == value + 1:
            hint = f"a {self.kind} list does not count the excluded samples"
        elif self.kind.has_excluded and count == value - 1:
            hint += "; two numbers come before the ids: included samples, excluded samples"
        if tails is not None:
            among = tails[(self.offsets[row] <= tails) & (tails < self.offsets[row + 1])]
            if among.size:
                raw = shown(self.words.raw(int(self.ids[among[0]])))
                hint = f"LBANN reads {raw} as one number: write ranges as `first ... last`"
        declares, has = counted(value, f"{what} sample"), counted(count, "id")
        message = f"the line declares {declares}, but has {has}"
        raise self.words.error(int(declared[row]), "lbann-id-count", message, hint)

    def _texts(self, declared: Ints) -> tuple[Strings, Ints]:
        words, offsets = self.words, self.offsets
        ids, hashes = words.strings(self.ids)
        again = repeated(ids, hashes, offsets)
        if not self.kind.is_exclusion:
            self._check_counts(declared, np.diff(offsets))
            words.report("lbann-repeated-id", self.ids[again])
        else:
            words.report("lbann-extra-id", self.ids[again])
            if again.size:
                kept = np.ones(len(ids), np.bool_)
                kept[again] = False
                ids = ids.take(np.flatnonzero(kept))
                offsets = offsets_of(kept)[offsets]
            self._check_counts(declared, np.diff(offsets))
            slashes = np.flatnonzero(ids.data == 0x2F)
            rows = np.unique(np.searchsorted(ids.offsets, slashes, side="right") - 1)
            words.report("lbann-two-levels", self.ids[rows])
        dots = np.flatnonzero(ids.lengths == 3)
        dots = dots[(ids.data[ids.offsets[dots][:, None] + np.arange(3)] == 0x2E).all(axis=1)]
        words.report("lbann-dots", self.ids[dots])
        return ids, offsets_of(compact(np.diff(offsets)))

    def _ranges(self, declared: Ints) -> tuple[Spans, Ints]:
        words, records = self.words, self.names.size
        first, last = (np.empty(self.ids.size, np.int64) for _ in range(2))
        ends, counts = np.empty(records + 1, np.int64), np.empty(records, np.int64)
        notes, state = np.zeros(self.ids.size, np.uint8), np.zeros(2, np.int64)
        spans = words.spans(self.ids)
        filled = first, last, ends, counts
        read = words.run(c.read_ranges)
        verdict = Verdict(read(words.buffer, *spans, self.offsets, *filled, notes, state))
        if verdict is not Verdict.VALID:
            raise self._range_error(verdict, int(self.ids[state[0]]))
        tails = np.flatnonzero(notes & Note.TAIL)
        self._check_counts(declared, counts, tails)
        for note, what in _NOTES.items():
            noted = self.ids[np.flatnonzero(notes & note)]
            words.report("lbann-odd-range", noted, what=what)
        words.report("lbann-number-tail", self.ids[tails])
        found = Spans.unchecked(first=first[: ends[-1]].copy(), last=last[: ends[-1]].copy())
        again = self.names[overlaps(found, ends)]
        words.report("lbann-repeated-id", again, raw="of a sample")
        return found, ends

    def _range_error(self, verdict: Verdict, word: int) -> Exception:
        words = self.words
        if verdict is Verdict.TOO_MANY:
            message = "the list has more samples than exset can count"
            return LimitError(message, source=words.source, span=words.span(word))
        message, hint = _ERRORS[verdict]
        return words.error(word, "lbann-range", message.format(raw=shown(words.raw(word))), hint)


def records_of(words: Words, stream: ParseStream, kind: Kind) -> Records:
    """Return the records of a chunk. `kind`: the type of the list.

    In a list of single samples, add a finding for each record with words after the file's name.
    """
    ends = stream.tokens_before[stream.steps == RECORD]
    lines = np.flatnonzero(words.is_a("LINE"))
    names = lines[np.searchsorted(lines, ends) - 1] + 1
    if kind.is_single:
        none = constant(0, names.size + 1, np.int64)
        words.report("lbann-extra-words", names[ends > names + 1] + 1)
        return Records(words, kind, names, names[:0], none)
    begins = names + (3 if kind.has_excluded else 2)
    lengths = ends - begins
    return Records(words, kind, names, row_indices(begins, lengths), offsets_of(lengths))


def repeated(ids: Strings, hashes: Ints, offsets: Ints) -> Ints:
    """Return the indices of ids that also occur earlier in the same record.

    hashes: a hash of each id. offsets: where the ids of each record begin, and the end of the last
    record.
    """
    row = np.repeat(np.arange(offsets.size - 1, dtype=np.uint64), np.diff(offsets))
    candidates = _with_equal_hashes(hashes.view(np.uint64) + row * _HASH_OF_ROW)
    seen: set[tuple[int, bytes | None]] = set()
    again = []
    for first in range(0, candidates.size, _BLOCK):
        some = candidates[first : first + _BLOCK]
        for number, each in zip(some.tolist(), ids.take(some), strict=True):
            key = int(row[number]), each
            if key in seen:
                again.append(number)
            seen.add(key)
    return np.array(again, np.int64)


def _with_equal_hashes(keys: NDArray[np.uint64]) -> Ints:
    """Return the indices of all keys that occur more than once in `keys`."""
    ordered = np.sort(keys)
    twice = ordered[1:][ordered[1:] == ordered[:-1]]
    return np.flatnonzero(np.isin(keys, twice)) if twice.size else np.empty(0, np.int64)
