"""Traps: kinds of findings, which tables of the families name by stable codes."""

from collections.abc import Mapping
from typing import NamedTuple

from exset.errors import Finding, Place, Severity


class Trap(NamedTuple):
    """One kind of finding: how bad it is, what it says and how to mend it, if that can be said."""

    severity: Severity
    message: str
    hint: str


def trap_of(
    traps: Mapping[str, Trap], code: str, place: Place | None, /, **words: object
) -> Finding:
    """The finding of a trap at a place, its message and its hint filled in with words."""
    kind = traps[code]
    message, hint = kind.message.format(**words), kind.hint.format(**words) or None
    return Finding(code=code, severity=kind.severity, message=message, place=place, hint=hint)
