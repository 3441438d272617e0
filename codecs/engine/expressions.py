"""`this` expressions of a declaration, read into the small tree of `nodes`.

Whole numbers, reals in comparisons and sums, names of fields that are there whenever the expression
is; `+ - *`, `//` and `%` by a positive constant, comparisons, `& | ~`; a string or a blob `==` or
`!=` constant bytes. Anything else, a lambda above all, is refused by name.
"""

import operator
from collections.abc import Callable, Mapping
from typing import Final, NoReturn

from construct import BinExpr, ExprMixin, FuncPath, Path, UniExpr

from exset.codecs.engine.ir import Blob, Expression, Leaf, Match, Number, Operation, String

_ARITHMETIC: Final = {operator.add: "+", operator.sub: "-", operator.mul: "*"}
_WHOLE: Final = {
    operator.floordiv: "//",
    operator.mod: "%",
    operator.and_: "&",
    operator.or_: "|",
}
_COMPARISON: Final = {
    operator.eq: "==",
    operator.ne: "!=",
    operator.lt: "<",
    operator.le: "<=",
    operator.gt: ">",
    operator.ge: ">=",
}
_BINARY: Final[Mapping[Callable[..., object], str]] = {**_ARITHMETIC, **_WHOLE, **_COMPARISON}
_UNARY: Final[Mapping[Callable[..., object], str]] = {operator.not_: "not", operator.neg: "-"}


class Scope:
    """The names that an expression inside a Struct can use: fields, Structs, `_` for the outer."""

    def __init__(self, outer: "Scope | None" = None) -> None:
        """Begin a Struct."""
        self.names: dict[str, Leaf | Scope] = {} if outer is None else {"_": outer}

    def __getitem__(self, name: str) -> "Leaf | Scope":
        """What a name stands for; KeyError for one that is not there, or not always."""
        return self.names[name]


def read_expression(value: object, scope: Scope, path: str) -> Expression:
    """An expression of a declaration; TypeError, with the path, for what is not understood."""
    if isinstance(value, bool | int | float):
        return value
    if isinstance(value, Path):
        return _field(value, scope, path)
    if isinstance(value, UniExpr):
        return _operation(value, _UNARY, [value.operand], scope, path)
    if isinstance(value, BinExpr) and isinstance(value.rhs, bytes):
        return _match(value, scope, path)
    if isinstance(value, BinExpr):
        return _operation(value, _BINARY, [value.lhs, value.rhs], scope, path)
    what = type(value).__name__ if isinstance(value, ExprMixin) else "a function"
    _refuse(path, f"an expression may not hold {what}: {value!r}")


def is_real(expression: Expression) -> bool:
    """Whether the value is a floating-point number."""
    if isinstance(expression, Number):
        return expression.is_real
    if isinstance(expression, Operation):
        return expression.operator in "+-*" and any(map(is_real, expression.operands))
    return isinstance(expression, float)


def check_rebuilt(value: object, path: str) -> None:
    """TypeError unless a Rebuild computes its value from a length or from an expression."""
    if not isinstance(value, ExprMixin | int) or (
        isinstance(value, FuncPath) and not repr(value).startswith("len_(this")
    ):
        _refuse(path, f"Rebuild takes len_(this.name), not {value!r}")


def _field(value: Path, scope: Scope, path: str) -> Number:
    try:
        field = value(scope)
    except (KeyError, TypeError):
        field = None
    if not isinstance(field, Number):
        _refuse(path, f"{value} is no number that is there whenever it is needed")
    return field


def _match(value: BinExpr, scope: Scope, path: str) -> Match | Operation:
    try:
        field = value.lhs(scope) if isinstance(value.lhs, Path) else None
    except (KeyError, TypeError):
        field = None
    if not isinstance(field, String | Blob) or value.op not in (operator.eq, operator.ne):
        _refuse(path, f"only a string that is there may be (un)equal to bytes: {value!r}")
    match = Match(field, value.rhs)
    return match if value.op is operator.eq else Operation("not", (match,))


def _operation(
    value: UniExpr | BinExpr,
    known: Mapping[Callable[..., object], str],
    operands: list[object],
    scope: Scope,
    path: str,
) -> Operation:
    symbol = known.get(value.op)
    if symbol is None:
        _refuse(path, f"an expression may not use this operator: {value!r}")
    made = Operation(symbol, tuple(read_expression(each, scope, path) for each in operands))
    if value.op in _WHOLE and any(map(is_real, made.operands)):
        _refuse(path, f"{symbol} is for whole numbers: {value!r}")
    divisor = made.operands[-1]
    if symbol in ("//", "%") and not (isinstance(divisor, int) and divisor > 0):
        _refuse(path, f"{symbol} takes a positive constant: {value!r}")
    return made


def _refuse(path: str, message: str) -> NoReturn:
    raise TypeError(f"{path or 'the layout'}: {message}")
