"""A Construct declaration, checked and made ready for the drivers; and one taken apart."""

from typing import Final, NoReturn

import numpy as np
from construct import (
    Aligned,
    Array,
    Bytes,
    Check,
    Const,
    Construct,
    Flag,
    FormatField,
    IfThenElse,
    Padded,
    Pass,
    Rebuild,
    Renamed,
    RepeatUntil,
    Struct,
)

from exset.codecs.engine.expressions import Scope, check_rebuilt, is_real, read_expression
from exset.codecs.engine.ir import (
    Alignment,
    Blob,
    Branch,
    Constant,
    Expression,
    Gap,
    Leaf,
    Node,
    Nothing,
    Number,
    Record,
    Repeat,
    Rows,
    String,
    Test,
    least_size,
    matches,
    named,
)
from exset.codecs.engine.strings import NulString

# The letters of struct are sizes of their own: `l` has 4 bytes here, but 8 in NumPy.
_SIZES: Final = {
    "b": "i1",
    "B": "u1",
    "h": "i2",
    "H": "u2",
    "l": "i4",
    "L": "u4",
    "q": "i8",
    "Q": "u8",
    "e": "f2",
    "f": "f4",
    "d": "f8",
}


class Tree:
    """A declaration that the engine can run, as nodes.

    root: all of them. leaves: the numbers, strings and blobs, each a column, by path. rows: the
    arrays, by path. Known are Struct, Array, RepeatUntil, Const, Check, IfThenElse, Pass, Rebuild,
    the fixed-size numbers, Flag, NulString, Bytes, Padding and Aligned, with `this` expressions.
    Raises TypeError that names anything else.
    """

    def __init__(self, declaration: Construct) -> None:
        """Check a declaration."""
        self.leaves: dict[str, Leaf] = {}
        self.rows: dict[str, Rows | Repeat] = {}
        if type(declaration) is Renamed:
            declaration = declaration.subcon
        if type(declaration) is not Struct:
            _refuse("", "a layout is a Struct")
        self.root = self._record(declaration, "", None)[0]

    def _record(self, con: Struct, path: str, outer: Scope | None) -> tuple[Record, Scope]:
        """The members of a Struct in turn, each seeing the names before it."""
        _check_hook(con, path)
        scope = Scope(outer)
        members: list[tuple[str | None, Node]] = []
        for member in con.subcons:
            name, inner, at = None, member, path
            if type(member) is Renamed:
                name, inner = _checked_name(member, path), member.subcon
                at = f"{path}.{name}" if path else name
            node, names = self._member(inner, at, scope)
            if names is not None:
                scope.names[name or ""] = names
            if name is None and not _is_nameless(node):
                _refuse(path, f"{type(inner).__name__} needs a name")
            members.append((name, node))
        return Record(con, path, tuple(members)), scope

    def _member(self, con: Construct, path: str, scope: Scope) -> tuple[Node, Leaf | Scope | None]:
        """A member of a Struct, and what its name stands for."""
        if type(con) is Struct:
            return self._record(con, path, scope)
        if type(con) is Aligned:
            _check_hook(con, path)
            if not isinstance(con.modulus, int) or con.modulus < 2:
                _refuse(path, f"Aligned takes a constant from 2, not {con.modulus!r}")
            inner, names = self._member(con.subcon, path, scope)
            return Alignment(con, path, con.modulus, inner), names
        node = self._node(con, path, scope)
        return node, node if isinstance(node, Number | String | Blob) else None

    def _node(self, con: Construct, path: str, scope: Scope) -> Node:
        _check_hook(con, path)
        kind = type(con)
        if kind is Struct or kind is Aligned:
            return self._member(con, path, scope)[0]
        if kind is Rebuild:
            check_rebuilt(con.func, path)
            return self._node(con.subcon, path, scope)
        if kind is Array:
            return self._rows(con, path, scope)
        if kind is RepeatUntil:
            return self._repeat(con, path, scope)
        if kind is IfThenElse:
            condition = read_expression(con.condfunc, scope, path)
            then = self._node(con.thensubcon, path, scope)
            return Branch(con, path, condition, then, self._node(con.elsesubcon, path, scope))
        if kind is Check:
            condition = read_expression(con.func, scope, path)
            if next(named(condition), None) is None:
                _refuse(path, f"Check names no field: {con.func!r}")
            return Test(con, path, condition)
        if kind is Const:
            return Constant(con, path, self._constant_size(con, path))
        if kind is type(Pass):
            return Nothing(con, path)
        if kind is FormatField and con.fmtstr[1] in _SIZES:
            stored = np.dtype(_SIZES[con.fmtstr[1]]).newbyteorder(con.fmtstr[0])
            return self._leaf(Number(con, path, stored))
        if kind is type(Flag):
            return self._leaf(Number(con, path, np.dtype(np.bool_)))
        if kind is NulString:
            return self._leaf(String(con, path))
        if kind is Bytes:
            return self._leaf(Blob(con, path, self._size(con.length, path, scope)))
        if kind is Padded and type(con.subcon) is type(Pass):
            return Gap(con, path, self._size(con.length, path, scope))
        _refuse(path, f"{kind.__name__} is not known to the engine")

    def _leaf(self, leaf: Leaf) -> Leaf:
        if leaf.path in self.leaves:
            _refuse(leaf.path, "two fields have this path")
        self.leaves[leaf.path] = leaf
        return leaf

    def _rows(self, con: Array, path: str, scope: Scope) -> Rows:
        count = self._size(con.count, path, scope)
        element = self._node(con.subcon, path, scope)
        if not isinstance(element, Number | String | Record):
            _refuse(path, f"an Array may not hold {type(con.subcon).__name__}")
        if least_size(element) == 0:
            _refuse(path, "an element may be empty, so that no count could be too large")
        self.rows[path] = rows = Rows(con, path, count, element)
        return rows

    def _repeat(self, con: RepeatUntil, path: str, scope: Scope) -> Repeat:
        if type(con.subcon) is not Struct:
            _refuse(path, f"RepeatUntil holds a Struct, not {type(con.subcon).__name__}")
        element, names = self._record(con.subcon, path, scope)
        names.names.pop("_", None)  # Construct gives the condition the element and nothing else
        condition = read_expression(con.predicate, names, path)
        if not [*named(condition), *matches(condition)]:
            _refuse(path, f"the condition names no field: {con.predicate!r}")
        if least_size(element) == 0:
            _refuse(path, "an element may be empty, so that it could repeat for ever")
        self.rows[path] = rows = Repeat(con, path, condition, element)
        return rows

    def _size(self, size: object, path: str, scope: Scope) -> Expression:
        count = read_expression(size, scope, path)
        if is_real(count) or (isinstance(count, int) and count < 0):
            _refuse(path, f"the count is no whole number from 0: {size!r}")
        return count

    def _constant_size(self, con: Const, path: str) -> int:
        if type(con.subcon) is Bytes or (type(con.subcon) is FormatField):
            return int(con.subcon.sizeof())
        _refuse(path, f"Const may not hold {type(con.subcon).__name__}")


