"""Parse and write MXNet's lists of images (.lst), as im2rec reads them.

MXNet 1.9: tools/im2rec.py. exset skips the lines that im2rec skips, and adds a finding for each.
"""

import re
from array import array
from collections.abc import Iterator
from itertools import pairwise
from types import MappingProxyType
from typing import Final

import numpy as np

from exset.core.errors import Findings
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.source import Source
from exset.grammars.columns.arrays import as_singles
from exset.grammars.tables.columns import Lists, Numbers, TableColumn, text_or_bytes
from exset.grammars.tables.labels import INDEX, LABEL, PATH, labels_of
from exset.grammars.tables.listed_files import ListedFiles
from exset.grammars.tables.losses import Losses
from exset.grammars.tables.table import Table
from exset.parsers.engine.errors import shown
from exset.parsers.engine.grammar import Grammar
from exset.parsers.engine.recovery import Records
from exset.parsers.shared.numerals import reals
from exset.parsers.tables.list_tokens import ListTokens

GRAMMAR: Final = Grammar(
    file="lst.lark",
    start="lst",
    steps=("record",),
    words=MappingProxyType({"FIELD": "a field", "TAB": "a tab", "LINE": "the end of the line"}),
    records=Records((0,), begin=b"\n"),
)
_WORDS: Final = {b"-": b"nan", b"1e999": b"inf", b"-1e999": b"-inf"}
_LEAST: Final = 3
_EXACT: Final = 2.0**53
_INTEGER: Final = re.compile(rb"[-+]?+[0-9]++(?:_[0-9]++)*+")
_LONGEST: Final = 30


def parse(
    source: Source,
    *,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
) -> Table:
    """Return the table of a list: `index`, int64, `label` and `path`.

    label: int64 if each file has one whole number. Otherwise it is float32: an array for each file,
    or a list if the files have different numbers of labels. Raises FormatError for a NUL, which no
    path can contain.
    """
    [stream] = GRAMMAR.parse(source, engine, hint=lambda _: "write: index, tab, label, tab, path")
    words = ListTokens(GRAMMAR, source, stream, compiled=False, findings=findings)
    indices: list[int] = []
    labels: list[list[float]] = []
    paths: list[int] = []
    skipped, reasons = array("q"), dict[int, str]()  # reasons: only those that findings need
    for end, fields, has_gap in _lines(words):
        entry = _numbers([words.raw(field) for field in fields[:-1]], has_gap)
        if isinstance(entry, str):
            skipped.append(fields[0] if fields else end)
            if len(reasons) < words.findings.keep:
                reasons[skipped[-1]] = entry
            continue
        index, values = entry
        indices.append(index)
        labels.append(values)
        paths.append(fields[-1])
    tokens = np.array(skipped, np.int64)
    words.report("list-skipped", tokens, lambda token: {"why": reasons[token]})
    columns: dict[str, TableColumn] = {
        INDEX: Numbers.of(np.array(indices, np.int64)),
        LABEL: _label_column(labels),
        PATH: text_or_bytes(words.strings(np.array(paths, np.int64))),
    }
    return Table(columns, len(paths), {"files": [PATH]})


def render(table: Table, /, *, findings: Findings | None = None, lossy: bool = False) -> bytes:
    """Return the text of a list with the files and labels in a table.

    The index of a file is the column `index` or, without it, its number from 0. A file may have
    several labels: see `ListedFiles.of`. Raises FormatError for a path that im2rec would change.
    """
    found = Findings() if findings is None else findings
    losses = Losses(lossy, found)
    texts = _several(table)
    bare = table if texts is None else table.with_columns(**{LABEL: np.zeros(table.rows, np.int64)})
    listed = ListedFiles.of(bare, losses, "an MXNet list", (INDEX,))
    listed.report_classes(found.add)
    numbers = table.columns.get(INDEX)
    known = None if numbers is None else labels_of(numbers)
    index = np.arange(table.rows) if known is None else known
    lines = []
    files = zip(listed.rows.tolist(), listed.path, listed.label.tolist(), strict=True)
    for row, path, label in files:
        name = path or b""
        if not name or name.strip() != name or {*name} & {*b"\t\r\n"}:
            losses.report(
                PATH, "a path cannot be empty, have a tab, or begin or end with a blank", row
            )
            continue
        if abs(label) > _EXACT:
            losses.report(LABEL, "the label needs more than 53 bits", row)
            continue
        written = b"%d" % label if texts is None else texts[row]
        lines.append(b"%d\t%b\t%b\n" % (index[row], written, name))
    return b"".join(lines)


