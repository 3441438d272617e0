"""Convert the functions in a declaration, such as `lambda this: this.n - 4`, to expressions."""

import enum
import operator
from collections.abc import Callable
from typing import Final

from construct import BinExpr, ExprMixin, UniExpr, this

_BINARY: Final = ("add", "sub", "mul", "floordiv", "mod", "and_", "or_")
_COMPARISONS: Final = ("eq", "ne", "lt", "le", "gt", "ge")


class _Symbol:
    """Takes the place of `this` when exset calls a function of a declaration.

    It records what the function computes, as an expression. Operations that need a value, such as
    `if` or `len`, raise TypeError.
    """

    __slots__ = ("expression",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, expression: object) -> None:
        self.expression = expression

    def __getattr__(self, name: str) -> "_Symbol":
        if name.startswith("__"):
            raise AttributeError
        return _Symbol(getattr(self.expression, name))

    def __getitem__(self, name: object) -> "_Symbol":
        if not isinstance(name, str):
            raise TypeError
        return _Symbol(getattr(self.expression, name))

    def __bool__(self) -> bool:
        raise TypeError

    def __neg__(self) -> "_Symbol":
        return _Symbol(UniExpr(operator.neg, self.expression))


def _plain(value: object) -> object:
    return value.expression if isinstance(value, _Symbol) else number_of(value)


def _method(function: Callable[..., object], *, swapped: bool) -> Callable[..., _Symbol]:
    def method(self: _Symbol, other: object) -> _Symbol:
        sides = (self.expression, _plain(other))
        return _Symbol(BinExpr(function, *(sides[::-1] if swapped else sides)))

    return method


for _name in _BINARY:
    _operator, _word = getattr(operator, _name), _name.rstrip("_")
    setattr(_Symbol, f"__{_word}__", _method(_operator, swapped=False))
    setattr(_Symbol, f"__r{_word}__", _method(_operator, swapped=True))
for _name in _COMPARISONS:
    setattr(_Symbol, f"__{_name}__", _method(getattr(operator, _name), swapped=False))


def symbolic(value: object) -> object:
    """Return the expression that a function in a declaration computes.

    If the function does more than an expression can, return the function itself. Return any value
    that is not a function unchanged.
    """
    if isinstance(value, ExprMixin) or not callable(value):
        return number_of(value)
    try:
        return _plain(value(_Symbol(this)))
    except Exception:  # a function of the user, which gets no real context
        return value


def number_of(value: object) -> object:
    """Return the number of an IntEnum's member; return any other value unchanged."""
    return int(value) if isinstance(value, enum.IntEnum) else value
