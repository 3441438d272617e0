"""The findings of loader configurations: what aeon refuses, ignores, converts, or fails on later.

A code is stable: programs may select findings by it.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from exset.core.errors import Finding, Place, Severity
from exset.core.source import Source, Span
from exset.grammars.columns.findings import Rule, make_finding

_NOTE, _WARNING, _ERROR = Severity.NOTE, Severity.WARNING, Severity.ERROR
_HINT: Final = "{hint}"
_KEPT: Final = 100
"""Findings of one code that are kept."""

RULES: Final[Mapping[str, Rule]] = MappingProxyType(
    {
        "aeon-missing": Rule(_ERROR, "{where} lacks the required member {name!r}", _HINT),
        "aeon-unknown": Rule(_ERROR, "unknown member {name!r} of {where} in {dialect}", _HINT),
        "aeon-type": Rule(_ERROR, "{where} must be {expected}, not {found}", _HINT),
        "aeon-range": Rule(_ERROR, "{where} must be {constraint}, not {value}", _HINT),
        "aeon-order": Rule(_ERROR, "{where} must be in ascending order, not {value}", _HINT),
        "aeon-etl-type": Rule(_ERROR, "unknown etl type {name!r} in {dialect}", _HINT),
        "aeon-rule": Rule(_ERROR, "aeon refuses {where}: {what}", _HINT),
        "aeon-refuses": Rule(_WARNING, "{what}: aeon has refused this since April 2017", _HINT),
        "aeon-overlooked": Rule(
            _WARNING,
            "{dialect} ignores the unknown member {name!r} of {where}: its value is a list or an"
            " object, and no plain value follows it in alphabetical order",
            _HINT,
        ),
        "aeon-ignored": Rule(
            _WARNING, "aeon ignores the unknown member {name!r} of {where}", _HINT
        ),
        "aeon-unused": Rule(_WARNING, "aeon does not use {where}: {why}", _HINT),
        "aeon-surplus": Rule(_WARNING, "aeon ignores {where}: {why}", _HINT),
        "aeon-converted": Rule(
            _WARNING,
            "{where} is {given}: aeon reads it as {value}",
            "write the number that you mean",
        ),
        "aeon-later": Rule(_WARNING, "aeon accepts {where}, then {what}", _HINT),
        "aeon-changed": Rule(_NOTE, "{what}", _HINT),
        "aeon-dialect": Rule(_NOTE, "the configuration is read as one of {dialect}: {why}", _HINT),
        "aeon-random": Rule(
            _WARNING,
            "random_seed is 0: since April 2017 the order of records then differs in each run",
            "set another number for a fixed order",
        ),
        "aeon-left-out": Rule(_WARNING, "{what}", _HINT),
        "aeon-lost": Rule(_ERROR, "{what}", _HINT),
    }
)


@dataclass(frozen=True)
class PendingFinding:
    """A finding whose place has not been looked up yet.

    unread: in a part that aeon never reads. times: how many findings of its code it represents.
    """

    code: str
    path: str
    span: Span | None
    words: Mapping[str, object]
    unread: bool = False
    times: int = 1

    @property
    def is_error(self) -> bool:
        """Whether aeon refuses the configuration for it."""
        return RULES[self.code].severity is _ERROR and not self.unread

    def finding(self, source: Source | str) -> Finding:
        """Return the finding, placed in a text, or by its path if there is only a name."""
        if isinstance(source, str):
            place = Place(source, field=self.path or None)
        elif self.span is None:
            place = Place.of(source.name)
        else:
            place = Place.in_text(source, self.span)
        words = {"where": titled(self.path), "hint": "", **self.words}
        found = make_finding(RULES, self.code, place, **words)
        if found.severity is not _ERROR or self.is_error:
            return found
        unread = "aeon does not read this part, so it does not complain"
        hint = f"{found.hint}; {unread}" if found.hint else unread
        return replace(found, severity=_WARNING, hint=hint)


class PendingFindings:
    """A collection of findings: all are counted, and the first of each code are kept."""

    def __init__(self) -> None:
        self._kept: list[PendingFinding] = []
        self._counts: Counter[tuple[str, bool]] = Counter()

    def add(self, code: str, unread: bool, make: Callable[[], PendingFinding]) -> None:
        """Add the finding that `make` builds; one that is only counted is not built."""
        self._counts[code, unread] += 1
        if self._counts[code, unread] <= _KEPT:
            self._kept.append(make())

    def __iter__(self) -> Iterator[PendingFinding]:
        """Yield the kept findings. The last one of a code represents those that were not kept."""
        last = {(each.code, each.unread): rank for rank, each in enumerate(self._kept)}
        for rank, each in enumerate(self._kept):
            key = each.code, each.unread
            more = self._counts[key] - _KEPT if last[key] == rank else 0
            yield replace(each, times=1 + max(more, 0))


def pending(code: str, path: str, span: Span | None = None, /, **words: object) -> PendingFinding:
    """Return a finding about the value at a path; `words` fill in its message and its hint."""
    return PendingFinding(code, path, span, words)


def titled(path: str) -> str:
    """Return what a message calls the object at a path."""
    return path or "the configuration"


def member_path(path: str, name: str) -> str:
    """Return the path of a member of the object at a path."""
    return f"{path}.{name}" if path else name
