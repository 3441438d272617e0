"""Parse and write the text format of CNTK, as version 2.0 reads it."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np

from exset.core.callers import OptionError
from exset.core.errors import Findings
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.source import Source
from exset.core.text import counted, has_bytes, safe
from exset.grammars.columns.arrays import (
    Flags,
    Longs,
    as_singles,
    groups_of,
    offsets_of,
    row_indices,
)
from exset.grammars.siblings.findings import CTF
from exset.grammars.siblings.patterns import Patterns, is_vector
from exset.grammars.siblings.rows import Rows
from exset.grammars.siblings.sparse import LARGEST, Sparse
from exset.grammars.tables.cells import Room
from exset.grammars.tables.columns import Lists, Numbers, TableColumn
from exset.grammars.tables.table import Table
from exset.grammars.tables.unit_columns import join_units
from exset.parsers.engine.errors import Unexpected
from exset.parsers.engine.recovery import Records
from exset.parsers.siblings.decimals import BEYOND, decimals, joined, sparse_rows
from exset.parsers.siblings.words import Words, grammar, whole_number

GRAMMAR: Final = grammar(
    "ctf",
    {"NAME": "`|` and the name of a stream", "NUMBER": "a number", "ID": "an id"},
    {"UNIT": "index:number", "LINE": "the end of the line"},
    steps=("line",),
)
_LINES: Final = Records((0,), begin=b"\n")
INDEX, VALUE, EXAMPLE = ".index", ".value", "example"
_KINDS: Final = ("dense", "sparse")
_MOST: Final = (1 << 64) - 1
_NAME: Final = re.compile(rb"[^\0-\x20|#][^\0-\x20|]*+")


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
    words = Words.of(GRAMMAR, source, engine, CTF, findings, _hint, _LINES)
    begins, names = words.where("LINE", "ID"), words.where("NAME")
    lines = np.searchsorted(begins, names, "right") - 1
    used = np.flatnonzero(np.bincount(lines, minlength=begins.size))
    empty = np.delete(begins, used)
    words.report("ctf-refuses", empty[~(words.is_end(empty) & words.is_a("LINE", among=empty))])
    counts = words.next(names, "LINE", "ID", "NAME") - names - 1
    titles, codes = words.distinct(names)
    chosen = _chosen(streams) if streams else {title[1:]: ("", 0) for title in titles}
    Room(source.name, len(source.content), limits).take(len(chosen), used.size)
    sequences = _sequences(words, begins, used)
    columns: dict[str, TableColumn] = {EXAMPLE: Numbers.of(sequences)}
    groups = dict(zip(titles, groups_of(codes, len(titles)), strict=True))
    for name, (kind, size) in chosen.items():
        mine = groups.get(f"|{name}", np.empty(0, np.int64))
        rows = np.searchsorted(used, lines[mine])
        stream = _Stream(words, safe(name), names[mine], counts[mine], rows, used.size)
        if stream.is_sparse(kind):
            columns |= stream.sparse(name, size)
        else:
            columns[name] = stream.dense(size, limits)
        if not stream.present.all():
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
        """Raise FormatError about the first sample for which the mask is true, if there is one."""
        self.words.refuse("ctf-sample", self.tokens[mask], message)

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
        counts = self.counts[is_short]
        self.words.report("ctf-short", self.tokens[is_short], count=counts, size=width)
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
        message = f"the index of {{raw}} is outside the range from 0 to {most - 1:,}"
        self.words.refuse("ctf-sample", self.numbers[index >= most], message)
        lists = [
            Lists.of(Numbers.of(each), self.lengths, self.present) for each in (index, numbers)
        ]
        return {name + INDEX: lists[0], name + VALUE: lists[1]}


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
        words.refuse("ctf-id", tokens[at : at + (len(digits) > 20 or int(digits) > _MOST)])
        numbers[at] = int(digits)
    rows = numbers[np.maximum(np.cumsum(has_id) - 1, 0)][used]
    is_new = np.append(True, rows[1:] != rows[:-1])
    ids, first = np.unique(rows[is_new], return_index=True)
    for again in np.setdiff1d(np.arange(np.count_nonzero(is_new)), first)[:1]:
        words.report("ctf-repeated-id", begins[used][is_new][[again]], id=int(rows[is_new][again]))
        return np.cumsum(is_new) - 1
    return rows if (ids >> np.uint64(63)).any() else rows.astype(np.int64)


def render(table: Table, /, *, findings: Findings | None = None, lossy: bool = False) -> bytes:
    """Return a table as text: a line for each row, a dense stream for each column of numbers.

    `NAME.index` and `NAME.value` become a sparse stream. Numbers are rounded to 32 bits. The
    column `example` gives the ids of the sequences; no ids are written if it only numbers the
    rows. Raises FormatError for columns and values that the format cannot store; with `lossy`,
    samples with NaN are left out.
    """
    patterns, columns = Patterns.of(table, "CTF", findings, lossy), join_units(table.columns)
    ids = _ids(patterns)
    lines = [[each] if each else [] for each in ids]
    for name, column in sorted(columns.items(), key=_first_row):
        if name in patterns.stored or (name in patterns.others and patterns.says_nothing(name)):
            continue
        stem, rows = name.removesuffix(INDEX), Rows.of(column)
        sparse = Sparse.of_columns(patterns, name, stem + VALUE) if stem != name else None
        if sparse is not None:
            rows = Rows(as_singles(sparse.values), sparse.offsets)
            texts = sparse_rows(replace(sparse, values=rows.values), 0, BEYOND)
        elif is_vector(column) and len(column.shape) < 2 and rows is not None:
            parts = decimals(as_singles(rows.values), BEYOND)
            texts = joined([b" " + part for part in parts], rows.offsets, b"")
            stem = name
            patterns.stored.add(name)
        else:
            continue
        raw = stem.encode("utf-8", "surrogateescape") if has_bytes(stem) else b""
        if not _NAME.fullmatch(raw):
            problem = "the name of a CTF stream cannot be empty or contain spaces or `|`"
            patterns.losses.report(name, problem)
            continue
        wrong = rows.having(np.isnan(rows.values))
        wrong = wrong[column.present[wrong]]
        patterns.lose(name, "CTF cannot store this sample, because it contains NaN", wrong)
        for row in np.setdiff1d(np.flatnonzero(column.present), wrong).tolist():
            lines[row].append(b"|%b%b" % (raw, texts[row]))
    patterns.drop_others()
    empty = [row for row, line in enumerate(lines) if len(line) == (ids[row] != b"")]
    first = next(iter(columns), "inputs")
    patterns.lose(first, "CTF cannot store a row without values", np.array(empty, np.int64))
    if len(empty) == len(lines):
        patterns.refuse("inputs", "CTF needs at least one row with values")
    for row in empty:
        lines[row].clear()
    return b"".join(b" ".join(line) + b"\n" for line in lines if line)


def _first_row(named: tuple[str, TableColumn]) -> int:
    """Return the index of the first row in which a column has numbers.

    The streams of a file are sorted by this index: a reader meets them in this order.
    """
    column = named[1]
    has_number = column.present
    if is_vector(column) and len(column):
        has_number = has_number & ~np.isnan(column.values.reshape(len(column), -1)).any(axis=1)
    return int(has_number.argmax()) if has_number.any() else len(column)


def _ids(patterns: Patterns) -> list[bytes]:
    """Return the id of each line; the ids are empty if each line is a separate sequence."""
    column = patterns.numbers(EXAMPLE, "iu")
    if EXAMPLE not in patterns.others or patterns.says_nothing(EXAMPLE):
        return [b""] * patterns.rows
    patterns.stored.add(EXAMPLE)
    if column is None or not column.present.all() or (column.values < 0).any():
        problem = "the number of a CTF sequence must be a whole number, 0 or more"
        patterns.losses.report(EXAMPLE, problem)
        return [b""] * patterns.rows
    return decimals(column.values)
