"""Upgrade configurations of aeon's first versions to the members of later versions.

Until 2017 the loader had no list `etl`. Its member `type` listed the etl types, and it had a member
for each of these types: an object that also contained augmentation members. The members in
`schema.RENAMED` had other names.
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
"""The etl types that had augmentation members, with these members."""

_Members = dict[str, Member]


def upgraded(tree: Node) -> tuple[Node, list[Problem]]:
    """Return a configuration whose outdated members are replaced by those of later versions. Also
    return a problem for each change.
    """
    changes: list[Problem] = []
    members = _without_type(_renamed(tree.members, changes), changes)
    return (Node(members, tree.span) if changes else tree), changes


def _renamed(members: _Members, changes: list[Problem]) -> _Members:
    for old, new in RENAMED.items():
        if old not in members or new in members:
            continue
        member = members[old]
        what, hint = f"{old!r} is outdated", f"exset reads it as {new!r}, its name since 2017"
        if old == "augment":
            if member.value.kind == "object":
                member = Member(Node((member.value,), member.value.span), member.name)
                what += " and not a list"
                hint += "; in Python write [x] or (x,), for (x) is x itself"
            member, added = _typed(member, _kind_of(members))
            hint += f"; exset adds the type {added!r}" if added else ""
        members = _replaced(members, old, new, member)
        changes.append(_outdated(old, member, what, hint))
    return members


def _replaced(members: _Members, old: str, new: str, member: Member) -> _Members:
    """Return the members in the same order, with the member `old` replaced by `member`.

    new: the name of `member`.
    """
    return dict((new, member) if pair[0] == old else pair for pair in members.items())


def _typed(augment: Member, kind: str) -> tuple[Member, str]:
    """Return the member `augment` with types added to its objects, and the added type.

    augment: the member `augmentation`, a list of objects. Each object gets a member `type` with the
    value `kind`. If an object already has a type, or there are no objects, nothing is added: the
    result is `augment` itself and "".
    """
    untyped = [each for each in augment.value.items if each.kind == "object"]
    if not untyped or any("type" in each.members for each in untyped):
        return augment, ""
    typed = tuple(
        Node({"type": Member(Node(kind)), **each.members}, each.span)
        if each.kind == "object"
        else each
        for each in augment.value.items
    )
    return Member(Node(typed, augment.value.span), augment.name), kind


def _kind_of(members: _Members) -> str:
    """Return the type of augmentation that fits the etl types: `audio` if `audio` is one of them,
    else `image`.
    """
    types = _types_of(members)
    for each in members["etl"].value.items if "etl" in members else ():
        if "type" in each.members:
            types.append(str(each.members["type"].value.content))
    return "audio" if "audio" in types else "image"


def _types_of(members: _Members) -> list[str]:
    """Return the etl types that the member `type` lists."""
    listed = members["type"].value.content if "type" in members else None
    return [name.strip() for name in listed.split(",")] if isinstance(listed, str) else []


def _without_type(members: _Members, changes: list[Problem]) -> _Members:
    """Replace the list `type`, and the objects named after its words, by the list `etl`; return the
    new members.

    Each replacement is added to `changes`. Return the members unchanged if they cannot be
    converted.
    """
    if not (types := _types_of(members)):
        return members
    listed = members["type"]
    if "etl" in members:
        hint = "exset leaves it out: 'etl' has the types"
        changes.append(_outdated("type", listed, "'type' is outdated", hint))
        return {name: each for name, each in members.items() if name != "type"}
    if not set(types) <= set(ETL):
        return members
    span, kind = listed.value.span, _kind_of(members)
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
    augmentation = _merged(members.get("augmentation"), kind, moved)
    if moved and augmentation is None:
        return members
    etl = Member(Node(tuple(elements), span), listed.name)
    members = _replaced(members, "type", "etl", etl)
    members = {name: each for name, each in members.items() if name not in types}
    what = "the old form with 'type' and an object for each type is outdated"
    hint = "exset reads it as 'etl', a list of objects that each have a 'type'"
    changes.append(_outdated("type", listed, what, hint))
    if augmentation is not None:
        first = next(iter(moved))
        members["augmentation"] = augmentation
        what, hint = f"{first!r} is outdated here", "exset reads it as a member of 'augmentation'"
        changes.append(_outdated(first, moved[first], what, hint))
    return members


def _merged(given: Member | None, kind: str, moved: _Members) -> Member | None:
    """Return the list `augmentation` with the `moved` members added to its first object.

    given: the list before, None if it is missing. kind: the type of the object. Return None if no
    members are moved, if the object has other values for these members, or if `given` is not a
    list.
    """
    if not moved:
        return None
    if given is None or given.value.content == ():
        at = next(iter(moved.values())).name
        return Member(Node((Node({"type": Member(Node(kind)), **moved}, at),), at), at)
    if not given.value.items:
        return None
    first, *others = given.value.items
    there = {"type": Member(Node(kind)), **moved}
    if any(first.members.get(name, each) != each for name, each in there.items()):
        return None
    merged = Node({**first.members, **moved}, first.span)
    return Member(Node((merged, *others), given.value.span), given.name)


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
    augment = rest.get("augment")
    if augmented and augment is not None and augment.value.kind == "object":
        more = {key: each for key, each in augment.value.members.items() if key != "type"}
        if all(moved.get(key, each) == each for key, each in more.items()):
            moved |= more
            del rest["augment"]
    return Node(rest, element.span), moved


def _outdated(path: str, member: Member, what: str, hint: str) -> Problem:
    return Problem("aeon-refuses", path, what, hint, member.name)
