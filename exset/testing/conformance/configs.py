"""The meaning of aeon's loader configurations as JSON: the values of all members, and the outputs.

`aeon-config.schema.json` describes this JSON. The values are those that aeon's last version uses:
numbers converted as in C++, and the defaults of missing members. A program may leave out members
that have their default values. All members together determine the outputs, which are the arrays of
a batch.

aeon uses only one `augmentation` object. It uses none if no etl object is an image or a video. If
there are videos but no images, it uses only the member `frame`.
"""

from typing import Final

from exset.grammars.aeon.config.collector import IMAGES
from exset.grammars.aeon.config.model import LoaderConfig
from exset.grammars.aeon.config.schema import TABLES, etl_types
from exset.grammars.aeon.config.schema_types import KINDS, Kind, Member, Required
from exset.grammars.aeon.config.settings import Settings, Value
from exset.testing.conformance.nodes import BadMeaning, Document, Json, Node, double, real, string
from exset.testing.conformance.plain_words import explained

__all__ = ["explained", "features", "meaning", "normalized", "unshared"]

_DIALECT: Final = "head"
_INTEGERS: Final = ("int32", "uint32", "size")


def meaning(config: LoaderConfig) -> Document:
    """Return the meaning of a configuration, in canonical form."""
    outputs: list[Json] = [
        {"name": each.name, "shape": [*each.shape], "type": each.dtype} for each in config.outputs
    ]
    return {"members": _members(config.settings), "outputs": outputs}


def normalized(document: Node) -> Document:
    """Return the canonical form of a meaning that a program wrote. Raises BadMeaning if invalid."""
    document.known("members", "outputs")
    return {
        "members": _object(document.get("members"), "loader"),
        "outputs": [_output(each) for each in document.get("outputs").items()],
    }


def features(document: Document) -> set[str]:
    """Return the features that a reader needs to read a configuration with this meaning."""
    members = Node(document).get("members")
    found = {each.get("type").text() for each in members.get("etl").items()}
    return found if members.get("augmentation").missing else {*found, "augmentation"}


def unshared(document: Document) -> Document:
    """Return the meaning unchanged, as no values are shared in it."""
    return document


def _members(settings: Settings) -> dict[str, Json]:
    """Return the members that have a value; leave out `ssd_config`, which aeon ignores."""
    found: dict[str, Json] = {"type": settings.type} if settings.type else {}
    for member, value in settings.values():
        if member.name == "augmentation" and member.kind == "objects":
            if (used := _used(settings)) is not None:
                found[member.name] = _members(used)
        elif value is not None and member.kind != "any":
            found[member.name] = _canonical(member.kind, value)
    return found


def _used(loader: Settings) -> Settings | None:
    """Return the augmentation as aeon uses it; for videos without images, this is only its `frame`.

    Return None if aeon uses no augmentation.
    """
    value = loader["augmentation"]
    first = value[0] if isinstance(value, tuple) and value else None
    types = {each.type for each in loader.objects("etl")}
    if not isinstance(first, Settings) or first.type != "image" or not types & {*IMAGES, "video"}:
        return None
    has_images = not types.isdisjoint(IMAGES)
    given = {
        name: each
        for name, each in first.given.items()
        if ("video" in types if name == "frame" else has_images)
    }
    return Settings(first.table, first.dialect, given)


def _canonical(kind: Kind, value: Value) -> Json:
    if isinstance(value, Settings):
        return _members(value)
    if isinstance(value, tuple):
        item = KINDS[kind].item or "object"
        return [None if each is None else _canonical(item, each) for each in value]
    if isinstance(value, str):
        return string(value.encode("utf-8", "surrogatepass"))
    if isinstance(value, int | float) and kind in ("float", "double"):
        return real(value) if kind == "float" else double(value)
    assert isinstance(value, int)
    return value


def _object(node: Node, table: str) -> dict[str, Json]:
    """Return an object in canonical form: members that are missing get their defaults.

    table: the name of the table of the schema that declares the object's members.
    """
    declared = TABLES[table].members_of(_DIALECT)
    kind = table.partition(" ")[2]
    node.known(*declared, *(["type"] if kind else []))
    found: dict[str, Json] = {"type": kind} if kind else {}
    for member in declared.values():
        given = node.get(member.name)
        if member.kind == "any":
            continue
        if member.name == "augmentation" and member.kind == "objects":
            if not given.missing:
                found[member.name] = _object(given, "augmentation image")
        elif not given.missing:
            found[member.name] = _value(member, given)
        elif isinstance(member.default, Required):
            raise BadMeaning(f"{given.path}: expected a value: the member has no default")
        elif member.default is not None:
            found[member.name] = _canonical(member.kind, member.default)
    return found


def _value(member: Member, node: Node) -> Json:
    """Return the value of a member in canonical form."""
    if member.table == "etl":
        return [_object(each, f"etl {_type(each)}") for each in node.items()]
    if member.table is not None:
        table = "augmentation image" if member.table == "augmentation" else member.table
        if member.kind == "object":
            return _object(node, table)
        return [None if each.missing else _object(each, table) for each in node.items()]
    if (item := KINDS[member.kind].item) is not None:
        return [_plain(item, each) for each in node.items()]
    return _plain(member.kind, node)


def _plain(kind: Kind, node: Node) -> Json:
    if kind == "bool":
        return node.boolean()
    if kind == "string":
        return node.string()
    if kind in _INTEGERS:
        return node.integer()
    return node.real() if kind == "float" else node.double()


def _type(node: Node) -> str:
    kind = node.get("type")
    if kind.value not in etl_types(_DIALECT):
        raise kind.error("a type of etl objects")
    return kind.text()


def _output(node: Node) -> dict[str, Json]:
    node.known("name", "shape", "type")
    shape = [each.integer() for each in node.get("shape").items()]
    return {"name": node.get("name").text(), "shape": [*shape], "type": node.get("type").text()}
