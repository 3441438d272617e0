"""The canonical text of YAML: only white space changes, to two spaces for each level."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
from ruamel.yaml import YAML, tokens

from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.source import Source
from exset.parsers.engine.spacing import LINE, NONE, SPACE, Spacing
from exset.parsers.shared.yaml_tree import Text, document

_COMMENT: Final = re.compile(r"#[^\r\n]*")
_BREAK: Final = re.compile(r"[\r\n]")
_DEEPEST: Final = 1000
_BEFORE_COMMENT: Final = NONE - 2  # two spaces

_BEGINS_BLOCK: Final = (tokens.BlockMappingStartToken, tokens.BlockSequenceStartToken)
_OPENS: Final = (tokens.FlowSequenceStartToken, tokens.FlowMappingStartToken)
_CLOSES: Final = (tokens.FlowSequenceEndToken, tokens.FlowMappingEndToken)
_OF_FILE: Final = (tokens.DirectiveToken, tokens.DocumentStartToken, tokens.DocumentEndToken)
_VALUES: Final = (tokens.ScalarToken, tokens.AliasToken, tokens.TagToken, tokens.AnchorToken)


def canonical(source: Source, *, limits: Limits = DEFAULT, engine: Engine = "auto") -> bytes:
    """Return the canonical text of a source. Raises FormatError for a syntax error.

    Only the first document is changed, because programs read only this document.
    """
    second = document(source, limits).second
    rest = b"" if second is None else source.data[second.start :]
    source = Source(source.name, source.data[: len(source.data) - len(rest)])
    text = Text(source)
    spacing = Spacing(source, text.first)
    rows = np.array([(*text.bounds(*row[:2]), row.gap) for row in _rows(text.text)], np.int64)
    if len(rows):
        spacing.add(rows[:, 0], rows[:, 1], rows[:, 2].astype(np.int16))
    return spacing.finish() + rest


class _Row(NamedTuple):
    """A token or a comment: where its characters start and end, and the code of the gap before it.

    A gap is the white space between two tokens.
    """

    start: int
    end: int
    gap: int


class _Blocks:
    """The columns at which the open block mappings and sequences begin, in ascending order."""

    def __init__(self) -> None:
        self.columns: list[int] = []
        self.before: list[int] = []  # those at the last token

    def indent(self, column: int) -> int:
        """Return the number of spaces to put before a comment in this column.

        This number is the indentation of the innermost block around the comment.
        """
        levels = [bisect_right(each, column) for each in (self.columns, self.before)]
        return 2 * max(max(levels) - 1, 0)


def _rows(text: str) -> Iterator[_Row]:
    """Yield the tokens and the comments of a YAML text, in order."""
    blocks, flow, end, is_key = _Blocks(), 0, 0, False
    last: tokens.Token | None = None
    for token in YAML(typ="safe", pure=True).scan(text):
        if isinstance(token, _BEGINS_BLOCK):
            blocks.columns.append(token.start_mark.column)
        elif isinstance(token, tokens.BlockEndToken):
            blocks.columns.pop()
        is_key |= isinstance(token, tokens.KeyToken)
        start, stop = token.start_mark.index, token.end_mark.index
        stop = len(text[start:stop].rstrip()) + start
        if start >= stop or isinstance(token, _BEGINS_BLOCK):
            continue
        yield from _comments(text, end, start, blocks)
        flow -= isinstance(token, _CLOSES)
        if isinstance(token, _OF_FILE):
            gap = LINE
        elif _BREAK.search(text, end, start):
            is_value = isinstance(token, _VALUES) and not is_key
            level = max(len(blocks.columns) - 1, 0) + (flow or is_value)
            gap = LINE + 2 * min(level, _DEEPEST)
        else:
            gap = _between(last, token, has_gap=start > end)
        yield _Row(start, stop, gap)
        flow += isinstance(token, _OPENS)
        blocks.before = blocks.columns.copy()
        last, end, is_key = token, stop, False
    yield from _comments(text, end, len(text), blocks)


def _comments(text: str, start: int, stop: int, blocks: _Blocks) -> Iterator[_Row]:
    """Yield the comments in `text[start:stop]`, which is between two tokens."""
    for match in _COMMENT.finditer(text, start, stop):
        begin = max(text.rfind("\n", 0, match.start()), text.rfind("\r", 0, match.start())) + 1
        if begin <= start and start > 0:
            gap = _BEFORE_COMMENT
        else:
            gap = LINE + min(blocks.indent(match.start() - begin), 2 * _DEEPEST)
        yield _Row(match.start(), match.start() + len(match[0].rstrip()), gap)


def _between(last: tokens.Token | None, token: tokens.Token, *, has_gap: bool) -> int:
    """Return the code of the gap between two tokens in the same line.

    has_gap: whether the text has white space between the tokens.
    """
    if isinstance(token, tokens.ValueToken):
        return SPACE if has_gap and isinstance(last, tokens.AliasToken) else NONE
    if isinstance(last, tokens.ValueToken):
        return SPACE if has_gap else NONE
    if isinstance(last, _OPENS) or isinstance(token, (*_CLOSES, tokens.FlowEntryToken)):
        return NONE
    return SPACE
