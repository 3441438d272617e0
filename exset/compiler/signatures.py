"""Get the types of a kernel's arguments: its annotations, as Numba's types."""

from collections.abc import Callable, Iterator
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np
from numba import from_dtype
from numba.core import types

from exset.core.kernels import array_type

Leaf = tuple[str, int] | str | None
"""An argument that is no tuple: an array's dtype and dimensions, a `struct` code, or None."""

_TYPES = {
    int: types.int64,
    bool: types.boolean,
    float: types.float64,
    NoneType: types.none,
}


def variants(function: Callable[..., object]) -> Iterator[tuple[types.Type, ...]]:
    """Yield the argument types of each variant of a kernel.

    A kernel with unions has a variant for each member of the unions. The first variant takes the
    first type of every union, the next variant the second types. All unions of a function have the
    same number of types. `X | None` is only None, because kernels get an X only when they run as
    plain Python. Arrays are contiguous; without a declared shape they have one dimension. Raises
    TypeError for other annotations.
    """
    hints = get_type_hints(function)
    hints.pop("return", None)
    unions = {each: _choices(each) for each in hints.values() if isinstance(each, UnionType)}
    count = max(map(len, unions.values()), default=1)
    assert {len(each) for each in unions.values()} <= {1, count}, function.__name__
    for number in range(count):
        chosen = {union: parts[number % len(parts)] for union, parts in unions.items()}
        yield tuple(_type(chosen.get(each, each)) for each in hints.values())


def members(type_: Any) -> tuple[types.Type, ...]:
    """Return the types of a tuple type's members, in order."""
    return tuple(type_.types)


def leaves(type_: types.Type) -> Iterator[Leaf]:
    """Describe each number and array in an argument of this type, also those inside tuples.

    The description of a number is its `struct` code, that of an array its dtype and number of
    dimensions, and that of None is None. Raises TypeError for another type.
    """
    if isinstance(type_, types.BaseTuple):
        for each in members(type_):
            yield from leaves(each)
    elif isinstance(type_, types.Array):
        yield np.dtype(str(type_.dtype)).str, type_.ndim
    elif type_ == types.none:
        yield None
    else:
        yield code(type_)


def code(type_: types.Type) -> str:
    """Return the `struct` code that stores a number of this type in 64 bits.

    Raises TypeError if the type is not that of a number.
    """
    if isinstance(type_, types.IntEnumMember):
        type_ = type_.dtype
    codes = {types.int64: "q", types.uint64: "Q", types.float64: "d", types.boolean: "?"}
    if type_ not in codes:
        raise TypeError(f"a kernel cannot take or return {type_}")
    return codes[type_]


def _choices(union: UnionType) -> tuple[Any, ...]:
    parts = get_args(union)
    return (NoneType,) if NoneType in parts else parts


def _tuple(parts: list[types.Type], named: type | None = None) -> types.Type:
    made: types.Type = types.BaseTuple.from_types(parts, named)  # type: ignore[no-untyped-call]
    return made


def _type(annotation: Any) -> types.Type:
    if annotation in _TYPES:
        return _TYPES[annotation]
    annotation = array_type(annotation)
    parts, origin = get_args(annotation), get_origin(annotation)
    if origin is np.ndarray:
        lengths, (dtype,) = get_args(parts[0]), get_args(parts[1])
        dimensions = 1 if Ellipsis in lengths or not lengths else len(lengths)
        return types.Array(from_dtype(np.dtype(dtype)), dimensions, "C")
    if origin is tuple:
        return _tuple([_type(each) for each in parts])
    if hasattr(annotation, "_fields"):
        fields = get_type_hints(annotation)
        return _tuple([_type(each) for each in fields.values()], annotation)
    if isinstance(annotation, type) and issubclass(annotation, np.generic):
        return from_dtype(np.dtype(annotation))
    raise TypeError(f"a kernel cannot have an argument of type {annotation}")
