"""An object of a loader configuration: its own values, and the defaults of other members."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from exset.core.suggestions import did_you_mean
from exset.grammars.aeon.config.schema import TABLES
from exset.grammars.aeon.config.schema_types import Dialect, Kind, Member, Required
from exset.grammars.columns.tree import Node

Value: TypeAlias = "str | int | float | bool | Node | Settings | tuple[Value, ...] | None"
"""The value of a member: a number as in C++, a tuple for a pair or list, a `Node` for any JSON."""


@dataclass(frozen=True, eq=False)
class Settings:
    """An object of a configuration, as one version of aeon reads it.

    table: the object's key in `schema.TABLES`. given: the values in the configuration, {member:
    value}. Two objects are equal if all their values are equal, including defaults.
    """

    table: str
    dialect: Dialect
    given: Mapping[str, Value]

    @property
    def type(self) -> str:
        """The `type` of an etl or augmentation object. Other objects have the type ""."""
        return self.table.partition(" ")[2]

    @property
    def members(self) -> Mapping[str, Member]:
        """The members that the dialect knows, {name: member}."""
        return TABLES[self.table].members_of(self.dialect)

    def __getitem__(self, name: str) -> Value:
        """Return the value of a member. If it is missing, return its default. Raises KeyError for
        an unknown member.
        """
        if name in self.given:
            return self.given[name]
        if name not in self.members:
            near = did_you_mean(name, self.members)
            raise KeyError(f"no member has the name {name!r}{near and f': {near}'}")
        default = self.members[name].default
        if isinstance(default, Required):
            raise KeyError(name)
        return default

    def number(self, name: str) -> int:
        """Return the value of an integer member."""
        value = self[name]
        return value if isinstance(value, int) else 0

    def real(self, name: str) -> float:
        """Return the value of a member that is a number."""
        value = self[name]
        return float(value) if isinstance(value, int | float) else 0.0

    def reals(self, name: str) -> tuple[float, ...]:
        """Return the value of a member that is a list of numbers."""
        value = self[name]
        values = value if isinstance(value, tuple) else ()
        return tuple(float(each) for each in values if isinstance(each, int | float))

    def pair(self, name: str) -> tuple[float, float]:
        """Return the two numbers of a member. They are the bounds of a random distribution."""
        low, high = self.reals(name)
        return low, high

    def objects(self, name: str) -> "tuple[Settings, ...]":
        """Return the objects of a member. Its value is a list of objects, or one object."""
        value = self[name]
        values = value if isinstance(value, tuple) else (value,)
        return tuple(each for each in values if isinstance(each, Settings))

    def values(self) -> Iterator[tuple[Member, Value]]:
        """Yield each member and its value, in aeon's order."""
        for name, member in self.members.items():
            yield member, self[name]

    def to_dict(self, *, defaults: bool = False) -> dict[str, object]:
        """Return the values in the configuration as a dict of plain Python values, `type` first.

        With `defaults`, add the default of every other member that has a default.
        """
        found: dict[str, object] = {"type": self.type} if self.type else {}
        values = {member.name: value for member, value in self.values() if value is not None}
        for name, value in (values if defaults else self.given).items():
            found[name] = plain(value, self.members[name].kind, defaults=defaults)
        return found

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Settings):
            return NotImplemented
        if (self.table, self.dialect) != (other.table, other.dialect):
            return False
        return all(value == other[member.name] for member, value in self.values())

    def __hash__(self) -> int:
        return hash((self.table, self.dialect))


def plain(value: Value, kind: Kind, *, defaults: bool = False) -> object:
    """Return a value as a plain Python value. A binary32 becomes the float with the fewest digits.

    kind: the value's kind in the schema. defaults: for an object, whether to add the defaults of
    other members.
    """
    if isinstance(value, Settings):
        return value.to_dict(defaults=defaults)
    if isinstance(value, Node):
        return value.plain()
    if isinstance(value, tuple):
        return [plain(each, kind, defaults=defaults) for each in value]
    if isinstance(value, float) and kind not in ("doubles", "any"):
        import numpy as np

        return float(str(np.float32(value)))
    return value
