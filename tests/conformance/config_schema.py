"""The JSON schema of the meaning of a loader configuration, from the tables of its members."""

from exset.grammars.aeon.config.schema import TABLES, etl_types
from exset.grammars.aeon.config.schema_types import KINDS, Kind, Member
from exset.testing.conformance.nodes import Document, Json

_INTEGERS = ("int32", "uint32", "size")
_STRING: Document = {
    "description": "Bytes: text if they are UTF-8, else base64.",
    "anyOf": [
        {"type": "string"},
        {
            "type": "object",
            "properties": {"base64": {"type": "string", "contentEncoding": "base64"}},
            "required": ["base64"],
            "additionalProperties": False,
        },
    ],
}
_NUMBER: Document = {
    "description": "A number, a text such as `0.1`, or its exact decimal and its bits.",
    "anyOf": [
        {"type": ["number", "string"]},
        {
            "type": "object",
            "properties": {
                "decimal": {"type": "string"},
                "bits": {"type": "string", "pattern": "^([0-9a-f]{8}|[0-9a-f]{16})$"},
            },
            "additionalProperties": False,
            "minProperties": 1,
        },
    ],
}


def config_schema() -> Document:
    """Return the schema as JSON."""
    output: Document = {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "shape": {"type": "array", "items": {"type": "integer"}},
            "type": {"type": "string", "description": "The C++ type of the numbers."},
        },
        "required": ["name", "shape", "type"],
        "additionalProperties": False,
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "The meaning of a loader configuration of aeon",
        "type": "object",
        "properties": {
            "members": _object("loader"),
            "outputs": {
                "type": "array",
                "description": "The arrays of a batch, in aeon's order.",
                "items": output,
            },
        },
        "required": ["members", "outputs"],
        "additionalProperties": False,
        "$defs": {
            "string": _STRING,
            "number": _NUMBER,
            "augmentation": _object("augmentation image"),
            **{f"etl-{name}": _object(f"etl {name}") for name in etl_types("head")},
        },
    }


def _object(table: str) -> Document:
    declared = [
        each for each in TABLES[table].members_of("head").values() if each.kind not in ("any",)
    ]
    kind = table.partition(" ")[2]
    properties: dict[str, Json] = {"type": {"const": kind}} if kind else {}
    properties |= {each.name: _member(each) for each in declared}
    required: list[Json] = ["type"] if kind else []
    required += [each.name for each in declared if each.required]
    made: Document = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**made, "required": required} if required else made


def _member(member: Member) -> Document:
    made = _value(member)
    return {**made, "description": f"{member.about}."} if member.about else made


def _value(member: Member) -> Document:
    if member.table == "etl":
        items: list[Json] = [{"$ref": f"#/$defs/etl-{name}"} for name in etl_types("head")]
        return {"type": "array", "items": {"anyOf": items}}
    if member.table == "augmentation":
        return {"$ref": "#/$defs/augmentation"}
    if member.table is not None and member.kind == "object":
        return _object(member.table)
    if member.table is not None:
        return {"type": "array", "items": {"anyOf": [_object(member.table), {"type": "null"}]}}
    if (item := KINDS[member.kind].item) is not None:
        return {"type": "array", "items": _plain(item)}
    return _plain(member.kind)


def _plain(kind: Kind) -> Document:
    if kind == "bool":
        return {"type": "boolean"}
    if kind == "string":
        return {"$ref": "#/$defs/string"}
    return {"type": "integer"} if kind in _INTEGERS else {"$ref": "#/$defs/number"}