def _several(table: Table) -> list[bytes] | None:
    """Return the labels of each file as one text, if the files have reals or several labels.

    Return None if each label is a single whole number, or if the labels are text.
    """
    column = table.columns.get(LABEL)
    items = column.items if isinstance(column, Lists) else column
    if not isinstance(items, Numbers) or not items.present.all() or len(items.shape) > 1:
        return None
    if isinstance(column, Numbers) and labels_of(column) is not None:
        return None
    values = as_singles(items.values).reshape(-1)
    texts = [_WORDS.get(text, text) for text in reals(values)]
    width = items.shape[0] if items.shape else 1
    offsets = (
        column.offsets.tolist() if isinstance(column, Lists) else range(0, len(texts) + 1, width)
    )
    return [b"\t".join(texts[begin:end]) for begin, end in pairwise(offsets)]


def _lines(words: ListTokens) -> Iterator[tuple[int, list[int], bool]]:
    """Yield, for each line, the token that ends it, its fields, and whether an inner field is
    empty.
    """
    is_line, is_tab = words.is_a("LINE").data, words.is_a("TAB").data
    fields: list[int] = []
    has_gap, tabs = False, 0
    for token in range(1, len(words)):
        if is_tab[token]:
            tabs += 1
        elif not is_line[token]:
            has_gap |= bool(fields) and tabs > 1
            fields.append(token)
            tabs = 0
        elif fields or words.ends[token] > words.starts[token]:  # else the end of the text
            yield token, fields, has_gap
            fields, has_gap, tabs = [], False, 0


def _numbers(raw: list[bytes], has_gap: bool) -> tuple[int, list[float]] | str:
    """Return the index and the labels of a line; or, as text, why im2rec skips the line.

    raw: the fields before the path. has_gap: whether one of them is empty.
    """
    if len(raw) + 1 < _LEAST:
        return "it has fewer than three fields"
    if has_gap:
        return "a label is empty"
    first, *others = raw
    if not _INTEGER.fullmatch(first) or len(first) > _LONGEST or not _is_64(first):
        return f"the first field, {shown(first)}, is not a whole number"
    labels = [_float(each) for each in others]
    if None in labels:
        return f"the label {shown(others[labels.index(None)])} is not a number"
    return int(first), [label for label in labels if label is not None]


def _is_64(text: bytes) -> bool:
    return -(1 << 63) <= int(text) < 1 << 63


def _float(text: bytes) -> float | None:
    """Return a text as a number, as Python's float reads it; None if it is no number."""
    try:
        return float(text)
    except ValueError:
        return None


def _label_column(labels: list[list[float]]) -> Numbers | Lists:
    lengths = np.array([len(each) for each in labels], np.int64)
    values = np.array([value for each in labels for value in each], np.float64)
    singles = as_singles(values)
    if (lengths == 1).all():
        is_whole = bool((np.abs(values) < _EXACT).all()) and bool((values % 1 == 0).all())
        return Numbers.of(values.astype(np.int64) if is_whole else singles)
    if (lengths == lengths[0]).all():
        return Numbers.of(singles.reshape(len(labels), -1))
    return Lists.of(Numbers.of(singles), lengths)
