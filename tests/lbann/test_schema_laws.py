"""Properties of all schemas: round trips, and merging as in a slow model."""

from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from exset.core.errors import Findings, FormatError
from exset.core.limits import Limits
from exset.core.source import Source
from exset.grammars.lbann.schema import Node, Schema, path_text, to_value
from exset.parsers.lbann.conduit import scalar
from exset.parsers.lbann.schema import parse
from exset.parsers.lbann.schema_text import render, written
from exset.runtime.lbann.merged_schema import merge_schemas
from exset.runtime.lbann.packing import plan
from exset.testing.lbann import metadata, schema_pairs, schemas, values

PIECES = st.sampled_from(
    [
        *(
            b"a",
            b"b:",
            b": ",
            b"\n",
            b"\n  ",
            b"- ",
            b"[",
            b"]",
            b"{",
            b"}",
            b",",
            b"#",
            b"'",
            b'"',
        ),
        *(
            b"metadata:",
            b"scale: 1.0",
            b"&a ",
            b"*a",
            b"<<: ",
            b"!!x ",
            b"? ",
            b"|\n",
            b">",
            b"---",
        ),
        *(b"%YAML 1.1\n", b"...\n", b"\t", b"\\x41", b'"\\UFFFFFFFF"', b"\xff", b"\xc3\xa9", b"\0"),
        *(b"\xef\xbb\xbf", b"\r", b"0x1p3", b"1e400", b"inf", b"- - - ", b"\xe2\x80\xa8"),
    ]
)


@given(schemas())
def test_render_and_parse_round_trip(schema: Schema) -> None:
    findings = Findings()
    text = render(schema, findings=findings)
    again = parse(Source("again.yaml", text))
    assert again == schema
    assert render(again) == text
    assert not len(findings)


@given(schemas(), st.data())
def test_changes_are_written(schema: Schema, data: st.DataObject) -> None:
    """Into the source text, or as a new text."""
    read = parse(Source("x.yaml", b"# first\n" + render(schema)))
    leaves = [path for path, _ in read.root.leaves()]
    path = data.draw(st.sampled_from(leaves))
    assume(all(name and "/" not in name for name in path))
    more = {name: each.value for name, each in data.draw(metadata()).items()}
    changed = read.with_metadata("/".join(path), more)
    assert parse(Source("again.yaml", render(changed, findings=Findings()))) == changed


@given(st.lists(PIECES, max_size=24).map(b"".join) | st.binary(max_size=60))
def test_any_bytes_give_a_schema_or_a_format_error(data: bytes) -> None:
    try:
        schema = parse(Source("x.yaml", data), limits=Limits(max_nodes=500))
    except FormatError as error:
        assert error.place is not None
        return
    assert parse(Source("again", written(schema.root))) == schema
    assert render(schema) == data
    try:
        plan(merge_schemas(schema, schema))
    except FormatError:
        return


@given(values())
def test_values_are_in_normal_form(value: Any) -> None:
    assert to_value(value) == value or value != value


@given(st.text(max_size=8) | st.integers().map(str) | st.floats().map(repr))
def test_scalars_agree_with_c(text: str) -> None:
    """Compare with Python's conversions, with the differences of C listed here."""
    expected: object = text or None
    bare = text.lstrip(" \t\n\v\f\r")
    clean = bare.isascii() and bare == bare.rstrip() and "_" not in bare
    if clean and not bare.lower().startswith(("nan(", "0x", "-0x", "+0x")):
        for convert in (int, float):
            try:
                expected = convert(bare)
                break
            except ValueError:
                continue
    if isinstance(expected, int):
        expected = max(-(2**63), min(2**63 - 1, expected))
    got = scalar(text)
    assert type(got) is type(expected)
    assert got == expected or (got != got and expected != expected)


def slow(data: Schema, experiment: Schema) -> dict[str, dict[str, Any]]:
    """Merge as LBANN does, step by step, in dicts that change."""

    def mutable(node: Node) -> dict[str, Any]:
        tree: dict[str, Any] = {name: mutable(child) for name, child in node.children.items()}
        tree["/metadata"] = dict(node.metadata)
        return tree

    def adjust(tree: dict[str, Any], parent: dict[str, Any] | None) -> None:
        own = tree["/metadata"]
        for name, value in (parent["/metadata"] if parent is not None else {}).items():
            own.setdefault(name, value)
        for name, child in tree.items():
            if name != "/metadata":
                adjust(child, tree)

    def leaves(tree: dict[str, Any], path: tuple[str, ...]) -> dict[tuple[str, ...], Any]:
        if tree.keys() == {"/metadata"}:
            return {path: tree}
        found: dict[tuple[str, ...], Any] = {}
        for name, child in tree.items():
            if name != "/metadata":
                found |= leaves(child, (*path, name))
        return found

    whole, part = mutable(data.root), mutable(experiment.root)
    adjust(whole, None)
    adjust(part, None)
    merged = {}
    for path, leaf in leaves(part, ()).items():
        here = whole
        for name in path:
            here = here[name]
        for end, field in leaves(here, path).items():
            for name, value in leaf["/metadata"].items():
                field["/metadata"][name] = value
            merged[path_text(end)] = field["/metadata"]
    return merged


@given(schema_pairs())
def test_merge_agrees_with_a_slow_model(pair: tuple[Schema, Schema]) -> None:
    resolved = merge_schemas(*pair)
    expected = slow(*pair)
    assert [field.name for field in resolved.fields] == sorted(expected, key=str.encode)
    for field in resolved.fields:
        directives = expected[field.name]
        assert list(field.metadata) == list(directives)
        for name, value in field.metadata.items():
            node = (pair[0] if value.role == "data" else pair[1]).root.find(value.path)
            assert node is not None and node.metadata[name] == directives[name]
            assert value.value is node.metadata[name].value
