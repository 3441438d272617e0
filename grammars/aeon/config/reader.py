"""Read a tree of values as the settings of a version of aeon; choose the version if none is
given.
"""

from collections.abc import Sequence

from exset.core.errors import Findings, FormatError
from exset.core.source import Source
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
    check = _best(tree, source) if dialect is None else _checked(tree, source, dialect_of(dialect))
    if check.error is None or not findings.strict:
        findings.add_all(check.notes)
        findings.add_all(check.others)
    if check.error is None:
        return check.loader
    raise FormatError.of(check.error, check.more_errors)


def _best(tree: Node, source: Source | str) -> Check:
    """Read a configuration by the first version in `DIALECTS` that accepts it, or else by the
    version with the fewest errors.

    If an older version accepts it, a note says why aeon's last version refuses it.
    """
    checks: list[Check] = []
    for dialect in DIALECTS:
        checks.append(_checked(tree, source, dialect))
        if checks[-1].error is None:
            break
    else:
        new, changes = upgraded(tree)
        if changes:
            checks += [_checked(new, source, dialect, changes) for dialect in DIALECTS]
    best = min(checks, key=lambda check: check.error_count)
    last = checks[0]
    if best.error is None and last.error is not None and best.dialect != last.dialect:
        why = f"{TITLES[last.dialect]} rejects {last.refused or 'it'}"
        words = {"dialect": TITLES[best.dialect], "why": why, "hint": ""}
        best.notes.add(finding_at("aeon-dialect", last.error.place, **words))
    return best


def _checked(
    tree: Node, source: Source | str, dialect: Dialect, changes: Sequence[Problem] = ()
) -> Check:
    """Read a tree as one version of aeon does. changes: the changes that `upgraded` made, to
    report.
    """
    check = Check(tree, source, dialect)
    for change in changes:
        check.add(change)
    check.read()
    if check.error is None:
        for problem in lint(check.loader):
            check.add(problem)
    return check
