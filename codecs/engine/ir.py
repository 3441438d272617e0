"""What a declaration consists of, once it is checked: a small tree that every driver walks.

Each node keeps the Construct object that it stands for. A path is the dotted names from the root
to a field; arrays add no name, so that a path names one column.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from construct import Construct


@dataclass(frozen=True, eq=False)
class Number:
    """A number of fixed size, or a flag; `stored` is its dtype in the file."""

    construct: Construct
    path: str
    stored: np.dtype[np.generic]

    @property
    def native(self) -> np.dtype[np.generic]:
        """The dtype of its column."""
        return self.stored.newbyteorder("=")

    @property
    def is_real(self) -> bool:
        """Whether it is a floating-point number."""
        return self.stored.kind == "f"


@dataclass(frozen=True, eq=False)
class String:
    """Raw bytes ended by a NUL."""

    construct: Construct
    path: str


@dataclass(frozen=True, eq=False)
class Blob:
    """Raw bytes, as many as an expression says."""

    construct: Construct
    path: str
    count: "Expression"


@dataclass(frozen=True, eq=False)
class Gap:
    """Bytes that do not matter, as many as an expression says; written as the pattern."""

    construct: Construct
    path: str
    count: "Expression"

    @property
    def pattern(self) -> int:
        """The byte that fills it."""
        return int(self.construct.pattern[0])


@dataclass(frozen=True, eq=False)
class Alignment:
    """Something, and bytes that do not matter up to a multiple of the modulus from its start."""

    construct: Construct
    path: str
    modulus: int
    inner: "Node"

    @property
    def pattern(self) -> int:
        """The byte that fills it."""
        return int(self.construct.pattern[0])


@dataclass(frozen=True, eq=False)
class Constant:
    """Bytes or a number that never change: checked on reading, in no column."""

    construct: Construct
    path: str
    size: int


@dataclass(frozen=True, eq=False)
class Test:
    """A condition that must hold; a failure is reported at the first field that it names."""

    construct: Construct
    path: str
    condition: "Expression"


@dataclass(frozen=True, eq=False)
class Record:
    """Fields one after the other, those of no name being constants and tests."""

    construct: Construct
    path: str
    members: tuple[tuple[str | None, "Node"], ...]


@dataclass(frozen=True, eq=False)
class Rows:
    """As many elements as an expression says: numbers, strings or records."""

    construct: Construct
    path: str
    count: "Expression"
    element: "Node"


@dataclass(frozen=True, eq=False)
class Repeat:
    """Records, up to the first of which a condition holds; that one is the last."""

    construct: Construct
    path: str
    condition: "Expression"
    element: "Record"


@dataclass(frozen=True, eq=False)
class Branch:
    """One thing if a condition holds, otherwise another."""

    construct: Construct
    path: str
    condition: "Expression"
    then: "Node"
    otherwise: "Node"


@dataclass(frozen=True, eq=False)
class Nothing:
    """No bytes."""

    construct: Construct
    path: str


@dataclass(frozen=True, eq=False)
class Operation:
    """An operator, spelt as in Python (and `not`), and its one or two operands."""

    operator: str
    operands: tuple["Expression", ...]


@dataclass(frozen=True, eq=False)
class Match:
    """Whether a string or a blob is these bytes."""

    field: String | Blob
    value: bytes


Leaf: TypeAlias = Number | String | Blob
Node: TypeAlias = (
    Leaf | Gap | Alignment | Constant | Test | Record | Rows | Repeat | Branch | Nothing
)
Expression: TypeAlias = int | float | Number | Match | Operation


def named(expression: Expression) -> Iterator[Number]:
    """The fields that an expression names, from left to right."""
    if isinstance(expression, Number):
        yield expression
    elif isinstance(expression, Operation):
        for operand in expression.operands:
            yield from named(operand)


def expressions_in(node: Node) -> Iterator[Expression]:
    """All expressions of something and of what is in it."""
    match node:
        case Record():
            for _, member in node.members:
                yield from expressions_in(member)
        case Alignment():
            yield from expressions_in(node.inner)
        case Blob() | Gap():
            yield node.count
        case Test():
            yield node.condition
        case Rows():
            yield node.count
            yield from expressions_in(node.element)
        case Repeat():
            yield node.condition
            yield from expressions_in(node.element)
        case Branch():
            yield node.condition
            yield from expressions_in(node.then)
            yield from expressions_in(node.otherwise)
        case _:
            pass


def matches(expression: Expression) -> Iterator[Match]:
    """The comparisons with bytes in an expression."""
    if isinstance(expression, Match):
        yield expression
    elif isinstance(expression, Operation):
        for operand in expression.operands:
            yield from matches(operand)


def spelt(expression: Expression) -> str:
    """An expression as a person would write it, with the last names of its fields."""
    if isinstance(expression, Number):
        return expression.path.rpartition(".")[2]
    if isinstance(expression, Match):
        return f"{expression.field.path.rpartition('.')[2]} == {expression.value!r}"
    if not isinstance(expression, Operation):
        return str(expression)
    parts = [
        f"({spelt(part)})" if isinstance(part, Operation) else spelt(part)
        for part in expression.operands
    ]
    if len(parts) == 1:
        return f"{expression.operator} {parts[0]}"
    word = {"|": "or", "&": "and"}.get(expression.operator, expression.operator)
    return f"{parts[0]} {word} {parts[1]}"


def holds_numbers(node: Node | None) -> bool:
    """Whether something is an array of numbers, which is read and written at once."""
    return isinstance(node, Rows) and isinstance(node.element, Number)


def least_size(node: Node) -> int:
    """The fewest bytes that something takes."""
    match node:
        case Number():
            return int(node.stored.itemsize)
        case String():
            return 1
        case Constant():
            return node.size
        case Blob(count=int(count)) | Gap(count=int(count)):
            return count
        case Alignment():
            return -(-least_size(node.inner) // node.modulus) * node.modulus
        case Repeat():
            return least_size(node.element)
        case Record():
            return sum(least_size(member) for _, member in node.members)
        case Branch():
            return min(least_size(node.then), least_size(node.otherwise))
        case Rows(count=int(count)):
            return count * least_size(node.element)
        case _:
            return 0
