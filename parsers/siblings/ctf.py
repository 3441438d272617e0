"""Parse and write the text format of CNTK, as version 2.0 reads it."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from exset.core.callers import OptionError
from exset.core.errors import Findings
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.source import Source
from exset.core.text import counted, safe
from exset.grammars.columns.arrays import Flags, Longs, offsets_of, row_indices
from exset.grammars.siblings.findings import CTF
from exset.grammars.siblings.rows import rows_of
from exset.grammars.siblings.sparse import LARGEST, Sparse
from exset.grammars.tables.cells import check_cells
from exset.grammars.tables.columns import Lists, Numbers, TableColumn
from exset.grammars.tables.table import Table
from exset.parsers.engine.errors import Unexpected
from exset.parsers.siblings.words import Words, grammar, whole_number

GRAMMAR: Final = grammar(
    "ctf",
    {"NAME": "`|` and the name of a stream", "NUMBER": "a number", "ID": "an id"},
    {"UNIT": "index:number", "LINE": "the end of the line"},
)
INDEX, VALUE, EXAMPLE = ".index", ".value", "example"
_KINDS: Final = ("dense", "sparse")
_MOST: Final = (1 << 64) - 1


def parse(
    source: Source,
    *,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
    streams: str = "",
) -> Table:
    """Return a table with a row for each line, and a column for each stream.

    The column `example` has the number of each line's sequence. A dense stream becomes a column of
    arrays, float32 [size]. A sparse stream becomes two columns of lists: `NAME.index`, int64, and
    `NAME.value`, float32. A row has no value in the columns of a stream that its line lacks.
    streams: the streams to read, such as `A=dense:5,B=sparse:100`; by default all, with the sizes
    that the file shows. Raises FormatError for a text that CNTK cannot read, OptionError for wrong
    `streams`.
    """
    words = Words.of(GRAMMAR, source, engine, CTF, findings, _hint)
    begins, names = words.where("LINE", "ID"), words.where("NAME")
    lines, stops = np.searchsorted(begins, names, "right") - 1, np.union1d(begins, names)
    used = np.unique(lines)
    empty = begins[np.setdiff1d(np.arange(begins.size), used)]
    is_end = words.ends[empty] - words.base >= len(source.data)
    words.report("ctf-refuses", empty[~(is_end & words.is_a("LINE", among=empty))])
    counts = np.append(stops, len(words))[np.searchsorted(stops, names, "right")] - names - 1
    titles, codes = words.distinct(names)
    chosen = _chosen(streams) if streams else {title[1:]: ("", 0) for title in titles}
    check_cells(source, used.size, len(chosen), limits)
    sequences = _sequences(words, begins, used)
    columns: dict[str, TableColumn] = {EXAMPLE: Numbers.of(sequences)}
    places = {title: place for place, title in enumerate(titles)}
    for name, (kind, size) in chosen.items():
        is_mine = codes == places.get(f"|{name}", -1)
        rows = np.searchsorted(used, lines[is_mine])
        stream = _Stream(words, safe(name), names[is_mine], counts[is_mine], rows, used.size)
        if stream.is_sparse(kind):
            columns |= stream.sparse(name, size)
        else:
            columns[name] = stream.dense(size, limits)
        lacking = np.setdiff1d(sequences, sequences[stream.present])[:1]
        tokens = begins[used][np.isin(sequences, lacking)][:1]
        words.report("ctf-missing", tokens, name=safe(name))
    return Table(columns, used.size, {})


def _hint(unexpected: Unexpected) -> str:
    if unexpected.word.startswith(b"|"):
        return "write the name of a stream directly after `|`"
    return "write: an id or nothing, then |NAME and its numbers, or index:number, for each stream"


def _chosen(text: str) -> Mapping[str, tuple[str, int]]:
    """Parse the option `streams`: return the kind and the size of each stream, by name."""
    found = {}
    for part in text.replace(",", " ").split():
        name, _, rest = part.rpartition("=")
        kind, _, size = rest.partition(":")
        if not name or kind not in _KINDS:
            raise OptionError(f"streams: {safe(part)!r} is not NAME=dense:N or NAME=sparse:N")
        found[name] = (kind, whole_number(size, "the size of a stream"))
    return found


class _Stream:
    """The samples of one stream: the first token of each, how many numbers it has, and its row.

    rows: how many rows the table has.
    """

    def __init__(
        self, words: Words, name: str, tokens: Longs, counts: Longs, owners: Longs, rows: int
    ) -> None:
        self.words, self.name, self.tokens, self.counts = words, name, tokens, counts
        self.numbers = row_indices(tokens + 1, counts)
        self.present, self.lengths = np.zeros(rows, np.bool_), np.zeros(rows, np.int64)
        self.present[owners], self.lengths[owners] = True, counts
        is_again = np.append(False, owners[1:] == owners[:-1])[: owners.size]
        self.refuse(is_again, f"the line has two samples of the stream '{name}'")

    def refuse(self, mask: Flags, message: str) -> None:
        """Raise FormatError about the first sample for which the mask is true; do nothing if
        there is none.
        """
        hint = "write at most one sample of each stream in a line, with the same form in all lines"
        self.words.refuse("ctf-sample", self.tokens[mask], message, hint)

    def is_sparse(self, kind: str) -> bool:
        """Return whether the stream is sparse.

        kind: "dense", "sparse", or "" to look at its samples.
        """
        is_full = self.counts > 0
        first = np.minimum(self.tokens + 1, len(self.words) - 1)
        is_sparse = self.words.is_a("UNIT", among=first) & is_full
        kind = kind or _KINDS[bool(is_sparse.any() or not is_full.any())]
        is_wrong = is_full & (is_sparse != (kind == "sparse"))
        other = _KINDS[kind == "dense"]
        self.refuse(is_wrong, f"the sample is {other}, but the stream '{self.name}' is {kind}")
        return kind == "sparse"

    def dense(self, size: int, limits: Limits) -> Numbers:
        """Return the samples as arrays of `size` numbers; shorter samples are filled with zeros.
        If `size` is 0, the arrays are as long as the longest sample.
        """
        most = int(self.counts.max(initial=0))
        width = size or most
        message = f"the sample has {counted(most, 'number')}, but its stream has {width}"
        self.refuse(self.counts > width, message)
        numbers, is_short = self.words.float32s(self.numbers), self.counts < width
        if self.present.all() and not is_short.any():
            return Numbers.of(numbers.reshape(-1, width))
        found = dict(zip(self.tokens.tolist(), self.counts.tolist(), strict=True))
        self.words.report(
            "ctf-short", self.tokens[is_short], lambda at: {"count": found[at]}, size=width
        )
        offsets = offsets_of(self.lengths)
        units = np.arange(numbers.size) - np.repeat(offsets[:-1], self.lengths)
        spread = Sparse(units, numbers, offsets)
        return Numbers.of(spread.dense(width, self.words.source, limits), self.present)

    def sparse(self, name: str, size: int) -> dict[str, TableColumn]:
        """Return the samples, in the order of the file, as a column of lists of indices and
        one of lists of values.

        name: the beginning of the names of the columns. size: the number of units; 0 if unknown.
        """
        index, numbers = self.words.pairs(self.numbers, is_single=True)
        most = size or LARGEST
        for wrong in np.flatnonzero(index >= most)[:1]:
            is_mine = rows_of(np.array([wrong]), offsets_of(self.counts))
            message = f"the index {index[wrong]} is outside the range from 0 to {most - 1:,}"
            self.refuse(np.arange(self.tokens.size) == is_mine, message)
        columns = ((INDEX, index), (VALUE, numbers))
        lists = [(name + end, Numbers.of(each)) for end, each in columns]
        return {title: Lists.of(items, self.lengths, self.present) for title, items in lists}


def _sequences(words: Words, begins: Longs, used: Longs) -> Any:
    """Return for each row the number of its sequence: its id, or its position in the file.

    begins: the first token of each line. used: the lines that are rows.
    """
    has_id = words.is_a("ID", among=begins)
    if not used.size or not has_id[0]:
        return np.arange(used.size)
    tokens = begins[has_id]
    found = words.integers(tokens)
    numbers = found.astype(np.uint64)
    for at in np.flatnonzero(found == np.iinfo(np.int64).max).tolist():
        digits = words.raw(tokens[at]).lstrip(b"\n\xef\xbb\xbf0")
        is_wrong = len(digits) > 20 or int(digits) > _MOST
        wrong, hint = tokens[at : at + is_wrong], "write a smaller id"
        words.refuse("ctf-sample", wrong, "the id does not fit in 64 bits", hint)
        numbers[at] = int(digits)
    rows = numbers[np.maximum(np.cumsum(has_id) - 1, 0)][used]
    is_new = np.append(True, rows[1:] != rows[:-1])
    ids, first = np.unique(rows[is_new], return_index=True)
    for again in np.setdiff1d(np.arange(np.count_nonzero(is_new)), first)[:1]:
        words.report("ctf-repeated-id", begins[used][is_new][[again]], id=int(rows[is_new][again]))
        return np.cumsum(is_new) - 1
    return rows if (ids >> np.uint64(63)).any() else rows.astype(np.int64)
