"""The findings of loader configurations: what aeon refuses, ignores, converts, or fails on later.

A code is stable: programs may select findings by it.
"""

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import Final, NamedTuple

from exset.core.errors import Severity
from exset.core.source import Span
from exset.grammars.columns.findings import Rule, make_finding

_NOTE, _WARNING, _ERROR = Severity.NOTE, Severity.WARNING, Severity.ERROR
_HINT: Final = "{hint}"

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


finding_at: Final = partial(make_finding, RULES)
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
