"""What terminals of users' grammars become: by options, by comments, and by actions."""

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from lark import Lark
from numpy.typing import NDArray

import exset
from exset import FormatError
from exset.grammars.tables.columns import Lists, type_of
from tests.parsers.trees import of_columns, of_lark, parser

PAGE = (Path(__file__).parents[2] / "docs/engine.md").read_text(encoding="utf-8")

GRAMMAR = r"""
start: A B C INT word*  // a comment
word: NAME
A: /[0-9]+/  // @int8
B.2: "b" /[0-9]+/ // no conversion @float32 here
C: /x/
  | /[0-9]+\.[0-9]/  //@float64
NAME: /\/\/ @int8/
%import common.INT // @uint16
%ignore " "
"""


def test_comments() -> None:
    """At the end of the line on which a terminal is defined, goes on, or is imported."""
    made = exset.compile_grammar(GRAMMAR)
    assert {name: str(each.dtype) for name, each in made.conversions.items()} == {
        "A": "int8", "C": "float64", "INT": "uint16"
    }  # fmt: skip
    start = made.parse("1 b2 2.5 300 // @int8")["start"]
    assert [type_of(start.columns[name]) for name in ("A", "B", "C", "INT")] == [
        "int8", "text", "float64", "uint16"
    ]  # fmt: skip


def test_options_are_stronger_than_comments() -> None:
    made = exset.compile_grammar(GRAMMAR, numbers={"A": "float32", "B": "int8"}, text={"C"})
    assert made.explain().splitlines()[1:4] == [
        "    A: float32, one", "    B: int8, one", "    C: text, one"
    ]  # fmt: skip


def test_an_alias_of_an_imported_terminal() -> None:
    made = exset.compile_grammar(
        "start: N\n%import common.SIGNED_NUMBER -> N // @float32", text={"N"}
    )
    assert made.parse("-1")["start"].columns["N"][0] == "-1"


def test_text_is_utf8() -> None:
    """Other terminals are bytes where they are not UTF-8."""
    grammar = "start: A\nA: /[^;]+/"
    assert type_of(exset.compile_grammar(grammar).parse(b"\xff")["start"].columns["A"]) == "bytes"
    with pytest.raises(FormatError, match="A is not UTF-8 text") as error:
        exset.compile_grammar(grammar, text={"A"}).parse(b"\xff")
    assert error.value.place is not None and error.value.place.line == 1


@exset.action
def digits(
    buffer: NDArray[np.uint8],
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
    values: NDArray[np.uint16],
) -> int:
    """Add up the digits of each token; 9 is wrong."""
    for token in range(len(starts)):
        for at in range(starts[token], ends[token]):
            if buffer[at] == ord("9"):
                return token
            values[token] += buffer[at] - ord("0")
    return len(starts)


def test_actions() -> None:
    made = exset.compile_grammar('start: N*\nN: /[0-9]+/\n%ignore " "', numbers={"N": digits})
    assert made.explain().splitlines()[1] == "    N: uint16, several"
    found = made.parse("12 " * 3 + "88888888 " * 40)["start"].columns["N"]
    assert isinstance(found, Lists)
    assert found.type == "list<uint16>"
    assert found.items.values.tolist() == [3] * 3 + [64] * 40  # type: ignore[union-attr]
    with pytest.raises(FormatError, match="expected a value of N, found `19`") as error:
        made.parse("1 19 2 99")
    assert error.value.place is not None and error.value.place.column == 3


def test_actions_of_scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A new process cannot import a script or a module without a file: its actions stay Python."""
    for module in ("__main__", "a_module_without_a_file"):
        monkeypatch.setattr(digits, "__module__", module)
        made = exset.compile_grammar("start: N*\nN: /[0-9]/", numbers={"N": digits})
        found = made.parse("12" * (1 << 15))["start"].columns["N"]
        assert isinstance(found, Lists)
        assert found.items.values.sum() == 3 << 15  # type: ignore[union-attr]


def test_numerals_without_digits() -> None:
    """They are no numbers, whatever the dtype."""
    for dtype in ("int8", "int64", "float32", "float64"):
        made = exset.compile_grammar(
            'start: N*\nN: /[-+.e0-9]+/\n%ignore " "', numbers={"N": dtype}
        )
        for text in ("-", "+", ".", "-.", ".e5", "1 -"):
            with pytest.raises(FormatError, match="expected a"):
                made.parse(text)
        with pytest.raises(FormatError, match="expected a"):
            made.parse("9" * 5000 + "-")


WORKS: dict[str, tuple[str, str]] = {
    "rules, `?rule`": ("start: a _b c\n?a: A -> x\n_b: A\n!c: \"c\"\nA: /a/", "aac"),
    "`*`, `+`": ('start: A* (B A)+ A~2..3 [B] _t{A}\n_t{x}: "," x\nA: /a/\nB: /b/', "abaaa,a"),
    "`keep_all_tokens`": ("start: A\nA: /a/", "a"),
    "terminals of texts": ('start: A B C\nA: "if"i\nB: A "x" /[a-c]+/s\nC: /1 2/x', "IFifxabc12"),
    "lazy quantifiers": ("start: A B\nA: /a+?b/\nB: /[a-z]+\\b(?!-)/", "aabcd"),
    "`%ignore`": ("start: INT A\n%import common.INT\nA.2: /a/\n%ignore \" \"", " 1 a"),
    "keywords that are names": (
        'start: (IF | NAME)+\nIF: "if"\nNAME: /[a-z]+/\n%ignore " "', "if x"
    ),
}  # fmt: skip
REFUSED = {
    "lookahead and lookbehind": "start: A\nA: /a(?=bc)/",
    "a lookbehind or a word boundary": "start: A\nA: /\\bword/",
    "back-references": "start: A\nA: /(a)\\1/",
    "anchors": "start: A\nA: /^a/",
    "letters beyond ASCII": 'start: "é"',
    "a `postlex`": "%declare _INDENT\nstart: _INDENT | A\nA: /a/",
    "Earley and CYK": "start: a | b\na: A\nb: A\nA: /a/",
}


def rows_of(header: str) -> list[str]:
    """Return the first cells of the rows of a table of the page."""
    table = PAGE.split(f"| {header} |", 1)[1].split("\n\n")[0]
    return [line[2:] for line in table.splitlines()[2:]]


def test_what_a_grammar_can_have() -> None:
    """Each row of the page runs, and gives the nodes of Lark."""
    for row, name in zip(rows_of("Lark | How"), WORKS, strict=True):
        assert row.startswith(name)
        text, data = WORKS[name]
        found = exset.compile_grammar(text).parse(data)
        assert of_columns(found) == of_lark(parser(text).parse(data), data)


def test_what_a_grammar_cannot_have() -> None:
    """Each row of the page is refused, or Lark refuses it, with words of what to write."""
    for row, name in zip(rows_of("Not supported | Write instead"), REFUSED, strict=True):
        assert row.startswith(name)
        if name == "a `postlex`":
            assert not refused(exset.compile_grammar, REFUSED[name])
            with pytest.raises(FormatError):
                exset.compile_grammar(REFUSED[name]).parse("b")
        elif name == "Earley and CYK":
            assert refused(partial(Lark, parser="lalr"), REFUSED[name])
        else:
            message = refused(exset.compile_grammar, REFUSED[name])
            assert re.search("; (write|leave)", message)


def refused(compiler: Callable[[str], object], grammar: str) -> str:
    """Return the message of the exception of a call, "" if there is none."""
    try:
        compiler(grammar)
    except Exception as error:
        return str(error)
    return ""
