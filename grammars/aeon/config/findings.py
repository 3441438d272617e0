"""The findings of loader configurations: values that aeon refuses, ignores, converts or misuses.

A code is stable: programs may select findings by it.
"""

from typing import Final, NamedTuple

from exset.core.source import Span
from exset.grammars.columns.findings import Rules

RULES: Final = Rules("exset.grammars.aeon.config:configs.findings")
finding_at: Final = RULES.finding
"""Make a finding from its code, its place, and the values that fill in its message."""


class Problem(NamedTuple):
    """A problem with the value at a path. span: the span of the value, None if unknown."""

    code: str
    path: str
    what: str
    hint: str = ""
    span: Span | None = None


def titled(path: str) -> str:
    """Return the name of the object at a path, for messages."""
    return path or "the configuration"


def member_path(path: str, name: str) -> str:
    """Return the path of a member of the object at a path."""
    return f"{path}.{name}" if path else name
