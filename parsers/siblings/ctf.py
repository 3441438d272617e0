"""Parse and write the text format of CNTK, as version 2.0 reads it."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from exset.core.callers import OptionError
from exset.core.errors import Findings, FormatError
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.source import Source
from exset.core.text import counted, safe
from exset.grammars.columns.arrays import Longs, row_indices
from exset.grammars.siblings.findings import CTF
from exset.grammars.siblings.sparse import LARGEST, Sparse
from exset.grammars.tables.columns import Lists, Numbers, TableColumn
from exset.grammars.tables.table import Table
from exset.parsers.engine.errors import Unexpected
from exset.parsers.engine.grammar import Grammar
from exset.parsers.siblings.words import Words, whole_number

GRAMMAR: Final = Grammar(
    file="ctf.lark",
    start="ctf",
    steps=(),
    words=MappingProxyType(
        {
            **{"NAME": "`|` and the name of a stream", "NUMBER": "a number", "ID": "an id"},
            **{"UNIT": "index:number", "LINE": "the end of the line"},
        }
    ),
)
INDEX, VALUE, EXAMPLE = ".index", ".value", "example"
_KINDS: Final = ("dense", "sparse")
_MOST: Final = (1 << 64) - 1
_BREAK, _MARK = b"\n\xef"  # \xef begins a byte order mark


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
    `NAME.value`, float32. If a line lacks a stream, its row is absent. streams: the streams to
    read, such as `A=dense:5,B=sparse:100`; by default all, with the sizes that the file shows.
    Raises FormatError for a text that CNTK cannot read, OptionError for wrong `streams`.
    """
    words = Words.of(GRAMMAR, source, engine, CTF, findings, _hint)
    begins, names = words.where("LINE", "ID"), words.where("NAME")
    lines = np.searchsorted(begins, names, "right") - 1
    used = np.unique(lines)
    _report_empty(words, begins, used)
    bounds = np.searchsorted(np.union1d(begins, names), names, "right")
    ends = np.append(np.union1d(begins, names), len(words))[bounds]
    distinct, codes = words.strings(names).distinct()
    titles = [(name or b"")[1:].decode("utf-8", "surrogateescape") for name in distinct]
    chosen = _chosen(streams) if streams else dict.fromkeys(titles)
    columns: dict[str, TableColumn] = {}
    rows = np.searchsorted(used, lines)
    sequences = _sequences(words, begins, used)
    columns[EXAMPLE] = Numbers.of(sequences)
    for name, declared in chosen.items():
        mine = np.flatnonzero(codes == titles.index(name)) if name in titles else names[:0]
        stream = _Stream(words, safe(name), names[mine], ends[mine], rows[mine], used.size)
        columns |= stream.columns(name, declared, limits)
        _report_missing(stream, begins[used], sequences)
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
    """The samples of one stream.

    Each sample is given by its first token, the token after its last, and its row in the table.
    """

    def __init__(
        self, words: Words, name: str, tokens: Longs, ends: Longs, rows: Longs, count: int
    ) -> None:
        self.words, self.name, self.tokens, self.ends = words, name, tokens, ends
        self.rows, self.present = rows, np.zeros(count, np.bool_)
        self.present[rows] = True
        again = np.flatnonzero(rows[1:] == rows[:-1])[:1] + 1
        if again.size:
            raise self.error(int(again[0]), f"the line has two samples of the stream {name}")

    def error(self, sample: int, message: str) -> FormatError:
        """Return an error about the sample with this index."""
        hint = "write one sample of each stream in a line, always in the same way"
        return self.words.error(int(self.tokens[sample]), "ctf-sample", message, hint)

    def columns(
        self, name: str, declared: tuple[str, int] | None, limits: Limits
    ) -> dict[str, TableColumn]:
        """Return the columns of the stream: one if it is dense, two if it is sparse.

        declared: the kind and the size that the option `streams` gives, or None.
        """
        first = np.minimum(self.tokens + 1, len(self.words) - 1)
        is_full = self.ends > self.tokens + 1
        is_sparse = self.words.is_a("UNIT", among=first) & is_full
        kind = declared[0] if declared else _KINDS[bool(is_sparse.any() or not is_full.any())]
        wrong = is_full & (is_sparse != (kind == "sparse"))
        if wrong.any():
            other = _KINDS[kind == "dense"]
            message = f"the sample is {other}, but the stream {self.name} is {kind}"
            raise self.error(int(wrong.argmax()), message)
        size = declared[1] if declared else 0
        if kind == "dense":
            return {name: self.dense(size, limits)}
        return self.sparse(name, size)

    @property
    def numbers(self) -> tuple[Longs, Longs]:
        """How many numbers each sample has, and the indices of the tokens of all these numbers."""
        counts = self.ends - self.tokens - 1
        return counts, row_indices(self.tokens + 1, counts)

    def dense(self, size: int, limits: Limits) -> Numbers:
        """Return the samples as arrays of `size` numbers; shorter samples are filled with 0."""
        counts, at = self.numbers
        width = size or int(counts.max(initial=0))
        if (wide := counts > width).any():
            message = f"the sample has {counted(int(counts.max()), 'number')}, not {width}"
            raise self.error(int(wide.argmax()), message)
        is_short = counts < width
        if is_short.any():
            found = dict(zip(self.tokens.tolist(), counts.tolist(), strict=True))
            self.words.report(
                "ctf-short", self.tokens[is_short], lambda at: {"count": found[at], "size": width}
            )
        numbers = self.words.float32s(at)
        offsets = np.append(0, np.cumsum(counts))
        if not is_short.any() and self.present.all():
            return Numbers.of(numbers.reshape(-1, width))
        units = np.arange(at.size) - np.repeat(offsets[:-1], counts)
        all_counts = np.zeros(self.present.size, np.int64)
        all_counts[self.rows] = counts
        spread = Sparse(units, numbers, np.append(0, np.cumsum(all_counts)))
        return Numbers.of(spread.dense(width, self.words.source, limits), self.present)

    def sparse(self, name: str, size: int) -> dict[str, TableColumn]:
        """Return the samples as a column of lists of indices, and a column of lists of values.

        size: how many indices there may be.
        """
        counts, at = self.numbers
        index, numbers = self.words.pairs(at, is_single=True)
        if (wide := index >= (size or LARGEST)).any():
            sample = int(np.searchsorted(self.tokens, at[wide.argmax()])) - 1
            message = f"the index {int(index[wide.argmax()])} is beyond the {size or LARGEST} units"
            raise self.error(sample, message)
        lengths = np.zeros(self.present.size, np.int64)
        lengths[self.rows] = counts
        values = Numbers.of(numbers)
        return {
            name + INDEX: Lists.of(Numbers.of(index), lengths, self.present),
            name + VALUE: Lists.of(values, lengths, self.present),
        }


