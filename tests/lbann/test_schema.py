"""Schemas as text: values, findings, errors and writing."""

import math
import time
from typing import Any

import pytest

import exset
from exset.core.errors import Findings, FormatError, LimitError, Severity
from exset.core.limits import Limits
from exset.core.source import Source
from exset.grammars.lbann.schema import Directive, Node, Schema, to_json
from exset.parsers.lbann.schema import parse
from exset.parsers.lbann.schema_text import render, scalar_text, written


def read(text: str | bytes, findings: Findings | None = None, **limits: int) -> Schema:
    data = text.encode() if isinstance(text, str) else text
    return parse(Source("s.yaml", data), findings=findings, limits=Limits(**limits))


def value(text: str) -> Any:
    node = read(f"a:\n  metadata:\n    scale: {text}\n").root.find(("a",))
    assert node is not None
    return to_json(node.metadata["scale"].value)


VALUES = [
    ("1", 1),
    ("+01", 1),
    ("-0", 0),
    ("1.0", 1.0),
    ("1e-1", 0.1),
    (".5", 0.5),
    ("5.", 5.0),
    ("0x1p3", 8.0),
    ("0x10", 16.0),
    ("inf", math.inf),
    ("-Infinity", -math.inf),
    ("1e400", math.inf),
    ("99999999999999999999", 2**63 - 1),
    ("-99999999999999999999", -(2**63)),
    ("'1'", 1),
    ('"1.5"', 1.5),
    ("1_000", "1_000"),
    ("true", "true"),
    ("0o7", "0o7"),
    (".inf", ".inf"),
    ("1 2", "1 2"),
    ("'1 '", "1 "),
    ("''", None),
    ("", None),
    ("[1, 2]", [1, 2]),
    ("[1, 2.5]", [1.0, 2.5]),
    ("[1]", 1),
    ("['1.5']", 1.5),
    ("[]", []),
    ("[1, a]", [1, "a"]),
    ("[[1], 2]", [1, 2]),
    ("[a]", ["a"]),
    ("{a: 1, b: [1, 2]}", {"a": 1, "b": [1, 2]}),
    ("!!float 3", 3),
    ("2001-01-01", "2001-01-01"),
    ("|\n      x\n      y", "x\ny\n"),
]


@pytest.mark.parametrize(("text", "expected"), VALUES)
def test_values_have_conduits_types(text: str, expected: object) -> None:
    got = value(text)
    assert got == expected and type(got) is type(expected)


def test_nan() -> None:
    assert all(math.isnan(value(text)) for text in ("nan", "-NaN", "nan(12)"))


RULES = [
    ("a:\n  metadata:\n    scale: '1'\n", "lbann-odd-scalar", 3, 12),
    ("a:\n  metadata:\n    scale: 010\n", "lbann-odd-scalar", 3, 12),
    ("a:\n  metadata:\n    pack: yes\n", "lbann-odd-scalar", 3, 11),
    ("a:\n  metadata:\n    scale: inf\n", "lbann-odd-scalar", 3, 12),
    ("a:\n  metadata:\n    ordering: 99999999999999999999\n", "lbann-odd-scalar", 3, 15),
    ("b: &b\n  c:\na:\n  <<: *b\n", "lbann-merge-key", 4, 3),
    ("a: !!map\n  b:\n", "lbann-tag", 1, 4),
    ("a:\n---\nb:\n", "lbann-second-document", 2, 1),
    ('"a\\0b":\n', "lbann-nul", 1, 1),
    ("a: 5\n", "lbann-discarded", 1, 4),
    ("a: [1]\n", "lbann-discarded", 1, 4),
    ("a:\n  metadata: [1]\n", "lbann-discarded", 2, 13),
    ("a:\n  ordering: 100\n", "lbann-directive-as-field", 2, 3),
    ("a/b:\n", "lbann-slash", 1, 1),
    ("a:\n  metadata:\n    horse: 1\n", "lbann-unknown-directive", 3, 5),
    ("# é\né:\n  metadata:\n    é: 1\n", "lbann-unknown-directive", 4, 5),
]


@pytest.mark.parametrize(("text", "code", "line", "column"), RULES)
def test_findings_of_the_text(text: str, code: str, line: int, column: int) -> None:
    findings = Findings()
    read(text, findings)
    [finding] = findings
    assert finding.code == code and finding.severity is Severity.WARNING
    assert finding.place is not None
    assert (finding.place.line, finding.place.column) == (line, column)
    with pytest.raises(FormatError):
        read(text, Findings(strict=True))


def test_the_key_that_a_scale_for_each_channel_requires_is_no_mistake() -> None:
    read(
        "a:\n  metadata: {channels: 2, dims: 4, scale: [1.0, 2.0], hwc: 1}\n", Findings(strict=True)
    )


ERRORS = [
    ("", "lbann-empty", None),
    ("# nothing\n", "lbann-empty", None),
    ("a:\na:\n", "lbann-duplicate", 2),
    ("a:\n  metadata:\n    scale: 1.0\n    scale: 1.0\n", "lbann-duplicate", 4),
    ("'1':\n1:\n", "lbann-duplicate", 2),
    ("? [a]\n: b\n", "lbann-key", 1),
    ("a: *b\n", "yaml", 1),
    ("a: &b\n  c: *b\n", "yaml", 2),
    ("&a [*a]", "yaml", 1),
    ("a: &x\nb: &x\n", "yaml", 2),
    ("a: b: c\n", "yaml", 1),
    ("a:\n\tb:\n", "yaml", 2),
    ("a: [1\n", "yaml", 1),
    ("a: [1\nb: 2\n", "yaml", 2),
    ('a: "1\nb: 2\n', "yaml", 1),
    ("a: [{b: 1},\n{c: 2}\n", "yaml", 1),
    (b"a: \xff\n", "yaml", 1),
    ("a: \x01\n", "yaml", 1),
    ('a: "\\UFFFFFFFF"\n', "yaml", 1),
    ("%YAML 9.9\n---\na:\n", "yaml", 1),
]


