"""Two schemas as people want to see them: what is read, what is done to it, and who says so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from exset.core.text import counted
from exset.grammars.lbann.schema import Node, Path, named, plain
from exset.runtime.lbann.merged_schema import Field, Given, Resolved
from exset.runtime.lbann.packing import Plan
from exset.runtime.lbann.sample_layout import Layout


def lines(resolved: Resolved, plan: Plan, layout: Layout | None = None) -> Iterator[str]:
    """Yield the tree of the data schema with the merged metadata, then the packed groups.

    layout: of a sample, which tells types and sizes; without it they are known only as far as
    channels and dims say them. Texts are as in the files: make them safe before you show them.
    """
    sizes = _sizes(plan, layout)
    fields = {field.path: field for field in resolved}
    yield from _tree(resolved.data.root, (), fields, sizes)
    if plan.groups:
        yield ""
        yield "packed"
    ordering = {recipe.name: recipe.ordering for recipe in plan.recipes}
    for group in plan.groups:
        total = _total(sizes.get(name) for name in group.members)
        yield f"  {group.name}: {_size(total)}"
        for name in group.members:
            order = ordering[name]
            rank = "no ordering" if order is None else f"ordering {order}"
            yield f"    {name}: {rank}, {_size(sizes.get(name))}"


def to_dict(resolved: Resolved, plan: Plan, layout: Layout | None = None) -> dict[str, object]:
    """Return the same for JSON."""
    sizes = _sizes(plan, layout)
    types = {} if layout is None else {column.name: column.dtype for column in layout.columns}
    return {
        "fields": [
            {
                "name": field.name,
                "values": sizes.get(field.name),
                "type": types.get(field.name),
                "metadata": {name: _given(given) for name, given in field.metadata.items()},
            }
            for field in resolved
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
            for given in field.metadata.values():
                yield f"{blank}    {given.name}: {_value(given)}  ({_origin(given, here)})"


def _origin(given: Given, path: Path) -> str:
    """Say where a value is written, of which node, and what it replaced."""
    words = [str(given.place) if given.place is not None else f"{given.role} schema"]
    if given.path != path:
        words.append(f"of {named(given.path) or 'the root'}")
    if given.replaced is not None:
        words.append(f"replaces {_value(given.replaced)}")
    return ", ".join(words)


def _given(given: Given) -> dict[str, object]:
    place = given.place
    return {
        "value": plain(given.value),
        "schema": given.role,
        "node": named(given.path),
        "place": None if place is None else place.to_dict(),
        "replaced": None if given.replaced is None else _given(given.replaced),
    }


def _value(given: Given) -> str:
    value = plain(given.value)
    return "" if value is None else str(value)


def _sizes(plan: Plan, layout: Layout | None) -> dict[str, int]:
    """Return how many values fields have: as they lie, else as channels and dims say."""
    if layout is not None:
        return {column.name: column.count for column in layout.columns}
    said = {}
    for recipe in plan.recipes:
        if recipe.dims:
            said[recipe.name] = recipe.channels or 1
            for extent in recipe.dims:
                said[recipe.name] *= extent
    return said


def _total(counts: Iterator[int | None]) -> int | None:
    found = list(counts)
    known = [count for count in found if count is not None]
    return sum(known) if len(known) == len(found) else None


def _size(count: int | None) -> str:
    if count is None:
        return "size unknown"
    return counted(count, "value")
