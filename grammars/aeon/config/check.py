"""Check every member of a configuration by the tables of one version of aeon."""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Final

from exset.core.errors import Finding, Findings, Place, Severity
from exset.core.source import Source, Span
from exset.core.text import safe
from exset.grammars.aeon.config.findings import (
    RULES,
    Problem,
    finding_at,
    member_path,
    titled,
)
from exset.grammars.aeon.config.numbers import float32, integer
from exset.grammars.aeon.config.schema import AUGMENTATION, TABLES, etl_types
from exset.grammars.aeon.config.schema_types import (
    KINDS,
    TITLES,
    Constraint,
    Dialect,
    Kind,
    Member,
)
from exset.grammars.aeon.config.settings import Settings, Value
from exset.grammars.aeon.config.suggestions import did_you_mean, nearest, unknown_hint
from exset.grammars.columns.tree import Node

IMAGES: Final = frozenset(
    ("image", "pixelmask", "boundingbox", "localization", "localization_rcnn", "localization_ssd")
)
"""The etl types that use the members of an image augmentation."""

_BOOLEAN_KINDS: Final = ("int32", "uint32", "float")
"""Kinds that the JSON library of later versions of aeon also reads from true and false."""
_MOST_SHOWN: Final = 40
_MOST_HINTS: Final = 100
"""Unknown members that may be the wrong spelling of a missing one."""


class Invalid(Exception):
    """A value that aeon refuses; its finding has been reported."""


