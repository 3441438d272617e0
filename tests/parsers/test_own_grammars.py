"""Grammars of users: the columns hold the very tree that Lark makes, or both reject the text."""

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TypedDict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.lark import from_lark
from lark import Lark, Token
from lark.exceptions import UnexpectedInput

import exset
from exset import FormatError
from exset.core.kernels import Engine
from exset.grammars.tables.columns import Lists, Numbers, TableColumn
from exset.parsers.custom.grammar import Grammar
from exset.parsers.engine.numbers import float32s
from tests.parsers.trees import of_columns, of_lark, parser


class Options(TypedDict, total=False):
    """Options of Lark."""

    keep_all_tokens: bool
    maybe_placeholders: bool


TEXTS: Mapping[str, tuple[str, Options]] = {
    "json": (
        r"""
        ?start: value
        ?value: object | array | STRING | NUMBER | "true" -> true | "null" -> null
        array: "[" [value ("," value)*] "]"
        object: "{" [pair ("," pair)*] "}"
        pair: STRING ":" value
        STRING: /"[a-z\\]*"/
        NUMBER: /-?[0-9]+(\.[0-9]+)?/
        %ignore /[ \n]+/
        """,
        {},
    ),
    "sums": (
        r"""
        ?start: sum
        ?sum: product | sum "+" product -> add | sum "-" product -> subtract
        ?product: atom | product "*" atom -> multiply
        ?atom: /[0-9]+/ -> number | "-" atom -> negate | NAME | "(" sum ")"
        NAME: /[a-z]+/
        """,
        {},
    ),
    "everything kept": (
        r"""
        start: _list{item} tail?
        _list{x}: x ("," x)*
        item: WORD "=" _values
        _values: WORD+ | "(" _values ")"
        !tail: "." ["!"] "end"
        WORD: /[a-z]/
        %ignore " "
        """,
        {},
    ),
    "all tokens": (
        'start: (a | b)*\na: "x" ["y"] "z"\n?b: "y" a? -> c | "w"',
        {"keep_all_tokens": True},
    ),
    "placeholders": (
        '?start: a ["," a]\n?a: [X] b*\n?b: "(" start ")" ["!"]\nX: /[a-z]/',
        {},
    ),
    "nothing": ("start: a b?\na:\nb: a\"x\"a b?", {"maybe_placeholders": False}),
    "case": (
        r"""
        start: (KEY | word | IF)*
        word: WORD -> plain
        IF: "if"i
        KEY: "key"
        WORD: /[a-z]+/i
        %ignore " "
        """,
        {},
    ),
}  # fmt: skip
GRAMMARS = {name: Grammar(text, **options) for name, (text, options) in TEXTS.items()}


