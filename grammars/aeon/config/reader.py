"""Read a tree of values as the settings of a version of aeon. If no version is given, choose it."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from exset.core.errors import Findings, FormatError
from exset.core.source import Source
from exset.grammars.aeon.config.check import Check
from exset.grammars.aeon.config.findings import Problem, finding_at
from exset.grammars.aeon.config.lint import lint
from exset.grammars.aeon.config.schema_types import DIALECTS, TITLES, Dialect, dialect_of
from exset.grammars.aeon.config.settings import Settings
from exset.grammars.aeon.config.upgrade import upgraded
from exset.grammars.columns.tree import DEEPEST, Node, node


def read(
    tree: Node, source: Source | str, *, dialect: Dialect | str | None, findings: Findings
) -> Settings:
    """Read a configuration as `exset.parsers.aeon.config.parse` does.

    source: the text of the tree, or a name if there is no text.
    """
    check = _best(tree, source) if dialect is None else _checked(tree, source, dialect_of(dialect))
    if check.error is None or not findings.strict:
        findings.add_all(check.notes)
        findings.add_all(check.others)
    if check.error is None:
        return check.loader
    raise FormatError.of(check.error, check.more_errors)


def _best(tree: Node, source: Source | str) -> Check:
    """Return the check of a configuration by the version of aeon that fits it best.

    This is the first version in `DIALECTS` that accepts the configuration, or else the version with
    the fewest errors. But a version that accepts it by ignoring members is not chosen if an earlier
    version in `DIALECTS` refuses only these members.

    If another version than aeon's last version is chosen, a note says why the last version refuses
    the configuration. If no version accepts the configuration, exset also upgrades outdated
    members, and reads the result.
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
    accepting = min(checks, key=_error_count)
    best = accepting
    if accepting.error is None:
        best = min(_deciding(accepting, checks), key=_error_count, default=accepting)
        if best.error is not None:
            other = f"{TITLES[accepting.dialect]} ignores this member; to read the file as that "
            other += f"version does, choose the dialect `{accepting.dialect}`"
            hint = "; ".join(filter(None, (best.error.hint, other)))
            best.error = replace(best.error, hint=hint)
    last = checks[0]
    if best.error is None and last.error is not None and best.dialect != last.dialect:
        why = f"{TITLES[last.dialect]} rejects {last.refused or 'it'}"
        words = {"dialect": TITLES[best.dialect], "why": why, "hint": ""}
        best.notes.add(finding_at("aeon-dialect", last.error.place, **words))
    return best


def _error_count(check: Check) -> int:
    return check.error_count


def _deciding(best: Check, checks: Sequence[Check]) -> Iterator[Check]:
    """Yield the checks by earlier versions that refuse only values that `best` ignores.

    Versions are in the order of `DIALECTS`. Such a version accepts the configuration without these
    values. So the user most likely meant that version, and `best` must not be chosen only because
    it ignores the values.
    """
    preferred = DIALECTS[: DIALECTS.index(best.dialect)]
    if any(each.dialect in preferred for each in checks):
        kept = node(best.loader.to_dict(), depth=DEEPEST)
        accepting = [each for each in preferred if _checked(kept, "", each).error is None]
        yield from (each for each in checks if each.dialect in accepting)


def _checked(
    tree: Node, source: Source | str, dialect: Dialect, changes: Sequence[Problem] = ()
) -> Check:
    """Read a configuration as one version of aeon does, and check it.

    changes: the changes that `upgraded` made in `tree`. Each becomes a finding.
    """
    check = Check(tree, source, dialect)
    for change in changes:
        check.add(change)
    check.read()
    if check.error is None:
        for problem in lint(check.loader):
            check.add(problem)
    return check