def parted(declaration: Struct) -> tuple[Struct, Struct, Struct]:
    """The parts of a declaration whose last two fields are a count and an array of so many records.

    What comes before, the two, and a single record. TypeError if it is none such.
    """
    head, tail = Struct(*declaration.subcons[:-2]), Struct(*declaration.subcons[-2:])
    (_, count), (name, rows) = Tree(tail).root.members
    if not (isinstance(count, Number) and isinstance(rows, Rows) and rows.count is count):
        raise TypeError("the last two fields must be a count and an array of so many records")
    return head, tail, Struct(str(name) / Array(1, declaration.subcons[-1].subcon.subcon))


def _is_nameless(node: Node) -> bool:
    """Whether something has no fields, and so may stand without a name."""
    if isinstance(node, Branch):
        return _is_nameless(node.then) and _is_nameless(node.otherwise)
    if isinstance(node, Alignment):
        return _is_nameless(node.inner)
    return isinstance(node, Constant | Gap | Test | Nothing)


def _checked_name(member: Renamed, path: str) -> str:
    name = member.name
    if not isinstance(name, str) or not name.isidentifier() or name.startswith("_"):
        _refuse(path, f"{name!r} is no name for a field")
    _check_hook(member, path)
    return name


def _check_hook(con: Construct, path: str) -> None:
    if con.parsed is not None:
        _refuse(path, "a declaration may not have hooks")


def _refuse(path: str, message: str) -> NoReturn:
    raise TypeError(f"{path or 'the layout'}: {message}")
