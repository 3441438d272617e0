"""Run either driver of the text engine, and return its streams or its rejection."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from exset.parsers.engine import reference
from exset.parsers.engine.driver import Driver
from exset.parsers.engine.grammar import Grammar
from exset.parsers.engine.stream import ParseStream, Rejection

LENS_PIECES = (
    b"I: T: i: t: B: b: name: freq: proc: max: min: actI: [ ] { } ( ) * ; 0 1 2 3-4 -5 - 1.5 .5 1e "
    b'-x x " \\ \n # \r g \t 0x1 inf nan +1 \xff \x00'
).split(b" ")

Outcome = tuple[list[int], ...] | tuple[object, ...]


def listed(streams: Sequence[ParseStream]) -> tuple[list[int], ...]:
    columns: tuple[list[int], ...] = ([], [], [], [], [])
    for stream in streams:
        before = stream.tokens_before + len(columns[0])
        parts: list[NDArray[np.integer]]
        parts = [stream.kinds, stream.starts, stream.ends, stream.steps, before]
        for column, part in zip(columns, parts, strict=True):
            column.extend(part.tolist())
    return columns


def judged(grammar: Grammar, source: bytes) -> Outcome:
    try:
        return listed([reference.run(grammar, source)])
    except Rejection as rejection:
        return rejection.args


def stream_of(grammar: Grammar, source: bytes, *, compiled: bool = False) -> ParseStream:
    [stream] = Driver(grammar.lowered, compiled=lambda: compiled).streams([source])
    return stream


def driven(
    grammar: Grammar,
    blocks: Sequence[bytes],
    *,
    compiled: bool,
    tokens: int = 1 << 10,
    boundary: int | None = None,
) -> Outcome:
    streams = []
    driver = Driver(grammar.lowered, compiled=lambda: compiled, tokens=tokens, boundary=boundary)
    try:
        for part in driver.streams(blocks):
            streams.append(ParseStream(*(np.array(column) for column in vars(part).values())))
    except Rejection as rejection:
        return rejection.args
    if boundary is not None:
        assert all(part.steps[-1] == boundary for part in streams[:-1])
    return listed(streams)
