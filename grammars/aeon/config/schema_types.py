"""What a table of a loader configuration is made of: dialects, members, rules."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Final, Literal, TypeAlias, get_args

Dialect: TypeAlias = Literal["head", "seed", "between", "habana"]
"""A version of aeon. `head` is the last public state (2020), `seed` the commit f99a69a (April
2017), `between` all that versions between the two knew, `habana` the fork in Intel Gaudi's software
(2021 and later). What the last two give was never compared with the programs themselves."""

DIALECTS: Final[tuple[Dialect, ...]] = get_args(Dialect)
TITLES: Final[Mapping[Dialect, str]] = MappingProxyType(
    {
        "head": "aeon's last version",
        "seed": "aeon of April 2017",
        "between": "aeon of 2017 to 2020",
        "habana": "Habana's fork of aeon",
    }
)


def dialect_of(name: str) -> Dialect:
    """Return a dialect by its name; ValueError that lists the names there are."""
    for dialect in DIALECTS:
        if dialect == name:
            return dialect
    raise ValueError(f"no dialect is called {name!r}; there are {', '.join(DIALECTS)}")


Kind: TypeAlias = Literal[
    "string",
    "bool",
    "int32",
    "uint32",
    "size",
    "float",
    "strings",
    "floats",
    "doubles",
    "float_pair",
    "int_pair",
    "object",
    "objects",
    "any",
]
"""The C++ type behind a member: a pair is the ends of a distribution, `size` a size_t."""

Plain: TypeAlias = str | int | float | bool | tuple[str, ...] | tuple[float, ...] | None
"""A default: None where there is none to name."""


class Required:
    """Stands for the default of a member that must be given."""


REQUIRED: Final = Required()


@dataclass(frozen=True)
class Rule:
    """What a value must be: within bounds (a pair with both ends), or one of some words.

    low, high: inclusive; above: exclusive. ordered: whether a pair must not go down.
    """

    low: float | None = None
    high: float | None = None
    above: float | None = None
    one_of: tuple[str, ...] | tuple[int, ...] = ()
    ordered: bool = False

    def allows(self, value: object) -> bool:
        """Whether a converted value keeps the rule."""
        if self.one_of:
            return value in self.one_of
        ends = value if isinstance(value, tuple) else (value,)
        numbers = [end for end in ends if isinstance(end, int | float)]
        if self.ordered and sorted(numbers) != numbers:
            return False
        return all(
            (self.low is None or number >= self.low)
            and (self.high is None or number <= self.high)
            and (self.above is None or number > self.above)
            for number in numbers
        )

    def __str__(self) -> str:
        if self.one_of:
            return f"one of {', '.join(map(str, self.one_of))}"
        if self.low is not None and self.high is not None:
            said = f"from {self.low:g} to {self.high:g}"
        elif self.low is not None:
            said = f"{self.low:g} or more"
        elif self.above is not None:
            said = f"above {self.above:g}"
            said += "" if self.high is None else f" and at most {self.high:g}"
        else:
            said = ""
        return " and ".join(filter(None, (said, "in ascending order" if self.ordered else "")))


@dataclass(frozen=True)
class Member:
    """A member of an object; `dialects` are those that know it, `table` what an object in it is."""

    name: str
    kind: Kind
    default: Plain | Required
    about: str
    rule: Rule | None = None
    dialects: tuple[Dialect, ...] = DIALECTS
    table: str | None = None

    @property
    def required(self) -> bool:
        """Whether it must be given."""
        return isinstance(self.default, Required)


@dataclass(frozen=True, eq=False)
class Table:
    """An object: its members, in aeon's order. lax: whether aeon ignores others than these."""

    name: str
    members: tuple[Member, ...]
    dialects: tuple[Dialect, ...] = DIALECTS
    lax: bool = False

    def known(self, dialect: Dialect) -> Mapping[str, Member]:
        """The members that a dialect knows, by name."""
        return _known(self, dialect)


@cache
def _known(table: Table, dialect: Dialect) -> Mapping[str, Member]:
    members = (member for member in table.members if dialect in member.dialects)
    return MappingProxyType({member.name: member for member in members})
