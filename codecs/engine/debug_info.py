"""What the instructions of a program were made from, for the messages of those that fail."""

from exset.codecs.engine.ir import (
    Blob,
    Constant,
    Expression,
    Gap,
    Node,
    Number,
    Rows,
    String,
    Test,
    holds_numbers,
    least_size,
    named,
    spelt,
)
from exset.codecs.engine.program import Kind, Origin


def origin_of(what: Node | tuple[Number, ...]) -> Origin:
    """The origin of an instruction, which was made from a node or from a block of numbers."""
    match what:
        case tuple():
            numbers = tuple((each.path, least_size(each)) for each in what)
            return Origin("block", what[0].path, numbers=numbers)
        case Test(condition=condition):
            return Origin("test", what.path, _field(condition), text=spelt(condition))
        case Constant(size=size):
            return Origin("constant", what.path, size=size, value=what.construct.value)
        case String():
            return Origin("string", what.path)
        case Rows(count=count):
            kind: Kind = "numbers" if holds_numbers(what) else "rows"
            return Origin(kind, what.path, _field(count), least_size(what.element))
        case Blob(count=count) | Gap(count=count):
            kind = "blob" if isinstance(what, Blob) else "gap"
            return Origin(kind, what.path, _field(count), 1)
        case _:
            return Origin("alignment", what.path)


def _field(expression: Expression) -> str | None:
    """The field that an expression names first."""
    return next((number.path for number in named(expression)), None)
