"""The records of a sample list, a line a file, as columns."""

from dataclasses import dataclass

import numpy as np

from exset.core.errors import Findings, LimitError
from exset.core.limits import Limits
from exset.grammars.columns.arrays import compact, constant, offsets_of, row_indices
from exset.grammars.columns.ragged import Strings
from exset.grammars.columns.spans import Spans
from exset.grammars.lbann.list_findings import finding_at
from exset.grammars.lbann.list_types import Kind
from exset.grammars.lbann.sample_list import Counts, overlaps
from exset.parsers.engine.errors import shown
from exset.parsers.engine.stream import ParseStream
from exset.parsers.lbann import list_columns as c
from exset.parsers.lbann.list_columns import KEPT, NOTES, Ints
from exset.parsers.lbann.list_tokens import RECORD, Words

_HASH_OF_ROW = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class Records:
    """The records of a part, by the numbers of their words.

    names: int64 [records]. ids: int64, all ids; offsets: int64 [records + 1], where each record's
    begin and end.
    """

    words: Words
    kind: Kind
    names: Ints
    ids: Ints
    offsets: Ints

    def columns(self, sort: str, limits: Limits, findings: Findings) -> dict[str, object]:
        """The columns of a `SampleList`; ids are "text" or "integer"."""
        words = self.words
        name, _ = words.strings(self.names)
        words.check_lengths(limits)
        is_integer = sort == "integer"
        if self.kind.is_single:
            return {
                "name": name,
                "others": constant(0, len(name), np.uint64),
                "id_offsets": constant(0, len(name) + 1, np.int64),
                "ids": Spans.none() if is_integer else Strings.none(0),
            }
        if is_integer and self.kind.is_exclusion:
            raise words.error(
                0,
                "lbann-exclusion",
                "ids that are whole numbers cannot be excluded",
                "the reader of such files cannot list what is in them: use an inclusion list",
            )
        others = constant(0, len(name), np.uint64)
        if self.kind.has_excluded:
            others = self._counts(self.names + (1 if self.kind.is_exclusion else 2), findings)
            others = compact(others)
        said = self.names + (2 if self.kind.is_exclusion else 1)
        ids, id_offsets = (
            self._ranges(said, findings) if is_integer else self._texts(said, findings)
        )
        return {"name": name, "others": others, "id_offsets": id_offsets, "ids": ids}

    def tell_rest(self, ends: Ints, findings: Findings) -> None:
        """Tell of words after the names of files that are samples themselves."""
        more = self.names[ends > self.names + 1] + 1
        for rank, word in enumerate(more[:KEPT].tolist()):
            times = more.size - rank if rank == KEPT - 1 else 1
            raw = shown(self.words.raw(word))
            findings.add(finding_at("lbann-extra-words", self.words.place(word), raw=raw), times)

    def _counts(self, numbers: Ints, findings: Findings) -> Counts:
        values, negative = self.words.counts(numbers)
        for row in negative.tolist():
            word = int(numbers[row])
            if self.kind.is_exclusion:
                raise self.words.error(word, "lbann-count", "a number of samples below 0")
            value = int(values[row])
            findings.add(finding_at("lbann-wrapped-count", self.words.place(word), value=value))
        return values

    def _check_counts(self, said: Ints, found: Ints, tailed: Ints | None = None) -> None:
        """Raise FormatError where a record does not have as many ids as it says.

        tailed: the numbers of some ids that are read as their first digits alone.
        """
        values, _ = self.words.counts(said)
        wrong = np.flatnonzero(values != found.astype(np.uint64))
        if not wrong.size:
            return
        row = int(wrong[0])
        value, count = int(values[row]), int(found[row])
        what = "excluded" if self.kind.is_exclusion else "included"
        advice = f"if these are the right ids, write {count:,} there"
        if self.kind.is_exclusion:
            advice += f": in a {self.kind} list ids are those of the samples that are left out"
        elif self.kind is Kind.MULTI_SAMPLE_INCLUSION_V2 and count == value + 1:
            advice = f"a {self.kind} list does not count the excluded samples"
        elif self.kind.has_excluded and count == value - 1:
            advice += "; before them come two numbers: included samples, excluded samples"
        if tailed is not None:
            among = tailed[(self.offsets[row] <= tailed) & (tailed < self.offsets[row + 1])]
            if among.size:
                raw = shown(self.words.raw(int(self.ids[among[0]])))
                advice = f"{raw} is read as one number: a range is `first ... last`, with blanks"
        raise self.words.error(
            int(said[row]),
            "lbann-id-count",
            f"the line counts {value:,} {what} and names {count:,}",
            advice,
        )

    def _texts(self, said: Ints, findings: Findings) -> tuple[Strings, Ints]:
        words, offsets = self.words, self.offsets
        ids, hashes = words.strings(self.ids)
        again = repeated(ids, hashes, offsets)
        if not self.kind.is_exclusion:
            self._check_counts(said, np.diff(offsets))
            self._tell("lbann-repeated-id", again, findings)
        elif again.size:
            self._tell("lbann-extra-id", again, findings)
            kept = np.ones(len(ids), np.bool_)
            kept[again] = False
            ids = ids.take(np.flatnonzero(kept))
            offsets = offsets_of(kept)[offsets]
        if self.kind.is_exclusion:
            self._check_counts(said, np.diff(offsets))
            self._tell("lbann-two-levels", _with_slash(ids), findings)
        dots = np.flatnonzero(ids.lengths == 3)
        dots = dots[(ids.data[ids.offsets[dots][:, None] + np.arange(3)] == 0x2E).all(axis=1)]
        self._tell("lbann-dots", dots, findings)
        return ids, offsets_of(compact(np.diff(offsets)))

    def _ranges(self, said: Ints, findings: Findings) -> tuple[Spans, Ints]:
        words, records = self.words, self.names.size
        first, last = (np.empty(self.ids.size, np.int64) for _ in range(2))
        ends, counts = np.empty(records + 1, np.int64), np.empty(records, np.int64)
        notes, noted = np.empty((len(NOTES), KEPT), np.int64), np.zeros(len(NOTES), np.int64)
        state = np.zeros(3, np.int64)
        spans = words.starts[self.ids], words.ends[self.ids]
        filled = first, last, ends, counts, notes, noted, state
        why = words.run(c.read_ranges)(words.buffer, 0, *spans, self.offsets, *filled)
        if why != c.FINE:
            raise self._impossible(why, int(self.ids[state[0]]))
        self._check_counts(said, counts, notes[c.TAIL, : noted[c.TAIL]])
        for kind in np.flatnonzero(noted).tolist():
            count = int(noted[kind])
            for rank, number in enumerate(notes[kind, :count].tolist()):
                word = int(self.ids[number])
                code = "lbann-number-tail" if kind == c.TAIL else "lbann-odd-range"
                what = NOTES[kind].format(raw=shown(words.raw(word)))
                times = count - rank if rank == KEPT - 1 else 1
                findings.add(finding_at(code, words.place(word), what=what), times)
        found = Spans.unchecked(first=first[: ends[-1]].copy(), last=last[: ends[-1]].copy())
        for record in overlaps(found, ends).tolist():
            word = int(self.names[record])
            raw = "a number"
            findings.add(finding_at("lbann-repeated-id", words.place(word), raw=raw))
        return found, ends

    def _impossible(self, why: int, word: int) -> Exception:
        words = self.words
        raw = shown(words.raw(word))
        match why:
            case c.NOT_A_NUMBER:
                message = f"{raw} is not a whole number, nor `...` for a range"
                advice = 'names of samples are read with ids="text" (--ids text)'
            case c.BEYOND_64_BITS:
                message, advice = f"{raw} is beyond 64 bits", "write a smaller number"
            case c.TWO_MARKS:
                message, advice = "a range begins in a range", "write `first ... last`"
            case c.NO_END:
                message, advice = "the line ends in a range", "write `first ... last`"
            case _:
                return LimitError(
                    "more samples than can be counted",
                    source=words.source,
                    span=words.span(word),
                )
        return words.error(word, "lbann-range", message, advice)

    def _tell(self, code: str, ids: Ints, findings: Findings) -> None:
        """Add a finding for each of some ids."""
        for rank, number in enumerate(ids[:KEPT].tolist()):
            times = ids.size - rank if rank == KEPT - 1 else 1
            word = int(self.ids[number])
            raw = shown(self.words.raw(word))
            findings.add(finding_at(code, self.words.place(word), raw=raw), times)


