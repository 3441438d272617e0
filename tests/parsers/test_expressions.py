"""Automata match what Python's `re` matches, at every place of every text."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from exset.parsers.engine.expressions import DEAD, END, Automaton, compile_expression

CHARACTERS = st.sampled_from(["a", "b", "A", "0", "_", " ", r"\n", r"\."])
SETS = st.one_of(
    CHARACTERS,
    st.sampled_from(["[ab]", "[^a]", "[a-c0]", r"[^\w]", r"\d", r"\w", r"\S", ".", "[^b_]"]),
)
BEFORE = ["(?<=a)", "(?<![b0])"]
TESTS = st.sampled_from(["(?=a)", "(?!a)", r"(?!\w|\n)", r"\b", r"\B", *BEFORE, r"\Z"])
QUANTIFIERS = st.sampled_from(["*", "+", "?", "*?", "+?", "??", "{2}", "{1,3}", "{0,2}?", "{2,}"])


def grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Return larger expressions made of others."""
    return st.one_of(
        st.builds("{}{}".format, inner, inner),
        st.builds("(?:{}|{})".format, inner, inner),
        st.builds("(?:{}){}".format, inner, QUANTIFIERS),
        st.builds("(?i:{})".format, inner),
        st.builds("(?s:{})".format, inner),
        st.builds("({}){}".format, inner, TESTS),
    )


EXPRESSIONS = st.builds("{}{}".format, SETS, st.recursive(SETS, grown, max_leaves=6))


def matched(automaton: Automaton, text: bytes, at: int) -> int | None:
    """Return the end of the match that begins at an offset."""
    state, found = 0, None
    for end in range(at, len(text) + 1):
        follows = text[end] if end < len(text) else END
        if automaton.final[state, follows]:
            found = end
        if follows == END or automaton.moves[state, follows] == DEAD:
            break
        state = int(automaton.moves[state, follows])
    return found


@given(EXPRESSIONS, st.text("abA0_ \n.", max_size=12).map(str.encode))
@example("a(?:b|bb|)(?:b)", b"abbb")
@example('"(?:.*?(?<!a)(?:aa)*?)"', b'"xaa" "')
@example("a(?:(?:b|ab)*?)(?:a|b){1,3}", b"aababba")
@example(r"\/[*].*?[*]\/", b"/* a */ */")
def test_the_match_of_python(pattern: str, text: bytes) -> None:
    automaton, expected = compile_expression(pattern), re.compile(pattern.encode())
    for at in range(len(text)):
        found = expected.match(text, at)
        assert matched(automaton, text, at) == (found and found.end()), (pattern, text, at)


def test_bytes_of_each_value() -> None:
    for pattern in (r"[\x80-\xff]", r"[^\x00-\x7f]", r"\xe9", r"(?i:[^k])", r"\D", r"\s", "(?i:Z)"):
        automaton, expected = compile_expression(pattern), re.compile(pattern.encode("latin-1"))
        for value in range(256):
            text = bytes([value])
            assert (matched(automaton, text, 0) == 1) == bool(expected.match(text)), pattern


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("a(?=bc)", "a lookaround of more than one character"),
        ("(?<=a)b", "a lookbehind or a word boundary"),
        (r"\ba", "a lookbehind or a word boundary"),
        ("^a", "an anchor"),
        ("a$", "an anchor"),
        (r"(a)\1", "a back-reference"),
        ("a++", "a possessive quantifier"),
        ("(?>a)", "an atomic group"),
        ("(?:a{99}){999}", "an expression that is too large"),
        ("(?:a|b)*a(?:a|b){13}", "an expression that is too large"),
    ],
)
def test_what_no_automaton_runs(pattern: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        compile_expression(pattern)
