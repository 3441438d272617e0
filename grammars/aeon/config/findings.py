"""What is wrong with loader configurations, and what aeon accepts but people are caught by.

A code is stable: programs may select findings by it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final

from exset.core.errors import Finding, Place, Severity
from exset.core.source import Source, Span
from exset.grammars.columns.findings import Rule

_NOTE, _WARNING, _ERROR = Severity.NOTE, Severity.WARNING, Severity.ERROR
_WRITE: Final = "write the number that is meant"

RULES: Final[Mapping[str, Rule]] = MappingProxyType(
    {
        "aeon-missing": Rule(_ERROR, "{where} has no {name!r}, which must be given", "{hint}"),
        "aeon-unknown": Rule(_ERROR, "{where} has no member {name!r} in {dialect}", "{hint}"),
        "aeon-type": Rule(_ERROR, "{where} must be {wanted}, and is {found}", "{hint}"),
        "aeon-range": Rule(_ERROR, "{where} must be {rule}, and is {value}", "{hint}"),
        "aeon-order": Rule(_ERROR, "{where} must be in ascending order, and is {value}", "{hint}"),
        "aeon-etl-type": Rule(_ERROR, "{dialect} has no etl type {name!r}", "{hint}"),
        "aeon-rule": Rule(_ERROR, "{where}: {what}", "{hint}"),
        "aeon-refuses": Rule(_WARNING, "no aeon since April 2017 takes this: {what}", "{hint}"),
        "aeon-overlooked": Rule(
            _WARNING,
            "{where} has no member {name!r} in {dialect}, which does not notice: its value is a"
            " list or an object, and no plain value comes after it",
            "{hint}",
        ),
        "aeon-ignored": Rule(_WARNING, "aeon ignores {name!r} in {where}", "{hint}"),
        "aeon-unused": Rule(_WARNING, "aeon does not use {where}: {why}", "{hint}"),
        "aeon-surplus": Rule(_WARNING, "aeon ignores {where}: {why}", "{hint}"),
        "aeon-converted": Rule(_WARNING, "{where} is {given}: aeon takes it for {value}", _WRITE),
        "aeon-later": Rule(_WARNING, "{where}: aeon accepts it, then {what}", "{hint}"),
        "aeon-changed": Rule(_NOTE, "{what}", "{hint}"),
        "aeon-dialect": Rule(_NOTE, "this is read as {dialect} reads it: {why}", "{hint}"),
        "aeon-random": Rule(
            _WARNING,
            "random_seed is 0: since April 2017 that gives another order of records each time",
            "say another number for one order",
        ),
        "aeon-left-out": Rule(_WARNING, "{what}", "{hint}"),
        "aeon-lost": Rule(_ERROR, "{what}", "{hint}"),
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
        return RULES[self.code].severity is _ERROR and not self.unread

    def finding(self, places: "Places") -> Finding:
        """The finding, with its place."""
        kind = RULES[self.code]
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
