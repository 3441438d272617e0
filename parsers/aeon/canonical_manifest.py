"""The canonical text of a manifest: at most one empty line between lines. Nothing else changes."""

import numpy as np

from exset.core.errors import Findings
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.source import Source
from exset.grammars.aeon.manifest_types import Dialect
from exset.parsers.aeon import manifest_dialects as dialects
from exset.parsers.aeon.manifest import dialect_of
from exset.parsers.engine.spacing import LINE, LINE_FEED, NONE, Spacing


def canonical(
    source: Source,
    *,
    limits: Limits = DEFAULT,
    engine: Engine = "auto",
    dialect: Dialect | str | None = None,
) -> bytes:
    """Return the canonical text of a source. Raises FormatError for a syntax error.

    `dialect`: as in `parse`.
    """
    grammar = dialects.GRAMMARS[dialect_of(source, Findings(), dialect)]
    spacing = Spacing(source, line_end=LINE_FEED)
    streams = grammar.parse(source, engine, hint=dialects.hint, boundary=dialects.RECORD)
    for stream in streams:
        is_break = stream.kinds == grammar.terminal("BREAK")
        gaps = np.where(np.concatenate([[True], is_break[:-1]]), LINE, NONE).astype(np.int16)
        kept = ~is_break
        spacing.add(stream.starts[kept], stream.ends[kept], gaps[kept])
    return spacing.finish()
