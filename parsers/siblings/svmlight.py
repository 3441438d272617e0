"""Parse and write svmlight and libsvm files, as scikit-learn 1.9 reads them."""

from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from exset.core.errors import Findings
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.source import Source
from exset.grammars.columns.arrays import Longs, as_doubles
from exset.grammars.siblings.findings import SVMLIGHT
from exset.grammars.siblings.patterns import Patterns
from exset.grammars.siblings.rows import Rows, rows_of
from exset.grammars.siblings.sparse import LARGEST, Sparse
from exset.grammars.tables.columns import Lists, Numbers, TableColumn
from exset.grammars.tables.table import Table
from exset.parsers.engine.errors import Unexpected
from exset.parsers.engine.recovery import Records
from exset.parsers.siblings.decimals import decimals, joined, sparse_rows
from exset.parsers.siblings.words import Words, counts_between, grammar, whole_number

GRAMMAR: Final = grammar(
    "svmlight",
    {"FEATURE": "index:value", "QUERY": "`qid:`", "NUMBER": "a label", "LABELS": "labels"},
    {"LINE": "the end of the line"},
    steps=("header", "row"),
    records=Records((1, 0), begin=b"\n"),
)
TARGET, QUERY, INDEX, VALUE, INPUTS = "target", "qid", "index", "value", "inputs"
_TITLE: Final = "svmlight"
_DIALECTS: Final = MappingProxyType(
    {
        b"cost:": "svmrank's `cost:` is not svmlight: remove it",
        b"sid:": "`sid:` is not svmlight: remove it, or write qid:",
        b"|": "this is the format of Vowpal Wabbit: write label, then index:value",
    }
)


def parse(
    source: Source,
    *,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
    zero_based: str = "auto",
    features: int | str = "",
    dense: bool = False,
) -> Table:
    """Return a table: `target`, `qid` if a row has one, `index` and `value`; indices count from 0.

    zero_based: "yes" or "no", whether indices in the file count from 0; "auto": they count from 1
    unless there is an index 0. features: the number of features. dense: return one column
    `inputs`, float64 [rows, units], instead of `index` and `value`. Raises FormatError for a text
    that scikit-learn cannot read, LimitError for dense rows of too many bytes.
    """
    words = Words.of(GRAMMAR, source, engine, SVMLIGHT, findings, _hint)
    lines, numbers = words.where("LINE"), words.is_a("NUMBER")
    has_header = bool(numbers[1:4].sum() == 3)  # no row has three numbers
    is_row = np.diff(lines, append=len(words)) > 1
    starts = lines[is_row][has_header:]
    bounds = np.append(starts, len(words))
    tokens = words.where("FEATURE")
    index, values = words.pairs(tokens, is_single=False)
    is_zero_based = has_header if zero_based == "auto" else zero_based == "yes"
    zeros = tokens[index == 0][:1]
    if zero_based == "auto" and zeros.size and not has_header:
        is_zero_based = True
        words.report("svmlight-zero-based", zeros)
    offsets = np.searchsorted(tokens, bounds)
    sparse = Sparse(index, values, offsets)
    _check(words, tokens, sparse, 0 if is_zero_based else 1)
    if not is_zero_based:
        index -= 1
    _report(words, lines[~is_row], bounds)
    highest = int(index.max(initial=-1)) + 1
    if has_header:
        highest = max(highest, _header(words, starts.size))
    width = whole_number(features, "features") or highest
    if highest > width:
        token = tokens[index.argmax()] if tokens.size else 0
        words.refuse("svmlight-width", token, highest=highest, features=width)
    if highest < width:
        words.report("svmlight-features", [0], highest=highest, features=width)
    columns: dict[str, TableColumn] = {TARGET: _targets(words, bounds)}
    if (queries := words.where("QUERY")).size:
        owners = np.searchsorted(starts, queries, "right") - 1
        ids, present = np.zeros(starts.size, np.int64), np.zeros(starts.size, np.bool_)
        ids[owners], present[owners] = words.integers(queries, len("qid:")), True
        columns[QUERY] = Numbers.of(ids, present)
    if dense:
        columns[INPUTS] = Numbers.of(sparse.dense(width, source, limits))
    else:
        columns[INDEX] = Lists.of(Numbers.of(index), np.diff(offsets))
        columns[VALUE] = Lists.of(Numbers.of(sparse.values), np.diff(offsets))
    return Table(columns, starts.size, {})


