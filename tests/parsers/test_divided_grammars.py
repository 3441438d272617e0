"""A text of a user's grammar that several threads parse gives the rows and errors of one thread."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

import exset
from exset.core.kernels import Engine
from exset.core.source import Source
from exset.parsers.custom import builder, lists
from exset.parsers.custom.fragment import Fragment
from exset.parsers.custom.grammar import Grammar
from exset.parsers.engine.division import Sizes
from tests.parsers.test_own_grammars import GRAMMARS, LINES

NESTED = r"""
start: head? (group | pair)* "end"?
head: "head" WORD* "!"
group: WORD ":" item+ ";"
?item: REAL | "(" item* ")" -> list | empty "."
empty:
pair: WORD "=" _values ","
_values: REAL | _values "+" REAL
WORD: /[a-z]+/
REAL: /-?[0-9]+/
%ignore /[ \n]+/
%ignore /#[^\n]*/
"""
NUMBERS = {"REAL": "int8"}

PIECES: dict[str, tuple[Grammar, Sequence[str]]] = {
    "lines": (
        Grammar(LINES, numbers={"REAL": "float32"}, texts=frozenset({"NAME"})),
        ["a = 1;\n", "bc = 2 (3.5) #note;\n", "d = 1e400 #n1;\n", "e = 1;", "f = .;\n", "g = ;\n"],
    ),
    "nested": (
        Grammar(NESTED, numbers=NUMBERS),
        [
            *("a: 1 2;\n", "b: (3 (4) ) .;\n", "c = 1,\n", "d = 1+2+3,\n", "# e: 1;\n"),
            *("head a!\n", "end", "f: (;\n", "g: 1 . 2;\n", "h: 200;\n", ")", "b: ((((1)) 2;\n"),
        ],
    ),
    "json": (
        GRAMMARS["json"],
        [
            *('{"a": 1},\n', '{"a": [1, 2, {"b": 3}]},\n', '[],\n', '"},\n{",\n', "null,\n"),
            *("[", "],\n", '{"a": [', "]},\n", "1]", "true\n"),
        ],
    ),
}  # fmt: skip


@contextmanager
def divided(sizes: Sizes | None, items: int = 2) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("exset.parsers.custom.grammar.sizes_of", lambda _: sizes)
        patch.setattr(lists, "_ITEMS", items)
        yield


def outcome(grammar: Grammar, text: str, engine: Engine) -> object:
    """All rows with all columns, or the error with its place."""
    try:
        columns = grammar.parse(text, name="text", engine=engine)
    except exset.FormatError as error:
        return str(error), error.place
    tables = {name: columns[name] for name in columns}
    return {name: (table.types, [*map(dict, table)]) for name, table in tables.items()}


@st.composite
def texts(draw: st.DrawFn, name: str) -> str:
    """Pieces in some order, most of them common, in brackets if the grammar needs them."""
    pieces = PIECES[name][1]
    some = st.sampled_from(pieces[: draw(st.integers(1, len(pieces)))])
    repeated = draw(st.sampled_from(pieces[:3]))
    text = "".join(
        piece + repeated * draw(st.integers(0, 20)) for piece in draw(st.lists(some, max_size=6))
    )
    return text if name != "json" else f"[{repeated * 3}{text}{draw(st.sampled_from(pieces[-2:]))}"


sizes = st.builds(
    Sizes,
    st.integers(1, 3),
    first=st.integers(20, 90),
    part=st.integers(1, 90),
    following=st.integers(1, 40),
)


@pytest.mark.parametrize("name", PIECES)
@given(st.data(), sizes)
def test_threads_change_nothing(name: str, data: st.DataObject, sizes: Sizes) -> None:
    grammar, text = PIECES[name][0], data.draw(texts(name))
    with divided(None):
        whole = outcome(grammar, text, "table")
    with divided(sizes):
        assert outcome(grammar, text, "table") == whole


def joined(grammar: Grammar, text: str, monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Parse a text in threads, and return which of their parts are taken."""
    taken = list[bool]()
    join = builder.Builder.join

    def noted(self: builder.Builder, fragment: Fragment) -> bool:
        taken.append(join(self, fragment))
        return taken[-1]

    monkeypatch.setattr(builder.Builder, "join", noted)
    with divided(None):
        whole = outcome(grammar, text, "table")
    assert isinstance(whole, dict)
    with divided(Sizes(2, first=200, part=300, following=100)):
        assert outcome(grammar, text, "table") == whole
    return taken


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("lines", "abc = 1 2 3;\n" * 100),
        ("nested", "head x! " + "a: 1 (2 3) .; # note\n" * 100 + "end"),
        ("nested", "a: " + "(1 2 3) " * 200 + ";"),  # one group: its own list
        ("json", '[{"a": [1, 2]}' + ',\n{"a": [1, {"b": 2}], "c": null}' * 60 + "]"),
        ("json", "[" + ", ".join(["[" + ", ".join(["12"] * 9) + "]"] * 50) + "]"),
    ],
)
def test_parts_are_taken(name: str, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    taken = joined(PIECES[name][0], text, monkeypatch)
    assert all(taken) and len(taken) >= len(text) // 600


def test_a_part_that_begins_in_a_comment_is_parsed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = "a: 1 2 3;\n" * 60
    text = plain + "#" + plain.replace("\n", " ") + "\n" + plain
    taken = joined(PIECES["nested"][0], text, monkeypatch)
    assert 3 < len(taken) < len(text) // 300 and all(taken)


def marks(grammar: Grammar, text: str) -> bytes | None:
    data = Source("text", text.encode())
    found = lists.item_marks(grammar.tables, grammar.shape, data, "auto", len(text))
    return None if found is None else found.marks.near.pattern


def test_marks() -> None:
    """The shortest bytes that tell the ends of items; of the outermost list with many items."""
    lines, nested, json = (grammar for grammar, _ in PIECES.values())
    assert (
        marks(lines, "a = 1;\n" * 20)
        == rb";(?=\
)"
    )
    assert marks(lines, "a = 1;" * 20) == rb";(?=a)"
    assert marks(nested, "a: " + "(1) " * 20) == rb"\)(?=\ )"
    assert marks(json, "[" + '{"a": {}, "b": {"c": 1}},\n' * 20) == b"\\}\\}(?=,\\\n)"
    for text in ("", "a = 1;\n" * 7, "a = ?", "?"):
        assert marks(lines, text) is None
