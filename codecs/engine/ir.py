"""The intermediate representation of a checked declaration: a tree of nodes and expressions.

Each node has its Construct object. A path consists of the names from the root to a field, separated
by dots. An array adds no name of its own for its elements, so each path is one column.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from construct import Construct


@dataclass(frozen=True, eq=False)
class _Node:
    construct: Construct
    path: str


@dataclass(frozen=True, eq=False)
class Number(_Node):
    """A number of fixed size, or a flag. stored: the dtype in the file."""

    stored: np.dtype[np.generic]

    @property
    def is_real(self) -> bool:
        """Whether the number is a floating-point number."""
        return self.stored.kind == "f"


@dataclass(frozen=True, eq=False)
class String(_Node):
    """Raw bytes up to a NUL."""


@dataclass(frozen=True, eq=False)
class Blob(_Node):
    """Raw bytes. count: how many; None means all bytes up to the end."""

    count: "Expression | None"


@dataclass(frozen=True, eq=False)
class Gap(_Node):
    """Padding of `count` bytes. Readers ignore the bytes; writers fill them with the pattern."""

    count: "Expression"


@dataclass(frozen=True, eq=False)
class Alignment(_Node):
    """A node that is followed by padding, up to a multiple of `modulus` bytes from its start."""

    modulus: int
    inner: "Node"


@dataclass(frozen=True, eq=False)
class Constant(_Node):
    """Constant bytes, or a constant number. Readers check the constant; it has no column."""

    size: int


@dataclass(frozen=True, eq=False)
class Test(_Node):
    """A condition that must hold. If it does not, the place of the error is the condition's first
    field.
    """

    condition: "Expression"


@dataclass(frozen=True, eq=False)
class Record(_Node):
    """A Struct: consecutive members, each with its name.

    The name may be None for a constant, for padding, and for a `Test` (`Check` in Construct).
    """

    members: tuple[tuple[str | None, "Node"], ...]


@dataclass(frozen=True, eq=False)
class Rows(_Node):
    """An array of `count` elements, which are numbers, strings, blobs or records.

    If `count` is None, the array has all complete elements up to the end of the file. It is then
    the last field.
    """

    count: "Expression | None"
    element: "Node"


@dataclass(frozen=True, eq=False)
class Repeat(_Node):
    """Records, up to and including the first record for which the condition holds."""

    condition: "Expression"
    element: "Record"


@dataclass(frozen=True, eq=False)
class Branch(_Node):
    """One of two nodes: `then` if the condition holds, `otherwise` if it does not."""

    condition: "Expression"
    then: "Node"
    otherwise: "Node"


@dataclass(frozen=True, eq=False)
class Nothing(_Node):
    """A node that takes no bytes."""


@dataclass(frozen=True, eq=False)
class Operation:
    """An expression: an operator of Python, or `not`, with one or two operands."""

    operator: str
    operands: tuple["Expression", ...]


@dataclass(frozen=True, eq=False)
class Match:
    """An expression: whether a string or a blob equals constant bytes."""

    field: String | Blob
    value: bytes


Leaf: TypeAlias = Number | String | Blob
Node: TypeAlias = (
    Leaf | Gap | Alignment | Constant | Test | Record | Rows | Repeat | Branch | Nothing
)
Expression: TypeAlias = int | float | Number | Match | Operation


def operands_in(expression: Expression | None) -> Iterator[Number | Match]:
    """Yield the parts of an expression that depend on the file, from left to right.

    These parts are fields, and comparisons of texts with constant bytes.
    """
    if isinstance(expression, Number | Match):
        yield expression
    elif isinstance(expression, Operation):
        for operand in expression.operands:
            yield from operands_in(operand)


def fields_in(expression: Expression | None) -> Iterator[Number]:
    """Yield the number fields in an expression, from left to right."""
    return (each for each in operands_in(expression) if isinstance(each, Number))


def expressions_in(node: Node) -> Iterator[Expression]:
    """Yield all expressions in a node."""
    match node:
        case Record():
            for _, member in node.members:
                yield from expressions_in(member)
        case Alignment():
            yield from expressions_in(node.inner)
        case Blob() | Gap():
            yield from () if node.count is None else (node.count,)
        case Test():
            yield node.condition
        case Rows():
            yield from () if node.count is None else (node.count,)
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


def is_number_array(node: Node) -> bool:
    """Return whether a node is an array of numbers.

    One instruction reads or writes such an array.
    """
    return isinstance(node, Rows) and isinstance(node.element, Number)


def least_size(node: Node) -> int:
    """Return the smallest number of bytes that a node can take."""
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
