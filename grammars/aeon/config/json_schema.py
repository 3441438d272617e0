"""The JSON Schema of loader configurations, made of the tables; published with the package.

    exset config schema > grammars/loader_config.schema.json

It describes what aeon's last version takes without a warning. What members must be together it says
only of COUNT: the rest is for `exset validate`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from exset.grammars.aeon.config.schema import AUGMENTATION, ETL, TABLES
from exset.grammars.aeon.config.schema_types import Dialect, Kind, Member, Required, Table

DRAFT: Final = "https://json-schema.org/draft/2020-12/schema"
FILE: Final = "loader_config.schema.json"

Schema = dict[str, object]

_LARGEST: Final = 3.4028234663852886e38
_NUMBER: Final[Schema] = {"type": "number", "minimum": -_LARGEST, "maximum": _LARGEST}
_PLAIN: Final[Mapping[Kind, Schema]] = MappingProxyType(
    {
        "string": {"type": "string"},
        "bool": {"type": "boolean"},
        "int32": {"type": "integer", "minimum": -(1 << 31), "maximum": (1 << 31) - 1},
        "uint32": {"type": "integer", "minimum": 0, "maximum": (1 << 32) - 1},
        "size": {"type": "integer", "minimum": 0, "maximum": (1 << 64) - 1},
        "float": _NUMBER,
        "strings": {"type": "array", "items": {"type": "string"}},
        "floats": {"type": "array", "items": _NUMBER},
        "doubles": {"type": "array", "items": {"type": "number"}},
        "any": {},
    }
)
_COUNT: Final[Schema] = {
    "if": {"properties": {"iteration_mode": {"const": "COUNT"}}, "required": ["iteration_mode"]},
    "then": {
        "properties": {"iteration_mode_count": {"minimum": 1}},
        "required": ["iteration_mode_count"],
    },
}


def json_schema(dialect: Dialect = "head") -> Schema:
    """Return the schema of the configurations of a version of aeon."""
    etl = [_typed(name, table, dialect) for name, table in ETL.items() if dialect in table.dialects]
    augmentations = [
        _typed(name, table, dialect)
        for name, table in AUGMENTATION.items()
        if dialect in table.dialects
    ]
    parts = ("frame", "batch_sampler", "sampler", "sample_constraint")
    return {
        "$schema": DRAFT,
        "title": "aeon loader configuration",
        **_object(TABLES["loader"], dialect),
        **_COUNT,
        "$defs": {
            "etl": _one_of(etl),
            "augmentation": _one_of(augmentations),
            **{name: _object(TABLES[name], dialect) for name in parts},
        },
    }


def text() -> str:
    """Return the file that is published."""
    return json.dumps(json_schema(), indent=1) + "\n"


def _one_of(schemas: list[Schema]) -> Schema:
    """Return a schema that asks the object's type first, so that errors name what is wrong."""
    known = [schema["properties"]["type"]["const"] for schema in schemas]  # type: ignore[index]
    choices: list[Schema] = [
        {
            "if": {"properties": {"type": {"const": name}}, "required": ["type"]},
            "then": schema,
        }
        for name, schema in zip(known, schemas, strict=True)
    ]
    named: Schema = {"type": {"enum": known}}
    return {"type": "object", "required": ["type"], "properties": named, "allOf": choices}


def _typed(name: str, table: Table, dialect: Dialect) -> Schema:
    schema = _object(table, dialect)
    members = schema["properties"]
    assert isinstance(members, dict)
    required = ["type", *_required(table, dialect)]
    return {**schema, "properties": {"type": {"const": name}, **members}, "required": required}


def _required(table: Table, dialect: Dialect) -> list[str]:
    return [member.name for member in table.known(dialect).values() if member.required]


def _object(table: Table, dialect: Dialect) -> Schema:
    """Return the schema of an object, its type apart."""
    members = {name: _member(member) for name, member in table.known(dialect).items()}
    schema: Schema = {"type": "object", "properties": members}
    if required := _required(table, dialect):
        schema["required"] = required
    schema["additionalProperties"] = False
    return schema


def _member(member: Member) -> Schema:
    schema: Schema = {"description": member.about} if member.about else {}
    default = member.default
    if not isinstance(default, Required) and default is not None:
        schema["default"] = list(default) if isinstance(default, tuple) else default
    if member.kind == "object":
        return {**schema, "$ref": f"#/$defs/{member.table}"}
    if member.kind == "objects":
        return {**schema, "type": "array", "items": {"$ref": f"#/$defs/{member.table}"}}
    if member.kind in ("float_pair", "int_pair"):
        number = {**_PLAIN["float" if member.kind == "float_pair" else "int32"], **_bounds(member)}
        return {**schema, "type": "array", "items": number, "minItems": 2, "maxItems": 2}
    return {**schema, **_PLAIN[member.kind], **_bounds(member)}


def _bounds(member: Member) -> Schema:
    rule = member.rule
    if rule is None:
        return {}
    if rule.one_of:
        return {"enum": list(rule.one_of)}
    bounds = {"minimum": rule.low, "maximum": rule.high, "exclusiveMinimum": rule.above}
    return {name: bound for name, bound in bounds.items() if bound is not None}
