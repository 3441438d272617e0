"""A Hypothesis strategy for Lens texts as people write them, valid and invalid.

exset writes a model in only one of the possible spellings. These texts have other spellings: fields
in any order, event lists, strings in all delimiters, comments, all line ends and likely mistakes.
The texts are small, and most are valid.
"""

from hypothesis import strategies as st

_REALS = st.sampled_from(
    [
        *("1", "0", "0.5", "-1", ".25", "2.", "3", "1e2", "-0", "-", "0.1", "1.2345678", "1e"),
        *("1-2", "0x1F", "7", "+1", "1e-45", "inf", "1e40"),
    ]
)
_VALUES = st.sampled_from(
    [
        *("1", "0", "0.5", "-1", "-", ".25", "2.", "1e2", "-0", "0.1", "1.2345678", "16777217"),
        *("1e", "3e-", "1-2", "1.5.5", "1e39", "-.5", "+1"),
    ]
)
_FIELDS = st.sampled_from(["max:", "actI:", "actT:", "defI:", "min:", "defT:", "grace:"])
_STRINGS = st.sampled_from(
    [
        *("a", "{a b}", '"a b"', "(a b)", "[a]", "{}", "{a {b} c}", "{a\nb}", "{\n\na}"),
        *(
            "{a \\} b}",
            "{a\\\\}",
            "{a\n# b\nc}",
            "a#b",
            "{a; b}",
            "a; ",
            '{a (b) "c"}',
            "{a\\\n} b}",
        ),
    ]
)
_GROUPS = st.sampled_from(["h", "k", '"h k"', "{1h}", "-h"])
_BLANKS = st.sampled_from(
    [*[" "] * 24, "\n", "\n", "  ", "\t", "", "\n# c\n", "\n#c ; }\n\n", "\n\n", "\f"]
)
_MISTAKES = st.sampled_from(
    [
        *("# c\n", "\n # c\n", "\n\t#c\n", ",", "+1", "*", "]", "}", ")", "x", "--1", "1.5", "nan"),
        *("Name: a", "ACTI: 1", ";", "[0-0]", "0", "-3", "(1.5)", "[2-1]", "-{", ";", "i: * 2"),
    ]
)
_ENDS = st.sampled_from(["\n", "\n", "\r\n", "\r"])


@st.composite
def lens_texts(draw: st.DrawFn) -> bytes:
    """Draw a Lens text, which need not be valid."""
    words: list[str] = []
    numbers = draw(st.sampled_from([0, 0, 0, 0, 1, 2, 3]))
    words += [str(draw(st.integers(0, 3))) for _ in range(numbers)]
    words += draw(st.lists(_header_field(), max_size=3))
    words += draw(st.sampled_from([[";"], [";"], [";"], [], [";", ";"], ["max:", ";"]]))
    for _ in range(draw(st.integers(1, 2))):
        words += draw(_example())
    if draw(st.integers(0, 5)) == 5:
        words.insert(draw(st.integers(0, len(words))), draw(_MISTAKES))
    text = "".join(word + draw(_BLANKS) for word in words)
    if draw(st.integers(0, 9)) == 9:
        text = f"# c\n{text}"
    return text.replace("\n", draw(_ENDS)).encode()


@st.composite
def _header_field(draw: st.DrawFn) -> str:
    if draw(st.integers(0, 9)) == 9:
        return f"proc: {draw(_STRINGS)}"
    return draw(_FIELDS) + draw(st.sampled_from([" ", ""])) + draw(_REALS)


@st.composite
def _example(draw: st.DrawFn) -> list[str]:
    count = draw(st.integers(1, 4))
    words = draw(st.lists(_heading(), max_size=2))
    if count > 1 or draw(st.integers(0, 9)) == 9:
        wrong = draw(st.sampled_from([[], [], [], [], ["0"], ["3"]]))
        words += [*wrong, str(count)]
    if draw(st.integers(0, 7)) == 7:
        words.append(draw(_heading()))
    for _ in range(draw(st.integers(0, 4))):
        if draw(st.integers(0, 2)) == 2:
            words += draw(_event_list(count))
        words += draw(_data())
    if draw(st.integers(0, 3)) == 3:
        words += draw(_event_list(count))
    if draw(st.integers(0, 7)) == 7:
        words += draw(_unusual_order(count))
    return [*words, ";"]


@st.composite
def _unusual_order(draw: st.DrawFn, count: int) -> list[str]:
    """Draw the parts of an example in an unusual order, as text.

    For example, an event list goes back to an earlier event, or an active value is next to data.
    count: how many events the example has.
    """
    last = f"[{count - 1}]"
    if count > 1 and draw(st.integers(0, 2)) == 2:
        return [last, *draw(_data()), "[0]", *draw(_data()), *draw(_data())]
    side = draw(st.sampled_from(["I", "T"]))
    data = [f"{side.lower()}:", *draw(_units())]
    field = f"{last[:-1]} act{side}: {draw(_REALS)}]"
    return [field, *data] if draw(st.booleans()) else [last, *data, field]


@st.composite
def _heading(draw: st.DrawFn) -> str:
    kinds = [*["name:", "freq:", "name:", "proc:"] * 4, "Name:"]
    kind = draw(st.sampled_from(kinds))
    return f"{kind} {draw(_REALS if kind == 'freq:' else _STRINGS)} "


@st.composite
def _event_list(draw: st.DrawFn, count: int) -> list[str]:
    words = ["["]
    for _ in range(draw(st.sampled_from([1, 1, 1, 0, 2]))):
        first = draw(st.integers(0, count - 1))
        last = draw(st.integers(first, count - (draw(st.integers(0, 9)) > 0)))
        dash = draw(st.sampled_from(["-", "-", " - ", " -"]))
        spans = [str(first), f"{first}{dash}{last}", f"{first}{dash}{last}", "*"]
        words.append(
            draw(st.sampled_from(spans if last > first else [str(first), str(first), "*"]))
        )
        if draw(st.integers(0, 19)) == 19:
            words[-1] = f"{first}-{first}"
    for _ in range(draw(st.sampled_from([0, 0, 1, 2]))):
        words.append(f"{draw(_FIELDS)} {draw(_REALS)}")
    return [*words, "]"]


@st.composite
def _data(draw: st.DrawFn) -> list[str]:
    word = draw(st.sampled_from(["I:", "T:", "i:", "t:", "B:", "b:"]))
    words, is_sparse = [word], word.islower()
    words += draw(_units() if is_sparse else st.lists(_VALUES, max_size=3))
    for _ in range(draw(st.sampled_from([0, 0, 1, 2]))):
        if draw(st.booleans()):
            inside = draw(st.lists(_GROUPS | _VALUES, max_size=2))
            words += ["{", *inside, "}", *draw(_units())]
        else:
            inside = draw(st.lists(_GROUPS | st.sampled_from(["0", "2", "-1"]), max_size=2))
            words += ["(", *inside, ")", *draw(st.lists(_VALUES, max_size=2))]
    return words


@st.composite
def _units(draw: st.DrawFn) -> list[str]:
    if draw(st.integers(0, 4)) == 4:
        return draw(st.sampled_from([["*"], ["*"], ["*"], ["*"], ["*"], ["* 2"]]))
    words: list[str] = []
    for _ in range(draw(st.integers(0, 3))):
        first = draw(st.integers(0, 6))
        last = draw(st.integers(first, 8))
        words.append(draw(st.sampled_from([str(first), f"{first}-{last}", f"{first}-{first}"])))
    return words
