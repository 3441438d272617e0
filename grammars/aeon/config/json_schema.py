"""The JSON Schema of loader configurations, generated from the tables.

`exset config schema` writes it; `loader_config.schema.json` is in the package. It describes what
aeon's last version accepts without a warning; of the rules between members it has only that of
COUNT: `exset validate` checks the others.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from exset.grammars.aeon.config.schema import AUGMENTATION, ETL, TABLES
from exset.grammars.aeon.config.schema_types import (
    ITEM_KINDS,
    Constraint,
    Dialect,
    Kind,
    Member,
    Required,
    Table,
)

FILE: Final = "loader_config.schema.json"

Schema = dict[str, object]


def _integer(low: int, high: int) -> Schema:
    return {"type": "integer", "minimum": low, "maximum": high}


def _array(items: Schema) -> Schema:
    return {"type": "array", "items": items}


_LARGEST: Final = 3.4028234663852886e38
_KINDS: Final[Mapping[Kind, Schema]] = MappingProxyType(
    {
        "string": {"type": "string"},
        "bool": {"type": "boolean"},
        "int32": _integer(-(1 << 31), (1 << 31) - 1),
        "uint32": _integer(0, (1 << 32) - 1),
        "size": _integer(0, (1 << 64) - 1),
        "float": {"type": "number", "minimum": -_LARGEST, "maximum": _LARGEST},
        "double": {"type": "number"},
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
    """Return the JSON Schema of the configurations of a version of aeon."""
    parts = ("frame", "batch_sampler", "sampler", "sample_constraint")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "aeon loader configuration",
        **_object(TABLES["loader"], dialect),
        **_COUNT,
        "$defs": {
            "etl": _by_type(ETL.values(), dialect),
            "augmentation": _by_type(AUGMENTATION.values(), dialect),
            **{name: _object(TABLES[name], dialect) for name in parts},
        },
    }


def text() -> str:
    """Return the text of the published file, with one line for each innermost object."""
    text = json.dumps(json_schema(), indent=1) + "\n"
    return re.sub(r"\{[^{}]*\}", lambda found: re.sub(r"\n *", " ", found[0]), text)


def _by_type(tables: Iterable[Table], dialect: Dialect) -> Schema:
    """Return a schema that looks at `type` first, so that errors name the wrong member."""
    choices = {table.name: table for table in tables if dialect in table.dialects}
    return {
        "type": "object",
        "required": ["type"],
        "properties": {"type": {"enum": list(choices)}},
        "allOf": [
            {
                "if": {"properties": {"type": {"const": name}}, "required": ["type"]},
                "then": _object(table, dialect, {"type": {"const": name}}),
            }
            for name, table in choices.items()
        ],
    }


def _object(table: Table, dialect: Dialect, properties: Schema | None = None) -> Schema:
    """Return the schema of an object with more `properties`, all of them required."""
    members = table.members_of(dialect)
    schema: Schema = {
        "type": "object",
        "properties": {
            **(properties or {}),
            **{key: _member(each) for key, each in members.items()},
        },
    }
    required = [*(properties or ()), *(name for name, each in members.items() if each.required)]
    if required:
        schema["required"] = required
    return {**schema, "additionalProperties": False}


def _member(member: Member) -> Schema:
    schema: Schema = {"description": member.about} if member.about else {}
    default = member.default
    if not isinstance(default, Required) and default is not None:
        schema["default"] = list(default) if isinstance(default, tuple) else default
    if member.kind == "object":
        return {**schema, "$ref": f"#/$defs/{member.table}"}
    if member.kind == "objects":
        return {**schema, **_array({"$ref": f"#/$defs/{member.table}"})}
    bounds = _bounds(member.constraint or Constraint())
    if member.kind not in ITEM_KINDS:
        return {**schema, **_KINDS[member.kind], **bounds}
    size = {"minItems": 2, "maxItems": 2} if member.kind.endswith("_pair") else {}
    return {**schema, **_array({**_KINDS[ITEM_KINDS[member.kind]], **bounds}), **size}


def _bounds(constraint: Constraint) -> Schema:
    if constraint.one_of:
        return {"enum": list(constraint.one_of)}
    low, high, above = constraint.low, constraint.high, constraint.above
    bounds = {"minimum": low, "maximum": high, "exclusiveMinimum": above}
    return {name: bound for name, bound in bounds.items() if bound is not None}
