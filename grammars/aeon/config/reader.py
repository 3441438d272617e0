"""Read a tree of values as the settings of a version of aeon, and choose the version."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import NamedTuple

from exset.core.errors import Findings, FormatError
from exset.core.source import Source
from exset.core.text import counted
from exset.grammars.aeon.config.check import Check, Invalid, span_at
from exset.grammars.aeon.config.findings import PendingFinding, pending
from exset.grammars.aeon.config.lint import lint
from exset.grammars.aeon.config.schema_types import DIALECTS, TITLES, Dialect, dialect_of
from exset.grammars.aeon.config.settings import Settings
from exset.grammars.aeon.config.upgrade import upgraded
from exset.grammars.columns.tree import Node


class _Attempt(NamedTuple):
    """The result of reading as one version of aeon."""

    settings: Settings
    findings: list[PendingFinding]

    @property
    def errors(self) -> list[PendingFinding]:
        """The reasons for which that version refuses the configuration."""
        return [finding for finding in self.findings if finding.is_error]

    @property
    def error_count(self) -> int:
        """The number of errors, with those that are only counted."""
        return sum(finding.times for finding in self.errors)


def read(
    tree: Node, source: Source | str, *, dialect: Dialect | str | None, findings: Findings
) -> Settings:
    """Read a configuration; see `exset.parsers.aeon.config.parse`.

    `source` is the text of the tree, or a name if there is no text.
    """
    attempt = _best(tree) if dialect is None else _attempt(tree, dialect_of(dialect))
    errors = attempt.errors
    if not errors or not findings.strict:
        others = [each for each in attempt.findings if not each.is_error]
        for each in (*others, *errors[1:]):
            findings.add(each.finding(source), each.times)
    if not errors:
        return attempt.settings
    first, more = errors[0].finding(source), ""
    if attempt.error_count > 1:
        more = f" (and {counted(attempt.error_count - 1, 'more error')})"
    raise FormatError(first.message + more, place=first.place, hint=first.hint, code=first.code)


def _best(tree: Node) -> _Attempt:
    """Read as the first version that accepts a configuration, or has the fewest errors."""
    attempts: list[_Attempt] = []
    for dialect in DIALECTS:
        attempts.append(_attempt(tree, dialect))
        if not attempts[-1].errors:
            break
    else:
        new, changes = upgraded(tree)
        for dialect in DIALECTS if changes else ():
            settings, found = _attempt(new, dialect)
            attempts.append(_Attempt(settings, changes + found))
    best = min(attempts, key=lambda attempt: attempt.error_count)
    if best.errors or best.settings.dialect == DIALECTS[0]:
        return best
    first = attempts[0].errors[0]
    why = f"{TITLES[DIALECTS[0]]} refuses {first.path or 'it'}"
    title = TITLES[best.settings.dialect]
    note = pending("aeon-dialect", first.path, first.span, dialect=title, why=why)
    return _Attempt(best.settings, [note, *best.findings])


def _attempt(tree: Node, dialect: Dialect) -> _Attempt:
    check = Check(dialect, tree)
    try:
        settings = check.settings(tree, "loader", "")
    except Invalid:
        settings = Settings("loader", dialect, {})
    attempt = _Attempt(settings, list(check.findings))
    if attempt.errors:
        return attempt
    for each in lint(settings):
        check.findings.add(each.code, each.unread, partial(_placed, each, tree))
    return _Attempt(settings, list(check.findings))


def _placed(finding: PendingFinding, tree: Node) -> PendingFinding:
    return replace(finding, span=span_at(tree, finding.path))
