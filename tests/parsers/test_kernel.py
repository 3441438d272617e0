"""What the kernel leaves out and remembers, in grammars where that could go wrong."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exset.parsers.engine import transition_cache
from exset.parsers.engine.grammar import Grammar
from exset.parsers.engine.tables import CLASSES
from exset.parsers.engine.transition_cache import DEEPEST, MANY
from exset.parsers.lens.tokens import GRAMMAR
from tests.parsers.drivers import driven, judged, stream_of
from tests.parsers.foreign_grammars import JSON

# Nothing is reduced until the end, when all is.
RIGHT = Grammar(
    file="right",
    start="list",
    steps=("list", "item", "none"),
    text=r"""
    list: item list | -> none
    item: "a" | "(" list ")"
    %ignore " "
    """,
)

# A token that begins with a byte that is a blank elsewhere; a blank that continues as a comment or
# becomes a token; line breaks that count.
BLANKS = Grammar(
    file="blanks",
    start="file",
    steps=("name", "equal", "dots", "end"),
    text=r"""
    file: (name | equal | dots | end)*
    name: NAME
    equal: EQUAL
    dots: DOTS
    end: END
    NAME: /[a-z]+/
    EQUAL.1: / *=/
    DOTS.1: /-\.\.\./
    END: /\n/
    JOINED: /\\\n[ \t]*/
    COMMENT: /#[^\n]*/
    DASH: /-+/
    %ignore JOINED
    %ignore COMMENT
    %ignore DASH
    %ignore /[ \t]/
    """,
)

END = (BLANKS.steps or ()).index("end")

PIECES = {
    "right": b"a ( ) \n".split(b" "),
    "blanks": b"a \t = == \\\n \\ \n # #x - -- -. -.. -... ...".split(b" "),
    "lens": b'i: t: I: T: 1 23 4-5 - -6 ; name: { } ( ) [ ] * \n \n# \r\n \t x " 0.5 1e'.split(
        b" "
    ),
    "json": b'{ } [ ] , : "a" 1 -0.5 true nul \n'.split(b" "),
}
GRAMMARS = {"right": RIGHT, "blanks": BLANKS, "lens": GRAMMAR, "json": JSON}


def going_round(grammar: Grammar) -> list[bytes]:
    """The bytes that can be skipped where a token starts, for each lexer."""
    tables = grammar.lowered.tables
    rows = tables.moves.reshape(-1, int(tables.sizes[CLASSES]) + 2)
    width = rows.shape[1]
    starts = np.unique(tables.lexer)
    return [
        np.flatnonzero(rows[start // width][tables.classes] == start).astype(np.uint8).tobytes()
        for start in starts.tolist()
    ]


def test_blanks_that_can_be_skipped() -> None:
    # Not one that a token can begin with, a comment, a dash that dots can follow.
    # But where nothing but the end can come, none of them begins one.
    assert set(going_round(BLANKS)) == {b"\t", b"\t -"}
    assert set(going_round(RIGHT)) == {b" "}
    # In strings, blanks are characters; after a line break a comment can begin.
    assert set(going_round(GRAMMAR)) == {b"", b"\t\x0b\x0c "}


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("name", GRAMMARS)
@given(data=st.data())
def test_the_kernel_can_stop_at_every_byte(name: str, compiled: bool, data: st.DataObject) -> None:
    grammar = GRAMMARS[name]
    pieces = st.lists(st.sampled_from(PIECES[name]) | st.just(b" "), max_size=20)
    source = data.draw(pieces.map(b"".join))
    judgement = judged(grammar, source)
    cuts = [[source[:at], source[at:]] for at in range(len(source) + 1)]
    bytewise = [bytes([byte]) for byte in source]
    for blocks in (*cuts, bytewise):
        assert driven(grammar, blocks, compiled=compiled) == judgement, blocks
    assert driven(grammar, bytewise, compiled=compiled, tokens=1) == judgement


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("size", [DEEPEST - 2, DEEPEST + 3, MANY + 5, 3000])
def test_one_token_may_reduce_everything(size: int, compiled: bool) -> None:
    for source in (b"a" * size, b"(" * size + b")" * size, b"(a" * size, b"a" * size + b")"):
        judgement = judged(RIGHT, source)
        assert driven(RIGHT, [source], compiled=compiled, tokens=1) == judgement


@pytest.mark.parametrize("compiled", [False, True])
def test_a_full_transition_cache_is_emptied(
    compiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transition_cache, "_ROWS", DEEPEST + 2)
    monkeypatch.setattr(transition_cache, "_KEPT", MANY)
    source = nested(4000)
    assert driven(GRAMMAR, [source], compiled=compiled) == judged(GRAMMAR, source)
    source = b"[" + b",".join(b"[" * n + b"1" + b"]" * n for n in range(1, 100)) + b"]"
    assert driven(JSON, [source], compiled=compiled) == judged(JSON, source)


@pytest.mark.parametrize("compiled", [False, True])
def test_a_large_transition_cache(compiled: bool) -> None:
    source = nested(20_000)
    assert driven(GRAMMAR, [source], compiled=compiled) == judged(GRAMMAR, source)


def nested(length: int) -> bytes:
    """Names with randomly nested delimiters, deeper than the cache goes."""
    random = np.random.default_rng(5)
    text, open_ = [b"name:{"], [b"}"]
    for up, kind in zip(random.random(length) < 0.52, random.integers(0, 3, length), strict=True):
        if up or len(open_) == 1:
            text.append((b"{", b"[", b"(")[kind])
            open_.append((b"}", b"]", b")")[kind])
        else:
            text.append(open_.pop())
    return b"".join([*text, *reversed(open_), b";"])


@pytest.mark.parametrize("compiled", [False, True])
def test_added_line_breaks_are_tokens_without_length(compiled: bool) -> None:
    for source in (b"", b"\n", b"a b\nc d e\n\nf g h i\n"):
        judgement = judged(BLANKS, source)
        for tokens in (1, 4, 64):
            blocks = [source[at : at + 5] for at in range(0, len(source), 5)]
            found = driven(BLANKS, blocks, compiled=compiled, tokens=tokens, boundary=END)
            assert found == judgement
        stream = stream_of(BLANKS, source, compiled=compiled)
        assert (stream.starts[0], stream.ends[0]) == (0, 0)
        assert (stream.starts[-1], stream.ends[-1]) == (len(source), len(source))
