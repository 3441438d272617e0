"""The canonical text of JSON: only white space changes. Numbers and strings stay as they are.

A list or object is one line if it is short and contains no object. All other lists and objects have
a line for each value or member, indented by one space for each level.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from exset.core.errors import Findings
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.source import Source
from exset.parsers.engine.spacing import LINE, NONE, SPACE, TIGHT, Spacing
from exset.parsers.shared.json_tree import GRAMMAR, tokens

_WIDEST: Final = 72
"""The most bytes of a list or object in one line."""
_OPEN: Final = ("LBRACE", "LSQB")
_CLOSE: Final = ("RBRACE", "RSQB")
_DEEPEST: Final = 1000


def canonical(source: Source, *, limits: Limits = DEFAULT, engine: Engine = "auto") -> bytes:
    """Return the canonical text of a source. Raises FormatError for a syntax error."""
    stream = tokens(source, limits, Findings(), engine)
    kinds = [GRAMMAR.terminals[kind] for kind in stream.kinds.tolist()]
    gaps = _gaps(kinds, _tall(kinds, (stream.ends - stream.starts).tolist()))
    begin = int(stream.starts[0]) if source.data.startswith(b"\xef\xbb\xbf") else 0
    spacing = Spacing(source, begin)
    spacing.add(stream.starts, stream.ends, np.array(gaps, np.int16))
    return spacing.finish()


@dataclass
class _Open:
    """An open bracket of a JSON text, while exset computes the layout of the text.

    token: the index of the bracket. size: the number of bytes that the list or object would take on
    one line. has_object: whether the list or object contains an object.
    """

    token: int
    size: int = 0
    has_object: bool = False


def _tall(kinds: Sequence[str], widths: Sequence[int]) -> set[int]:
    """Return the lists and objects that take several lines, by the index of their opening bracket.

    kinds: the terminal of each token. widths: the number of bytes of each token.
    """
    tall, opened = set[int](), [_Open(-1)]
    for at, (kind, width) in enumerate(zip(kinds, widths, strict=True)):
        if kind in _OPEN:
            opened.append(_Open(at))
        opened[-1].size += width + (kind in ("COMMA", "COLON"))
        if kind in _CLOSE:
            done = opened.pop()
            is_outer = len(opened) == 1
            if done.token < at - 1 and (is_outer or done.size > _WIDEST or done.has_object):
                tall.add(done.token)
            opened[-1].size += done.size
            opened[-1].has_object |= done.has_object or kind == "RBRACE"
    return tall


def _gaps(kinds: Sequence[str], tall: set[int]) -> list[int]:
    """Return the code of the gap before each token, as `Spacing` uses it.

    kinds: the terminal of each token. tall: the result of `_tall`.
    """
    gaps, opened = list[int](), [False]
    for at, kind in enumerate(kinds):
        before = kinds[at - 1] if at else ""
        is_tall = opened[-1]
        if kind in _CLOSE:
            opened.pop()
        line = LINE + min(len(opened) - 1, _DEEPEST)
        if kind in _CLOSE or before in _OPEN:
            gaps.append(line | TIGHT if is_tall else NONE)
        elif before == "COMMA":
            gaps.append(line if is_tall else SPACE)
        else:
            gaps.append(SPACE if before == "COLON" else NONE)
        if kind in _OPEN:
            opened.append(at in tall)
    return gaps
