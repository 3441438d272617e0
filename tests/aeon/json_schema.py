"""Make the JSON Schema of loader configurations from their tables.

It describes what aeon's last version accepts without a warning. Of the rules between members it has
only that of COUNT: `exset validate` checks the others. After a change of the tables, run
`python -m tests.aeon.json_schema`: it writes the file that the package has.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from exset.grammars.aeon.config.schema import AUGMENTATION, ETL, JSON_SCHEMA, TABLES
from exset.grammars.aeon.config.schema_types import (
    KINDS,
    Constraint,
    Dialect,
    Kind,
    Member,
    Required,
    Table,
)

Schema = dict[str, object]


def _number(kind: str, low: float, high: float) -> Schema:
    return {"type": kind, "minimum": low, "maximum": high}


_LARGEST: Final = 3.4028234663852886e38  # of binary32
_KINDS: Final[Mapping[Kind, Schema]] = {
    "string": {"type": "string"},
    "bool": {"type": "boolean"},
    "int32": _number("integer", -(1 << 31), (1 << 31) - 1),
    "uint32": _number("integer", 0, (1 << 32) - 1),
    "size": _number("integer", 0, (1 << 64) - 1),
    "float": _number("number", -_LARGEST, _LARGEST),
    "double": {"type": "number"},
    "any": {},
}
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
    """Return the text of the file, with one line for each innermost object."""
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
    first = properties or {}
    required = [*first, *(name for name, each in members.items() if each.required)]
    return {
        "type": "object",
        "properties": {**first, **{name: _member(each) for name, each in members.items()}},
        **({"required": required} if required else {}),
        "additionalProperties": False,
    }


def _member(member: Member) -> Schema:
    schema: Schema = {"description": member.about} if member.about else {}
    default = member.default
    if not isinstance(default, Required) and default is not None:
        schema["default"] = list(default) if isinstance(default, tuple) else default
    rule = KINDS[member.kind]
    if member.table:
        value: Schema = {"$ref": f"#/$defs/{member.table}"}
    else:
        value = {**_KINDS[rule.item or member.kind], **_bounds(member.constraint)}
    if rule.item or member.kind == "objects":
        value = {"type": "array", "items": value}
    if rule.size:
        value |= {"minItems": rule.size, "maxItems": rule.size}
    return {**schema, **value}


def _bounds(constraint: Constraint | None) -> Schema:
    if constraint is None:
        return {}
    if constraint.one_of:
        return {"enum": list(constraint.one_of)}
    low, high, above = constraint.low, constraint.high, constraint.above
    bounds = {"minimum": low, "maximum": high, "exclusiveMinimum": above}
    return {name: bound for name, bound in bounds.items() if bound is not None}


if __name__ == "__main__":
    Path(JSON_SCHEMA).write_text(text())
