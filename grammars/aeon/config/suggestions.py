"""Hints for names and words that aeon does not know."""

from collections.abc import Iterable
from typing import Final

from exset.grammars.aeon.config.schema import RENAMED, TABLES
from exset.grammars.aeon.config.schema_types import DIALECTS, TITLES, Dialect

_LONGEST: Final = 100
"""Characters of a name; a longer name is compared with no other."""
_MOST_NAMES: Final = 14


def nearest(name: str, names: Iterable[str]) -> str | None:
    """Return the most similar of some names, in any case, or None."""
    if len(name) > _LONGEST:
        return None
    from difflib import get_close_matches

    lower = {each.lower(): each for each in names}
    found = get_close_matches(name.lower(), lower, 1)
    return lower[found[0]] if found else None


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """Return a hint with the most similar of some names; empty if none is similar."""
    near = nearest(name, names)
    return f"did you mean {near!r}?" if near else ""


def unknown_hint(name: str, table: str, dialect: Dialect) -> str:
    """Return a hint for a member that a dialect does not know."""
    if table == "loader" and name in RENAMED:
        return f"its name is {RENAMED[name]!r} since 2017"
    others = [TITLES[each] for each in DIALECTS if name in TABLES[table].members_of(each)]
    if others:
        return f"{' and '.join(others)} {'has' if len(others) == 1 else 'have'} it"
    known = TABLES[table].members_of(dialect)
    if near := did_you_mean(name, known):
        return near
    return f"known members: {', '.join(known)}" if len(known) < _MOST_NAMES else "remove it"
