"""Compare grammars of users, and of installed packages, with Lark: all columns against the tree."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

import exset
from benchmarks.inputs import Inputs
from benchmarks.measure import race
from benchmarks.rows import Cases, Figures
from exset.parsers.custom.grammar import Grammar
from tests import packaged
from tests.parsers.drawn_texts import Drawing

SIZE = 10_000_000
"""Bytes of a text."""
_SLICE = 1 / 50
"""The fraction of a text that Lark parses; its times are scaled up."""

_NUMBERS = r"""
start: line*
line: NAME "=" REAL+ ";"
NAME: /[a-z]+/
REAL: /-?[0-9]+(\.[0-9]+)?/
%ignore /[ \n]+/
"""
_JSON = r"""
?start: value
?value: object | array | STRING | NUMBER | "true" -> true | "false" -> false | "null" -> null
array: "[" [value ("," value)*] "]"
object: "{" [pair ("," pair)*] "}"
pair: STRING ":" value
STRING: /"([^"\\]|\\.)*"/
NUMBER: /-?[0-9]+(\.[0-9]+)?/
%ignore /[ \n]+/
"""
_RECORD = '{"name": "a word", "place": [%d, %.3f], "is good": true, "more": {"x": null}}'


_DRAWN = 300
"""Texts that are drawn of the grammar of a package; a text repeats them."""
_AROUND = {"outlines": ("[", ",\n", "]")}
"""What is before, between and after drawn texts, if not line breaks."""


class Text(NamedTuple):
    """A text of a grammar, from parts with texts before, between and after them."""

    grammar: Grammar
    parts: Sequence[str]
    around: tuple[str, str, str] = ("", "\n", "\n")

    def data(self, fraction: float = 1) -> bytes:
        """Return the text, or one with a fraction of its parts."""
        begin, between, end = self.around
        count = max(int(len(self.parts) * fraction), 1)
        return (begin + between.join(self.parts[:count]) + end).encode()


def parses(inputs: Inputs, runs: int) -> Cases:
    """Yield parsing, from bytes to the tables of all rules."""
    size = int(SIZE * inputs.part)
    for name, make in TEXTS.items():
        yield name, partial(_race_made, make, size, runs)
    for name, file in packaged.GRAMMARS.items():
        if path := packaged.file_in(file):
            yield file, partial(_race_drawn, name, path, size, runs)


def _numbers(size: int) -> Text:
    rows = np.random.default_rng(1).random((size // 145 + 50, 20))
    lines = ["abc = " + " ".join(f"{x:.4f}" for x in row) + ";" for row in rows.tolist()]
    return Text(Grammar(_NUMBERS, numbers={"REAL": "float32"}), lines)


def _json(size: int) -> Text:
    records = [_RECORD % (i, i / 7) for i in range(size // 85 + 50)]
    return Text(Grammar(_JSON, numbers={"NUMBER": "float64"}), records, ("[", ",\n", "]"))


TEXTS = {"lines of numbers": _numbers, "JSON": _json}
"""Functions that return a text of about some bytes, by the names of the languages."""


def columns(grammar: Grammar, data: bytes) -> list[exset.Table]:
    """Return the tables of all rules."""
    found = grammar.parse(data)
    return [found[name] for name in found]


def _race_made(make: Callable[[int], Text], size: int, runs: int) -> Figures:
    return _race(make(size), runs)


def _race(text: Text, runs: int) -> Figures:
    data, part = text.data(), text.data(_SLICE)
    result = race(
        partial(columns, text.grammar, data),
        partial(text.grammar.tree, part),
        runs,
        peer_part=len(part) / len(data),
    )
    return result.against("Lark", len(data) / 1e6)


def _race_drawn(name: str, path: Path, size: int, runs: int) -> Figures:
    grammar = exset.compile_grammar(path)
    around = _AROUND.get(name, ("", "\n", "\n"))
    drawn = list[str]()
    for text in islice(Drawing(grammar, seed=1).texts(2 * _DRAWN), 0, None, 2):
        with suppress(exset.FormatError):
            twice = Text(grammar, [*drawn, text] * 2, around)
            grammar.parse(twice.data(), engine="table")
            drawn.append(text)
    times = max(size // sum(map(len, drawn)), 1)
    return _race(Text(grammar, drawn * times, around), runs)
