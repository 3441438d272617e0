"""Merge a data schema and an experiment schema: find the fields to read, and their metadata.

LBANN merges the schemas as follows (data_reader_HDF5.cpp: adjust_metadata, get_leaves_multi). In
each schema a node inherits the directives of its parent, but its own directives win. Then the
directives of each experiment leaf, both its own and inherited ones, replace the directives of all
data fields at or below it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, TypeAlias

from exset.core.errors import MOST_ERRORS, Findings, FormatError, Place
from exset.core.source import Span
from exset.grammars.lbann.schema import DIRECTIVES, Node, Path, Schema, Value, path_text, to_json
from exset.grammars.lbann.schema_findings import finding_at

Role: TypeAlias = Literal["data", "experiment"]


@dataclass(frozen=True)
class MergedDirective:
    """A directive that applies to a field, and its origin.

    role: whether the directive is in the data schema or in the experiment schema. path: the node in
    this schema that has it. replaced: the directive of the data schema that it replaced.
    """

    name: str
    value: Value
    role: Role
    path: Path
    schema: Schema
    span: Span | None = None
    replaced: "MergedDirective | None" = None

    @property
    def place(self) -> Place | None:
        """The place of the value in the schema."""
        return self.schema.place(self.span)


@dataclass(frozen=True)
class Field:
    """A field that the experiment reads. metadata: the directives that apply to it, in LBANN's
    order.
    """

    path: Path
    metadata: Mapping[str, MergedDirective]
    place: Place | None = None
    """The place of the field's name in the data schema."""

    @property
    def name(self) -> str:
        """The path of the field as LBANN writes it."""
        return path_text(self.path)

    def to_json(self) -> dict[str, object] | None:
        """Return the merged metadata for JSON.

        Return None if there are no metadata, as LBANN does.
        """
        return {name: to_json(each.value) for name, each in self.metadata.items()} or None


class MergedSchema(NamedTuple):
    """The fields that an experiment reads, sorted by name, and the two schemas."""

    fields: tuple[Field, ...]
    data: Schema
    experiment: Schema


def merge_schemas(
    data: Schema, experiment: Schema, *, findings: Findings | None = None
) -> MergedSchema:
    """Return the fields that the experiment schema selects, sorted by name.

    Raises FormatError for leaves of the experiment schema that the data schema does not have, and
    for an experiment schema without fields.
    """
    findings = Findings() if findings is None else findings
    if not experiment.root.children:
        message = "the experiment schema names no field"
        place = experiment.place(experiment.root.span)
        hint = "name the fields or groups to read"
        raise FormatError(message, place=place, hint=hint, code="schema-no-field")
    fields, errors = [], list[FormatError]()
    for path, leaf, replacing in _leaves(experiment, "experiment"):
        below = list(_leaves(data, "data", path))
        if not below:
            hint = "add it to the data schema, or remove it here"
            if path[-1] in DIRECTIVES:
                hint = "if it is the directive, write it under `metadata:`"
            message = f"the data schema has no {path_text(path)!r}"
            place, code = experiment.place(leaf.span), "schema-unknown-field"
            errors.append(FormatError(message, place=place, hint=hint, code=code))
            if len(errors) > MOST_ERRORS:
                break
        for whole, field, inherited in below:
            metadata = _merged(whole, field, inherited, replacing, findings)
            fields.append(Field(whole, metadata, data.place(field.span)))
    if errors:
        raise joined(errors)
    fields.sort(key=lambda field: field.name.encode("utf-8", "surrogatepass"))
    return MergedSchema(tuple(fields), data, experiment)


def joined(errors: Sequence[FormatError]) -> FormatError:
    """Return the first error, with the findings of all other errors added."""
    first, *others = errors
    for other in others:
        first.add(other.finding)
    return first


_Metadata: TypeAlias = dict[str, MergedDirective]


def _leaves(schema: Schema, role: Role, start: Path = ()) -> Iterator[tuple[Path, Node, _Metadata]]:
    """Yield (path, leaf, metadata) for each leaf of a schema at or below the path `start`.

    In the metadata, the leaf's own directives come before the inherited ones. Yields nothing if the
    schema has no node at `start`.
    """

    def visit(path: Path, node: Node, above: _Metadata) -> Iterator[tuple[Path, Node, _Metadata]]:
        metadata = {
            name: MergedDirective(name, each.value, role, path, schema, each.span)
            for name, each in node.metadata.items()
        }
        metadata |= {name: each for name, each in above.items() if name not in metadata}
        if not node.children and len(path) >= len(start):
            yield path, node, metadata
        for name in start[len(path) : len(path) + 1] or node.children:
            if (child := node.children.get(name)) is not None:
                yield from visit((*path, name), child, metadata)

    return visit((), schema.root, {})


def _merged(
    path: Path, leaf: Node, inherited: _Metadata, replacing: _Metadata, findings: Findings
) -> dict[str, MergedDirective]:
    merged = dict(inherited)
    for name, each in replacing.items():
        before = inherited.get(name)
        merged[name] = each if before is None else replace(each, replaced=before)
        if name in leaf.metadata and each.path != path:
            words = {"name": name, "path": path_text(path)}
            findings.add(finding_at("lbann-replaced", each.place, **words))
    return merged
