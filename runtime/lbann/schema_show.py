"""Show two merged schemas: the fields to read, their directives, and the origin of each."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from exset.core.text import counted
from exset.grammars.lbann.schema import Node, Path, path_text, to_json
from exset.runtime.lbann.merged_schema import Field, MergedDirective, MergedSchema
from exset.runtime.lbann.packing import Plan
from exset.runtime.lbann.sample_layout import Layout


def lines(schema: MergedSchema, plan: Plan, layout: Layout | None = None) -> Iterator[str]:
    """Yield the tree of the data schema with the merged metadata, then the packed groups.

    layout: that of a sample, for types and sizes; without it, sizes come from channels and dims
    only. The text may contain control characters from the files.
    """
    sizes = _sizes(plan, layout)
    fields = {field.path: field for field in schema}
    yield from _tree(schema.data.root, (), fields, sizes)
    if plan.groups:
        yield ""
        yield "packed"
    ordering = {each.name: each.ordering for each in plan.transforms}
    for group in plan.groups:
        total = _total(sizes.get(name) for name in group.members)
        yield f"  {group.name}: {_size(total)}"
        for name in group.members:
            order = ordering[name]
            rank = "no ordering" if order is None else f"ordering {order}"
            yield f"    {name}: {rank}, {_size(sizes.get(name))}"


def to_dict(schema: MergedSchema, plan: Plan, layout: Layout | None = None) -> dict[str, object]:
    """Return the same for JSON."""
    sizes = _sizes(plan, layout)
    types = {} if layout is None else {column.name: column.dtype for column in layout.columns}
    return {
        "fields": [
            {
                "name": field.name,
                "values": sizes.get(field.name),
                "type": types.get(field.name),
                "metadata": {name: _to_json(each) for name, each in field.metadata.items()},
            }
            for field in schema
        ],
        "packed": [
            {
                "name": group.name,
                "members": list(group.members),
                "values": _total(sizes.get(name) for name in group.members),
            }
            for group in plan.groups
        ],
    }


def _tree(
    node: Node, path: Path, fields: Mapping[Path, Field], sizes: Mapping[str, int]
) -> Iterator[str]:
    for name, child in node.children.items():
        here = (*path, name)
        blank = "  " * len(path)
        field = fields.get(here)
        if child.children:
            yield f"{blank}{name}"
            yield from _tree(child, here, fields, sizes)
        elif field is None:
            yield f"{blank}{name}: not read"
        else:
            yield f"{blank}{name}: read, {_size(sizes.get(field.name))}"
            for each in field.metadata.values():
                yield f"{blank}    {each.name}: {_value(each)}  ({_origin(each, here)})"


def _origin(directive: MergedDirective, path: Path) -> str:
    """Return the place of a value, the node it is inherited from, and the value it replaced."""
    place = directive.place
    words = [str(place) if place is not None else f"{directive.role} schema"]
    if directive.path != path:
        words.append(f"of {path_text(directive.path) or 'the root'}")
    if directive.replaced is not None:
        words.append(f"replaces {_value(directive.replaced)}")
    return ", ".join(words)


def _to_json(directive: MergedDirective) -> dict[str, object]:
    place = directive.place
    return {
        "value": to_json(directive.value),
        "schema": directive.role,
        "node": path_text(directive.path),
        "place": None if place is None else place.to_dict(),
        "replaced": None if directive.replaced is None else _to_json(directive.replaced),
    }


def _value(directive: MergedDirective) -> str:
    value = to_json(directive.value)
    return "" if value is None else str(value)


def _sizes(plan: Plan, layout: Layout | None) -> dict[str, int]:
    """Return the number of values of fields, from the layout or else from channels and dims."""
    if layout is not None:
        return {column.name: column.count for column in layout.columns}
    return {
        each.name: math.prod(each.dims) * (each.channels or 1)
        for each in plan.transforms
        if each.dims
    }


def _total(counts: Iterator[int | None]) -> int | None:
    found = list(counts)
    known = [count for count in found if count is not None]
    return sum(known) if len(known) == len(found) else None


def _size(count: int | None) -> str:
    if count is None:
        return "size unknown"
    return counted(count, "value")
