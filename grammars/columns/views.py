"""Sequences of views: objects that are created on access."""

from collections.abc import Callable, Iterator, Sequence
from typing import SupportsIndex, TypeVar, overload

from exset.core.text import out_of_bounds

V = TypeVar("V", covariant=True)


class Views(Sequence[V]):
    """A sequence of views. A view is created when it is read. A slice is a sequence of views, too.

    what: the name of the sequence in the messages of IndexError and TypeError for a wrong index.
    """

    def __init__(self, make: Callable[[int], V], numbers: range, what: str) -> None:
        self._make = make
        self._numbers = numbers
        self._what = what

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[V]:
        return map(self._make, self._numbers)

    @overload
    def __getitem__(self, index: SupportsIndex) -> V: ...
    @overload
    def __getitem__(self, index: slice) -> "Views[V]": ...
    def __getitem__(self, index: SupportsIndex | slice) -> "V | Views[V]":
        if isinstance(index, slice):
            return Views(self._make, self._numbers[index], self._what)
        try:
            number = self._numbers[index]
        except IndexError:
            message = f"{self._what}: {out_of_bounds('index', index, len(self))}"
            raise IndexError(message) from None
        except TypeError:
            kind = type(index).__name__
            raise TypeError(f"{self._what}: expected an integer or a slice, not {kind}") from None
        return self._make(number)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Views):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    def __repr__(self) -> str:
        head = [repr(view) for view in self[:3]]
        return f"[{', '.join(head)}{', ...' if len(self) > 3 else ''}]"
