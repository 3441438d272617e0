"""Show two merged schemas: the fields to read, their directives, and each directive's origin."""

import math
from collections.abc import Iterator, Mapping

from exset.core.text import counted
from exset.grammars.lbann.schema import Node, Path, path_text, to_json
from exset.runtime.lbann.merged_schema import Field, MergedDirective, MergedSchema
from exset.runtime.lbann.packing import Group, Plan
from exset.runtime.lbann.sample_layout import Layout


def lines(schema: MergedSchema, plan: Plan, layout: Layout | None = None) -> Iterator[str]:
    """Yield lines that show the tree of the data schema with the merged metadata, then the packed
    groups.

    layout: the layout of a sample, for types and sizes. By default, sizes are computed only from
    channels and dims. The text may contain control characters from the files.
    """
    sizes = _sizes(plan, layout)
    fields = {field.path: field for field in schema.fields}
    for path, node in schema.data.root.nodes():
        if path:
            yield from _node_lines(path, node, fields.get(path), sizes)
    if plan.groups:
        yield ""
        yield "packed groups"
    ordering = {each.name: each.ordering for each in plan.transforms}
    for group in plan.groups:
        yield f"  {group.name}: {_size(_total(group, sizes))}"
        for name in group.members:
            order = ordering[name]
            rank = "no ordering" if order is None else f"ordering {order}"
            yield f"    {name}: {rank}, {_size(sizes.get(name))}"


def to_dict(schema: MergedSchema, plan: Plan, layout: Layout | None = None) -> dict[str, object]:
    """Return what `lines` shows, as a dict for JSON."""
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
            for field in schema.fields
        ],
        "packed": [
            {"name": group.name, "members": list(group.members), "values": _total(group, sizes)}
            for group in plan.groups
        ],
    }


def _node_lines(
    path: Path, node: Node, field: Field | None, sizes: Mapping[str, int]
) -> Iterator[str]:
    head = "  " * (len(path) - 1) + path[-1]
    if node.children:
        yield head
    elif field is None:
        yield f"{head}: not read"
    else:
        yield f"{head}: read, {_size(sizes.get(field.name))}"
        blank = "  " * (len(path) + 1)
        for each in field.metadata.values():
            yield f"{blank}{each.name}: {_value(each)}  ({_origin(each, path)})"


def _origin(directive: MergedDirective, path: Path) -> str:
    """Return the origin of a directive in words: its place, its node, and the value that it
    replaced.

    path: the field to which the directive applies.
    """
    place = directive.place
    words = [str(place) if place is not None else f"{directive.role} schema"]
    if directive.path != path:
        words.append(f"set for {path_text(directive.path) or 'the root'}")
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
    return "" if directive.value is None else str(to_json(directive.value))


def _sizes(plan: Plan, layout: Layout | None) -> dict[str, int]:
    """Return {field: number of values}.

    The numbers are from the layout. Without a layout, they are computed from channels and dims.
    """
    if layout is not None:
        return {column.name: column.count for column in layout.columns}
    transforms = [each for each in plan.transforms if each.dims]
    return {each.name: math.prod(each.dims) * (each.channels or 1) for each in transforms}


def _total(group: Group, sizes: Mapping[str, int]) -> int | None:
    """Return the number of values of a packed group. Return None if a member's number is unknown.

    sizes: the number of values of each field.
    """
    if not sizes.keys() >= set(group.members):
        return None
    return sum(sizes[name] for name in group.members)


def _size(count: int | None) -> str:
    return "size unknown" if count is None else counted(count, "value")
