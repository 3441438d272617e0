"""Read a tree of values as the settings of a version of aeon, and choose the version."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from exset.core.errors import Finding, Findings, FormatError
from exset.core.source import Source
from exset.core.text import counted
from exset.grammars.aeon.config.check import Check
from exset.grammars.aeon.config.findings import Problem, finding_at
from exset.grammars.aeon.config.lint import lint
from exset.grammars.aeon.config.schema_types import DIALECTS, TITLES, Dialect, dialect_of
from exset.grammars.aeon.config.settings import Settings
from exset.grammars.aeon.config.upgrade import upgraded
from exset.grammars.columns.tree import Node


def read(
    tree: Node, source: Source | str, *, dialect: Dialect | str | None, findings: Findings
) -> Settings:
    """Read a configuration; see `exset.parsers.aeon.config.parse`.

    `source` is the text of the tree, or a name if there is no text.
    """
    note = None
    if dialect is None:
        check, note = _best(tree, source)
    else:
        check = _checked(tree, source, dialect_of(dialect))
    first = next(iter(check.errors), None)
    if first is None or not findings.strict:
        if note is not None:
            findings.add(note)
        _add_all(check.others, findings)
        _add_all(check.errors, findings, skipped=1)
    if first is None:
        return check.loader
    message, more = first.message, check.errors.count() - 1
    if more:
        message += f" (and {counted(more, 'more error')})"
    raise FormatError(message, place=first.place, hint=first.hint, code=first.code)


def _add_all(found: Findings, findings: Findings, skipped: int = 0) -> None:
    """Add the findings of one collection to another, except the first `skipped` ones.

    The last of each code represents those that are only counted.
    """
    kept = list(found)
    last = {finding.code: rank for rank, finding in enumerate(kept)}
    kept_count = Counter(finding.code for finding in kept)
    for rank, finding in enumerate(kept[skipped:], skipped):
        code = finding.code
        more = found.count(code) - kept_count[code] if last[code] == rank else 0
        findings.add(finding, 1 + more)


def _best(tree: Node, source: Source | str) -> tuple[Check, Finding | None]:
    """Read as the first version that accepts a configuration, or has the fewest errors.

    A note says why it is not the last version.
    """
    checks: list[Check] = []
    for dialect in DIALECTS:
        checks.append(_checked(tree, source, dialect))
        if not checks[-1].errors:
            break
    else:
        new, changes = upgraded(tree)
        if changes:
            checks += [_checked(new, source, dialect, changes) for dialect in DIALECTS]
    best = min(checks, key=lambda check: check.errors.count())
    if best.errors or best.dialect == DIALECTS[0]:
        return best, None
    last = checks[0]
    why = f"{TITLES[last.dialect]} refuses {last.refused or 'it'}"
    place = next(iter(last.errors)).place
    return best, finding_at("aeon-dialect", place, dialect=TITLES[best.dialect], why=why, hint="")


def _checked(
    tree: Node, source: Source | str, dialect: Dialect, changes: Sequence[Problem] = ()
) -> Check:
    """Read as one version of aeon. changes: what `upgraded` has changed."""
    check = Check(tree, source, dialect)
    for change in changes:
        check.add(change)
    check.read()
    if not check.errors:
        for problem in lint(check.loader):
            check.add(problem)
    return check
