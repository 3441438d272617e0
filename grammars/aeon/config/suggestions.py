"""What may help with a name that aeon does not know."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from exset.grammars.aeon.config.schema import TABLES
from exset.grammars.aeon.config.schema_types import DIALECTS, TITLES, Dialect

RENAMED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "minibatch_size": "batch_size",
        "macrobatch_size": "block_size",
        "augment": "augmentation",
        "shuffle_every_epoch": "shuffle_enable",
    }
)
"""Members of the loader in its first versions, and what they are called since."""

_LONG: Final = 100
"""Characters of a name beyond which it is like no other."""


def distance(one: str, other: str) -> int:
    """How many characters must be put in, taken out, replaced, or swapped with the next."""
    older: list[int] = []
    old: list[int] = []
    row = list(range(len(other) + 1))
    for i, left in enumerate(one, 1):
        older, old, row = old, row, [i]
        for j, right in enumerate(other, 1):
            row.append(min(old[j] + 1, row[j - 1] + 1, old[j - 1] + (left != right)))
            if i > 1 and j > 1 and left == other[j - 2] and right == one[i - 2]:
                row[j] = min(row[j], older[j - 2] + 1)
    return row[-1]


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The name that is most like it, if at most half of it is wrong."""
    if len(name) > _LONG:
        return None
    near = (each for each in names if 2 * abs(len(each) - len(name)) <= len(name))
    best = min(((distance(each, name), each) for each in near), default=(_LONG, ""))
    return best[1] if 2 * best[0] <= len(name) else None


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
