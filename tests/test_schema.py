"""Schemas: what is read, every trap and error, and what merging says of where it comes from."""

import math
import time
from typing import Any

import pytest

import exset
from exset.errors import Findings, FormatError, LimitError, Severity
from exset.grammars.schema import Directive, Node, Schema, plain
from exset.limits import Limits
from exset.parsers.schema import parse
from exset.parsers.schema_text import render, scalar_text, written
from exset.runtime.packing import Plan, plan
from exset.runtime.schema import resolve
from exset.source import Source


def read(text: str | bytes, findings: Findings | None = None, **limits: int) -> Schema:
    data = text.encode() if isinstance(text, str) else text
    return parse(Source("s.yaml", data), findings=findings, limits=Limits(**limits))


def value(text: str) -> Any:
    node = read(f"a:\n  metadata:\n    scale: {text}\n").root.find(("a",))
    assert node is not None
    return plain(node.metadata["scale"].value)


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


@pytest.mark.parametrize(("text", "wanted"), VALUES)
def test_values_have_conduits_types(text: str, wanted: object) -> None:
    got = value(text)
    assert got == wanted and type(got) is type(wanted)


def test_nan() -> None:
    assert all(math.isnan(value(text)) for text in ("nan", "-NaN", "nan(12)"))


TRAPS = [
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


@pytest.mark.parametrize(("text", "code", "line", "column"), TRAPS)
def test_traps_of_the_text(text: str, code: str, line: int, column: int) -> None:
    findings = Findings()
    read(text, findings)
    [finding] = findings
    assert finding.code == code and finding.severity is Severity.WARNING
    assert finding.place is not None
    assert (finding.place.line, finding.place.column) == (line, column)
    with pytest.raises(FormatError):
        read(text, Findings(strict=True))


ERRORS = [
    ("", "nothing but blanks", None),
    ("# nothing\n", "nothing but blanks", None),
    ("a:\na:\n", "'a' stands here twice", 2),
    ("a:\n  metadata:\n    scale: 1.0\n    scale: 1.0\n", "'scale' stands here twice", 4),
    ("'1':\n1:\n", "'1' stands here twice", 2),
    ("? [a]\n: b\n", "a name must be a text", 1),
    ("a: *b\n", "nothing is called &b", 1),
    ("a: &b\n  c: *b\n", "this alias names what it is in", 2),
    ("&a [*a]", "this alias names what it is in", 1),
    ("a: &x\nb: &x\n", "a second thing is called &x", 2),
    ("a: b: c\n", "mapping values are not allowed", 1),
    ("a:\n\tb:\n", "cannot start any token", 2),
    ("a: [1\n", "expected", 2),
    (b"a: \xff\n", "this byte is not UTF-8", 1),
    ("a: \x01\n", "a character that YAML does not allow", 1),
    ('a: "\\UFFFFFFFF"\n', "this is no YAML", 1),
    ("%YAML 9.9\n---\na:\n", "incompatible YAML", 1),
]


@pytest.mark.parametrize(("text", "message", "line"), ERRORS)
def test_errors_of_the_text(text: str | bytes, message: str, line: int | None) -> None:
    with pytest.raises(FormatError, match=message) as caught:
        read(text)
    assert caught.value.place is not None
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
def test_what_grows_beyond_limits(text: str) -> None:
    begin = time.perf_counter()
    with pytest.raises(LimitError) as caught:
        read(text)
    assert "raise the limit" in (caught.value.hint or "")
    assert time.perf_counter() - begin < 60


def test_depth_counts_what_aliases_add() -> None:
    text = "a: &a\n  b:\n    c:\n      d:\ne: &e\n  f:\n    g:\n      h: *a\n"
    read(text, max_depth=7)
    with pytest.raises(LimitError, match="nested more than 6 deep"):
        read(text, max_depth=6)


def test_names_of_yaml_files() -> None:
    findings = Findings()
    exset.loads("a:\n", format="schema", name="x.yml", findings=findings)
    assert [finding.code for finding in findings] == ["lbann-refuses"]
    assert exset.formats.detect(b"a:\n  b:\n", "x.yml").name == "schema"


def planned(experiment: str, data: str = "a:\nb:\ng:\n  p:\n  q:\n", **options: Any) -> Plan:
    findings = options.pop("findings", None)
    resolved = resolve(read(data), read(experiment), findings=findings)
    return plan(resolved, findings=findings, **options)


def directives(*lines: str) -> str:
    return "a:\n  metadata:\n" + "".join(f"    {line}\n" for line in lines)


IMAGE = ("channels: 2", "dims: [2, 2]")

# What the plan refuses with any compat, by the directive that is to blame.
REFUSED = [
    (("channels: 2.0", "dims: [2, 2]"), "channels must be a whole number"),
    (("channels: 0", "dims: [2, 2]"), "channels must be 1 or more"),
    (("channels: a", "dims: [2, 2]"), "channels must be a whole number"),
    (("channels: 2",), "channels without dims"),
    (("channels: 2", "dims: [2, 0]"), "dims must be whole numbers"),
    (("channels: 2", "dims: [2.0, 1]"), "dims must be whole numbers"),
    (("channels: 2", "dims:"), "dims must be whole numbers"),
    (("coerce: Float",), "cannot coerce to 'Float'"),
    (("coerce: 5",), "cannot coerce to 5"),
    (("coerce:",), "cannot coerce to None"),
    (("scale: fast",), "scale must be a real number"),
    (("scale:",), "scale must be a real number"),
    (("scale: [1.0, x]",), "scale must be a real number"),
    (("scale: 1.0", "bias: []"), "bias must be a real number"),
    ((*IMAGE, "scale: 2.0"), "1 value of scale for 2 channels"),
    ((*IMAGE, "scale: [1.0, 2.0, 3.0]"), "3 values of scale for 2 channels"),
    ((*IMAGE, "hwc: 1", "scale: [1.0, 2.0]", "bias: 1.0"), "1 value of bias for 2 channels"),
    ((*IMAGE, "scale: [1.0, 2.0]", "layout: chw"), "scales of channels, and layout: chw"),
    (("channels: 2", "dims: 4", "layout: hwc", "transpose: chw"), "1 dims: only 2 and 3"),
    (("pack: 5", "ordering: 1"), "pack must be a name"),
    (("pack: '5'", "ordering: 1"), "pack must be a name"),
    (("pack:", "ordering: 1"), "pack must be a name"),
    (("pack: s", "ordering: 1.5"), "ordering must be a whole number"),
    (("pack: s", "ordering:"), "ordering must be a whole number"),
]


@pytest.mark.parametrize(("lines", "message"), REFUSED)
@pytest.mark.parametrize("compat", [None, "lbann"])
def test_directives_that_nobody_can_follow(
    lines: tuple[str, ...], message: str, compat: str | None
) -> None:
    with pytest.raises(FormatError, match=message) as caught:
        planned(directives(*lines), compat=compat)
    assert "(a)" in caught.value.message
    assert caught.value.place is not None and caught.value.place.source == "s.yaml"


# What LBANN refuses and its manual does not.
DOUBTED = [
    ("coerce: float32",),
    ("coerce: float64",),
    ("coerce: int32",),
    ("scale: 3",),
    ("scale: 3.0", "bias: 1"),
    ("bias: 1.0",),
    ("pack: s",),
    (*IMAGE, "scale: [1.0, 2.0]"),
    (*IMAGE, "hwc: 1", "scale: [1, 2]"),
    (*IMAGE, "hwc: 1", "bias: [1.0, 2.0]"),
]


@pytest.mark.parametrize("lines", DOUBTED)
def test_directives_that_lbann_alone_refuses(lines: tuple[str, ...]) -> None:
    findings = Findings()
    planned(directives(*lines), findings=findings)
    assert [finding.code for finding in findings] == ["lbann-refuses"]
    with pytest.raises(FormatError, match="LBANN fails on this") as caught:
        planned(directives(*lines), compat="lbann")
    assert caught.value.code == "lbann-refuses" and caught.value.hint


# What is followed in a way that people may not expect.
DOUBTFUL = [
    (("scale: [1.0, 2.0]",), "lbann-first-value"),
    (("channels: [1, 2]", "dims: [2, 2]"), "lbann-first-value"),
    (("dims: [2.5]",), "lbann-unused"),
    (("layout: HWC",), "lbann-unused"),
    (("transpose: chw",), "lbann-unused"),
    (("layout: hwc", "transpose: chw", "dims: [2, 2]"), "lbann-unused"),
    ((*IMAGE, "hwc: 1", "scale: [1.0, 2.0]", "bias: [1.0, 2.0, 3.0]"), "lbann-unused"),
    ((*IMAGE, "hwc: 1", "scale: [1.0, 2.0]", "layout: chw"), "lbann-unused"),
]


@pytest.mark.parametrize(("lines", "code"), DOUBTFUL)
def test_directives_that_have_another_effect(lines: tuple[str, ...], code: str) -> None:
    findings = Findings()
    planned(directives(*lines), findings=findings, compat="lbann")
    assert [finding.code for finding in findings] == [code]


def test_one_channel_is_not_moved() -> None:
    lines = directives("channels: 1", "dims: [4]", "layout: dhwc", "transpose: cdhw", "scale: 2.0")
    [recipe] = planned(lines).recipes
    assert not recipe.repack and recipe.scale == (2.0,)


def test_packing_sorts_by_ordering_and_then_by_name() -> None:
    said = {"g": {"q": -5, "p": 1}, "b": 1, "a": None}
    packed = {"pack": "s"}
    tree: dict[str, Any] = {"metadata": packed, "g": {}}
    for name in ("a", "b"):
        given = {} if said[name] is None else {"ordering": said[name]}
        tree[name] = {"metadata": given}
    for name in ("p", "q"):
        tree["g"][name] = {"metadata": {"ordering": said["g"][name]}}  # type: ignore[index]
    findings = Findings()
    resolved = resolve(read("a:\nb:\ng:\n  p:\n  q:\n"), Schema.of(tree))
    [group] = plan(resolved, findings=findings).groups
    assert group.members == ("g/q", "b", "g/p", "a")
    assert [finding.code for finding in findings] == ["lbann-refuses", "lbann-ordering"]


HIDDEN = [
    ("a:\nb:\n  metadata:\n    pack: a\n    ordering: 1\n", None),
    ("a:\n  metadata:\n    pack: a\n    ordering: 1\n", "same"),
    ("g:\n  metadata:\n    pack: g\n    ordering: 1\n", "same"),
    ("g:\na:\n  metadata:\n    pack: g\n    ordering: 1\n", "g would take the place of g/p"),
    ("g:\na:\n  metadata:\n    pack: g/p/x\n    ordering: 1\n", "would take the place of g/p"),
    (
        "a:\n  metadata: {pack: b, ordering: 1}\nb:\n  metadata: {pack: s, ordering: 1}\n",
        "b would take the place of b",
    ),
    (
        "a:\n  metadata: {pack: s, ordering: 1}\nb:\n  metadata: {pack: s/t, ordering: 1}\n",
        "would take the place of another group",
    ),
]


@pytest.mark.parametrize(("text", "message"), HIDDEN)
def test_groups_that_are_called_like_fields(text: str, message: str | None) -> None:
    findings = Findings()
    if message is None or message == "same":
        planned(text, findings=findings)
        assert findings.count("lbann-hidden-field") == (message is None)
        return
    with pytest.raises(FormatError, match=message):
        planned(text)


def test_merged_values_know_where_they_come_from() -> None:
    data = "metadata:\n  coerce: float\ng:\n  p:\n    metadata:\n      scale: 10.0\n  q:\n"
    experiment = "g:\n  metadata:\n    scale: 3.0\n"
    findings = Findings()
    resolved = resolve(read(data), read(experiment), findings=findings)
    assert [field.name for field in resolved] == ["g/p", "g/q"]
    given = resolved["g/p"].metadata["scale"]
    assert (given.value, given.role, given.path) == (3.0, "experiment", ("g",))
    assert given.replaced is not None and given.replaced.value == 10.0
    assert str(given.place) == "s.yaml:3:12" and str(given.replaced.place) == "s.yaml:6:14"
    inherited = resolved["g/q"].metadata["coerce"]
    assert (inherited.role, inherited.path) == ("data", ())
    assert [finding.code for finding in findings] == ["lbann-replaced"]
    with pytest.raises(KeyError):
        resolved["g"]


def test_metadata_trickle_down_the_tree() -> None:
    """As LBANN's own tests of inheritance have it: the child's word counts."""
    data = {
        "metadata": {"bias": -1.0},
        "Epmax": {"metadata": {"scale": 0.1}, "horse": {"carrot": {"metadata": {"scale": 1234.5}}}},
        "alpha": {"metadata": {"bias": -2.5}},
    }
    resolved = resolve(Schema.of(data), Schema.of({"Epmax": None, "alpha": None}))
    assert resolved["Epmax/horse/carrot"].plain() == {"scale": 1234.5, "bias": -1.0}
    assert resolved["alpha"].plain() == {"bias": -2.5}
    changed = Schema.of({"alpha": {"metadata": {"bias": 4.0}}})
    assert resolve(Schema.of(data), changed)["alpha"].plain() == {"bias": 4.0}


@pytest.mark.parametrize(
    ("experiment", "message"),
    [
        ("nosuch:\n", "the data schema has no 'nosuch'"),
        ("a:\n  b:\n", "the data schema has no 'a/b'"),
        ("metadata:\n  pack: s\n", "names no field"),
        ("{}", "names no field"),
    ],
)
def test_fields_that_the_data_schema_does_not_have(experiment: str, message: str) -> None:
    with pytest.raises(FormatError, match=message) as caught:
        resolve(read("a:\n"), read(experiment))
    assert str(caught.value.place).startswith("s.yaml:")


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


def test_comments_that_cannot_be_kept_are_a_finding() -> None:
    text = "# lost\na: &a\n  metadata: {scale: 1.0}\nb: *a\n"
    changed = read(text).with_metadata("b", {"scale": 2.0})
    findings = Findings()
    assert read(render(changed, findings=findings)) == changed
    assert [finding.code for finding in findings] == ["schema-comments"]


def test_what_cannot_be_written() -> None:
    for bad in ("5", "1e3", "inf", "", " 7", "a\0b", "\ud800"):
        with pytest.raises(FormatError):
            render(Schema.of({"a": {"metadata": {"pack": bad}}}))
    with pytest.raises(FormatError, match="beyond 64 bits"):
        render(Schema.of({"a": {"metadata": {"ordering": 2**63}}}))
    with pytest.raises(FormatError, match="no field can be called metadata"):
        written(Node({"metadata": Node()}))
    for odd in (True, b"x", object()):
        with pytest.raises(TypeError):
            Schema.of({"a": {"metadata": {"scale": odd}}})
    with pytest.raises(TypeError):
        Schema.of({"a": 5})


def test_numbers_are_written_so_that_others_read_them_too() -> None:
    texts = [scalar_text(number) for number in (1.0, 1e16, 1e-7, math.inf, 5, -0.0)]
    assert texts == ["1.0", "1.0e+16", "1.0e-07", "inf", "5", "-0.0"]


def test_equality_is_of_what_is_said() -> None:
    assert read("a: {metadata: {scale: 1.0}}") == Schema.of({"a": {"metadata": {"scale": 1.0}}})
    assert Directive(1) != Directive(1.0) and Directive(0.0) != Directive(-0.0)
    assert Directive(math.nan) == Directive(math.nan)
    assert len(read("a:\nb:\n  c:\n  d:\n")) == 3 and len(read("{}")) == 0
