"""A tree of values held against the tables of one version of aeon."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from exset.core.errors import safe
from exset.core.source import Span
from exset.grammars.aeon.config.findings import Doubt, titled
from exset.grammars.aeon.config.numbers import float32, whole
from exset.grammars.aeon.config.schema import AUGMENTATION, TABLES, etl_types
from exset.grammars.aeon.config.schema_types import TITLES, Dialect, Kind, Member
from exset.grammars.aeon.config.settings import Settings, Value
from exset.grammars.aeon.config.suggestions import nearest, unknown_hint
from exset.grammars.columns.tree import Node

IMAGES: Final = frozenset(
    ("image", "pixelmask", "boundingbox", "localization", "localization_rcnn", "localization_ssd")
)
"""The etl types that the members of an image augmentation are for."""

_PAIR: Final = 2
_PARTS: Final[Mapping[Kind, Kind]] = {
    "strings": "string",
    "doubles": "doubles",
    "int_pair": "int32",
}
_SHOWN: Final = 40
_INSIDE: Final = ("array", "object")
_HINTED: Final = 100
"""How many findings there may be before hints are no longer looked for."""
_WORDS: Final[Mapping[Kind, str]] = {
    "string": "a string",
    "bool": "true or false",
    **dict.fromkeys(("int32", "uint32", "size", "float"), "a number"),
    "strings": "a list of strings",
    **dict.fromkeys(("floats", "doubles"), "a list of numbers"),
    **dict.fromkeys(("float_pair", "int_pair"), "a list of two numbers"),
    "object": "an object",
    "objects": "a list of objects",
}


class Wrong(Exception):
    """A value that is none: the reason has been noted."""


class Check:
    """Reads objects by their tables, and notes all that is wrong."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self.doubts: list[Doubt] = []
        self.spans: dict[str, Span | None] = {}
        self._unread = False
        self._users: frozenset[str] = frozenset()

    def doubt(self, code: str, path: str, **words: object) -> None:
        """Note something about what stands at a path."""
        at = path
        while at and at not in self.spans:  # what is missing has the place of what it should be in
            at = at[: max(at.rfind("."), at.rfind("["), 0)]
        self.doubts.append(Doubt(code, path, self.spans.get(at), words, self._unread))

    def loader(self, tree: Node) -> Settings:
        """The settings of a whole configuration."""
        if "etl" in tree.members:
            elements = tree.members["etl"].value.items
            types = (each.members["type"].value for each in elements if "type" in each.members)
            self._users = frozenset(each.content for each in types if isinstance(each.content, str))
        return self._settings(tree, "loader", "")

    def _settings(self, node: Node, table: str, path: str) -> Settings:
        self.spans[path] = node.span
        given: dict[str, Value] = {}
        settings = Settings(table, self.dialect, given)
        if not isinstance(node.content, dict):
            self._wrong(path, node, "an object")
            return settings
        known = settings.members
        # aeon notices an unknown member when the next plain value comes, in the order of names.
        plain = (each for each, member in node.content.items() if member.value.kind not in _INSIDE)
        last = max((each for each in plain if each != "type"), default="")
        for name, member in node.content.items():
            inner = f"{path}.{name}" if path else name
            if name == "type" and settings.type:
                continue
            if name not in known:
                self.spans[inner] = member.name
                self._unknown(table, path, name, name > last and member.value.kind in _INSIDE)
                continue
            self.spans[inner] = member.value.span
            unread = self._unread
            self._unread |= self._is_unread(table, path, name)
            try:
                given[name] = self._value(known[name], member.value, inner)
            except Wrong:
                pass
            finally:
                self._unread = unread
        if node.span is not None:  # the brace, not all of the object
            self.spans[path] = Span(node.span.start, node.span.start + 1)
        for name, member_ in known.items():
            if member_.required and name not in node.content:
                others = [each for each in node.content if each not in known]
                near = nearest(name, others[:_HINTED])
                hint = f"is it {near!r}?" if near else member_.about
                inner = f"{path}.{name}" if path else name
                self.doubt("aeon-missing", inner, where=titled(path), name=name, hint=hint)
        return settings

    def _unknown(self, table: str, path: str, name: str, overlooked: bool) -> None:
        words = {"where": titled(path), "name": name, "dialect": TITLES[self.dialect]}
        hint = unknown_hint(name, table, self.dialect) if len(self.doubts) < _HINTED else ""
        inner = f"{path}.{name}" if path else name
        if TABLES[table].lax:
            self.doubt("aeon-ignored", inner, **words, hint=hint)
        elif overlooked and self.dialect != "seed":
            self.doubt("aeon-overlooked", inner, **words, hint=hint)
        else:
            self.doubt("aeon-unknown", inner, **words, hint=hint)

    def _is_unread(self, table: str, path: str, name: str) -> bool:
        """Whether aeon never looks at a member of an augmentation object."""
        if table != "augmentation image":
            return False
        if path == "augmentation[0]":
            return not self._users & ({"video"} if name == "frame" else IMAGES)
        return name == "frame"

    def _value(self, member: Member, node: Node, path: str) -> Value:
        """The value of a member; Wrong."""
        kind = member.kind
        if kind == "any":
            return node
        if kind == "object":
            return self._object(member, node, path)
        if kind == "objects":
            return self._objects(member, node, path)
        value = self._plain(kind, node, path)
        if member.rule and not member.rule.allows(value):
            shown = _shown(node)
            near = None
            if isinstance(value, str):
                words = [word for word in member.rule.one_of if isinstance(word, str)]
                near = nearest(value, words) or next(
                    (word for word in words if word.lower() == value.lower()), None
                )
            hint = f"did you mean {near!r}?" if near else member.about
            if isinstance(value, tuple) and replace(member.rule, ordered=False).allows(value):
                self.doubt("aeon-order", path, where=path, value=shown, hint=hint)
                raise Wrong
            self.doubt("aeon-range", path, where=path, rule=member.rule, value=shown, hint=hint)
            raise Wrong
        return value

    def _plain(self, kind: Kind, node: Node, path: str) -> Value:
        content = node.content
        if kind == "string" and isinstance(content, str):
            return content
        if kind == "bool" and isinstance(content, bool):
            return content
        if kind in ("int32", "uint32", "size", "float"):
            return self._number(kind, node, path)
        if kind in ("string", "bool") or not isinstance(content, tuple):
            self._wrong(path, node, _WORDS[kind])
            raise Wrong
        each = _PARTS.get(kind, "float")
        if kind in ("float_pair", "int_pair"):
            if len(content) < _PAIR:
                self._wrong(path, node, _WORDS[kind])
                raise Wrong
            if len(content) > _PAIR:
                why = "a pair has two numbers"
                self.spans[f"{path}[{_PAIR}]"] = content[_PAIR].span
                self.doubt("aeon-surplus", f"{path}[{_PAIR}]", where=f"{path}[{_PAIR}]", why=why)
            content = content[:_PAIR]
        if each == "string":
            return tuple(
                self._plain("string", item, f"{path}[{i}]") for i, item in enumerate(content)
            )
        return tuple(self._number(each, item, f"{path}[{i}]") for i, item in enumerate(content))

    def _number(self, kind: Kind, node: Node, path: str) -> int | float:
        content = node.content
        if isinstance(content, bool) or not isinstance(content, int | float):
            self._wrong(path, node, "a number")
            raise Wrong
        if kind == "doubles":
            return float(content)
        if kind == "float":
            value = float32(float(content))
            if math.isinf(value):
                rule, hint = "a number that 32 bits hold", "check it"
                shown, self.spans[path] = _shown(node), node.span
                self.doubt("aeon-range", path, where=path, rule=rule, value=shown, hint=hint)
                raise Wrong
            return value
        converted = whole(content, kind)
        if converted != content:
            self.spans[path] = node.span
            self.doubt("aeon-converted", path, where=path, given=_shown(node), value=converted)
        return converted

    def _object(self, member: Member, node: Node, path: str) -> Value:
        if node.content is None and not member.required:
            return None
        if member.table == "augmentation":
            return self._augmentation(node, path)
        return self._settings(node, str(member.table), path)

    def _objects(self, member: Member, node: Node, path: str) -> Value:
        if not isinstance(node.content, tuple):
            self._wrong(path, node, "a list of objects")
            raise Wrong
        read: list[Value] = []
        for number, item in enumerate(node.content):
            inner = f"{path}[{number}]"
            self.spans[inner] = item.span
            try:
                read.append(self._element(member, item, inner, number))
            except Wrong:
                continue
        return tuple(read)

    def _element(self, member: Member, node: Node, path: str, number: int) -> Value:
        if member.table == "etl":
            return self._etl(node, path)
        if member.table != "augmentation":
            return None if node.content is None else self._settings(node, str(member.table), path)
        if number:
            self.doubt("aeon-unused", path, where=path, why="the first object alone is used")
        unread = self._unread
        self._unread |= number > 0
        try:
            return self._augmentation(node, path)
        finally:
            self._unread = unread

    def _type(self, node: Node, path: str) -> str:
        """The `type` of an object; Wrong."""
        if not isinstance(node.content, dict):
            self._wrong(path, node, "an object")
            raise Wrong
        self.spans[path] = node.span and Span(node.span.start, node.span.start + 1)
        if "type" not in node.content:
            inner, hint = f"{path}.type", "name the kind of data"
            # aeon looks for the type of every object, used or not.
            unread, self._unread = self._unread, self._unread and ".frame" in path
            self.doubt("aeon-missing", inner, where=path, name="type", hint=hint)
            self._unread = unread
            raise Wrong
        value = node.content["type"].value
        self.spans[f"{path}.type"] = value.span
        if not isinstance(value.content, str):
            self._wrong(f"{path}.type", value, "a string")
            raise Wrong
        return value.content

    def _etl(self, node: Node, path: str) -> Value:
        name, types = self._type(node, path), etl_types(self.dialect)
        if name in types:
            return self._settings(node, f"etl {name}", path)
        near = nearest(name, types)
        hint = f"did you mean {near!r}?" if near else f"there are {', '.join(types)}"
        title = TITLES[self.dialect]
        self.doubt("aeon-etl-type", f"{path}.type", dialect=title, name=name, hint=hint)
        raise Wrong

    def _augmentation(self, node: Node, path: str) -> Value:
        name = self._type(node, path)
        table = AUGMENTATION.get(name)
        is_frame = path.endswith(".frame")
        wanted = {"image": IMAGES | {"video"}, "audio": {"audio"}}.get(name, set())
        strange = table is None or self.dialect not in table.dialects
        if strange:
            why = f"its type is {name!r}"
        elif not is_frame and not self._users & wanted:
            why = f"no etl object is of a type that takes {name!r}"
        else:
            why = ""
        if strange or (why and not self._unread):
            code = "aeon-surplus" if strange else "aeon-unused"
            self.doubt(code, path, where=path, why=why, hint="images and boxes take 'image'")
        if table is None:
            return node
        if not why and path == "augmentation[0]" and not self._users & (IMAGES | {"audio"}):
            others = [each for each in node.members if each not in ("type", "frame")]
            if others:
                why = "video takes its augmentation from 'frame' within it"
                where, hint = f"{path}.{others[0]}", "move the members into 'frame', with a 'type'"
                self.spans[where] = node.members[others[0]].name
                self.doubt("aeon-unused", where, where=where, why=why, hint=hint)
        return self._settings(node, f"augmentation {name}", path)

    def _wrong(self, path: str, node: Node, wanted: str) -> None:
        self.spans[path] = node.span
        found, hint = _found(node), ""
        if node.content is None:
            hint = "leave it out for the default"
        elif wanted.startswith("a list") and not isinstance(node.content, tuple):
            hint = "put it in a list: JSON [x], Python [x] or (x,), for (x) is x itself"
        self.doubt("aeon-type", path, where=titled(path), wanted=wanted, found=found, hint=hint)


def _found(node: Node) -> str:
    if isinstance(node.content, tuple):
        return f"a list of {len(node.content)}"
    return {"object": "an object", "null": "null"}.get(node.kind, f"the {node.kind} {_shown(node)}")


def _shown(node: Node) -> str:
    """A value as it stands in a message."""
    import json

    text = safe(json.dumps(node.plain(), ensure_ascii=False)[: _SHOWN + 1])
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
