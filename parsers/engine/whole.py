"""Parse a whole text to one stream of tokens: a large text in several threads."""

import contextlib
from typing import Final

from exset.core.kernels import Engine
from exset.core.source import Source
from exset.grammars.columns.arrays import concat
from exset.parsers.engine.division import Marks, sizes_of
from exset.parsers.engine.driver import KERNELS, TOKENS
from exset.parsers.engine.errors import Hint
from exset.parsers.engine.grammar import Grammar, size_of
from exset.parsers.engine.recovery import Records
from exset.parsers.engine.stream import ParseStream, Rejection

_BYTES_A_TOKEN: Final = 4
"""An estimate: the room for tokens grows where there are more."""


def whole(
    grammar: Grammar,
    source: Source,
    engine: Engine,
    *,
    hint: Hint,
    records: Records | None = None,
) -> ParseStream:
    """Return all tokens of a text as one stream, which may lack the steps.

    hint: a function that returns advice on a syntax error. records: between which records several
    threads may divide the text; by default those of the grammar. If there are none, one thread
    parses the text. Raises FormatError for a syntax error.
    """
    records = records or grammar.records
    sizes = sizes_of(source) if records is not None and engine != "reference" else None
    if records and sizes and KERNELS.use_compiled(size_of(source), engine):
        with contextlib.suppress(Rejection):  # one thread finds the errors
            marks = Marks.of(records)
            parts = grammar.divided(source, engine, sizes, marks, records.steps, _copied)
            return _joined([copied or _copied(stream) for stream, copied in parts])
    room = len(source.content) // _BYTES_A_TOKEN + TOKENS
    [stream] = grammar.parse(source, engine, hint=hint, tokens=room)
    return stream


def _copied(stream: ParseStream) -> ParseStream:
    """Return a copy of the tokens of a stream, whose memory the next stream takes."""
    return ParseStream(
        stream.kinds.copy(),
        stream.starts.copy(),
        stream.ends.copy(),
        stream.steps[:0].copy(),
        stream.tokens_before[:0].copy(),
    )


def _joined(parts: list[ParseStream]) -> ParseStream:
    """Return the tokens of all parts, without steps."""
    return ParseStream(
        concat([part.kinds for part in parts]),
        concat([part.starts for part in parts]),
        concat([part.ends for part in parts]),
        parts[0].steps,
        parts[0].tokens_before,
    )
