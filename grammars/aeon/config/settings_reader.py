"""A tree of values as the settings of some version of aeon."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from exset.core.errors import Finding, Findings, FormatError
from exset.core.text import counted
from exset.grammars.aeon.config.check import Check
from exset.grammars.aeon.config.findings import Doubt, Places
from exset.grammars.aeon.config.rules import doubts
from exset.grammars.aeon.config.schema_types import DIALECTS, TITLES, Dialect, dialect_of
from exset.grammars.aeon.config.settings import Settings
from exset.grammars.aeon.config.upgrade import renewed
from exset.grammars.columns.tree import Node


@dataclass(frozen=True)
class _Attempt:
    """What came of reading as one version of aeon."""

    settings: Settings
    doubts: tuple[Doubt, ...]

    @property
    def errors(self) -> int:
        """How many reasons there are to refuse it."""
        return sum(doubt.is_error for doubt in self.doubts)


def read(
    tree: Node, places: Places, *, dialect: Dialect | str | None, findings: Findings | None
) -> Settings:
    """The settings of a configuration; see `exset.parsers.aeon.config.parse`."""
    findings = Findings() if findings is None else findings
    attempt = _best(tree) if dialect is None else _attempt(tree, dialect_of(dialect))
    errors = [doubt for doubt in attempt.doubts if doubt.is_error]
    if not errors or not findings.strict:
        _add(findings, [doubt for doubt in attempt.doubts if not doubt.is_error], places)
    if not errors:
        return attempt.settings
    if not findings.strict:
        _add(findings, errors[1:], places)
    first, others = errors[0].finding(places), len(errors) - 1
    more = f" (and {counted(others, 'more error')})" if others else ""
    raise FormatError(first.message + more, place=first.place, hint=first.hint, code=first.code)


def _add(findings: Findings, doubts: list[Doubt], places: Places) -> None:
    """Add findings; of those that are not kept the places are not looked up."""
    made: dict[str, Finding] = {}
    rest: Counter[str] = Counter()
    for doubt in doubts:
        if findings.count(doubt.code) < findings.keep:
            made[doubt.code] = doubt.finding(places)
            findings.add(made[doubt.code])
        else:
            if doubt.code not in made:
                made[doubt.code] = doubt.finding(places)
            rest[doubt.code] += 1
    for code, times in rest.items():
        findings.add(made[code], times)


def _best(tree: Node) -> _Attempt:
    """The first version that takes a configuration, else the one that has least against it."""
    attempts: list[_Attempt] = []
    for dialect in DIALECTS:
        attempts.append(_attempt(tree, dialect))
        if not attempts[-1].errors:
            break
    else:
        new, changes = renewed(tree)
        for dialect in DIALECTS if changes else ():
            again = _attempt(new, dialect)
            attempts.append(_Attempt(again.settings, (*changes, *again.doubts)))
    best = min(attempts, key=lambda attempt: attempt.errors)
    if best.errors or best.settings.dialect == DIALECTS[0]:
        return best
    first = next(doubt for doubt in attempts[0].doubts if doubt.is_error)
    why = f"{TITLES[DIALECTS[0]]} refuses {first.path or 'it'}"
    words = {"dialect": TITLES[best.settings.dialect], "why": why}
    note = Doubt("aeon-dialect", first.path, first.span, words)
    return _Attempt(best.settings, (note, *best.doubts))


def _attempt(tree: Node, dialect: Dialect) -> _Attempt:
    """Read a configuration as a version of aeon."""
    check = Check(dialect)
    settings = check.loader(tree)
    if not any(doubt.is_error for doubt in check.doubts):
        for code, path, words in doubts(settings):
            check.doubt(code, path, **words)
    return _Attempt(settings, tuple(check.doubts))
