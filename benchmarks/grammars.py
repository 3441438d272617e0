"""Compare grammars of users with Lark's own parser: all columns against the tree."""

from functools import partial

import numpy as np

import exset
from benchmarks.inputs import Inputs
from benchmarks.measure import race
from benchmarks.rows import Cases, Figures
from exset.parsers.custom.grammar import Grammar

_SIZE = 10_000_000
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


def parses(inputs: Inputs, runs: int) -> Cases:
    """Yield parsing, from bytes to the tables of all rules."""
    size = int(_SIZE * inputs.part)
    rows = np.random.default_rng(1).random((size // 145 + 50, 20))
    lines = ["abc = " + " ".join(f"{x:.4f}" for x in row) + ";\n" for row in rows.tolist()]
    numbers = Grammar(_NUMBERS, numbers={"REAL": "float32"})
    yield "lines of numbers", partial(_race, numbers, lines, "", "", "", runs)
    records = [_RECORD % (i, i / 7) for i in range(size // 85 + 50)]
    json = Grammar(_JSON, numbers={"NUMBER": "float64"})
    yield "JSON", partial(_race, json, records, "[", ",\n", "]", runs)


def _race(
    grammar: Grammar, parts: list[str], begin: str, between: str, end: str, runs: int
) -> Figures:
    text, part = (
        begin + between.join(parts[:count]) + end
        for count in (len(parts), max(int(len(parts) * _SLICE), 1))
    )
    data = text.encode()
    result = race(
        lambda: _columns(grammar, data),
        partial(grammar.tree, part),
        runs,
        peer_part=len(part) / len(text),
    )
    return result.against("Lark", len(data) / 1e6)


def _columns(grammar: Grammar, data: bytes) -> list[exset.Table]:
    columns = grammar.parse(data)
    return [columns[name] for name in columns]
