"""The findings of loader configurations: what aeon refuses, ignores, converts, or fails on later.

A code is stable: programs may select findings by it.
"""

from typing import Final, NamedTuple

from exset.core.source import Span
from exset.grammars.columns.findings import Rules

RULES: Final = Rules("exset.grammars.aeon.config:configs.findings")
finding_at: Final = RULES.finding
"""Make a finding from its code, its place and the words of its message."""


class Problem(NamedTuple):
    """What is wrong with the value at a path. span: that of the value, if it is known."""

    code: str
    path: str
    what: str
    hint: str = ""
    span: Span | None = None


def titled(path: str) -> str:
    """Return what a message calls the object at a path."""
    return path or "the configuration"


def member_path(path: str, name: str) -> str:
    """Return the path of a member of the object at a path."""
    return f"{path}.{name}" if path else name
