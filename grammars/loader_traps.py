"""What is wrong with loader configurations, and what aeon accepts but people are caught by.

A code is stable: programs may select findings by it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final

from exset.errors import Finding, Place, Severity
from exset.grammars.traps import Trap
from exset.source import Source, Span

_NOTE, _WARNING, _ERROR = Severity.NOTE, Severity.WARNING, Severity.ERROR
_WRITE: Final = "write the number that is meant"

TRAPS: Final[Mapping[str, Trap]] = MappingProxyType(
    {
        "aeon-missing": Trap(_ERROR, "{where} has no {name!r}, which must be given", "{hint}"),
        "aeon-unknown": Trap(_ERROR, "{where} has no member {name!r} in {dialect}", "{hint}"),
        "aeon-type": Trap(_ERROR, "{where} must be {wanted}, and is {found}", "{hint}"),
        "aeon-range": Trap(_ERROR, "{where} must be {rule}, and is {value}", "{hint}"),
        "aeon-order": Trap(_ERROR, "{where} must be in ascending order, and is {value}", "{hint}"),
        "aeon-etl-type": Trap(_ERROR, "{dialect} has no etl type {name!r}", "{hint}"),
        "aeon-rule": Trap(_ERROR, "{where}: {what}", "{hint}"),
        "aeon-refuses": Trap(_WARNING, "no aeon since April 2017 takes this: {what}", "{hint}"),
        "aeon-overlooked": Trap(
            _WARNING,
            "{where} has no member {name!r} in {dialect}, which does not notice: its value is a"
            " list or an object, and no plain value comes after it",
            "{hint}",
        ),
        "aeon-ignored": Trap(_WARNING, "aeon ignores {name!r} in {where}", "{hint}"),
        "aeon-unused": Trap(_WARNING, "aeon does not use {where}: {why}", "{hint}"),
        "aeon-surplus": Trap(_WARNING, "aeon ignores {where}: {why}", "{hint}"),
        "aeon-converted": Trap(_WARNING, "{where} is {given}: aeon takes it for {value}", _WRITE),
        "aeon-later": Trap(_WARNING, "{where}: aeon accepts it, then {what}", "{hint}"),
        "aeon-changed": Trap(_NOTE, "{what}", "{hint}"),
        "aeon-dialect": Trap(_NOTE, "this is read as {dialect} reads it: {why}", "{hint}"),
        "aeon-random": Trap(
            _WARNING,
            "random_seed is 0: since April 2017 that gives another order of records each time",
            "say another number for one order",
        ),
        "aeon-left-out": Trap(_WARNING, "{what}", "{hint}"),
        "aeon-lost": Trap(_ERROR, "{what}", "{hint}"),
    }
)


@dataclass(frozen=True)
class Doubt:
    """A finding to be: of which kind, where, in which words. unread: in what aeon never reads."""

    code: str
    path: str
    span: Span | None
    words: Mapping[str, object] = field(default_factory=dict)
    unread: bool = False

    @property
    def is_error(self) -> bool:
        """Whether it makes the configuration one that aeon refuses."""
        return TRAPS[self.code].severity is _ERROR and not self.unread

    def finding(self, places: "Places") -> Finding:
        """The finding, with its place."""
        kind = TRAPS[self.code]
        hint = kind.hint.format(**{"hint": "", **self.words}) or None
        message, place = kind.message.format(**self.words), places.at(self.span, self.path)
        found = Finding(self.code, kind.severity, message, place, hint)
        if not self.unread or kind.severity is not _ERROR:
            return found
        unread = "aeon does not read this part, and so does not complain"
        return replace(found, severity=_WARNING, hint="; ".join(filter(None, (hint, unread))))


@dataclass(frozen=True)
class Places:
    """Where members stand: in a text, or, if there is only the name of a source, by their path."""

    source: Source | str

    def at(self, span: Span | None, path: str) -> Place:
        """The place of a member."""
        if isinstance(self.source, str):
            return Place(self.source, field=path or None)
        if span is None:
            return Place.of(self.source.name)
        return Place.in_text(self.source, span)


def titled(path: str) -> str:
    """What a message calls the object at a path."""
    return path or "the configuration"
