"""Two schemas make one: the fields that an experiment reads, and what is to be done with each.

As LBANN merges them (data_reader_HDF5.cpp: adjust_metadata, get_leaves_multi). In each schema
metadata trickle down the tree, and the child's word counts. Then what the experiment schema says
of a leaf, inherited or not, replaces what the data schema says of every field at or below it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from exset.core.errors import Findings, FormatError, Place
from exset.core.source import Span
from exset.grammars.lbann.schema import Directive, Node, Path, Schema, Value, named, plain
from exset.grammars.lbann.schema_findings import finding_at

Role: TypeAlias = Literal["data", "experiment"]

DATA: Final[Role] = "data"
EXPERIMENT: Final[Role] = "experiment"


@dataclass(frozen=True)
class Given:
    """A value of merged metadata and where it comes from.

    role: which schema says it; path: of which node; replaced: what it took the place of, if the
    data schema said something else.
    """

    name: str
    value: Value
    role: Role
    path: Path
    schema: Schema
    span: Span | None = None
    replaced: Given | None = None

    @property
    def place(self) -> Place | None:
        """Where the value is written."""
        return self.schema.place(self.span)


@dataclass(frozen=True)
class Field:
    """A field that the experiment reads; `metadata` in the order in which LBANN has it."""

    path: Path
    metadata: Mapping[str, Given]
    place: Place | None = None
    """Where the data schema names it."""

    @property
    def name(self) -> str:
        """Its path as LBANN writes it."""
        return named(self.path)

    def plain(self) -> dict[str, object] | None:
        """Return the merged metadata as JSON has them; None for none, as LBANN does."""
        return {name: plain(given.value) for name, given in self.metadata.items()} or None


@dataclass(frozen=True)
class Resolved:
    """The fields of an experiment, by name, and the schemas that they were made of."""

    fields: tuple[Field, ...]
    data: Schema
    experiment: Schema

    def __len__(self) -> int:
        return len(self.fields)

    def __iter__(self) -> Iterator[Field]:
        return iter(self.fields)

    def __getitem__(self, name: str) -> Field:
        """Return the field of a name; KeyError if there is none."""
        for each in self.fields:
            if each.name == name:
                return each
        raise KeyError(name)


def resolve(data: Schema, experiment: Schema, *, findings: Findings | None = None) -> Resolved:
    """Return the fields that the experiment schema selects, sorted by name.

    Raises FormatError for a leaf that the data schema does not have, and for an experiment schema
    that names none.
    """
    heard = Findings() if findings is None else findings
    if not experiment.root.children:
        raise FormatError(
            "the experiment schema names no field",
            place=experiment.place(experiment.root.span),
            hint="name the fields or groups that are to be read",
            code="schema-no-field",
        )
    fields = []
    for path, leaf, said in _inherited(experiment, EXPERIMENT, experiment.root, (), {}):
        below = _inherited_at(data, path)
        if below is None:
            raise FormatError(
                f"the data schema has no {named(path)!r}",
                place=experiment.place(leaf.span),
                hint="name it in the data schema too, or take it out of this one",
                code="schema-unknown-field",
            )
        for whole, field, known in below:
            place = data.place(field.span)
            fields.append(Field(whole, _merged(whole, field, known, said, heard), place))
    fields.sort(key=lambda field: field.name.encode("utf-8", "surrogatepass"))
    return Resolved(tuple(fields), data, experiment)


_Metadata: TypeAlias = Mapping[str, Given]


def _inherited(
    schema: Schema, role: Role, node: Node, path: Path, above: _Metadata
) -> Iterator[tuple[Path, Node, _Metadata]]:
    """Yield the leaves at and below a node, each with its own metadata and what it inherits."""
    known = _with_own(schema, role, node, path, above)
    if not node.children:
        yield path, node, known
    for name, child in node.children.items():
        yield from _inherited(schema, role, child, (*path, name), known)


def _inherited_at(data: Schema, path: Path) -> Iterator[tuple[Path, Node, _Metadata]] | None:
    """Yield the leaves at and below a path of the data schema; None if it has no such node."""
    node, above = data.root, _with_own(data, DATA, data.root, (), {})
    for depth, name in enumerate(path):
        if name not in node.children:
            return None
        node = node.children[name]
        if depth + 1 < len(path):
            above = _with_own(data, DATA, node, path[: depth + 1], above)
    return _inherited(data, DATA, node, path, above)


def _with_own(schema: Schema, role: Role, node: Node, path: Path, above: _Metadata) -> _Metadata:
    """Return a node's metadata: its own first, then what its parent has beside."""
    own = {name: _given(schema, role, path, name, each) for name, each in node.metadata.items()}
    return own | {name: given for name, given in above.items() if name not in own}


def _given(schema: Schema, role: Role, path: Path, name: str, directive: Directive) -> Given:
    return Given(name, directive.value, role, path, schema, directive.span)


def _merged(
    path: Path, leaf: Node, known: _Metadata, said: _Metadata, findings: Findings
) -> dict[str, Given]:
    merged = dict(known)
    for name, given in said.items():
        before = known.get(name)
        merged[name] = given if before is None else replace(given, replaced=before)
        if name in leaf.metadata and given.path != path:
            findings.add(finding_at("lbann-replaced", given.place, name=name, path=named(path)))
    return merged
