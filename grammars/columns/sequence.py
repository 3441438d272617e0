"""The base class of models: a model is a sequence of units, such as examples or records."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from itertools import compress, count, islice
from typing import Generic, SupportsIndex, TypeVar, overload

from exset.core.suggestions import did_you_mean
from exset.core.text import out_of_bounds

Unit = TypeVar("Unit", covariant=True)
Some = TypeVar("Some", covariant=True)


class UnitSequence(ABC, Generic[Unit, Some]):
    """A sequence of units, such as records. An index returns a unit, and a slice returns several
    units.

    The type variable `Some` is the type of the result for a slice: the class of the model if it has
    `select`, else a tuple. Some subclasses also accept names.
    """

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of units."""

    @abstractmethod
    def __iter__(self) -> Iterator[Unit]:
        """Yield the units in order."""

    @abstractmethod
    def _unit(self, row: int) -> Unit:
        """Return the unit with this number, from 0 to the length - 1."""

    @abstractmethod
    def _some(self, rows: slice) -> Some:
        """Return the units of a slice."""

    @overload
    def __getitem__(self, index: SupportsIndex) -> Unit: ...
    @overload
    def __getitem__(self, index: slice) -> Some: ...
    def __getitem__(self, index: SupportsIndex | slice) -> Unit | Some:
        """Return a unit. For a slice, return several units.

        Raises IndexError for an index out of bounds, and TypeError for another type of index.
        """
        return self._some(index) if isinstance(index, slice) else self._unit(self._row(index))

    def _row(self, index: SupportsIndex) -> int:
        """Return the number of a unit, counted from the start. The index -1 means the last unit.

        Raises IndexError for an index out of bounds, and TypeError for an index that is not an
        integer.
        """
        name = type(self).__name__
        try:
            return range(len(self))[index]
        except IndexError:
            raise IndexError(f"{name}: {out_of_bounds('index', index, len(self))}") from None
        except TypeError:
            kind = type(index).__name__
            how = 'write [0], [2:5] or ["name"]'
            raise TypeError(f"{name}: an index cannot be {kind}; {how}") from None


class NamedSequence(UnitSequence[Unit, Some]):
    """A sequence of units that have names."""

    @abstractmethod
    def unit_names(self) -> Iterator[bytes]:
        """Yield the name of each unit. Yield b"" for a unit without a name."""

    @overload
    def __getitem__(self, index: SupportsIndex | str | bytes) -> Unit: ...
    @overload
    def __getitem__(self, index: slice) -> Some: ...
    def __getitem__(self, index: SupportsIndex | str | bytes | slice) -> Unit | Some:
        """Return a unit by its index or its name. For a slice, return several units.

        A name is compared with all names: to look up many names, make a dict first. Raises KeyError
        for an unknown name and for a name that several units have, IndexError for an index out of
        bounds, and TypeError for another type of index.
        """
        if isinstance(index, str):
            index = index.encode("utf-8", "surrogateescape")
        if isinstance(index, bytes):
            return self._unit(self._named(index))
        return super().__getitem__(index)

    def __contains__(self, item: object) -> bool:
        """Return whether a unit has the name `item` or equals `item`."""
        if isinstance(item, str):
            item = item.encode("utf-8", "surrogateescape")
        if isinstance(item, bytes):
            return item in self.unit_names()
        return any(unit == item for unit in self)

    def _named(self, name: bytes) -> int:
        """Return the number of the unit with this name.

        Raises KeyError if no unit, or several units, have this name.
        """
        if len(self):
            self._unit(0)  # which raises if the model does not know its units
        rows = list(islice(compress(count(), map(name.__eq__, self.unit_names())), 2))
        if len(rows) == 1:
            return rows[0]
        shown = name.decode("utf-8", "surrogateescape")
        if rows:
            first, second = rows
            raise KeyError(f"{shown!r} is the name of [{first}] and [{second}]: use an index")
        texts = (each.decode("utf-8", "surrogateescape") for each in self.unit_names())
        near = did_you_mean(shown, texts)
        kind = type(self).__name__
        raise KeyError(f"{kind}: no item has the name {shown!r}{near and f': {near}'}")