def _sequences(words: Words, begins: Longs, used: Longs) -> Any:
    """Return for each row the number of its sequence: its id, or its position in the file.

    begins: the first token of each line. used: the lines that are rows.
    """
    has_id = words.is_a("ID", among=begins)
    if not used.size or not has_id[0]:
        return np.arange(used.size)
    tokens = begins[has_id]
    at = words.starts[tokens] - words.base
    is_plain = (words.buffer[at] == _BREAK) & (words.buffer[at + 1] != _MARK)
    found = words.integers(tokens[is_plain], 1)
    numbers = np.zeros(tokens.size, np.uint64)
    numbers[is_plain] = found.astype(np.uint64)
    is_plain[is_plain] = found < np.iinfo(np.int64).max
    for place in np.flatnonzero(~is_plain).tolist():
        raw = words.raw(int(tokens[place])).lstrip(b"\n\xef\xbb\xbf").lstrip(b"0")
        number = int(raw or b"0") if len(raw) < 21 else _MOST + 1
        if number > _MOST:
            message = "the id is beyond 64 bits"
            raise words.error(int(tokens[place]), "ctf-sample", message, "write a smaller id")
        numbers[place] = number
    of_line = numbers[np.maximum(np.cumsum(has_id) - 1, 0)]
    rows = of_line[used]
    is_new = np.append(True, rows[1:] != rows[:-1])
    if np.unique(rows[is_new]).size < np.count_nonzero(is_new):
        _, first = np.unique(rows[is_new], return_index=True)
        again = np.setdiff1d(np.arange(np.count_nonzero(is_new)), first)[0]
        token = begins[used][is_new][again]
        words.report("ctf-repeated-id", [token], lambda _: {"id": int(rows[is_new][again])})
        return np.cumsum(is_new) - 1
    return rows if (rows >> np.uint64(63)).any() else rows.astype(np.int64)


def _report_empty(words: Words, begins: Longs, used: Longs) -> None:
    """Add a finding for each line without a sample, except at the end of the text.

    begins: the first token of each line. used: the lines that have samples.
    """
    empty = begins[np.setdiff1d(np.arange(begins.size), used)]
    is_end = words.ends[empty] - words.base >= len(words.source.data)
    is_end &= words.is_a("LINE", among=empty)
    words.report("ctf-refuses", empty[~is_end])


def _report_missing(stream: _Stream, begins: Longs, sequences: Any) -> None:
    """Add a finding for the first sequence in which no line has a sample of this stream.

    sequences: the sequence of each row.
    """
    lacking = np.setdiff1d(sequences, sequences[stream.present])
    if lacking.size:
        token = int(begins[(sequences == lacking[0]).argmax()])
        stream.words.report("ctf-missing", [token], lambda _: {"name": stream.name})
