"""Lower the nodes of a layout: convert them to the program that the interpreter runs.

Adjacent numbers form a block, with one bounds check and one offset. The program loads only numbers
that expressions use. After the run, the columns are gathered from the file, with the offsets.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Final, TypeVar

from exset.codecs.engine import ir
from exset.codecs.engine import opcodes as op
from exset.codecs.engine.assembly import Assembler, fuse
from exset.codecs.engine.declaration import Tree
from exset.codecs.engine.expressions import is_real
from exset.codecs.engine.program import Leaf, Program, Rest, Row

V = TypeVar("V")

_INT64: Final = 2**63
_MAX_STREAMS: Final = 1 << 16  # an operand holds a feed and a stream

# The instructions for whole numbers and for reals; BEYOND if reals are not supported.
_COMPARISONS: Final = {
    "==": (op.EQUAL, op.EQUAL_REAL),
    "<": (op.LESS, op.LESS_REAL),
    "<=": (op.LESS_EQUAL, op.LESS_EQUAL_REAL),
}
_ARITHMETIC: Final = {
    "+": (op.ADD, op.ADD_REAL),
    "-": (op.SUBTRACT, op.SUBTRACT_REAL),
    "*": (op.MULTIPLY, op.MULTIPLY_REAL),
    "//": (op.DIVIDE, op.BEYOND),
    "%": (op.MODULO, op.BEYOND),
    "&": (op.AND, op.BEYOND),
    "|": (op.OR, op.BEYOND),
}
_SWAPPED: Final = {">": "<", ">=": "<="}
_CHECKS: Final = {"<": op.CHECK_LESS, "<=": op.CHECK_LESS_EQUAL}
_TRUTHS: Final = frozenset((*_COMPARISONS, *_SWAPPED, "!=", "not"))  # operators that give 0 or 1


def lower(tree: Tree, *, owners: bool = False) -> Program:
    """Convert a declaration to a program for the interpreter.

    owners: whether the program also stores which records have a field that may be absent, as the
    indices of these records.
    """
    return _Lowering(tree, owners).program


class _Lowering(Assembler):
    def __init__(self, tree: Tree, owners: bool) -> None:
        expressions = [*ir.expressions_in(tree.root)]
        super().__init__(number.path for each in expressions for number in ir.fields_in(each))
        self.matches: dict[str, list[ir.Match]] = defaultdict(list)
        for expression in expressions:
            for operand in ir.operands_in(expression):
                if isinstance(operand, ir.Match):
                    self.matches[operand.field.path].append(operand)
        self.matched: dict[ir.Match, int] = {}
        self.has_owners = owners
        self.depth = 0  # of nested arrays of records
        self.record: int | None = None  # the stream with the offsets of the records that are read
        self.owner: int | None = None  # the stream of their indices, inside a branch
        self.node(tree.root)
        self.emit(op.END)
        fuse(self.program.code)
        if self.program.streams > _MAX_STREAMS:
            raise TypeError("the layout has too many fields")

    # Nodes.

    def node(self, node: ir.Node) -> None:
        match node:
            case ir.Record():
                for _, member in node.members:
                    self.node(member)
            case ir.Number():
                self.block.append(node)
                self.owned(node.path)
            case ir.String() | ir.Blob():
                self.text(node)
            case ir.Gap():
                self.gap(node)
            case ir.Alignment():
                self.alignment(node)
            case ir.Constant():
                self.constant(node)
            case ir.Test():
                self.check(node, node.condition)
            case ir.Rows():
                self.array(node)
            case ir.Repeat():
                self.repeat(node)
            case ir.Branch():
                self.branch(node)
            case _:
                pass

    def check(self, node: ir.Test, condition: ir.Expression) -> None:
        """Append the instructions that check a condition.

        If the condition is `a & b`, they check `a` first, then `b`. The error of either names the
        whole condition.
        """
        match condition:
            case ir.Operation("&", (ir.Operation() as left, ir.Operation() as right)) if (
                left.operator in _TRUTHS and right.operator in _TRUTHS and _is_plain(right)
            ):
                self.check(node, left)
                self.check(node, right)
            case ir.Operation("<" | "<=" | ">" | ">=" as symbol, operands) if not any(
                map(is_real, operands)
            ):
                less, sides = _unswapped(symbol, operands)
                places = [self.count(each) for each in sides]
                self.emit(_CHECKS[less], *places, origin=node)
            case _:
                self.emit(op.CHECK, self.condition(condition), origin=node)

    def text(self, node: ir.String | ir.Blob) -> None:
        count = self.count(node.count or 0) if isinstance(node, ir.Blob) else 0
        self.flush()
        stream, feed = self.pair(), self.feed(node.path)
        self.owned(node.path)
        if isinstance(node, ir.Blob):
            self.program.leaves[node.path] = Leaf("blob", stream)
            form = op.REST if node.count is None else op.STRICT
            self.emit(op.BLOB, stream, count, feed, form, origin=node)
        else:
            self.program.leaves[node.path] = Leaf("string", stream)
            self.emit(op.STRING, stream, feed, origin=node)
        for match in self.matches[node.path]:
            self.matched[match] = target = self.register()
            where = self.feed(node.path) << 16 | stream
            begin = self.add_constant(match.value)
            self.emit(op.MATCH, target, begin, len(match.value), 0, where)

    def gap(self, node: ir.Gap) -> None:
        self.emit(op.GAP, self.pair(), self.count(node.count), 0, _pattern(node), origin=node)

    def alignment(self, node: ir.Alignment) -> None:
        begin = self.register()
        self.emit(op.MARK, begin)
        self.node(node.inner)
        self.emit(op.ALIGN, self.pair(), begin, node.modulus, _pattern(node), origin=node)

    def constant(self, node: ir.Constant) -> None:
        raw = bytes(node.construct.build(None))
        begin = self.add_constant(raw)
        self.emit(op.CONSTANT, self.stream(), begin, len(raw), origin=node)

    def array(self, node: ir.Rows) -> None:
        if node.count is None and not isinstance(node.element, ir.Number):
            self.rest(node)
            return
        bare = None if node.count is None else _unclamped(node.count)
        count = self.count((node.count or 0) if bare is None else bare)
        form = op.LENIENT if bare is not None else op.REST if node.count is None else op.STRICT
        self.flush()
        self.owned(node.path)
        if isinstance(node.element, ir.Number):
            stream, size = self.pair(), ir.least_size(node.element)
            self.program.leaves[node.path] = Leaf(node.element.stored.str, stream)
            self.program.rows[node.path] = Row(stream + 1, stream, size, True, False)
            self.emit(op.BULK, stream, count, size, form, origin=node)
            return
        assert node.count is not None
        stream, counter = self.stream(), self.register()
        least = ir.least_size(node.element) if [*ir.fields_in(node.count)] else 0
        begin = self.emit(op.EACH, stream, count, least, 0, counter, form, origin=node)
        body = self.element(node, stream)
        self.emit(op.NEXT, counter, body, self.here() + 1, int(self.depth == 0))
        self.patch(begin, 4)

    def rest(self, node: ir.Rows) -> None:
        """Append the instructions for an array without a count.

        The array ends with the data, or before the first record that fails.
        """
        self.flush()
        stream, counter, given = self.stream(), self.register(), self.register(-1)
        begin = self.emit(op.EACH, stream, given, 0, 0, counter, op.REST, origin=node)
        last = self.emit(op.LAST, stream, counter, 0)
        self.element(node, stream)
        self.emit(op.NEXT, counter, last, self.here() + 1, int(self.depth == 0))
        self.patch(begin, 4)
        self.patch(last, 3)
        self.program.rest = Rest(node.path, begin, self.here(), stream, given, counter)

    def repeat(self, node: ir.Repeat) -> None:
        self.flush()
        self.owned(node.path)
        stream, counter = self.stream(), self.register()
        self.emit(op.SET, counter, 0)
        body = self.element(node, stream)
        condition = self.condition(node.condition)
        self.emit(op.UNTIL, stream, condition, counter, body)

    def element(self, node: ir.Rows | ir.Repeat, counts: int) -> int:
        """Append the instructions for an array's element. Return the index of the first
        instruction.

        counts: the stream of the array's counts.
        """
        body, first = self.here(), _first(node.element)
        needs_owners = self.has_owners and isinstance(node.element, ir.Record)
        begin: int | str
        if isinstance(first, ir.Number | ir.String) and not needs_owners:
            begin = first.path
        else:
            begin = self.stream()
            self.emit(op.PLACE, begin)
        outer = self.record, self.owner
        if needs_owners and isinstance(begin, int):
            self.record, self.owner = begin, None
        least, is_record = ir.least_size(node.element), isinstance(node.element, ir.Record)
        self.program.rows[node.path] = Row(counts, begin, least, False, is_record)
        self.depth += 1
        self.node(node.element)
        self.flush()
        self.depth -= 1
        self.record, self.owner = outer
        return body

    def branch(self, node: ir.Branch) -> None:
        skip = self.emit(op.UNLESS, self.condition(node.condition), 0)
        self.alternative(node.then)
        if isinstance(node.otherwise, ir.Nothing):
            self.patch(skip, 2)
            return
        leave = self.emit(op.GO, 0)
        self.patch(skip, 2)
        self.alternative(node.otherwise)
        self.patch(leave, 1)

    def alternative(self, node: ir.Node) -> None:
        """Append the instructions for one of the two nodes of a branch."""
        outer = self.owner
        if self.has_owners:
            self.owner = self.stream()
            known = self.record is not None
            self.emit(op.OWNER, self.owner, self.record or 0, known)
        self.node(node)
        self.flush()
        self.owner = outer

    def owned(self, path: str) -> None:
        """Record that only the records of the current branch have the field or array at `path`."""
        if self.owner is not None:
            self.program.owners[path] = self.owner

    # Expressions. Each method returns the register of the value, of whole numbers or of reals.

    def count(self, expression: ir.Expression) -> int:
        return self.expression(expression)[0]

    def condition(self, expression: ir.Expression) -> int:
        return self.truth(*self.expression(expression))

    def expression(self, expression: ir.Expression) -> tuple[int, bool]:
        self.flush()
        match expression:
            case ir.Number():
                return self.registers[expression.path], expression.is_real
            case ir.Match():
                return self.matched[expression], False
            case ir.Operation():
                operands = [self.expression(each) for each in expression.operands]
                return self.operation(expression.operator, operands)
            case float():
                return self.real(expression), True
            case _:
                if not -_INT64 <= expression < _INT64:
                    self.emit(op.BEYOND)
                    return self.register(), False
                return self.register(int(expression)), False

    def operation(self, symbol: str, operands: Sequence[tuple[int, bool]]) -> tuple[int, bool]:
        symbol, operands = _unswapped(symbol, operands)
        if symbol == "!=":
            return self.result(op.NOT, self.operation("==", operands)[0]), False
        if symbol == "not":
            return self.result(op.NOT, self.truth(*operands[0])), False
        is_real = any(real for _, real in operands)
        places = [self.as_real(*each) if is_real else each[0] for each in operands]
        if symbol in _COMPARISONS:
            return self.result(_COMPARISONS[symbol][is_real], *places), False
        codes = (op.NEGATE, op.NEGATE_REAL) if len(places) == 1 else _ARITHMETIC[symbol]
        if is_real:
            return self.real_result(codes[1], *places), True
        return self.result(codes[0], *places), False

    def truth(self, place: int, is_real: bool) -> int:
        return self.result(op.TRUTH, place) if is_real else place

    def as_real(self, place: int, is_real: bool) -> int:
        return place if is_real else self.real_result(op.TO_REAL, place)

    def result(self, code: int, *operands: int) -> int:
        target = self.register()
        self.emit(code, target, *operands)
        return target

    def real_result(self, code: int, *operands: int) -> int:
        target = self.real()
        self.emit(code, target, *operands)
        return target


def _unswapped(symbol: str, operands: Sequence[V]) -> tuple[str, Sequence[V]]:
    """Replace `a > b` by `b < a`, and `a >= b` by `b <= a`; change no other operation."""
    return (_SWAPPED[symbol], operands[::-1]) if symbol in _SWAPPED else (symbol, operands)


def _unclamped(count: ir.Expression) -> ir.Number | None:
    """Return the field of a count `field * (field > 0)`; None for any other count.

    Such a count is 0 if the field is negative.
    """
    match count:
        case ir.Operation("*", (ir.Number() as x, ir.Operation(">", (y, 0)))) if (
            x is y and not x.is_real
        ):
            return x
        case _:
            return None


def _pattern(node: ir.Gap | ir.Alignment) -> int:
    """Return the byte with which a writer fills this padding."""
    return int(node.construct.pattern[0])


def _is_plain(condition: ir.Operation) -> bool:
    """Return whether no operand is itself an operation, which could fail."""
    return not any(isinstance(each, ir.Operation) for each in condition.operands)


def _first(node: ir.Node) -> ir.Node:
    """Return the node with which a record begins. Look into records inside the record.

    If `node` is not a record, return `node` itself.
    """
    while isinstance(node, ir.Record) and node.members:
        node = node.members[0][1]
    return node
