"""The reference driver: Lark's parse as a stream of tokens and steps, and its errors."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exset.parsers.engine import reference
from exset.parsers.engine.stream import ParseStream, Rejection
from exset.parsers.lens.steps import STEPS
from exset.parsers.lens.tokens import GRAMMAR
from tests.parsers.drivers import LENS_PIECES, driven

# Steps that only report that their parts are complete.
WITHOUT_ACTION = {"example_set", "text"}


def run(source: bytes) -> ParseStream:
    return reference.run(GRAMMAR, source)


def test_every_step_has_an_action_or_is_known_to_have_none() -> None:
    assert set(STEPS) <= set(GRAMMAR.lowered.steps)
    assert set(GRAMMAR.lowered.steps) - set(STEPS) == WITHOUT_ACTION
    assert len(set(STEPS)) == len(STEPS)


def test_stream_of_tokens_and_steps() -> None:
    source = b"I:1 0 T:1;"
    stream = run(source)
    tokens = [
        (GRAMMAR.terminals[kind], source[start:end])
        for kind, start, end in zip(stream.kinds, stream.starts, stream.ends, strict=True)
    ]
    assert tokens == [
        ("DENSE_INPUTS", b"I:"),
        ("VALUE", b"1"),
        ("VALUE", b"0"),
        ("DENSE_TARGETS", b"T:"),
        ("VALUE", b"1"),
        ("SEMICOLON", b";"),
    ]
    steps = [
        (STEPS[step], before)
        for step, before in zip(stream.steps, stream.tokens_before.tolist(), strict=True)
    ]
    assert steps == [
        ("inputs", 1),
        ("dense_values", 3),
        ("targets", 4),
        ("dense_values", 5),
        ("example", 6),
    ]


@pytest.mark.parametrize(
    ("source", "offset", "among", "not_among"),
    [
        (b"I: 1 @;", 5, {"VALUE", "SEMICOLON", "LPAR"}, {"REAL", "INT"}),
        (b"I: 1", 4, {"VALUE", "SEMICOLON"}, {"$END"}),
        (b"I: 1\n\n", 6, {"VALUE", "SEMICOLON"}, {"$END"}),
        (b"max: min:1;", 5, {"REAL", "SEMICOLON", "LSQB"}, {"MIN", "RSQB"}),
        (b"[max: min:1] I:1;", 6, {"REAL", "RSQB"}, {"MIN", "SEMICOLON"}),
        (b"name:{a", 7, {"CHARACTERS", "RBRACE"}, {"RPAR", "RSQB"}),
        (b'name:"a', 7, {"CHARACTERS", "QUOTE"}, {"RBRACE"}),
        (b"name:{a)", 7, {"CHARACTERS", "RBRACE"}, {"RPAR"}),
        (b"name:]", 5, {"BARE", "LBRACE"}, {"RSQB"}),
        (b"[1-];", 3, {"COUNT"}, {"RSQB"}),
        (b"# comment\n @", 11, {"SEMICOLON", "NAME", "$END", "COUNT"}, {"INT"}),
        (b"I:1; @", 5, {"SEMICOLON", "$END", "PROC", "INT"}, {"COUNT", "MAX"}),
        (b"2 2 @", 4, {"INT", "NAME", "MAX"}, {"COUNT"}),
        (b"2 @", 2, {"COUNT", "NAME", "MAX"}, {"INT"}),
        (b"name:a max:1", 7, {"FREQ", "INT", "SEMICOLON"}, {"MAX"}),
    ],
)
def test_rejections(source: bytes, offset: int, among: set[str], not_among: set[str]) -> None:
    with pytest.raises(Rejection) as caught:
        run(source)
    assert caught.value.offset == offset
    assert caught.value.expected >= among
    assert not caught.value.expected & not_among


@pytest.mark.parametrize(
    ("source", "opener"),
    [
        (b"name:{a {b} c", 5),
        (b'name:"a {b" c} I:1;', 10),
        (b'name:"a" I:1; {', None),
        (b"name:{a (b", 8),
        (b"name:\\{ I: @", None),
        (b"I:1;\n[0 1 I:1;", 5),
        (b"I: 1 @", None),
    ],
)
def test_the_opener_of_a_rejection(source: bytes, opener: int | None) -> None:
    with pytest.raises(Rejection) as caught:
        run(source)
    opened = caught.value.opened
    assert (opened[-1][1] if opened else None) == opener
    assert driven(GRAMMAR, [source[:3], source[3:]], compiled=False) == caught.value.args


@pytest.mark.parametrize("source", [b"", b" ", b"\n", b"#c", b"#c\n", b"\n#c", b"\r#c\r\n#c"])
def test_comments_at_the_edges(source: bytes) -> None:
    stream = run(source)
    assert not len(stream.kinds) and not len(stream.steps)


@given(st.lists(st.sampled_from(LENS_PIECES), max_size=25))
def test_expected_terminals_are_accepted(pieces: list[bytes]) -> None:
    source = b"".join(pieces)
    try:
        stream = run(source)
        assert (stream.starts <= stream.ends).all()
        assert (np.diff(stream.tokens_before) >= 0).all()
    except Rejection as rejection:
        assert 0 <= rejection.offset <= len(source) and rejection.expected
        # With an expected terminal in its place, the error moves beyond it.
        samples = {"SEMICOLON": b";", "VALUE": b" 1 ", "LSQB": b"[", "RBRACE": b"}", "UNIT": b" 1 "}
        before = source[: rejection.offset]
        for terminal in rejection.expected & samples.keys():
            fixed = before + samples[terminal]
            try:
                run(fixed)
            except Rejection as second:
                assert second.offset == len(fixed) or before.endswith(b"\\"), (terminal, fixed)
        if "$END" in rejection.expected:
            run(before)


def test_the_grammar_is_strict_and_on_bytes() -> None:
    assert GRAMMAR.lark.options.strict
    assert GRAMMAR.lark.options.use_bytes


def test_deep_nesting_is_linear_in_time_and_needs_no_recursion() -> None:
    depth = 5_000
    assert len(run(b"name:" + b"{" * depth + b"}" * depth + b";").kinds) == 2 * depth + 2
    with pytest.raises(Rejection) as caught:
        run(b"name:" + b"{" * depth)
    assert caught.value.offset == 5 + depth
