"""What a schema holds, in numbers: the answer of `exset info`."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass

from exset.grammars.lbann.schema import METADATA, Node, Schema

SHOWN = 12
"""How many packed groups are shown to people."""


@dataclass(frozen=True)
class Summary:
    """The numbers of one schema."""

    fields: int
    groups: int
    """Nodes that have others below them, the root apart."""
    depth: int
    """How many names the longest path has."""
    nodes_with_metadata: int
    directives: dict[str, int]
    """How often each is given."""
    packed: tuple[str, ...]
    """The groups that `pack` names."""

    def to_dict(self) -> dict[str, object]:
        """Return the numbers for JSON."""
        return asdict(self)

    def rows(self) -> list[tuple[str, str]]:
        """Return the numbers as (label, text), for people."""
        rows = [
            ("fields", f"{self.fields:,}"),
            ("groups", f"{self.groups:,}, at most {self.depth} deep"),
            (METADATA, f"{self.nodes_with_metadata:,} nodes"),
        ]
        if self.directives:
            rows.append(("directives", ", ".join(f"{n} {c}" for n, c in self.directives.items())))
        if self.packed:
            more = len(self.packed) - SHOWN
            shown = ", ".join(self.packed[:SHOWN]) + (f" and {more} more" if more > 0 else "")
            rows.append(("packed", shown))
        return rows


def summarise(schema: Schema) -> Summary:
    """Return the numbers of a schema."""
    directives: Counter[str] = Counter()
    packed: dict[str, None] = {}
    groups = nodes = depth = 0

    def look(node: Node, level: int) -> None:
        nonlocal groups, nodes, depth
        depth = max(depth, level)
        groups += bool(node.children) and level > 0
        nodes += bool(node.metadata)
        directives.update(list(node.metadata))
        pack = node.metadata.get("pack")
        if pack is not None:
            packed[str(pack.value)] = None
        for child in node.children.values():
            look(child, level + 1)

    look(schema.root, 0)
    return Summary(
        fields=len(schema),
        groups=groups,
        depth=depth,
        nodes_with_metadata=nodes,
        directives=dict(directives.most_common()),
        packed=tuple(packed),
    )
