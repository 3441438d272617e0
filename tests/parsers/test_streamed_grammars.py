"""Grammars of users on files in chunks: the same rows, and the same errors, as for whole texts."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import exset
from exset import FormatError, LimitError
from exset.grammars.columns.strings import Strings
from exset.grammars.tables.columns import Lists
from exset.io.blocks import Blocks
from exset.parsers.custom import grammar as custom
from exset.parsers.custom.columns import Columns
from exset.parsers.custom.grammar import Grammar
from exset.parsers.engine.window import Window
from tests.parsers.test_own_grammars import GRAMMARS, LINES, TEXTS, drawn

Row = tuple[tuple[int, int], list[object], object]
"""A row: its bytes, its values, and the rule and bytes of the node above, if it has one."""


@pytest.fixture(autouse=True)
def short_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(custom, "_CHUNK", 3)


def chunks(
    grammar: Grammar, text: str, cuts: list[int], record: str | None = None
) -> Iterator[Columns]:
    """Read a text that comes in blocks."""
    data, edges = text.encode(), sorted({0, *cuts})
    blocks = (data[a:b] for a, b in zip(edges, [*edges[1:], len(data)], strict=True))
    window = Window(Blocks("text", blocks, len(data)), b"")
    return grammar._reading(window, "auto", len(data), record).chunks()


def rows(columns: Columns, name: str) -> Iterator[Row]:
    table = columns[name]
    spans = {
        rule: [(row["start"], row["end"]) for row in columns[rule]]
        for rule in columns.shape.parents[name]
    }
    for row in table:
        values: list[object] = [
            [*(value or ())] if isinstance(table.columns[key], Lists) else value
            for key, value in row.items()
            if key not in ("start", "end", "parent", "parent_rule")
        ]
        parent, above = row["parent"], row.get("parent_rule") or next(iter(spans), "")
        yield (
            (row["start"], row["end"]),
            values,
            None if parent is None else (above, spans[above][parent]),
        )


def by_bytes(row: Row) -> tuple[int, int]:
    return row[0]


@pytest.mark.parametrize("name", TEXTS)
@given(data=st.data())
def test_chunks_have_the_rows_of_the_whole(name: str, data: st.DataObject) -> None:
    """For all texts: equal rows, but the parents of records, or equal errors."""
    grammar, text = GRAMMARS[name], data.draw(drawn(name))
    cuts = data.draw(st.lists(st.integers(1, max(len(text), 1)), max_size=4))
    record = data.draw(st.sampled_from([None, *grammar.shape.children]))
    try:
        whole = grammar.parse(text, name="text")
    except FormatError as error:
        with pytest.raises(FormatError) as caught:
            list(chunks(grammar, text, cuts, record))
        assert str(caught.value) == str(error)
        assert caught.value.place == error.place
        return
    found = list(chunks(grammar, text, cuts, record))
    for rule in whole:
        joined = sorted((row for each in found for row in rows(each, rule)), key=by_bytes)
        for mine, expected in zip(joined, sorted(rows(whole, rule), key=by_bytes), strict=True):
            assert mine[:2] == expected[:2]
            assert mine[2] in (None, expected[2])


def test_records_are_whole() -> None:
    """A chunk has the rows inside of its records, with their parents."""
    grammar = Grammar(LINES, numbers={"REAL": "float32"})
    found = list(chunks(grammar, "a = 1 (2);\nb = 3 (4) (5);\nc = 6;", [15]))
    assert [each["line"].rows for each in found] == [1, 1, 1, 0]
    assert [[*each["negated"].columns["parent"]] for each in found] == [[0], [0, 0], [], []]
    assert [[*each["line"].columns["parent"]] for each in found] == [[None], [None], [None], []]
    assert [each["start"].rows for each in found] == [0, 0, 0, 1]


def test_the_outermost_lists() -> None:
    """The items of the list in the start rule, not those of a list inside of the first item."""
    assert GRAMMARS["json"].shape.outer_lists == {"__array_star_0", "__object_star_1"}
    for text, expected in (
        ("start: head line*\nhead: A+\nline: A+ B\nA: /a/\nB: /b/", {"__start_star_0"}),
        ("?start: all\nall: one\none: A+\nA: /a/", {"__one_plus_0"}),
        ("start: _a | b\n_a: A | A _a\nb: A B\nA: /a/\nB: /b/", set()),
    ):
        assert exset.compile_grammar(text).shape.outer_lists == expected


def test_records_that_are_named() -> None:
    """A list inside of the first pair of an object: the pair itself comes in the last chunk."""
    text = '{"all": [{"a": 1}, {"a": 2}, {"a": 3}], "b": null}'
    found = list(chunks(GRAMMARS["json"], text.replace("1", '"x"'), [20], "object"))
    assert [each["object"].rows for each in found] == [2, 1, 1]
    name = next(iter(found[-1]["pair"].columns["STRING"]))
    assert isinstance(name, Strings) and [*name] == ['"all"']


def test_a_token_of_a_node_that_ends_late() -> None:
    """Its bytes are kept, although the text before the chunk is not."""
    grammar = Grammar('start: TITLE item*\nitem: "x"\nTITLE: /[0-9]+/', numbers={"TITLE": "int64"})
    text = "123" + "x" * 20_000
    found = list(chunks(grammar, text, [100, 9000, 15_000]))
    assert [*found[-1]["start"].columns["TITLE"]] == [123]
    assert sum(each["item"].rows for each in found) == 20_000


def test_a_bracket_before_the_chunk() -> None:
    """An error names its place, although the text before the chunk is not kept."""
    grammar = Grammar('start: "{" item* "}"\nitem: "x"\n%ignore "\\n"')
    text = "\n{" + "x\n" * 20_000
    for end, message in (("", "`{` is not closed: expected"), ("?", "expected `x` or `}`")):
        with pytest.raises(FormatError) as whole:
            grammar.parse(text + end, name="text")
        with pytest.raises(FormatError) as error:
            list(chunks(grammar, text + end, [100, 9000, 30_000]))
        assert error.value.message.startswith(message)
        assert str(error.value) == str(whole.value)


def test_files(folder: Path) -> None:
    grammar = exset.compile_grammar(LINES, numbers={"REAL": "float32"})
    (folder / "text").write_text("a = 1;\n" * 100)
    assert sum(each["line"].rows for each in grammar.stream("text")) == 100
    with pytest.raises(ValueError, match="the grammar has no table 'word'"):
        list(grammar.stream("text", records="word"))
    for read in (grammar.load, lambda path, limits: list(grammar.stream(path, limits=limits))):
        with pytest.raises(LimitError):
            read("text", limits=exset.Limits(max_bytes=100))
    with pytest.raises(LimitError):
        grammar.parse("a = 1;", limits=exset.Limits(max_bytes=3))


def test_the_first_wrong_token_is_the_error() -> None:
    """Whether it is in a node that is complete, or not, and before or after a syntax error."""
    grammar = Grammar(
        'start: A (b | A)*\nb: B+ ";"\nA: /a[0-9]+/\nB: /[0-9]+/\n%ignore " "',
        numbers={"B": "int8", "A": "int8"},
    )
    for text, at in (("a1 300; 1", 0), ("a1 300 1 ?", 0), ("a1 1; 300; 1 ?", 0)):
        with pytest.raises(FormatError) as error:
            grammar.parse(text)
        assert error.value.place is not None and error.value.place.span is not None
        assert error.value.place.span.start == at
