"""JSON text: the tree, its spans, and every error with its place."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exset.core.errors import Findings, FormatError, LimitError
from exset.core.kernels import Engine
from exset.core.limits import Limits
from exset.core.source import Source
from exset.grammars.columns.tree import Node, node
from exset.parsers.shared import json_tree

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(1 << 63), (1 << 64) - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=12,
)
PIECES = (
    b'{ } [ ] , : "a" "b" " \\ \\u00e9 \\ud800 \\udc00 1 -0.5e3 01 + true nul null NaN # \' \n \xc3'
).split(b" ")


def parse(
    data: bytes, findings: Findings | None = None, engine: Engine = "auto", **limits: int
) -> Node:
    return json_tree.parse(
        Source("a.json", data), limits=Limits(**limits), findings=findings, engine=engine
    )


def check_spans(value: Node, data: bytes) -> None:
    """Check that each span has the text of its value."""
    assert value.span is not None
    assert json.loads(data[value.span.start : value.span.end]) == value.plain()
    for item in value.items:
        check_spans(item, data)
    for name, member in value.members.items():
        assert member.name is not None
        assert json.loads(data[member.name.start : member.name.end]) == name
        check_spans(member.value, data)


@given(VALUES, st.booleans(), st.sampled_from([None, 1]))
def test_read_as_by_the_standard_library(value: Any, ascii: bool, indent: int | None) -> None:
    data = json.dumps(value, ensure_ascii=ascii, indent=indent).encode("utf-8", "replace")
    tree = parse(data)
    assert tree.plain() == json.loads(data)
    assert json.dumps(tree.plain()) == json.dumps(json.loads(data))
    check_spans(tree, data)
    assert node(json.loads(data), depth=32) == tree


@given(st.lists(st.sampled_from(PIECES), max_size=12).map(b"".join) | st.binary(max_size=20))
def test_refused_as_by_the_standard_library(data: bytes) -> None:
    try:
        expected = json.loads(data.decode("utf-8"), parse_constant=lambda word: 1 / 0)
        expected = json.loads(json.dumps(expected).encode("utf-8", "strict"))
        json.dumps(expected, ensure_ascii=False).encode("utf-8")
    except (ValueError, ZeroDivisionError):
        if not data.startswith(b"\xef\xbb\xbf"):
            with pytest.raises(FormatError):
                parse(data)
    else:
        assert parse(data).plain() == expected


@given(VALUES, st.data())
def test_damaged_text_gives_a_tree_or_an_error_with_a_place(
    value: Any, data: st.DataObject
) -> None:
    text = bytearray(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text)))
        text[at : at + data.draw(st.integers(0, 2))] = data.draw(st.binary(max_size=2))
    outcomes = []
    for engine in ("auto", "reference"):
        try:
            outcomes.append(repr(parse(bytes(text), engine=engine).plain()))
        except FormatError as error:
            assert error.place is not None and error.place.line is not None
            outcomes.append(str(error))
    assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize(
    ("data", "column", "hint"),
    [
        (b"", 1, ""),
        (b"[1,]", 4, "comma"),
        (b'{"a":1,}', 8, "comma"),
        (b"{a:1}", 2, "names in double quotation marks"),
        (b"[a]", 2, "strings in double quotation marks"),
        (b"{'a':1}", 2, "double quotation marks"),
        (b'{"a" 1}', 6, "colon"),
        (b'{"a":1 "b":2}', 8, "comma is missing"),
        (b'{"a":True}', 6, "`true`"),
        (b"[NaN]", 2, "NaN"),
        (b"[Infinity]", 2, "infinity"),
        (b"[-Infinity]", 2, "infinity"),
        (b"[(1)]", 2, "square brackets"),
        (b"[1] // x", 5, "comments"),
        (b"[1] x", 5, "one value"),
        (b"[01]", 3, "numbers"),
        (b"[+1]", 2, "numbers"),
        (b"[.5]", 2, "numbers"),
        (b'["a', 2, "does not end"),
        (b'["a\nb"]', 2, "line break"),
        (rb'["\x41"]', 2, "backslash"),
        (rb'["\u12"]', 2, "backslash"),
        (rb'["\ud800"]', 2, "two"),
        (rb'["\udc00\ud800"]', 2, "two"),
        (b'["ab\xff"]', 5, "UTF-8"),
        (b'["\xc3', 2, "does not end"),
        (b"[1e400]", 2, "check it"),
        (b"[" + b"9" * 5000 + b"]", 2, "check it"),
    ],
)
def test_errors_have_a_place_and_a_hint(data: bytes, column: int, hint: str) -> None:
    with pytest.raises(FormatError) as caught:
        parse(data)
    assert caught.value.place is not None and caught.value.place.column == column
    assert hint in (caught.value.hint or "")


@pytest.mark.parametrize("data", [b'["\xe9"]', b'{"\xe9": 1}'])
def test_text_that_is_not_utf8(data: bytes) -> None:
    with pytest.raises(FormatError) as caught:
        parse(data)
    assert caught.value.code == "json-not-utf8"


def test_numbers() -> None:
    numbers = [0, -1, (1 << 64) - 1, -(1 << 63), 1.5, -0.0, 1e-400]
    assert parse(json.dumps(numbers).encode()).plain() == numbers
    [large] = parse(b"[18446744073709551616]").items
    assert large.content == 2.0**64 and isinstance(large.content, float)
    [huge] = parse(b"[" + b"1" * 300 + b"]").items
    assert huge.content == float("1" * 300)


def test_findings() -> None:
    findings = Findings()
    assert parse(b'\xef\xbb\xbf{"a":1,\n"a":2}', findings).plain() == {"a": 2}
    assert [(each.code, each.place and each.place.line) for each in findings] == [
        ("json-bom", 1),
        ("json-duplicate", 2),
    ]


def test_limits() -> None:
    assert parse(b"[[[1]]]", max_depth=3).plain() == [[[1]]]
    with pytest.raises(LimitError, match="more than 3"):
        parse(b"[[[[1]]]]", max_depth=3)
    with pytest.raises(LimitError, match="more than 32"):
        parse(b"[" * 100_000 + b"]" * 100_000)
    with pytest.raises(LimitError, match="more than 200"):
        parse(b"[" * 100_000 + b"]" * 100_000, max_depth=10**6)
    assert len(parse(b"[1,2,3]", max_nodes=4).items) == 3
    with pytest.raises(LimitError, match="more than 4 values") as caught:
        parse(b'{"a":[1,2],"b":3}', max_nodes=4)
    assert caught.value.place is not None and caught.value.place.column == 16
    assert parse(b'["abc"]', max_name=3).plain() == ["abc"]
    with pytest.raises(LimitError, match="more than 7 bytes of JSON"):
        parse(b"[1, 2, 3]", max_text=7)
    with pytest.raises(LimitError, match="more than 3 bytes"):
        parse(b'["abcd"]', max_name=3)


@pytest.mark.parametrize(
    "value",
    [
        {1: 2},
        {"a": {1, 2}},
        [float("nan")],
        {"a": [object()]},
        [10**400],
        ["\ud800"],
        {"\udc00": 1},
    ],
)
def test_python_values_that_json_does_not_have(value: object) -> None:
    with pytest.raises(FormatError) as caught:
        node(value, depth=32)
    assert caught.value.code == "json-value"


def test_python_values() -> None:
    import numpy as np

    value = {"a": (np.int32(3), np.float32(0.5), np.bool_(True), None)}
    assert node(value, depth=4).plain() == {"a": [3, 0.5, True, None]}
    assert node([1 << 64, (1 << 64) - 1], depth=1).plain() == [2.0**64, (1 << 64) - 1]
    endless: list[object] = []
    endless.append(endless)
    for depth in (32, 10**6):
        with pytest.raises(FormatError, match="too deep"):
            node(endless, depth=depth)
