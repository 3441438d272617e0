"""Right readers of LBANN's schemas and pairs of schemas, which can have faults.

They share nothing with exset's but the YAML parser; the values are those of C's strtol and strtod.
"""

import json
import re
from collections.abc import Iterator

from ruamel.yaml import YAML, nodes
from ruamel.yaml.error import MarkedYAMLError, YAMLError

Plain = dict[str, object]
INTEGER = re.compile(r"[ \t]*[-+]?[0-9]+")
REAL = re.compile(
    r"[ \t]*[-+]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[-+]?[0-9]+)?|inf(?:inity)?|nan"
    r"|0x(?:[0-9a-f]+\.?[0-9a-f]*|\.[0-9a-f]+)(?:p[-+]?[0-9]+)?)",
    re.IGNORECASE | re.ASCII,
)
DIRECTIVES = [
    "pack",
    "ordering",
    "scale",
    "bias",
    "coerce",
    "dims",
    "channels",
    "layout",
    "transpose",
    "hwc",
]


class Refused(Exception):
    """The file is not valid."""


class RightSchema:
    """Reads a schema: call it with the bytes; it returns None to refuse them."""

    def __init__(self, *faults: str) -> None:
        self.faults = set(faults)

    def __call__(self, data: bytes) -> Plain | None:
        try:
            return self.tree(data)
        except (Refused, YAMLError, MarkedYAMLError, UnicodeDecodeError):
            return None

    def tree(self, data: bytes) -> Plain:
        root = YAML(typ="safe", pure=True).compose(data.decode().removeprefix("\ufeff"))
        if not isinstance(root, nodes.MappingNode):
            raise Refused
        return self.node(root)

    def pairs(self, node: nodes.MappingNode) -> dict[str, nodes.Node]:
        found: dict[str, nodes.Node] = {}
        for key, value in node.value:
            if not isinstance(key, nodes.ScalarNode):
                raise Refused
            if key.value in found and "last-name-wins" not in self.faults:
                raise Refused
            found[key.value] = value
        return found

    def node(self, node: nodes.Node) -> Plain:
        if not isinstance(node, nodes.MappingNode):
            if "no-values" in self.faults and node.value:
                raise Refused
            return {}
        children: Plain = {}
        metadata: Plain = {}
        for name, value in self.pairs(node).items():
            if name == "metadata":
                metadata |= self.metadata(value)
            elif "directives-anywhere" in self.faults and name in DIRECTIVES:
                metadata[name] = self.value(value)
            else:
                children[name] = self.node(value)
        return {"children": children, "metadata": metadata}

    def metadata(self, node: nodes.Node) -> Plain:
        if not isinstance(node, nodes.MappingNode):
            return {}
        found = {name: self.value(value) for name, value in self.pairs(node).items()}
        if "unknown-dropped" in self.faults:
            return {name: value for name, value in found.items() if name in DIRECTIVES}
        return found

    def value(self, node: nodes.Node) -> object:
        if isinstance(node, nodes.MappingNode):
            pairs = self.pairs(node).items()
            return {"members": {name: self.value(value) for name, value in pairs}}
        if isinstance(node, nodes.SequenceNode):
            return self.items([self.value(each) for each in node.value])
        assert isinstance(node, nodes.ScalarNode)
        return self.scalar(node)

    def items(self, values: list[object]) -> object:
        numbers = [each for each in values if isinstance(each, int | float)]
        if not values or len(numbers) < len(values):
            return values
        if any(isinstance(each, float) for each in numbers) and "mixed-list" not in self.faults:
            numbers = [*map(float, numbers)]
        alone = len(numbers) == 1 and "list-of-one" not in self.faults
        return numbers[0] if alone else numbers

    def scalar(self, node: nodes.ScalarNode) -> object:
        text = str(node.value)
        if node.style is not None and "quotes-are-text" in self.faults:
            return text
        if node.style is None and "null-is-empty" in self.faults and text in ("null", "~"):
            return None
        if "underscores" in self.faults and re.fullmatch(r"[0-9_]+", text):
            text = text.replace("_", "")
        if INTEGER.fullmatch(text):
            octal = "octal" in self.faults and re.fullmatch(r"0[0-7]+", text)
            whole = int(text, 8 if octal else 10)
            if "no-limit" in self.faults:
                return whole
            return max(-(2**63), min(2**63 - 1, whole))
        if REAL.fullmatch(text):
            return self.real(text.strip())
        return text or ("" if "empty-is-text" in self.faults and node.style else None)

    def real(self, text: str) -> object:
        if "x" in text.lower():
            return text if "no-hexadecimal" in self.faults else float.fromhex(text)
        value = float(text)
        if "whole-is-integer" in self.faults and value.is_integer() and "e" not in text.lower():
            return int(value)
        if "single" in self.faults:
            return float(f"{value:.7g}")
        return value


class RightPair:
    """Merges a pair of schemas: call it with the request; it returns None to refuse it."""

    def __init__(self, *faults: str) -> None:
        self.faults = set(faults)

    def __call__(self, data: bytes) -> Plain | None:
        request = json.loads(data)
        both = [RightSchema()(request[role].encode()) for role in ("data", "experiment")]
        if both[0] is None or both[1] is None:
            return None
        fields: dict[str, dict[str, object]] = {}
        leaves = list(self.leaves(both[1], (), {}))
        if leaves and leaves[0][0] == () and "empty-experiment" not in self.faults:
            return None
        for path, replacing in leaves:
            below = [each for each in self.leaves(both[0], (), {}) if self.is_below(each[0], path)]
            if not below and "unknown-skipped" not in self.faults:
                return None
            for field, own in below:
                if field:
                    fields[named(field)] = self.merged(own, replacing)
        if "all-fields" in self.faults:
            for field, own in self.leaves(both[0], (), {}):
                fields.setdefault(named(field), own)
        return {"fields": [{"name": name, "metadata": own} for name, own in fields.items()]}

    def is_below(self, field: tuple[str, ...], path: tuple[str, ...]) -> bool:
        if "any-case" in self.faults:
            field, path = (tuple(name.lower() for name in each) for each in (field, path))
        if "leaves-only" in self.faults:
            return field == path
        return field[: len(path)] == path

    def merged(self, own: Plain, replacing: Plain) -> Plain:
        if "data-wins" in self.faults:
            return {**replacing, **own}
        if "replaces-all" in self.faults and replacing:
            return replacing
        return {**own, **replacing}

    def leaves(
        self, node: Plain, path: tuple[str, ...], above: Plain
    ) -> Iterator[tuple[tuple[str, ...], Plain]]:
        own = node.get("metadata") or {}
        children = node.get("children") or {}
        assert isinstance(own, dict) and isinstance(children, dict)
        found = {**own, **above} if "parent-wins" in self.faults else {**above, **own}
        if "no-inheritance" in self.faults or ("root-apart" in self.faults and len(path) == 1):
            found = own
        if not children:
            yield path, found
        for name, child in children.items():
            yield from self.leaves(child, (*path, name), found)


def named(path: tuple[str, ...]) -> str:
    """The path of a field as conduit writes it."""
    return "/".join(f"{{{name}}}" if "/" in name else name for name in path)
