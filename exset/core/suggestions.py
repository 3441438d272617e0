"""Suggestions for names that may be misspelled."""

from collections.abc import Iterable
from itertools import islice
from typing import Final

_LONGEST: Final = 100
"""How many characters a name may have; a longer name is not compared."""

_MOST: Final = 1_000
"""With how many names a name is compared at most."""


def similar(name: str, names: Iterable[str], most: int) -> list[str]:
    """Return up to `most` of the names that are like `name`, the most similar first.

    Upper and lower case make no difference.
    """
    if len(name) > _LONGEST:
        return []
    from difflib import get_close_matches

    lower = {each.lower(): each for each in islice(names, _MOST) if len(each) <= _LONGEST}
    return [lower[each] for each in get_close_matches(name.lower(), lower, most)]


def nearest(name: str, names: Iterable[str]) -> str | None:
    """Return the most similar of `names`, ignoring case. Return None if none is similar."""
    return next(iter(similar(name, names, 1)), None)


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """Return a hint with the most similar of `names`. Return "" if none is similar."""
    near = nearest(name, names)
    return f"did you mean {near!r}?" if near else ""
