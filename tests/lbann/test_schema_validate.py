"""What `validate` says of the directives of one schema, and several errors of a pair of schemas."""

from pathlib import Path

import pytest

import exset
from exset.core.errors import MOST_ERRORS, Finding, FormatError, Severity
from exset.grammars.lbann.schema import Schema
from exset.runtime.lbann.merged_schema import merge_schemas
from exset.runtime.lbann.packing import plan
from tests.lbann.test_schema_corpus import ROLES, rows
from tests.lbann.test_schema_plan import directives, planned, read


def checked(tmp_path: Path, text: str) -> list[tuple[str, str, str]]:
    """Return the severity, code, and line and column of each finding."""
    path = tmp_path / "s.yaml"
    path.write_text(text)

    def row(finding: Finding) -> tuple[str, str, str]:
        assert finding.place is not None
        return finding.severity, finding.code, f"{finding.place.line}:{finding.place.column}"

    return [row(finding) for finding in exset.validate(path, format="schema")]


@pytest.mark.parametrize(
    ("line", "severity", "code"),
    [
        ("channels: 2.0", "error", "schema-channels"),
        ("channels: 0", "error", "schema-channels"),
        ("channels: a", "error", "schema-channels"),
        ("channels: [1, 2]", "warning", "lbann-first-value"),
        ("dims: [2, 0]", "warning", "lbann-unused"),
        ("dims: wide", "warning", "lbann-unused"),
        ("coerce: flaot", "error", "schema-coerce"),
        ("coerce: 5", "error", "schema-coerce"),
        ("coerce:", "error", "schema-coerce"),
        ("coerce: {a: 1}", "error", "schema-coerce"),
        ("coerce: float32", "warning", "lbann-refuses"),
        ("scale: fast", "error", "schema-scale"),
        ("scale: [1.0, x]", "error", "schema-scale"),
        ("scale: 3", "warning", "lbann-refuses"),
        ("bias: []", "error", "schema-bias"),
        ("pack: 5", "error", "schema-pack"),
        ("ordering: 1.5", "error", "schema-ordering"),
        ("layout: HWC", "warning", "lbann-unused"),
        ("transpose: hwc", "warning", "lbann-unused"),
        ("hwc: 1", "note", "schema-hwc"),
        ("scal: 1.0", "warning", "lbann-unknown-directive"),
    ],
)
def test_a_wrong_value(tmp_path: Path, line: str, severity: str, code: str) -> None:
    [(found, what, place)] = checked(tmp_path, directives(line))
    assert (found, what) == (severity, code) and place.startswith("3:")


@pytest.mark.parametrize(
    "lines",
    [
        # The other schema may have what is missing here.
        ("channels: 2",),
        ("scale: [1.0, 2.0]",),
        ("bias: 1.0",),
        ("pack: s",),
        ("ordering: 1",),
        ("dims: [2, 2]", "layout: hwc", "transpose: chw"),
        ("channels: 2", "dims: [2, 2]", "scale: [1.0, 2.0]"),
    ],
)
def test_directives_that_another_schema_may_complete(
    tmp_path: Path, lines: tuple[str, ...]
) -> None:
    assert checked(tmp_path, directives(*lines)) == []


def test_every_wrong_directive_is_reported_once_in_order(tmp_path: Path) -> None:
    text = (
        "metadata: {coerce: flaot, channels: 2}\na:\n  metadata: {dims: [x], scale: 1.0}\nb:\nc:\n"
    )
    assert checked(tmp_path, text) == [
        ("error", "schema-coerce", "1:20"),
        ("error", "schema-dims", "3:20"),
        ("error", "schema-scale", "3:32"),
    ]


def test_what_lbann_reads_has_no_error(corpus: Path) -> None:
    refused = set()
    for row in rows(corpus):
        for role in ROLES:
            found = exset.validate(corpus / "lbann/edge" / row[f"{role}_schema"], format="schema")
            if found.worst is Severity.ERROR:
                assert row["verdict"] == "reject", row["id"]
                refused.add(row["id"])
    assert {"i17_channels_float", "p07_pack_float_ordering", "p13_pack_number_name"} <= refused


def test_all_wrong_fields_of_an_experiment() -> None:
    text = "a:\n  metadata: {coerce: x}\nb:\ng:\n  metadata: {scale: x}\n"
    with pytest.raises(FormatError) as caught:
        planned(text)
    # The two fields of g inherit one wrong directive.
    assert [found.code for found in caught.value.findings] == ["schema-coerce", "schema-scale"]
    tree = Schema.of({"a": {"metadata": {"pack": 1}}, "b": {"metadata": {"pack": 2}}})
    with pytest.raises(FormatError) as caught:
        plan(merge_schemas(tree, tree))
    assert caught.value.findings.count("schema-pack") == 2


def test_all_unknown_fields_of_an_experiment() -> None:
    with pytest.raises(FormatError) as caught:
        planned("a:\nx:\nb:\ny:\n")
    assert [found.place and found.place.line for found in caught.value.findings] == [2, 4]
    with pytest.raises(FormatError) as caught:
        merge_schemas(read("a:\n"), read("".join(f"x{n}:\n" for n in range(30))))
    assert caught.value.findings.count() == MOST_ERRORS
