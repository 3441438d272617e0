"""Parse and write lists of files with labels, `cat/1.jpg 0`, as Caffe and DALI read them.

Caffe 1.0: tools/convert_imageset.cpp. exset skips empty lines, where Caffe has an entry without a
path. Labels of more than 32 bits keep their value.
"""

import re
from types import MappingProxyType
from typing import Final

import numpy as np

from exset.core.errors import Findings
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.source import Source
from exset.grammars.columns.arrays import Longs
from exset.grammars.columns.strings import Strings
from exset.grammars.tables.columns import Numbers, text_or_bytes
from exset.grammars.tables.labels import labelled
from exset.grammars.tables.listed_files import ListedFiles
from exset.grammars.tables.losses import Losses
from exset.grammars.tables.table import Table
from exset.parsers.engine.errors import shown
from exset.parsers.engine.grammar import Grammar
from exset.parsers.engine.recovery import Records
from exset.parsers.tables.list_tokens import ListTokens

GRAMMAR: Final = Grammar(
    file="file_list.lark",
    start="file_list",
    steps=("entry",),
    words=MappingProxyType(
        {"PATH": "a path", "NAME": "a path", "LABEL": "a label", "LINE": "the end of the line"}
    ),
    records=Records((0,), begin=b"\n"),
)

_ATOI: Final = re.compile(rb"[ \t\n\v\f\r]*+([-+]?+[0-9]++)")
_WHOLE: Final = re.compile(rb" -?+[0-9]++\r?+")
_SEVERAL: Final = re.compile(rb" [0-9]++\Z")
_MOST: Final = (1 << 63) - 1
_DIGITS: Final = 20
_LEAST_32, _MOST_32 = -(1 << 31), (1 << 31) - 1


def parse(
    source: Source,
    *,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
) -> Table:
    """Return the table of a list: `path`, and `label`, int64. `findings` collects likely mistakes.

    Raises FormatError for a NUL, which no path can contain.
    """
    [stream] = GRAMMAR.parse(source, engine, hint=lambda _: "write: path, blank, label")
    words = ListTokens(GRAMMAR, source, stream, compiled=False, findings=findings)
    first = words.first("LINE")
    has_path = words.is_a("PATH", "NAME", among=first)
    starts = np.where(has_path, words.starts[first], words.base) - words.base
    ends = np.where(has_path, words.ends[first], words.base) - words.base
    paths = Strings.from_spans(words.buffer, starts, ends)
    labels = np.zeros(first.size, np.int64)
    written = np.flatnonzero(words.is_a("LABEL"))
    raw = words.strings(written)
    distinct, codes = raw.distinct()
    read = np.array([_atoi(each or b"") for each in distinct], np.int64)
    labels[~words.is_a("NAME", among=first)] = read[codes]
    _report(words, first, paths, written, [each or b"" for each in distinct], codes, read)
    return labelled(text_or_bytes(paths), Numbers.of(labels))


def render(table: Table, /, *, findings: Findings | None = None, lossy: bool = False) -> bytes:
    """Return the text of a list with the files and labels in a table: see `ListedFiles.of`.

    Raises FormatError for a path with a line break, and for labels of more than 32 bits.
    """
    found = Findings() if findings is None else findings
    losses = Losses(lossy, found)
    listed = ListedFiles.of(table, losses, "a list of files")
    listed.report_classes(found.add)
    lines = []
    for row, path, label in zip(
        listed.rows.tolist(), listed.path, listed.label.tolist(), strict=True
    ):
        if b"\n" in (path or b""):
            losses.report("path", "a path in a list of files cannot contain a line break", row)
        elif not _LEAST_32 <= label <= _MOST_32:
            losses.report("label", "the label does not fit in 32 bits", row)
        else:
            lines.append(b"%b %d\n" % (path or b"", label))
    return b"".join(lines)


def _atoi(text: bytes) -> int:
    """Return the number at the start of a text, as C's atoi reads it; 0 if there is none.

    A number beyond 63 bits becomes the nearest one of 63 bits.
    """
    found = _ATOI.match(text)
    if found is None:
        return 0
    digits = found[1].lstrip(b"+-0")[:_DIGITS] or b"0"
    sign = -1 if found[1].startswith(b"-") else 1
    return sign * min(int(digits), _MOST)


def _report(
    words: ListTokens,
    first: Longs,
    paths: Strings,
    written: Longs,
    texts: list[bytes],
    codes: Longs,
    labels: Longs,
) -> None:
    """Add the findings about the lines of a list.

    first: the first token of each line. written: the token of each label. texts, labels: the text
    and the number of each distinct label. codes: each line's index in these.
    """
    read = dict(zip(written.tolist(), labels[codes].tolist(), strict=True))
    is_wrong = np.array([_WHOLE.fullmatch(text) is None for text in texts], np.bool_)
    is_large = (labels < _LEAST_32) | (labels > _MOST_32)
    is_return = np.array([text.endswith(b"\r") for text in texts], np.bool_)
    for code, mask in (
        ("list-label", is_wrong),
        ("list-label-range", is_large),
        ("list-carriage-return", is_return),
    ):
        tokens = written[mask[codes]] if mask.size else written[:0]
        words.report(code, tokens, lambda token: {"label": read[token]})
    words.report("list-no-label", first[words.is_a("NAME", among=first)])
    words.report("list-empty-line", words.empty_lines("LINE"))
    for code, has in (("list-blanks", _ends_in_blank), ("list-labels", _SEVERAL.search)):
        found = [token for token, path in zip(first, paths, strict=True) if has(path or b"")]
        tokens = np.array(found, np.int64)
        words.report(code, tokens, lambda token: {"path": shown(words.raw(token))})


def _ends_in_blank(path: bytes) -> bool:
    return path.endswith(b" ")