def render(table: Table, /, *, findings: Findings | None = None, lossy: bool = False) -> bytes:
    """Return the rows of a table, with indices from 1; integers are rounded to binary64.

    The table has `index` and `value`, or inputs, whose zeros are left out. Its target is one
    number, or a list of labels; without a target the label is 0. Raises FormatError for columns
    and values that the format cannot store.
    """
    patterns = Patterns.of(table, _TITLE, findings, lossy)
    sparse = Sparse.of_columns(patterns, INDEX, VALUE)
    if sparse is None:
        if not patterns.inputs:
            patterns.refuse(INPUTS, "svmlight needs the columns `index` and `value`, or inputs")
        sparse = Sparse.of_dense(patterns.joined(patterns.inputs, "inputs"))
    late = rows_of(np.flatnonzero(sparse.late()), sparse.offsets)
    patterns.refuse_rows(INDEX, "the indices of a row must ascend", late)
    labels, queries = [b"0"] * table.rows, [b""] * table.rows
    column, targets = patterns.others.get(TARGET), patterns.targets
    if isinstance(column, Lists) and (listed := Rows.of(column)) is not None:
        labels = joined(decimals(_as_read(listed.values)), listed.offsets, b",")
        patterns.stored.add(TARGET)
    elif len(targets) == 1 and targets[0].values.shape[1] == 1:
        labels = decimals(_as_read(patterns.joined(targets, "targets")))
    else:
        for group in targets:
            patterns.losses.report(
                group.column, "svmlight stores one number as the target of a row"
            )
    if (ids := patterns.numbers(QUERY, "iu")) is not None:
        texts = zip(decimals(ids.values), ids.present.tolist(), strict=True)
        queries = [b" qid:%b" % text if is_there else b"" for text, is_there in texts]
    patterns.drop_others()
    sparse = replace(sparse, values=_as_read(sparse.values))
    rows = [*zip(labels, queries, sparse_rows(sparse, 1), strict=True)]
    if (b"", b"", b"") in rows:
        problem = "svmlight cannot store a row without labels and features"
        patterns.refuse(TARGET, problem, rows.index((b"", b"", b"")))
    return b"".join(b"%b%b%b\n" % row for row in rows)


def _as_read(values: NDArray[Any]) -> NDArray[Any]:
    """Return integers as binary64, as the reader does, so that the text stays the same when it
    is read and written again.
    """
    return values if values.dtype.kind == "f" else as_doubles(values)


def _hint(unexpected: Unexpected) -> str:
    for dialect, advice in _DIALECTS.items():
        if unexpected.after.startswith(dialect):
            return advice
    return "write the label, then index:value for each feature, separated by spaces"


def _header(words: Words, rows: int) -> int:
    """Check the header of a file, add a finding about it, and return its number of features.

    rows: how many rows the file has. Raises FormatError for a word of it that is not a number.
    """
    wrong = [at for at in (1, 2, 3) if not words.raw(at).lstrip(b"+").isdigit()]
    words.refuse("svmlight-header-number", wrong)
    numbers: list[int] = words.integers(np.array([1, 2, 3])).tolist()
    expected, width, labels = numbers
    words.report("svmlight-header", [1], rows=expected, features=width, labels=labels)
    if expected != rows:
        words.report("svmlight-rows", [1], expected=expected, rows=rows)
    return min(max(width, 0), LARGEST)


def _check(words: Words, tokens: Longs, sparse: Sparse, least: int) -> None:
    """Raise FormatError for the first index that is out of order or out of range.

    tokens: the tokens of the pairs. sparse: the pairs. least: the smallest index that is allowed.
    """
    is_beyond = (sparse.index > LARGEST) | (sparse.index < least)
    words.refuse("svmlight-index", tokens[is_beyond], least=least, most=LARGEST)
    words.refuse("svmlight-order", tokens[sparse.late()])


def _report(words: Words, empty: Longs, bounds: Longs) -> None:
    """Add findings about lines that libsvm refuses: one for the first line of each kind.

    empty: the lines without a target. bounds: the first token of each row, and the end.
    """
    queries, firsts = words.where("QUERY"), bounds[:-1] + 1
    if queries.size:
        words.report("svmlight-query", firsts[counts_between(queries, bounds) == 0])
    for tokens, what in (
        (empty[~words.is_end(empty)], "nothing in it"),
        (queries, "a qid"),
        (words.where("LABELS"), "several labels"),
        (firsts[~words.is_a("NUMBER", "LABELS", among=firsts)], "no label"),
    ):
        words.report("svmlight-libsvm", tokens[:1], what=what)


def _targets(words: Words, bounds: Longs) -> Numbers | Lists:
    """Return the targets as numbers; as lists if a row has none or several.

    bounds: the first token of each row, and the end.
    """
    labels = words.where("NUMBER", "LABELS")
    labels = labels[labels > bounds[0]]
    if labels.size == bounds.size - 1 and not words.count("LABELS"):
        return Numbers.of(words.float64s(labels))
    raws = [raw.split(b",") for raw in words.raws(labels)]
    lengths = np.zeros(bounds.size - 1, np.int64)
    lengths[np.searchsorted(bounds, labels) - 1] = [len(raw) for raw in raws]
    values = np.array([float(each) for raw in raws for each in raw], np.float64)
    return Lists.of(Numbers.of(values), lengths)
