"""Text for error messages: the expressions, conditions and constants of a declaration in words."""

from types import MappingProxyType
from typing import Final

from exset.codecs.engine.ir import Expression, Match, Number, Operation, fields_in

_CONNECTIVES: Final = MappingProxyType({"|": "or", "&": "and"})
_COMPARISONS: Final = MappingProxyType(
    {
        "==": "",
        "!=": "other than ",
        ">": "more than ",
        ">=": "at least ",
        "<": "less than ",
        "<=": "at most ",
    }
)


def demand_of(condition: Expression) -> str:
    """Return what a condition demands of its first field, as text after `must`: `be 4 or 8`.

    If the condition is not only about this field, the text is `satisfy:` and the condition.
    """
    field = next(fields_in(condition), None)
    demand = None if field is None else _demand(condition, field)
    return f"satisfy: {expression_text(condition)}" if demand is None else f"be {demand}"


def _demand(condition: Expression, field: Number) -> str | None:
    """Return what a condition demands of the field, as text after `must`.

    Returns None if the condition is also about other fields, or if it is not simple.
    """
    if not isinstance(condition, Operation) or len(condition.operands) != 2:
        return None
    one, other = condition.operands
    if condition.operator in _COMPARISONS:
        is_subject = isinstance(one, Number) and one.path == field.path
        return _COMPARISONS[condition.operator] + expression_text(other) if is_subject else None
    word = _CONNECTIVES.get(condition.operator)
    first, second = _demand(one, field), _demand(other, field)
    if word is None or first is None or second is None or _is_mixed(condition):
        return None
    return f"{first} {word} {second}"


def _is_mixed(condition: Operation) -> bool:
    """Return whether a condition is an `and` that contains an `or`, or an `or` that contains an
    `and`.

    The text of such a condition needs brackets.
    """
    operators = {each.operator for each in condition.operands if isinstance(each, Operation)}
    return bool(operators & (_CONNECTIVES.keys() - {condition.operator}))


def expression_text(expression: Expression) -> str:
    """Return an expression as text. For each field, the text has only the last name of the path."""
    if isinstance(expression, Number):
        return expression.path.rpartition(".")[2]
    if isinstance(expression, Match):
        return f"{expression.field.path.rpartition('.')[2]} == {expression.value!r}"
    if not isinstance(expression, Operation):
        return str(expression)
    operands = [
        f"({expression_text(each)})" if _needs_brackets(expression, each) else expression_text(each)
        for each in expression.operands
    ]
    if len(operands) == 1:
        return f"{expression.operator} {operands[0]}"
    word = _CONNECTIVES.get(expression.operator, expression.operator)
    return f"{operands[0]} {word} {operands[1]}"


def _needs_brackets(outer: Operation, operand: Expression) -> bool:
    """Return whether the text of an operand needs brackets within the operation `outer`.

    A comparison next to `and` or `or` needs no brackets.
    """
    if not isinstance(operand, Operation):
        return False
    is_connected = outer.operator in _CONNECTIVES
    return not (is_connected and operand.operator in (*_COMPARISONS, outer.operator))


def constant_text(value: int | bytes) -> str:
    """Return a constant as text; a large number is in hexadecimal."""
    return f"0x{value:08X}" if isinstance(value, int) and value > 0xFFFF else repr(value)
