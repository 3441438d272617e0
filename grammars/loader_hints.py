"""What may help with a name that aeon does not know."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from exset.grammars.loader_kinds import DIALECTS, TITLES, Dialect
from exset.grammars.loader_tables import TABLES

RENAMED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "minibatch_size": "batch_size",
        "macrobatch_size": "block_size",
        "augment": "augmentation",
        "shuffle_every_epoch": "shuffle_enable",
    }
)
"""Members of the loader in its first versions, and what they are called since."""


def distance(one: str, other: str) -> int:
    """How many characters must be put in, taken out or replaced (Levenshtein)."""
    row = list(range(len(other) + 1))
    for i, left in enumerate(one, 1):
        before, row[0] = row[0], i
        for j, right in enumerate(other, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (left != right))
    return row[-1]


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The name that is most like it, if it is nearer than half its length, as aeon has it."""
    if len(name) > 100:
        return None
    best = min(names, key=lambda each: distance(each, name), default=None)
    return best if best is not None and distance(best, name) < len(name) // 2 else None


def unknown_hint(name: str, table: str, dialect: Dialect) -> str:
    """What may help with a member that a dialect does not know."""
    known = TABLES[table].known(dialect)
    if table == "loader" and name in RENAMED:
        return f"it is called {RENAMED[name]!r} since 2017"
    others = [each for each in DIALECTS if name in TABLES[table].known(each)]
    if others:
        return f"{' and '.join(TITLES[each] for each in others)} knows it"
    if near := nearest(name, known):
        return f"did you mean {near!r}?"
    return f"it has {', '.join(known)}" if len(known) < 14 else "remove it"