@pytest.mark.parametrize(("text", "code", "line"), ERRORS)
def test_errors_of_the_text(text: str | bytes, code: str, line: int | None) -> None:
    with pytest.raises(FormatError) as caught:
        read(text)
    assert caught.value.code == code and caught.value.place is not None
    if line is not None:
        assert caught.value.place.line == line


def bomb(levels: int, width: int) -> str:
    lines = ["a0: &a0 {x: , y: }"]
    for level in range(1, levels):
        inside = ", ".join(f"n{i}: *a{level - 1}" for i in range(width))
        lines.append(f"a{level}: &a{level} {{{inside}}}")
    return "\n".join(lines)


@pytest.mark.parametrize(
    "text",
    [
        bomb(12, 10),
        "[" * 100_000,
        "[\n" * 100_000,
        "- " * 100_000,
        "{a: " * 50_000,
        "".join(f"{' ' * depth}a:\n" for depth in range(200)),
        "a: " + "x" * (1 << 21),
        "a: b\n" * 5_000_000,
    ],
    ids=["bomb", "lists", "list lines", "entries", "maps", "blocks", "name", "bytes"],
)
def test_limits(text: str) -> None:
    begin = time.perf_counter()
    with pytest.raises(LimitError) as caught:
        read(text)
    assert "limits=Limits(max_" in (caught.value.hint or "")
    assert time.perf_counter() - begin < 60


def test_depth_counts_what_aliases_add() -> None:
    text = "a: &a\n  b:\n    c:\n      d:\ne: &e\n  f:\n    g:\n      h: *a\n"
    read(text, max_depth=7)
    with pytest.raises(LimitError, match="nested more than 6 levels deep"):
        read(text, max_depth=6)


def test_no_limit_lets_python_overflow() -> None:
    text = "".join(f"{' ' * depth}a:\n" for depth in range(198))
    schema = read(text, max_depth=10**6)
    assert len(schema) == 1 and render(schema) == text.encode()
    assert read(written(schema.root), max_depth=10**6) == schema
    with pytest.raises(LimitError, match="nested more than 200 levels deep"):
        read("".join(f"{' ' * depth}a:\n" for depth in range(300)), max_depth=10**6)


def test_names_of_yaml_files() -> None:
    findings = Findings()
    exset.loads("a:\n", format="schema", name="x.yml", findings=findings)
    assert [finding.code for finding in findings] == ["lbann-refuses"]
    assert exset.formats.detect(b"a:\n  b:\n", "x.yml").name == "schema"


COMMENTED = """\
# The head.
outputs:  # all of them
  # above x
  x:
    metadata:
      scale: 0.5  # measured
      ordering: 10
  y: {}
"""


def test_comments_are_kept_where_a_schema_is_changed() -> None:
    schema = read(COMMENTED)
    assert render(schema) == COMMENTED.encode()
    changed = schema.with_metadata("outputs/x", {"scale": 0.25, "pack": "s"})
    changed = changed.with_metadata("outputs/y", {"dims": [4, 4]})
    text = render(changed).decode()
    for comment in ("# The head.", "# all of them", "# above x", "# measured"):
        assert comment in text
    assert "scale: 0.25" in text and "pack: s" in text
    again = read(text)
    assert again == changed and again != schema
    fewer = changed.with_metadata("outputs/x", without=["scale", "pack", "ordering"])
    assert read(render(fewer)) == fewer
    with pytest.raises(KeyError):
        schema.with_metadata("outputs/z", {"scale": 1.0})


def test_lost_comments_are_a_finding() -> None:
    text = "# lost\na: &a\n  metadata: {scale: 1.0}\nb: *a\n"
    changed = read(text).with_metadata("b", {"scale": 2.0})
    findings = Findings()
    assert read(render(changed, findings=findings)) == changed
    assert [finding.code for finding in findings] == ["schema-comments"]


def test_schemas_that_cannot_be_written() -> None:
    for bad in ("5", "1e3", "inf", "", " 7", "a\0b", "\ud800"):
        with pytest.raises(FormatError):
            render(Schema.of({"a": {"metadata": {"pack": bad}}}))
    with pytest.raises(FormatError, match="schema-text"):
        render(Schema.of({"a": {"metadata": {"ordering": 2**63}}}))
    with pytest.raises(FormatError, match="schema-text"):
        written(Node({"metadata": Node()}))
    for wrong in (True, b"x", object()):
        with pytest.raises(TypeError):
            Schema.of({"a": {"metadata": {"scale": wrong}}})
    with pytest.raises(TypeError):
        Schema.of({"a": 5})


def test_numbers_are_standard_yaml() -> None:
    texts = [scalar_text(number) for number in (1.0, 1e16, 1e-7, math.inf, 5, -0.0)]
    assert texts == ["1.0", "1.0e+16", "1.0e-07", "inf", "5", "-0.0"]


def test_equality() -> None:
    assert read("a: {metadata: {scale: 1.0}}") == Schema.of({"a": {"metadata": {"scale": 1.0}}})
    assert Directive(1) != Directive(1.0) and Directive(0.0) != Directive(-0.0)
    assert Directive(math.nan) == Directive(math.nan)
    assert len(read("a:\nb:\n  c:\n  d:\n")) == 3 and len(read("{}")) == 0
