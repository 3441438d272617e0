"""The types that declare a schema: dialects, kinds of values, constraints, members and tables."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, TypeAlias, get_args

Dialect: TypeAlias = Literal["head", "seed", "between", "habana"]
"""A version of aeon. `head` is the last public version (2020), `seed` the commit f99a69a (April
2017). `between` knows every member that a version between the two knew; `habana` is the fork in
Intel Gaudi's software (2021 and later). Only `head` and `seed` were compared with the programs."""

DIALECTS: Final[tuple[Dialect, ...]] = get_args(Dialect)
TITLES: Final[Mapping[str, str]] = {
    "head": "aeon's last version",
    "seed": "aeon of April 2017",
    "between": "aeon of 2017 to 2020",
    "habana": "Habana's fork of aeon",
}


def dialect_of(name: str) -> Dialect:
    """Return the dialect with this name. Raises ValueError, which lists the dialects, for an
    unknown name.
    """
    for dialect in DIALECTS:
        if dialect == name:
            return dialect
    raise ValueError(f"unknown dialect {name!r}; choose one of {', '.join(DIALECTS)}")


_Scalar: TypeAlias = Literal["string", "bool", "int32", "uint32", "size", "float", "double"]
_List: TypeAlias = Literal["strings", "floats", "doubles", "float_pair", "int_pair"]
Kind: TypeAlias = Literal[_Scalar, _List, "object", "objects", "any"]
"""The C++ type of a member: `size` is a size_t, a pair holds the bounds of a distribution."""


class KindRule(NamedTuple):
    """The rule for values of a kind, such as `int32`.

    expected: the description of a valid value, for messages. item: for a list, the kind of its
    items. size: for a list, the number of its items; 0 for any number.
    """

    expected: str
    item: Kind | None = None
    size: int = 0


KINDS: Final[Mapping[Kind, KindRule]] = {
    "string": KindRule("a string"),
    "bool": KindRule("true or false"),
    **dict.fromkeys(("int32", "uint32", "size", "float", "double"), KindRule("a number")),
    "strings": KindRule("a list of strings", "string"),
    "floats": KindRule("a list of numbers", "float"),
    "doubles": KindRule("a list of numbers", "double"),
    "float_pair": KindRule("a list of two numbers", "float", 2),
    "int_pair": KindRule("a list of two numbers", "int32", 2),
    "object": KindRule("an object"),
    "objects": KindRule("a list of objects"),
    "any": KindRule("any value"),
}

Plain: TypeAlias = str | int | float | bool | tuple[str, ...] | tuple[float, ...] | None
"""A default value; None for a member without a default."""


class Required:
    """The type of `REQUIRED`, the default of a member that a configuration must have."""


REQUIRED: Final = Required()


@dataclass(frozen=True)
class Constraint:
    """The values that a member allows: numbers within bounds, or the values in `one_of`.

    low, high: inclusive bounds. above: an exclusive lower bound. The bounds apply to both numbers
    of a pair. ordered: the second number of a pair must not be smaller than the first.
    """

    low: float | None = None
    high: float | None = None
    above: float | None = None
    one_of: tuple[str, ...] | tuple[int, ...] = ()
    ordered: bool = False

    def allows(self, value: object) -> bool:
        """Return whether the value is in `one_of`, or each of its numbers is within the bounds."""
        if self.one_of:
            return value in self.one_of
        return all(
            (self.low is None or number >= self.low)
            and (self.high is None or number <= self.high)
            and (self.above is None or number > self.above)
            for number in _numbers(value)
        )

    def allows_order(self, value: object) -> bool:
        """Return whether the numbers of a pair are in an allowed order."""
        numbers = _numbers(value)
        return not self.ordered or sorted(numbers) == numbers

    def __str__(self) -> str:
        if self.one_of:
            return f"one of {', '.join(map(str, self.one_of))}"
        most = "" if self.high is None else f", at most {self.high:g}"
        if self.low is None:
            return f"above {self.above:g}{most}"
        return f"from {self.low:g} to {self.high:g}" if most else f"{self.low:g} or more"


def _numbers(value: object) -> list[int | float]:
    values = value if isinstance(value, tuple) else (value,)
    return [each for each in values if isinstance(each, int | float)]


@dataclass(frozen=True)
class Member:
    """A member of an object.

    about: what the member means, in words. constraint: the values that it allows; None for all
    values of its kind. dialects: the dialects that know it. table: for a member that has objects,
    the name of their table.
    """

    name: str
    kind: Kind
    default: Plain | Required
    about: str
    constraint: Constraint | None = None
    dialects: tuple[Dialect, ...] = DIALECTS
    table: str | None = None

    @property
    def required(self) -> bool:
        """Whether a configuration must have this member."""
        return isinstance(self.default, Required)


class Table:
    """The members of an object, in aeon's order. lax: whether aeon ignores unknown members."""

    def __init__(
        self,
        name: str,
        *members: Member,
        dialects: tuple[Dialect, ...] = DIALECTS,
        lax: bool = False,
    ) -> None:
        """Declare an object. name: the value of its member `type`, if it has one.

        dialects: the dialects that know the object. lax: whether aeon ignores unknown members of
        the object.
        """
        self.name = name
        self.dialects = dialects
        self.lax = lax
        self._members: Mapping[Dialect, Mapping[str, Member]] = {
            dialect: {m.name: m for m in members if dialect in m.dialects} for dialect in DIALECTS
        }

    def members_of(self, dialect: Dialect) -> Mapping[str, Member]:
        """Return {name: member} of the members that a dialect knows."""
        return self._members[dialect]
