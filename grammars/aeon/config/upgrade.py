"""Configurations of aeon's first versions in the words of later ones.

Until 2017 the loader had one object for each type that `type` named, with the augmentation among
its members, and `minibatch_size`, `macrobatch_size`, `shuffle_every_epoch`.
"""

from __future__ import annotations

from typing import Final

from exset.core.source import Span
from exset.grammars.aeon.config.findings import Doubt
from exset.grammars.aeon.config.schema import AUGMENTATION, ETL
from exset.grammars.aeon.config.suggestions import RENAMED
from exset.grammars.columns.tree import Member, Node

_SOUND: Final = frozenset(member.name for member in AUGMENTATION["audio"].members)
_IMAGE: Final = frozenset(
    member.name for member in AUGMENTATION["image"].members if "seed" in member.dialects
) - {"frame"}


def renewed(tree: Node) -> tuple[Node, tuple[Doubt, ...]]:
    """A configuration with the members of today, and what was changed; the tree if nothing was."""
    if not isinstance(tree.content, dict):
        return tree, ()
    work = _Renewal(dict(tree.content))
    work.rename()
    work.spread()
    return Node(work.members, tree.span), tuple(work.changes)


class _Renewal:
    def __init__(self, members: dict[str, Member]) -> None:
        self.members = members
        self.changes: list[Doubt] = []

    def rename(self) -> None:
        """Give members their names of today."""
        for old, new in RENAMED.items():
            if old not in self.members or new in self.members:
                continue
            member = self.members[old]
            what, hint = f"{old!r} is outdated", f"it is read as {new!r}, its name since 2017"
            if old == "augment" and member.value.kind == "object":
                member = Member(Node((member.value,), member.value.span), member.name)
                what += ", and is no list"
                hint += "; in Python, (x) is x itself: write (x,) or [x]"
            self.members = {
                (new if name == old else name): (member if name == old else each)
                for name, each in self.members.items()
            }
            self.change(old, member.name, what, hint)

    def spread(self) -> None:
        """Make a list of the objects that `type` names."""
        member = self.members.get("type")
        if member is None or not isinstance(member.value.content, str):
            return
        names = [name.strip() for name in member.value.content.split(",")]
        if "etl" in self.members:
            del self.members["type"]
            hint = "'etl' says the types: it is left out"
            self.change("type", member.name, "'type' is outdated", hint)
            return
        if not set(names) <= set(ETL) or "augmentation" in self.members:
            return
        elements: list[Node] = []
        moved: dict[str, Member] = {}
        for name in names:
            found = self.members.get(name)
            if found is None:
                element = Node({}, member.value.span)
            elif found.value.kind != "object":
                return
            else:
                element = found.value
            element, parts = _apart(name, element)
            if any(moved.get(key, part) != part for key, part in parts.items()):
                return
            moved |= parts
            kind = Member(Node(name, member.value.span))
            elements.append(Node({"type": kind, **element.members}, element.span))
        etl = Member(Node(tuple(elements), member.value.span), member.name)
        self.members = {
            ("etl" if name == "type" else name): (etl if name == "type" else each)
            for name, each in self.members.items()
            if name not in names
        }
        listed = "an object for each type"
        hint = "they are read as 'etl', a list of objects that each have a 'type'"
        self.change("type", member.name, f"'type' and {listed} are outdated", hint)
        if moved:
            kind = Member(Node("audio" if "audio" in names else "image"))
            span = next(iter(moved.values())).name
            value = Node((Node({"type": kind, **moved}, span),), span)
            self.members["augmentation"] = Member(value, span)
            first = next(iter(moved))
            what = f"{first!r} is outdated where it stands"
            hint = "it is read as one of 'augmentation', since 2017 a list apart"
            self.change(first, span, what, hint)

    def change(self, path: str, span: Span | None, what: str, hint: str) -> None:
        """Note a change."""
        self.changes.append(Doubt("aeon-refuses", path, span, {"what": what, "hint": hint}))


def _apart(name: str, element: Node) -> tuple[Node, dict[str, Member]]:
    """An object without what is augmentation, and that."""
    if name == "video" and "frame" in element.members:
        frame = element.members["frame"]
        still, parts = _apart("image", frame.value)
        if not parts:
            return element, {}
        inner = {"type": Member(Node("image")), **parts}
        members = {**element.members, "frame": Member(still, frame.name)}
        first = next(iter(parts.values())).name
        return Node(members, element.span), {"frame": Member(Node(inner, first), first)}
    wanted = _SOUND if name == "audio" else _IMAGE if name in ("image", "pixelmask") else ()
    moved = {key: member for key, member in element.members.items() if key in wanted}
    rest = {key: member for key, member in element.members.items() if key not in wanted}
    return Node(rest, element.span), moved
