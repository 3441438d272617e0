"""Transforms from merged metadata: every directive, packing, and the origin of values."""

from typing import Any

import pytest

from exset.core.errors import Findings, FormatError
from exset.core.source import Source
from exset.grammars.lbann.schema import Schema
from exset.parsers.lbann.schema import parse
from exset.runtime.lbann.merged_schema import merge_schemas
from exset.runtime.lbann.packing import Plan, plan


def read(text: str) -> Schema:
    return parse(Source("s.yaml", text.encode()))


def planned(experiment: str, data: str = "a:\nb:\ng:\n  p:\n  q:\n", **options: Any) -> Plan:
    findings = options.pop("findings", None)
    resolved = merge_schemas(read(data), read(experiment), findings=findings)
    return plan(resolved, findings=findings, **options)


def directives(*lines: str) -> str:
    return "a:\n  metadata:\n" + "".join(f"    {line}\n" for line in lines)


IMAGE = ("channels: 2", "dims: [2, 2]")

# Directives that are errors with any `compat`, and the wrong one of them.
REFUSED = [
    (("channels: 2.0", "dims: [2, 2]"), "channels"),
    (("channels: 0", "dims: [2, 2]"), "channels"),
    (("channels: a", "dims: [2, 2]"), "channels"),
    (("channels: 2",), "channels"),
    (("channels: 2", "dims: [2, 0]"), "dims"),
    (("channels: 2", "dims: [2.0, 1]"), "dims"),
    (("channels: 2", "dims:"), "dims"),
    (("coerce: Float",), "coerce"),
    (("coerce: 5",), "coerce"),
    (("coerce:",), "coerce"),
    (("scale: fast",), "scale"),
    (("scale:",), "scale"),
    (("scale: [1.0, x]",), "scale"),
    (("scale: 1.0", "bias: []"), "bias"),
    ((*IMAGE, "scale: 2.0"), "scale"),
    ((*IMAGE, "scale: [1.0, 2.0, 3.0]"), "scale"),
    ((*IMAGE, "hwc: 1", "scale: [1.0, 2.0]", "bias: 1.0"), "bias"),
    ((*IMAGE, "scale: [1.0, 2.0]", "layout: chw"), "layout"),
    (("channels: 2", "dims: 4", "layout: hwc", "transpose: chw"), "transpose"),
    (("pack: 5", "ordering: 1"), "pack"),
    (("pack: '5'", "ordering: 1"), "pack"),
    (("pack:", "ordering: 1"), "pack"),
    (("pack: s", "ordering: 1.5"), "ordering"),
    (("pack: s", "ordering:"), "ordering"),
]


@pytest.mark.parametrize(("lines", "directive"), REFUSED)
@pytest.mark.parametrize("compat", [None, "lbann"])
def test_invalid_directives(lines: tuple[str, ...], directive: str, compat: str | None) -> None:
    with pytest.raises(FormatError) as caught:
        planned(directives(*lines), compat=compat)
    assert caught.value.code == f"schema-{directive}"
    assert caught.value.message.startswith("a: ")
    assert caught.value.place is not None and caught.value.place.source == "s.yaml"


