"""Parts of messages: hints for wrong members and values, and values as text."""

from collections.abc import Collection
from typing import Final

from exset.core.suggestions import did_you_mean, nearest
from exset.core.text import safe
from exset.grammars.aeon.config.schema import RENAMED, TABLES
from exset.grammars.aeon.config.schema_types import DIALECTS, TITLES, Dialect, Member
from exset.grammars.aeon.config.settings import Value
from exset.grammars.columns.tree import Node

_LONGEST: Final = 100
"""The longest name in characters that is compared with other names."""
_MOST_NAMES: Final = 14
_MOST_SHOWN: Final = 40
_MOST_UNKNOWN: Final = 100
"""The most unknown members that are compared with a missing member."""


def unknown_hint(name: str, table: str, dialect: Dialect) -> str:
    """Return a hint for a member that the version `dialect` of aeon does not know.

    name: the member. table: the key of the member's object in the schema.
    """
    if table == "loader" and name in RENAMED:
        return f"its name is {RENAMED[name]!r} since 2017"
    others = [TITLES[each] for each in DIALECTS if name in TABLES[table].members_of(each)]
    if others:
        return f"{' and '.join(others)} {'has' if len(others) == 1 else 'have'} it"
    known = TABLES[table].members_of(dialect)
    if near := did_you_mean(name, known):
        return near
    return f"known members: {', '.join(known)}" if len(known) < _MOST_NAMES else "remove it"


def value_hint(member: Member, value: Value) -> str:
    """Return a hint for a value that a member does not allow. Return "" if there is no hint."""
    allowed = member.constraint.one_of if member.constraint else ()
    near = did_you_mean(str(value), [word for word in allowed if isinstance(word, str)])
    return near or (f"{member.name}: {member.about}" if member.about else "")


def missing_hint(node: Node, declared: Member, known: Collection[str]) -> str:
    """Return a hint for a member that is missing in an object.

    node: the object. declared: the missing member. known: the names of the members that the object
    may have. Any other name in the object may be a misspelling of the missing member.
    """
    others = [name for name in node.members if name not in known][:_MOST_UNKNOWN]
    near = nearest(declared.name, others)
    return f"rename {near!r}?" if near else f"add this member: {declared.about}"


def found_text(node: Node) -> str:
    """Return a description of a value of the wrong type for a message, such as `a list of 3`."""
    if isinstance(node.content, tuple):
        return f"a list of {len(node.content)}"
    return {"object": "an object", "null": "null"}.get(
        node.kind, f"the {node.kind} {value_text(node)}"
    )


def value_text(node: Node) -> str:
    """Return a value as JSON for a message. After 40 characters, it is cut."""
    import json

    text = safe(json.dumps(node.plain(), ensure_ascii=False)[: _MOST_SHOWN + 1])
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}..."
