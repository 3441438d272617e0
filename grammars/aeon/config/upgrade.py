"""Upgrade configurations of aeon's first versions to the members of later ones.

Until 2017 the loader had one object for each type that `type` names, with augmentation members
in it, and the members of `schema.RENAMED`.
"""

from typing import Final

from exset.grammars.aeon.config.findings import Problem
from exset.grammars.aeon.config.schema import AUGMENTATION, ETL, RENAMED
from exset.grammars.columns.tree import Member, Node

_OF_IMAGES: Final = AUGMENTATION["image"].members_of("seed").keys() - {"frame"}
_AUGMENTED: Final = {
    "image": _OF_IMAGES,
    "pixelmask": _OF_IMAGES,
    "audio": AUGMENTATION["audio"].members_of("seed").keys(),
}
"""The etl types that had augmentation members, and these members."""

_Members = dict[str, Member]


def upgraded(tree: Node) -> tuple[Node, list[Problem]]:
    """Return a configuration with the members of today, and what has changed."""
    changes: list[Problem] = []
    members = _without_type(_renamed(tree.members, changes), changes)
    return (Node(members, tree.span) if changes else tree), changes


def _renamed(members: _Members, changes: list[Problem]) -> _Members:
    for old, new in RENAMED.items():
        if old not in members or new in members:
            continue
        member = members[old]
        what, hint = f"{old!r} is outdated", f"exset reads it as {new!r}, its name since 2017"
        if old == "augment" and member.value.kind == "object":
            member = Member(Node((member.value,), member.value.span), member.name)
            what += " and not a list"
            hint += "; in Python write [x] or (x,), for (x) is x itself"
        members = _replaced(members, old, new, member)
        changes.append(_outdated(old, member, what, hint))
    return members


def _replaced(members: _Members, old: str, new: str, member: Member) -> _Members:
    """Return members with one replaced, in its place and with a new name."""
    return dict((new, member) if pair[0] == old else pair for pair in members.items())


def _without_type(members: _Members, changes: list[Problem]) -> _Members:
    """Replace `type`, and an object for each type that it names, by the list `etl`."""
    listed = members.get("type")
    if listed is None or not isinstance(listed.value.content, str):
        return members
    if "etl" in members:
        hint = "exset leaves it out: 'etl' has the types"
        changes.append(_outdated("type", listed, "'type' is outdated", hint))
        return {name: each for name, each in members.items() if name != "type"}
    types, span = [name.strip() for name in listed.value.content.split(",")], listed.value.span
    if not set(types) <= set(ETL) or "augmentation" in members:
        return members
    elements: list[Node] = []
    moved: _Members = {}
    for name in types:
        element = members[name].value if name in members else Node({}, span)
        if element.kind != "object":
            return members
        element, augmented = _divided(name, element)
        if any(moved.get(key, each) != each for key, each in augmented.items()):
            return members
        moved |= augmented
        elements.append(Node({"type": Member(Node(name, span)), **element.members}, element.span))
    etl = Member(Node(tuple(elements), span), listed.name)
    members = _replaced(members, "type", "etl", etl)
    members = {name: each for name, each in members.items() if name not in types}
    what = "'type' with an object for each type is outdated"
    hint = "exset reads it as 'etl', a list of objects that each have a 'type'"
    changes.append(_outdated("type", listed, what, hint))
    if moved:
        first = next(iter(moved))
        at = moved[first].name
        kind = Member(Node("audio" if "audio" in types else "image"))
        members["augmentation"] = Member(Node((Node({"type": kind, **moved}, at),), at), at)
        what, hint = f"{first!r} is outdated here", "exset reads it as a member of 'augmentation'"
        changes.append(_outdated(first, moved[first], what, hint))
    return members


def _divided(name: str, element: Node) -> tuple[Node, _Members]:
    if name == "video" and "frame" in element.members:
        frame = element.members["frame"]
        image, moved = _divided("image", frame.value)
        if not moved:
            return element, {}
        first = next(iter(moved.values())).name
        members = {**element.members, "frame": Member(image, frame.name)}
        inner = Node({"type": Member(Node("image")), **moved}, first)
        return Node(members, element.span), {"frame": Member(inner, first)}
    augmented = _AUGMENTED.get(name, ())
    moved = {key: each for key, each in element.members.items() if key in augmented}
    rest = {key: each for key, each in element.members.items() if key not in augmented}
    return Node(rest, element.span), moved


def _outdated(path: str, member: Member, what: str, hint: str) -> Problem:
    return Problem("aeon-refuses", path, what, hint, member.name)