# Directives that LBANN refuses and its manual allows.
REFUSED_BY_LBANN = [
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


@pytest.mark.parametrize("lines", REFUSED_BY_LBANN)
def test_directives_that_only_lbann_refuses(lines: tuple[str, ...]) -> None:
    findings = Findings()
    planned(directives(*lines), findings=findings)
    assert [finding.code for finding in findings] == ["lbann-refuses"]
    with pytest.raises(FormatError, match="lbann-refuses") as caught:
        planned(directives(*lines), compat="lbann")
    assert caught.value.code == "lbann-refuses" and caught.value.hint


# Directives that do not do what people may expect.
SURPRISING = [
    (("scale: [1.0, 2.0]",), "lbann-first-value"),
    (("channels: [1, 2]", "dims: [2, 2]"), "lbann-first-value"),
    (("dims: [2.5]",), "lbann-unused"),
    (("layout: HWC",), "lbann-unused"),
    (("transpose: chw",), "lbann-unused"),
    (("layout: hwc", "transpose: chw", "dims: [2, 2]"), "lbann-unused"),
    ((*IMAGE, "hwc: 1", "scale: [1.0, 2.0]", "bias: [1.0, 2.0, 3.0]"), "lbann-unused"),
    ((*IMAGE, "hwc: 1", "scale: [1.0, 2.0]", "layout: chw"), "lbann-unused"),
]


@pytest.mark.parametrize(("lines", "code"), SURPRISING)
def test_directives_with_surprising_effects(lines: tuple[str, ...], code: str) -> None:
    findings = Findings()
    planned(directives(*lines), findings=findings, compat="lbann")
    assert [finding.code for finding in findings] == [code]


def test_one_channel_is_not_transposed() -> None:
    lines = directives("channels: 1", "dims: [4]", "layout: dhwc", "transpose: cdhw", "scale: 2.0")
    [transform] = planned(lines).transforms
    assert not transform.repack and transform.scale == (2.0,)


def test_packing_sorts_by_ordering_and_then_by_name() -> None:
    orderings = {"g": {"q": -5, "p": 1}, "b": 1, "a": None}
    packed = {"pack": "s"}
    tree: dict[str, Any] = {"metadata": packed, "g": {}}
    for name in ("a", "b"):
        own = {} if orderings[name] is None else {"ordering": orderings[name]}
        tree[name] = {"metadata": own}
    for name in ("p", "q"):
        tree["g"][name] = {"metadata": {"ordering": orderings["g"][name]}}  # type: ignore[index]
    findings = Findings()
    resolved = merge_schemas(read("a:\nb:\ng:\n  p:\n  q:\n"), Schema.of(tree))
    [group] = plan(resolved, findings=findings).groups
    assert group.members == ("g/q", "b", "g/p", "a")
    assert [finding.code for finding in findings] == ["lbann-refuses", "lbann-ordering"]


HIDDEN = [
    ("a:\nb:\n  metadata:\n    pack: a\n    ordering: 1\n", None),
    ("a:\n  metadata:\n    pack: a\n    ordering: 1\n", "same"),
    ("g:\n  metadata:\n    pack: g\n    ordering: 1\n", "same"),
    ("g:\na:\n  metadata:\n    pack: g\n    ordering: 1\n", "schema-pack"),
    ("g:\na:\n  metadata:\n    pack: g/p/x\n    ordering: 1\n", "schema-pack"),
    (
        "a:\n  metadata: {pack: b, ordering: 1}\nb:\n  metadata: {pack: s, ordering: 1}\n",
        "schema-pack",
    ),
    (
        "a:\n  metadata: {pack: s, ordering: 1}\nb:\n  metadata: {pack: s/t, ordering: 1}\n",
        "schema-pack",
    ),
]


@pytest.mark.parametrize(("text", "message"), HIDDEN)
def test_groups_with_names_of_fields(text: str, message: str | None) -> None:
    findings = Findings()
    if message is None or message == "same":
        planned(text, findings=findings)
        assert findings.count("lbann-hidden-field") == (message is None)
        return
    with pytest.raises(FormatError, match=message):
        planned(text)


def test_merged_directives_know_their_origin() -> None:
    data = "metadata:\n  coerce: float\ng:\n  p:\n    metadata:\n      scale: 10.0\n  q:\n"
    experiment = "g:\n  metadata:\n    scale: 3.0\n"
    findings = Findings()
    resolved = merge_schemas(read(data), read(experiment), findings=findings)
    assert [field.name for field in resolved.fields] == ["g/p", "g/q"]
    metadata = resolved.fields[0].metadata["scale"]
    assert (metadata.value, metadata.role, metadata.path) == (3.0, "experiment", ("g",))
    assert metadata.replaced is not None and metadata.replaced.value == 10.0
    assert str(metadata.place) == "s.yaml:3:12" and str(metadata.replaced.place) == "s.yaml:6:14"
    inherited = resolved.fields[1].metadata["coerce"]
    assert (inherited.role, inherited.path) == ("data", ())
    assert [finding.code for finding in findings] == ["lbann-replaced"]


def test_metadata_are_inherited() -> None:
    """As in LBANN's own tests of inheritance: the value of the child wins."""
    data = {
        "metadata": {"bias": -1.0},
        "Epmax": {"metadata": {"scale": 0.1}, "horse": {"carrot": {"metadata": {"scale": 1234.5}}}},
        "alpha": {"metadata": {"bias": -2.5}},
    }
    resolved = merge_schemas(Schema.of(data), Schema.of({"Epmax": None, "alpha": None}))
    assert {field.name: field.to_json() for field in resolved.fields} == {
        "Epmax/horse/carrot": {"scale": 1234.5, "bias": -1.0},
        "alpha": {"bias": -2.5},
    }
    changed = Schema.of({"alpha": {"metadata": {"bias": 4.0}}})
    [field] = merge_schemas(Schema.of(data), changed).fields
    assert field.to_json() == {"bias": 4.0}


@pytest.mark.parametrize(
    ("experiment", "message"),
    [
        ("nosuch:\n", "schema-unknown-field"),
        ("a:\n  b:\n", "schema-unknown-field"),
        ("metadata:\n  pack: s\n", "schema-no-field"),
        ("{}", "schema-no-field"),
    ],
)
def test_unknown_fields(experiment: str, message: str) -> None:
    with pytest.raises(FormatError, match=message) as caught:
        merge_schemas(read("a:\n"), read(experiment))
    assert str(caught.value.place).startswith("s.yaml:")


@pytest.mark.parametrize("group", ["sample", "datum", "label", "response"])
def test_a_singular_group_name_is_a_finding(group: str) -> None:
    for text, count in ((group, 1), (f"{group}_2", 0), ("samples", 0)):
        findings = Findings()
        planned(directives(f"pack: {text}", "ordering: 1"), findings=findings)
        assert findings.count("lbann-group-name") == count


@pytest.mark.parametrize("role", [0, 1])
def test_compat_refuses_the_suffix_yml(role: int) -> None:
    schemas = [
        parse(Source(f"{name}.{'yml' if index == role else 'yaml'}", b"a:\n"))
        for index, name in enumerate(("data", "experiment"))
    ]
    merged = merge_schemas(*schemas)
    assert len(plan(merged).transforms) == 1
    with pytest.raises(FormatError) as caught:
        plan(merged, compat="lbann")
    assert caught.value.code == "lbann-refuses"
    assert str(caught.value.place) == schemas[role].source.name  # type: ignore[union-attr]


def test_a_directive_in_place_of_a_field_has_a_hint() -> None:
    with pytest.raises(FormatError) as caught:
        planned("a:\n  pack: samples\n")
    assert caught.value.code == "schema-unknown-field"
    assert "metadata" in (caught.value.hint or "")
