"""Check every member of a configuration by the schema of one version of aeon."""

import math
from contextlib import suppress
from functools import partial
from typing import Final

from exset.core.source import Source
from exset.core.suggestions import did_you_mean
from exset.grammars.aeon.config.collector import IMAGES, Collector, Invalid, start_of
from exset.grammars.aeon.config.findings import member_path, titled
from exset.grammars.aeon.config.numbers import float32, integer
from exset.grammars.aeon.config.schema import AUGMENTATION, TABLES, etl_types
from exset.grammars.aeon.config.schema_types import KINDS, TITLES, Constraint, Dialect, Kind, Member
from exset.grammars.aeon.config.settings import Settings, Value
from exset.grammars.aeon.config.suggestions import (
    found_text,
    missing_hint,
    unknown_hint,
    value_hint,
    value_text,
)
from exset.grammars.columns.tree import Node

_BOOLEAN_KINDS: Final = ("int32", "uint32", "float")
"""Kinds of which later versions of aeon accept the values true and false, by their JSON library."""


class Check(Collector):
    """Reads a configuration as one version of aeon does. loader: the resulting settings."""

    def __init__(self, tree: Node, source: Source | str, dialect: Dialect) -> None:
        super().__init__(tree, source)
        self.dialect = dialect
        self.loader = Settings("loader", dialect, {})

    def read(self) -> None:
        """Read the whole configuration into `loader`."""
        with suppress(Invalid):
            self.loader = self.settings(self._tree, "loader", "")

    def settings(self, node: Node, table: str, path: str) -> Settings:
        """Read the object `node` by a table of the schema. Raise Invalid if it is not an object.

        path: of the object in the configuration.
        """
        if not isinstance(node.content, dict):
            raise self._refuse_type(path, node, "an object")
        given: dict[str, Value] = {}
        settings = Settings(table, self.dialect, given)
        known = settings.members
        # aeon notices an unknown object or list only if a plain value follows it alphabetically.
        plain = (name for name, each in node.content.items() if not _is_nested(each.value))
        last = max((name for name in plain if name != "type"), default="")
        for name, member in node.content.items():
            inner = member_path(path, name)
            if name in known:
                with suppress(Invalid):
                    given[name] = self._value(known[name], member.value, inner)
            elif name != "type" or not settings.type:
                unnoticed = name > last and _is_nested(member.value) and self.dialect != "seed"
                lax = TABLES[table].lax
                code = "aeon-overlooked" if unnoticed else "aeon-unknown"
                self.report(
                    "aeon-ignored" if lax else code,
                    inner,
                    member.name,
                    where=titled(path),
                    name=name,
                    dialect=TITLES[self.dialect],
                    hint=partial(unknown_hint, name, table, self.dialect),
                )
        for name, declared in known.items():
            if declared.required and name not in node.content:
                hint = partial(missing_hint, node, declared, known)
                inner, where = member_path(path, name), titled(path)
                self.report(
                    "aeon-missing", inner, start_of(node), where=where, name=name, hint=hint
                )
        return settings

    def _value(self, member: Member, node: Node, path: str) -> Value:
        if member.kind == "any":
            return node
        if member.kind == "objects":
            return self._objects(str(member.table), node, path)
        if member.kind == "object":
            is_absent = node.content is None and not member.required
            return None if is_absent else self._object(str(member.table), node, path)
        value = self._plain(member.kind, node, path)
        constraint = member.constraint or Constraint()
        hint = partial(value_hint, member, value)
        if not constraint.allows(value):
            raise self._refuse_range(path, node, constraint, hint)
        if not constraint.allows_order(value):
            shown = partial(value_text, node)
            raise self.report("aeon-order", path, node.span, value=shown, hint=hint)
        return value

    def _plain(self, kind: Kind, node: Node, path: str) -> Value:
        content, rule = node.content, KINDS[kind]
        if kind == "bool" and isinstance(content, bool):
            return content
        if kind == "string" and isinstance(content, str):
            return content
        if rule.expected == "a number":
            return self._number(kind, node, path)
        if not rule.item or not isinstance(content, tuple) or len(content) < rule.size:
            raise self._refuse_type(path, node, rule.expected)
        if rule.size and len(content) > rule.size:
            why, surplus = "a pair has two numbers", content[rule.size]
            self.report("aeon-surplus", f"{path}[{rule.size}]", surplus.span, why=why)
            content = content[: rule.size]
        items = (
            self._plain(rule.item, item, f"{path}[{number}]") for number, item in enumerate(content)
        )
        return tuple(items)

    def _number(self, kind: Kind, node: Node, path: str) -> int | float:
        content = node.content
        if isinstance(content, bool):
            if self.dialect == "seed" or kind not in _BOOLEAN_KINDS:
                raise self._refuse_type(path, node, "a number")
            number = float(content) if kind == "float" else int(content)
            self.report("aeon-converted", path, node.span, given=value_text(node), value=number)
            return number
        if not isinstance(content, int | float):
            raise self._refuse_type(path, node, "a number")
        if kind == "double":
            return float(content)
        if kind == "float":
            value = float32(float(content))
            if math.isinf(value):
                fits = "a number that fits in 32 bits"
                raise self._refuse_range(path, node, fits, "write a smaller number")
            return value
        converted = integer(content, kind)
        if converted != content:
            given = partial(value_text, node)
            self.report("aeon-converted", path, node.span, given=given, value=converted)
        return converted

    def _objects(self, table: str, node: Node, path: str) -> Value:
        if not isinstance(node.content, tuple):
            raise self._refuse_type(path, node, "a list of objects")
        read: list[Value] = []
        for number, item in enumerate(node.content):
            inner = f"{path}[{number}]"
            if table == "augmentation" and number:
                why = "it uses only augmentation[0]"
                self.report("aeon-unused", inner, start_of(item), why=why)
            with suppress(Invalid):
                optional = item.content is None and table not in ("etl", "augmentation")
                read.append(None if optional else self._object(table, item, inner))
        return tuple(read)

    def _object(self, table: str, node: Node, path: str) -> Settings | Node:
        if table == "etl":
            return self._etl(node, path)
        if table == "augmentation":
            return self._augmentation(node, path)
        return self.settings(node, table, path)

    def _type(self, node: Node, path: str) -> str:
        """Return the member `type` of the object `node`. Raise Invalid if the object has no `type`.

        path: of the object in the configuration.
        """
        if not isinstance(node.content, dict):
            raise self._refuse_type(path, node, "an object")
        inner = member_path(path, "type")
        if "type" not in node.content:
            hint = "add this member: the kind of data"
            raise self.report(
                "aeon-missing", inner, start_of(node), where=path, name="type", hint=hint
            )
        value = node.content["type"].value
        if not isinstance(value.content, str):
            raise self._refuse_type(inner, value, "a string")
        return value.content

    def _etl(self, node: Node, path: str) -> Settings:
        name, types = self._type(node, path), etl_types(self.dialect)
        if name in types:
            return self.settings(node, f"etl {name}", path)
        raise self.report(
            "aeon-etl-type",
            member_path(path, "type"),
            node.members["type"].value.span,
            dialect=TITLES[self.dialect],
            name=name,
            hint=lambda: did_you_mean(name, types) or f"known types: {', '.join(types)}",
        )

    def _augmentation(self, node: Node, path: str) -> Settings | Node:
        name = self._type(node, path)
        table = AUGMENTATION.get(name)
        users = {"image": IMAGES | {"video"}, "audio": {"audio"}}.get(name, frozenset())
        is_first = path == "augmentation[0]"
        hint = "images and boxes use the type 'image'"
        if table is None or self.dialect not in table.dialects:
            why = f"its type is {name!r}"
            self.report("aeon-surplus", path, start_of(node), why=why, hint=hint)
        elif is_first and users.isdisjoint(self.etl_types):
            why = f"no etl object has a type that uses {name!r}"
            self.report("aeon-unused", path, start_of(node), why=why, hint=hint)
        elif is_first and {*IMAGES, "audio"}.isdisjoint(self.etl_types):
            others = [each for each in node.members if each not in ("type", "frame")]
            for other in others[:1]:
                why = "video uses only the 'frame' in it"
                inner, hint = f"{path}.{other}", "move the members into 'frame', with a 'type'"
                self.report("aeon-unused", inner, node.members[other].name, why=why, hint=hint)
        return node if table is None else self.settings(node, f"augmentation {name}", path)

    def _refuse_range(self, path: str, node: Node, constraint: object, hint: object) -> Invalid:
        value = partial(value_text, node)
        return self.report(
            "aeon-range", path, node.span, constraint=constraint, value=value, hint=hint
        )

    def _refuse_type(self, path: str, node: Node, expected: str) -> Invalid:
        hint = ""
        if node.content is None:
            hint = "leave it out for the default"
        elif expected.startswith("a list") and not isinstance(node.content, tuple):
            hint = "put it in a list: [x] in JSON; [x] or (x,) in Python, where (x) is x itself"
        found = partial(found_text, node)
        return self.report("aeon-type", path, node.span, expected=expected, found=found, hint=hint)


def _is_nested(node: Node) -> bool:
    return isinstance(node.content, tuple | dict)