def damaged(texts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Return texts with one character changed."""
    character = st.sampled_from('x"a1(),= -')
    return st.builds(
        lambda text, at, new: text[: at % (len(text) + 1)] + new + text[at % (len(text) + 1) + 1 :],
        texts,
        st.integers(0, 100),
        character,
    )


@cache
def lark(name: str) -> Lark:
    text, options = TEXTS[name]
    return parser(text, **options)


@cache
def drawn(name: str) -> st.SearchStrategy[str]:
    text, options = TEXTS[name]
    texts = from_lark(Lark(text, parser="lalr", **options))
    return st.one_of(texts, damaged(texts))


@pytest.mark.parametrize("name", TEXTS)
@given(data=st.data())
def test_the_tree_of_lark(name: str, data: st.DataObject) -> None:
    """All engines: same verdict, same nodes, with their tokens, parents and places."""
    grammar, text = GRAMMARS[name], data.draw(drawn(name))
    try:
        tree = lark(name).parse(text)
    except UnexpectedInput:
        for engine in engines():
            with pytest.raises(FormatError):
                grammar.parse(text, engine=engine)
        return
    expected = of_lark(tree, text)
    assert isinstance(tree, Token) or tree == grammar.tree(text)
    for engine in engines():
        assert of_columns(grammar.parse(text, engine=engine)) == expected


def engines() -> Iterator[Engine]:
    """Lark itself, the tables in plain Python, and compiled if the kernels are ready."""
    yield from ("reference", "auto", "table")


LINES = r"""
start: line*
line: NAME "=" number+ comment? ";"
?number: REAL | "(" REAL ")" -> negated
comment: "#" (NAME | INT)
NAME: /[a-z]+/
REAL: /[-+]?[0-9]+(\.[0-9]*)?(e[-+]?[0-9]+)?/
INT: /n[0-9]+/
%ignore /[ \n]+/
"""
TEXT = "a = 1 2.5 (3) # note;\nbc = 4;"


def rows(column: TableColumn) -> list[list[object]]:
    """Return the rows of a column of lists."""
    assert isinstance(column, Lists)
    return [list(row or ()) for row in column]


def test_tables() -> None:
    columns = exset.compile_grammar(LINES, numbers={"REAL": "float32"}).parse(TEXT)
    line = columns["line"]
    assert dict(line.types) == {
        "NAME": "text", "REAL": "list<float32>", "parent": "int64", "start": "int64", "end": "int64"
    }  # fmt: skip
    assert [*line.columns["NAME"]] == ["a", "bc"]
    assert rows(line.columns["REAL"]) == [[1, 2.5], [4]]
    assert [[row["start"], row["end"]] for row in line] == [[0, 21], [22, 29]]
    assert [(row["REAL"], row["parent"]) for row in columns["negated"]] == [(3, 0)]
    assert [(row["NAME"], row["INT"]) for row in columns["comment"]] == [("note", None)]
    assert repr(columns) == "Columns(start: 1, line: 2, negated: 1, comment: 1 rows)"


def test_a_table_with_its_children() -> None:
    table = exset.compile_grammar(LINES, numbers={"REAL": "float64"}).parse(TEXT).to_table("line")
    assert dict(table.types) == {
        "NAME": "text",
        "REAL": "list<float64>",
        "negated.REAL": "list<float64>",
        "comment.NAME": "text",
        "comment.INT": "text",
    }
    assert rows(table.columns["negated.REAL"]) == [[3], []]
    assert [*table.columns["comment.NAME"]] == ["note", None]


def test_a_list_in_a_child_that_may_be_absent() -> None:
    grammar = exset.compile_grammar(
        'start: a*\na: "a" b?\nb: X+\nX: /[0-9]/', numbers={"X": "int8"}
    )
    table = grammar.parse("a12aa3").to_table("a")
    assert [None if row is None else [*row] for row in column_of(table)] == [[1, 2], None, [3]]


def column_of(table: exset.Table) -> Lists:
    """Return the column of numbers two rules below."""
    found = table.columns["b.X"]
    assert isinstance(found, Lists)
    return found


def test_a_rule_below_itself() -> None:
    """The node above comes first, and `parent` names its row."""
    grammar = exset.compile_grammar(
        'start: list\nlist: "[" (list | X)* "]"\nX: /[0-9]/', numbers={"X": "int8"}
    )
    found = grammar.parse("[1[2[3]]4[]]")["list"]
    assert rows(found.columns["X"]) == [[1, 4], [2], [3], []]
    assert [*found.columns["parent"]] == [0, 0, 1, 0]
    assert [*found.columns["parent_rule"]] == ["start", "list", "list", "list"]


def numerals(low: float, high: float, dtype: str) -> st.SearchStrategy[str]:
    if "int" in dtype:
        return st.integers(int(low), int(high)).map(str)
    reals = st.floats(0, width=32 if dtype == "float32" else 64, allow_infinity=False)
    return st.one_of(reals.map(repr), st.decimals(0, 10**30, allow_nan=False).map(str)).map(
        lambda text: text.lower()
    )


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int64", "uint64", "float32", "float64"])
@given(data=st.data())
def test_numbers_are_exact(dtype: str, data: st.DataObject) -> None:
    grammar = numbers_of(dtype)
    kind = np.dtype(dtype)
    info = np.iinfo(kind) if kind.kind in "iu" else np.finfo(kind)
    texts = data.draw(st.lists(numerals(float(info.min), float(info.max), dtype), min_size=1))
    texts = [each for each in texts if kind.kind == "f" or info.min <= int(each) <= info.max]
    found = grammar.parse(" ".join(texts))["start"].columns["N"]
    assert isinstance(found, Lists) and isinstance(found.items, Numbers)
    if dtype == "float32":
        expected = float32s([each.encode() for each in texts])
    else:
        expected = np.array([kind.type(each) for each in texts], kind)
    assert found.items.values.dtype == kind and (found.items.values == expected).all()


@cache
def numbers_of(dtype: str) -> Grammar:
    text = 'start: N*\nN: /-?[0-9]+(\\.[0-9]+)?(e[-+]?[0-9]+)?/\n%ignore " "'
    return exset.compile_grammar(text, numbers={"N": dtype})


@pytest.mark.parametrize(
    ("dtype", "text", "expected"),
    [
        ("int8", "1 128", "expected a number from -128 to 127, found `128`"),
        ("uint8", "-1", "expected a number from 0 to 255, found `-1`"),
        ("int32", "1.5", "expected an integer, found `1.5`"),
    ],
)
def test_a_number_that_does_not_fit(dtype: str, text: str, expected: str) -> None:
    with pytest.raises(FormatError) as error:
        numbers_of(dtype).parse(text)
    assert error.value.message == expected


def test_what_the_engine_cannot_run() -> None:
    for text, expected in {
        'start: A\nA: /a(?!bc)/': "terminal A has a lookaround of more than one character",
        'start: A\nA: /(?<=b)a/': "terminal A has a lookbehind or a word boundary",
        'start: A\nA: /^a/': "terminal A has an anchor",
        'start: A\nA: /(a)\\1/': "terminal A has a back-reference",
        'start: "\u00e9"': r"line 1 has `\u00e9`; write its UTF-8 bytes, \\xc3\\xa9",
    }.items():  # fmt: skip
        with pytest.raises(ValueError, match=expected):
            exset.compile_grammar(text)
    with pytest.raises(ValueError, match="no terminal 'B'"):
        exset.compile_grammar('start: "a"', numbers={"B": "int8"})
    with pytest.raises(ValueError, match="A cannot be of the type complex: choose one of int8"):
        exset.compile_grammar("start: A\nA: /a/", numbers={"A": "complex"})


def test_a_file_that_imports_another(folder: Path) -> None:
    """The tables depend on the imported file, too."""
    (folder / "main.lark").write_text("start: WORD\n%import .words.WORD")
    for word in ("one", "two"):
        (folder / "words.lark").write_text(f'WORD: "{word}"')
        grammar = exset.compile_grammar(folder / "main.lark")
        assert [*grammar.parse(word)["start"].columns["WORD"]] == [word]
    (folder / "text").write_text("one")
    with pytest.raises(FormatError, match=r"text:1:1: expected `two`, found `one`"):
        grammar.load("text")


def test_explain() -> None:
    shown = exset.compile_grammar(LINES, numbers={"REAL": "float32"}).explain()
    assert shown.splitlines()[2:7] == [
        "line, in start",
        "    NAME: text, one",
        "    REAL: float32, several",
        "    negated: table, several",
        "    comment: table, one or none",
    ]
