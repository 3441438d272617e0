"""Rules: what findings there are. Each family has a table of rules by their stable codes."""

from collections.abc import Mapping
from typing import NamedTuple

from exset.core.errors import Finding, Place, Severity


class Rule(NamedTuple):
    """What all findings of one code share: their severity, message and hint (empty: none)."""

    severity: Severity
    message: str
    hint: str


def make_finding(
    rules: Mapping[str, Rule], code: str, place: Place | None, /, **words: object
) -> Finding:
    """Make a finding by the rule of a code; words fill in the message and the hint."""
    rule = rules[code]
    message, hint = rule.message.format(**words), rule.hint.format(**words) or None
    return Finding(code=code, severity=rule.severity, message=message, place=place, hint=hint)