def records_of(words: Words, stream: ParseStream, kind: Kind, findings: Findings) -> Records:
    """The records of a part."""
    ends = stream.tokens_before[stream.steps == RECORD]
    lines = np.flatnonzero(words.is_a("LINE"))
    names = lines[np.searchsorted(lines, ends) - 1] + 1
    if kind.is_single:
        none = constant(0, names.size + 1, np.int64)
        records = Records(words, kind, names, names[:0], none)
        records.tell_rest(ends, findings)
        return records
    begins = names + (3 if kind.has_excluded else 2)
    lengths = ends - begins
    return Records(words, kind, names, row_indices(begins, lengths), offsets_of(lengths))


def repeated(ids: Strings, hashes: Ints, offsets: Ints) -> Ints:
    """The ids that were given before in the same row."""
    row = np.repeat(np.arange(offsets.size - 1, dtype=np.uint64), np.diff(offsets))
    keys = hashes.view(np.uint64) + row * _HASH_OF_ROW
    ordered = np.sort(keys)
    twice = ordered[1:][ordered[1:] == ordered[:-1]]
    if not twice.size:
        return np.empty(0, np.int64)
    doubtful = np.flatnonzero(np.isin(keys, twice))
    seen: set[tuple[int, bytes | None]] = set()
    again = []
    for number, each in zip(doubtful.tolist(), ids.take(doubtful), strict=True):
        key = int(row[number]), each
        if key in seen:
            again.append(number)
        seen.add(key)
    return np.array(again, np.int64)


def _with_slash(ids: Strings) -> Ints:
    at = np.flatnonzero(ids.data == 0x2F)
    return np.unique(np.searchsorted(ids.offsets, at, side="right") - 1)
