"""Convert the `this` expressions of a declaration to the nodes of `ir`.

These parts of expressions are supported:

- whole numbers, and reals in comparisons and sums
- fields that are always present where the expression is used
- `+ - *`, `//` and `%` by a positive constant, comparisons, `& | ~`
- a string or a blob `==` or `!=` constant bytes

All other expressions, such as a lambda, raise TypeError.
"""

import operator
from typing import Final, NoReturn, TypeAlias

from construct import BinExpr, ExprMixin, FuncPath, Path, UniExpr
from construct.expr import opnames

from exset.codecs.engine.ir import Blob, Expression, Leaf, Match, Number, Operation, String

_WHOLE: Final = frozenset(("//", "%", "&", "|"))  # operators only for whole numbers
_BINARY: Final = _WHOLE | {"+", "-", "*", "==", "!=", "<", "<=", ">", ">="}
_UNARY: Final = frozenset(("not", "-"))


Scope: TypeAlias = dict[str, "Leaf | Operation | int | Scope"]
"""The names that an expression can use.

They are fields, computed values, constants, Structs, and `_` for the outer Struct.
"""


def read_expression(value: object, scope: Scope, path: str) -> Expression:
    """Convert an expression of a declaration to a node.

    Raises TypeError for an unsupported expression. scope: the fields to which the expression can
    refer. path: the path of the field that has the expression, for errors.
    """
    if isinstance(value, bool | int | float):
        return value
    if isinstance(value, Path):
        field = _look_up(value, scope)
        if not isinstance(field, Number | Operation | int):
            refuse(path, f"{value} is not a number that is always present here")
        return field
    if isinstance(value, UniExpr):
        return _operation(value, _UNARY, [value.operand], scope, path)
    if isinstance(value, BinExpr) and isinstance(value.rhs, bytes):
        return _match(value, scope, path)
    if isinstance(value, BinExpr):
        return _operation(value, _BINARY, [value.lhs, value.rhs], scope, path)
    what = type(value).__name__ if isinstance(value, ExprMixin) else "a function"
    refuse(path, f"an expression cannot contain {what}: {value!r}")


def is_real(expression: Expression) -> bool:
    """Return whether the value of an expression is a floating-point number."""
    if isinstance(expression, Number):
        return expression.is_real
    if isinstance(expression, Operation):
        return expression.operator in "+-*" and any(map(is_real, expression.operands))
    return isinstance(expression, float)


def check_rebuilt(value: object, path: str) -> None:
    """Raise TypeError if a Rebuild computes its value neither from a length nor from an expression.

    value: what the Rebuild calls. path: the path of the Rebuild's field, for the error.
    """
    if not isinstance(value, ExprMixin | int) or (
        isinstance(value, FuncPath) and not repr(value).startswith("len_(this")
    ):
        refuse(path, f"Rebuild takes len_(this.name), not {value!r}")


def _look_up(value: object, scope: Scope) -> object:
    """Return the node of the field that `value`, a path such as `this.n`, names.

    Return None for any other value, and for a field that may be absent. scope: the fields that can
    be named.
    """
    try:
        return value(scope) if isinstance(value, Path) else None
    except (KeyError, TypeError):
        return None


def _match(value: BinExpr, scope: Scope, path: str) -> Match | Operation:
    field = _look_up(value.lhs, scope)
    if not isinstance(field, String | Blob) or value.op not in (operator.eq, operator.ne):
        refuse(path, f"only a string that is present can be compared with bytes: {value!r}")
    match = Match(field, value.rhs)
    return match if value.op is operator.eq else Operation("not", (match,))


def _operation(
    value: UniExpr | BinExpr,
    symbols: frozenset[str],
    operands: list[object],
    scope: Scope,
    path: str,
) -> Operation:
    symbol = opnames.get(value.op)
    if symbol not in symbols:
        refuse(path, f"unsupported operator in an expression: {value!r}")
    operation = Operation(symbol, tuple(read_expression(each, scope, path) for each in operands))
    if symbol in _WHOLE and any(map(is_real, operation.operands)):
        refuse(path, f"{symbol} needs whole numbers: {value!r}")
    divisor = operation.operands[-1]
    if symbol in ("//", "%") and not (isinstance(divisor, int) and divisor > 0):
        refuse(path, f"{symbol} needs a positive constant: {value!r}")
    return operation


def refuse(path: str, message: str) -> NoReturn:
    """Raise TypeError for a declaration that the engine does not support.

    path: the path of the field.
    """
    raise TypeError(f"{path or 'the layout'}: {message}")
