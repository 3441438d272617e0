"""In what two schemas, or two configurations, differ: values by their paths."""

from __future__ import annotations

import math
from collections.abc import Iterator

from exset.grammars.aeon.config.model import LoaderConfig
from exset.grammars.lbann.schema import METADATA, Node, Path, Schema, named, plain
from exset.runtime.reports.differences import Difference, Differences


def schemas(one: Schema, other: Schema, tolerance: float, keep: int, /) -> Differences:
    """Compare schemas; see `exset.diff`. The order of fields means nothing."""
    return _compared(_fields(one), _fields(other), tolerance, keep)


def configs(one: LoaderConfig, other: LoaderConfig, tolerance: float, keep: int, /) -> Differences:
    """Compare configurations, defaults and outputs included; see `exset.diff`."""
    return _compared(_members(one), _members(other), tolerance, keep)


def _fields(schema: Schema) -> dict[str, object]:
    found: dict[str, object] = {}
    nodes: list[tuple[Path, Node]] = [((), schema.root)]
    while nodes:
        path, node = nodes.pop()
        where = named(path)
        found[where or "/"] = "a group" if node.children else "a field"
        for name, directive in node.metadata.items():
            at = f"{where}/{METADATA}/{name}".lstrip("/")
            found.update(_leaves(at, plain(directive.value)))
        nodes += [((*path, name), child) for name, child in reversed([*node.children.items()])]
    return found


def _members(config: LoaderConfig) -> dict[str, object]:
    outputs = {output.name: output.to_dict() for output in config.outputs}
    members = config.settings.to_dict(defaults=True)
    return {**dict(_leaves("", members)), **dict(_leaves("outputs", outputs))}


def _leaves(path: str, value: object) -> Iterator[tuple[str, object]]:
    """Yield what stands at the ends of a tree of dicts and lists, by its path."""
    if isinstance(value, dict) and value:
        for name, each in value.items():
            yield from _leaves(f"{path}.{name}" if path else str(name), each)
    elif isinstance(value, list | tuple) and value:
        for number, each in enumerate(value):
            yield from _leaves(f"{path}[{number}]", each)
    else:
        yield path, value


def _compared(
    one: dict[str, object], other: dict[str, object], tolerance: float, keep: int
) -> Differences:
    paths = dict.fromkeys((*one, *other))
    found = [path for path in paths if not _alike(path, one, other, tolerance)]
    first = tuple(Difference(path, _shown(path, one), _shown(path, other)) for path in found[:keep])
    return Differences("values", len(paths), len(found), first)


def _alike(path: str, one: dict[str, object], other: dict[str, object], tolerance: float) -> bool:
    if path not in one or path not in other:
        return False
    a, b = one[path], other[path]
    numbers = isinstance(a, int | float) and isinstance(b, int | float)
    if not numbers or isinstance(a, bool) or isinstance(b, bool):
        return type(a) is type(b) and a == b
    x, y = float(a), float(b)  # type: ignore[arg-type]
    if math.isnan(x) or math.isnan(y):
        return math.isnan(x) and math.isnan(y)
    return x == y or abs(x - y) <= tolerance * max(1.0, abs(x), abs(y))


def _shown(path: str, tree: dict[str, object]) -> str:
    return repr(tree[path]) if path in tree else "nothing"