class Check:
    """Reads objects by their tables as one version of aeon does, and collects all that is wrong.

    loader: the configuration. error: why aeon refuses it, the first of the errors; refused: its
    path. more_errors: the other errors. notes: about the choice of the version. others: all other
    findings.
    """

    def __init__(self, tree: Node, source: Source | str, dialect: Dialect) -> None:
        """Take a tree, and its text or a name."""
        self.dialect = dialect
        self.error: Finding | None = None
        self.refused = ""
        self.more_errors = Findings()
        self.notes = Findings()
        self.others = Findings()
        self.loader = Settings("loader", dialect, {})
        self._last: dict[tuple[str, bool], Finding] = {}
        self._tree = tree
        self._source = source
        self._etl_types = _types(tree, "etl")
        self._is_image = _types(tree, "augmentation")[:1] == ["image"]

    @property
    def error_count(self) -> int:
        """The number of errors."""
        return (self.error is not None) + self.more_errors.count()

    def read(self) -> None:
        """Read the whole tree."""
        with suppress(Invalid):
            self.loader = self.settings(self._tree, "loader", "")

    def add(self, problem: Problem) -> None:
        """Collect a problem that was found elsewhere."""
        path = problem.path
        span = problem.span or span_at(self._tree, path)
        self.report(problem.code, path, span, False, what=problem.what, hint=problem.hint)

    def report(
        self, code: str, path: str, span: Span | None, unread: bool | None = None, **words: object
    ) -> Invalid:
        """Collect a finding; return the exception for a value that aeon refuses.

        A word that is a function is called only if the finding is kept. unread: whether aeon does
        not read this part, so that an error in it is a warning; by default the path says it.
        """
        if unread is None:
            unread = self._is_unread(code, path)
        severity = RULES.severity(code)
        is_error = severity is Severity.ERROR and not unread
        findings = self.more_errors if is_error else self.others
        if findings.count(code) >= findings.keep:
            findings.add(self._last[code, is_error])
            return Invalid()
        made = {name: word() if callable(word) else word for name, word in words.items()}
        made = {"where": titled(path), "hint": "", **made}
        found = finding_at(code, _place(self._source, path, span), **made)
        if severity is Severity.ERROR and unread:
            why = "aeon does not read this part, so it does not complain"
            hint = f"{found.hint}; {why}" if found.hint else why
            found = replace(found, severity=Severity.WARNING, hint=hint)
        if is_error and self.error is None:
            self.error, self.refused = found, path
        else:
            findings.add(found)
            self._last[code, is_error] = found
        return Invalid()

    def settings(self, node: Node, table: str, path: str) -> Settings:
        """Read an object by a table; raise Invalid for any other value."""
        if not isinstance(node.content, dict):
            raise self._refuse_type(path, node, "an object")
        given: dict[str, Value] = {}
        settings = Settings(table, self.dialect, given)
        known = settings.members
        # aeon notices an unknown member at the next plain value, in alphabetical order.
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
                hint = partial(_missing_hint, node, declared, known)
                inner, where = member_path(path, name), titled(path)
                self.report("aeon-missing", inner, _start(node), where=where, name=name, hint=hint)
        return settings

    def _is_unread(self, code: str, path: str) -> bool:
        """Whether aeon never reads the value at a path: most parts of augmentation objects."""
        if not path.startswith("augmentation[") or code == "aeon-unknown":
            return False
        if not path.startswith("augmentation[0]"):
            # aeon looks for the type of every object, whether it uses the object or not.
            return code != "aeon-missing" or ".frame" in path
        inner = path.removeprefix("augmentation[0]")
        if not inner or not self._is_image:
            return False
        if re.match(r"\.frame\b", inner):
            return "video" not in self._etl_types or inner.startswith(".frame.frame")
        return IMAGES.isdisjoint(self._etl_types)

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
        hint = partial(_value_hint, member, value)
        if not constraint.allows(value):
            raise self._refuse_range(path, node, constraint, hint)
        if not constraint.allows_order(value):
            shown = partial(_shown, node)
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
            self.report("aeon-converted", path, node.span, given=_shown(node), value=number)
            return number
        if not isinstance(content, int | float):
            raise self._refuse_type(path, node, "a number")
        if kind == "double":
            return float(content)
        if kind == "float":
            value = float32(float(content))
            if math.isinf(value):
                fits = "a number that 32 bits can hold"
                raise self._refuse_range(path, node, fits, "write a smaller number")
            return value
        converted = integer(content, kind)
        if converted != content:
            given = partial(_shown, node)
            self.report("aeon-converted", path, node.span, given=given, value=converted)
        return converted

    def _objects(self, table: str, node: Node, path: str) -> Value:
        if not isinstance(node.content, tuple):
            raise self._refuse_type(path, node, "a list of objects")
        read: list[Value] = []
        for number, item in enumerate(node.content):
            inner = f"{path}[{number}]"
            if table == "augmentation" and number:
                self.report("aeon-unused", inner, _start(item), why="it uses object 0 alone")
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
        """Return the `type` of an object; raise Invalid if it has none."""
        if not isinstance(node.content, dict):
            raise self._refuse_type(path, node, "an object")
        inner = member_path(path, "type")
        if "type" not in node.content:
            hint = "add it: the kind of data"
            raise self.report(
                "aeon-missing", inner, _start(node), where=path, name="type", hint=hint
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
            self.report("aeon-surplus", path, _start(node), why=why, hint=hint)
        elif is_first and users.isdisjoint(self._etl_types):
            why = f"no etl object has a type that uses {name!r}"
            self.report("aeon-unused", path, _start(node), why=why, hint=hint)
        elif is_first and {*IMAGES, "audio"}.isdisjoint(self._etl_types):
            others = [each for each in node.members if each not in ("type", "frame")]
            for other in others[:1]:
                why = "video uses only the 'frame' in it"
                inner, hint = f"{path}.{other}", "move the members into 'frame', with a 'type'"
                self.report("aeon-unused", inner, node.members[other].name, why=why, hint=hint)
        return node if table is None else self.settings(node, f"augmentation {name}", path)

    def _refuse_range(self, path: str, node: Node, constraint: object, hint: object) -> Invalid:
        value = partial(_shown, node)
        return self.report(
            "aeon-range", path, node.span, constraint=constraint, value=value, hint=hint
        )

    def _refuse_type(self, path: str, node: Node, expected: str) -> Invalid:
        hint = ""
        if node.content is None:
            hint = "leave it out for the default"
        elif expected.startswith("a list") and not isinstance(node.content, tuple):
            hint = "put it in a list: [x] in JSON; [x] or (x,) in Python, where (x) is x itself"
        found = partial(_found, node)
        return self.report("aeon-type", path, node.span, expected=expected, found=found, hint=hint)


def _place(source: Source | str, path: str, span: Span | None) -> Place:
    """Return the place of a span in a text; by a path if there is only a name."""
    if isinstance(source, str):
        return Place(source, field=path or None)
    return Place.of(source.name) if span is None else Place.in_text(source, span)


def _types(tree: Node, name: str) -> list[str]:
    """Return the types of the objects in a list."""
    if name not in tree.members:
        return []
    types = (each.members.get("type") for each in tree.members[name].value.items)
    return [each.value.content for each in types if each and isinstance(each.value.content, str)]


def span_at(tree: Node, path: str) -> Span | None:
    """Return the span of the value at a path, or of the object that lacks it."""
    node = tree
    for name, index in re.findall(r"(\w+)|\[(\d+)\]", path):
        if index:
            node = node.items[int(index)]
        elif name in node.members:
            node = node.members[name].value
        else:
            break
    return _start(node)


def _value_hint(member: Member, value: Value) -> str:
    allowed = member.constraint.one_of if member.constraint else ()
    near = did_you_mean(str(value), [word for word in allowed if isinstance(word, str)])
    return near or (f"{member.name}: {member.about}" if member.about else "")


def _missing_hint(node: Node, declared: Member, known: Collection[str]) -> str:
    others = [name for name in node.members if name not in known][:_MOST_HINTS]
    near = nearest(declared.name, others)
    return f"rename {near!r}?" if near else f"add it: {declared.about}"


def _is_nested(node: Node) -> bool:
    return isinstance(node.content, tuple | dict)


def _start(node: Node) -> Span | None:
    """Return the span of a value; of an object its brace."""
    if node.span is None or not isinstance(node.content, dict):
        return node.span
    return Span(node.span.start, node.span.start + 1)


def _found(node: Node) -> str:
    if isinstance(node.content, tuple):
        return f"a list of {len(node.content)}"
    return {"object": "an object", "null": "null"}.get(node.kind, f"the {node.kind} {_shown(node)}")


def _shown(node: Node) -> str:
    """Return a value as JSON for a message, in at most 40 characters."""
    import json

    text = safe(json.dumps(node.plain(), ensure_ascii=False)[: _MOST_SHOWN + 1])
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}..."
