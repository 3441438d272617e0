"""Find where the items of a list begin, so that threads can begin to parse there.

A sample of the text shows which list of the grammar has many items, and which bytes are usually
between two items.
"""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final, NamedTuple

import numpy as np

from exset.core.kernels import Engine
from exset.core.source import Source
from exset.grammars.columns.arrays import Bytes, Longs
from exset.parsers.custom.shape import Shape
from exset.parsers.engine.division import Marks
from exset.parsers.engine.driver import ANY_STEP
from exset.parsers.engine.grammar import Grammar
from exset.parsers.engine.stream import ParseStream, Rejection

_ITEMS: Final = 8
"""How many items of a list the sample must have."""
_LISTS: Final = 4
"""How many lists to try, the outermost first."""
_BYTES: Final = 16
"""How many bytes before and after the end of an item tell where it is."""
_USUAL: Final = 0.75
"""The fraction of the items that have these bytes, and of these bytes that are at an end."""


class ItemMarks(NamedTuple):
    """Patterns for the places where the items of a list probably begin, and the steps that add an
    item to the list.
    """

    marks: Marks
    steps: tuple[int, ...]


def item_marks(
    grammar: Grammar, shape: Shape, text: Source, engine: Engine, size: int
) -> ItemMarks | None:
    """Return the marks of the outermost list that has many items in the first `size` bytes of a
    text.

    Return None if there is no such list.
    """
    sample = Source(text.name, text.content[:size])
    try:
        stream = next(grammar.streams(sample, engine, boundary=ANY_STEP), None)
    except Rejection:
        return None
    if stream is None:
        return None
    data = np.frombuffer(sample.view, np.uint8)
    lengths = np.array([len(rule.expansion) for rule in shape.rules])
    before = stream.tokens_before
    depths = before + np.cumsum(1 - lengths[stream.steps])
    lists = [
        (depth, steps, ends)
        for steps in _rules_of_lists(shape)
        for depth, ends in _ends(stream, depths, steps)
    ]
    for depth, steps, ends in sorted(lists, key=lambda each: each[0])[:_LISTS]:
        if pattern := _pattern(data, ends):
            return ItemMarks(Marks(pattern, pattern, depth), steps)
    return None


def _rules_of_lists(shape: Shape) -> Iterator[tuple[int, ...]]:
    for name in sorted(shape.lists):
        yield tuple(at for at, rule in enumerate(shape.rules) if rule.origin.name == name)


def _ends(
    stream: ParseStream, depths: Longs, steps: tuple[int, ...]
) -> Iterator[tuple[int, Longs]]:
    """Yield each depth of the stack at which a list has many items, and the ends of the items."""
    before = stream.tokens_before
    found = np.isin(stream.steps, steps) & (before > 0) & (before < len(stream.kinds))
    for depth, count in zip(*np.unique(depths[found], return_counts=True), strict=True):
        if count >= _ITEMS:
            yield int(depth), stream.ends[before[found & (depths == depth)] - 1]


def _pattern(data: Bytes, ends: Longs) -> re.Pattern[bytes] | None:
    """Return the shortest pattern that usually matches where items of a list end, and seldom
    elsewhere.

    Return None if there is no such pattern. data: the sample of the text. ends: the offsets at
    which items end.
    """
    last, following = _usual(data, ends - 1, -1)[::-1], _usual(data, ends, 1)
    whole, most = data.tobytes(), int(len(ends) / _USUAL)
    for size in range(1, max(len(last), len(following)) + 1):
        near = re.escape(last[-size:]), re.escape(following[:size])
        pattern = re.compile(b"%b(?=%b)" % near)
        found = [match.end() for match in islice(pattern.finditer(whole), most + 1)]
        if len(found) <= most and np.isin(found, ends).sum() >= _USUAL * max(len(found), len(ends)):
            return pattern
    return None


def _usual(data: Bytes, at: Longs, step: int) -> bytes:
    """Return the sequence of bytes that most of the places `at` have in common.

    step: 1 to read forwards from each place, -1 to read backwards.
    """
    least, found = _USUAL * len(at), bytearray()
    while len(found) < _BYTES:
        at = at[(at >= 0) & (at < len(data))]
        usual = int(np.bincount(data[at], minlength=1).argmax())
        at = at[data[at] == usual]
        if len(at) < least:
            break
        found.append(usual)
        at = at + step
    return bytes(found)
