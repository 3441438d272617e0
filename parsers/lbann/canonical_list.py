"""The canonical text of a sample list: one space between words. Words and lines do not change."""

from typing import Final

import numpy as np

from exset.core.errors import Findings
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.source import Source
from exset.grammars.lbann.list_types import Reader
from exset.parsers.engine.spacing import LINE, LINE_FEED, NONE, SPACE, Spacing
from exset.parsers.lbann.list_checks import hint
from exset.parsers.lbann.list_tokens import GRAMMARS
from exset.parsers.lbann.sample_list import begin_of

_HEADER: Final = 4  # lines, in which LBANN also reads empty ones


def canonical(
    source: Source,
    *,
    limits: Limits = DEFAULT,
    engine: Engine = "auto",
    ids: str | None = None,
    reader: str | None = None,
) -> bytes:
    """Return the canonical text of a source. Raises FormatError for a syntax error.

    Consecutive empty lines between records become one empty line. `ids` and `reader`: as in
    `parse`.
    """
    begin = begin_of(source, Findings())
    grammar = GRAMMARS[None if reader is None else Reader(reader)]
    spacing = Spacing(source, begin, line_end=LINE_FEED)
    [stream] = grammar.parse(source, engine, hint=hint, begin=begin)
    is_real = stream.starts < stream.ends  # the first and the last line break are virtual
    kinds, starts, ends = stream.kinds[is_real], stream.starts[is_real], stream.ends[is_real]
    is_line = kinds == grammar.terminal("LINE")
    is_empty = is_line & np.concatenate([[False], is_line[:-1]])
    has_width = starts > spacing.before(starts, ends)
    gaps = np.where(has_width & (~is_line | is_empty), SPACE, NONE).astype(np.int16)
    gaps[1:][is_line[:-1] & ~is_line[1:]] = NONE
    # Below the header: no blanks in empty lines, one of several, and none at the end.
    is_below = np.cumsum(is_line) > _HEADER
    gaps[is_empty & is_below] = NONE
    last = np.flatnonzero(~is_line)[-1]
    is_extra = is_empty & np.concatenate([[False], is_empty[:-1]])
    is_extra[last + 2 :] = True
    kept = ~(is_extra & is_below)
    spacing.add(starts[kept], ends[kept], gaps[kept])
    return spacing.finish(NONE if is_line[kept][-1] else LINE)
