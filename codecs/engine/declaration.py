"""Check a Construct declaration, and convert it to the nodes of `ir`.

This module also has `NulString`, a primitive that Construct lacks, and `split_declaration`.
"""

from typing import IO, Final

import construct as cs
import numpy as np

from exset.codecs.engine import ir
from exset.codecs.engine.expressions import Scope, check_rebuilt, is_real, read_expression, refuse

# Sizes by letters of `struct`; NumPy's letters differ: `l` has 4 bytes in struct, 8 in NumPy.
_SIZES: Final = {
    **{"b": "i1", "B": "u1", "h": "i2", "H": "u2", "l": "i4", "L": "u4", "q": "i8", "Q": "u8"},
    **{"e": "f2", "f": "f4", "d": "f8"},
}
_FIRST_CHUNK, _MAX_CHUNK = 64, 1 << 16


class NulString(cs.Construct):  # type: ignore[misc]
    """A string that ends with a NUL. The value is the `bytes` before the NUL.

    Reading takes linear time; Construct's NullTerminated compares byte by byte and takes quadratic
    time. Raises StreamError if the data end without a NUL, and StringError for a value that
    contains a NUL.
    """

    def _parse(self, stream: IO[bytes], context: cs.Container, path: str) -> bytes:
        chunks, size = [], _FIRST_CHUNK
        while chunk := stream.read(size):
            end = chunk.find(0)
            if end >= 0:
                stream.seek(end + 1 - len(chunk), 1)
                chunks.append(chunk[:end])
                return b"".join(chunks)
            chunks.append(chunk)
            size = min(2 * size, _MAX_CHUNK)
        raise cs.StreamError("the data end before the NUL of a string", path=path)

    def _build(self, obj: bytes, stream: IO[bytes], context: cs.Container, path: str) -> bytes:
        if 0 in obj:
            raise cs.StringError("a NUL in a string", path=path)
        stream.write(obj + b"\0")
        return obj


class Tree:
    """A declaration that the engine has checked, as a tree of nodes of `ir`.

    root: the root of the tree. The engine supports Struct, Array, RepeatUntil, GreedyRange, Const,
    Check, IfThenElse, Pass, Rebuild, the fixed-size numbers, Flag, NulString, Bytes, Padding and
    Aligned, with `this` expressions. For any other object, raises TypeError, which names the
    object.
    """

    def __init__(self, declaration: cs.Construct) -> None:
        self._paths = set[str]()
        self._scopes = dict[ir.Record, Scope]()
        if type(declaration) is cs.Renamed:
            declaration = declaration.subcon
        if type(declaration) is not cs.Struct:
            refuse("", "a layout must be a Struct")
        self.root = self._record(declaration, "", None)

    def _record(self, con: cs.Struct, path: str, outer: Scope | None) -> ir.Record:
        """Convert a Struct to a node. A member can use the names of the members before it.

        path: the path of the Struct. outer: the names that can be used around the Struct.
        """
        check_hook(con, path)
        scope: Scope = {} if outer is None else {"_": outer}
        members: list[tuple[str | None, ir.Node]] = []
        for member in con.subcons:
            name, inner, at = None, member, path
            if type(member) is cs.Renamed and member.name is not None:
                name, inner = _checked_name(member, path), member.subcon
                at = f"{path}.{name}" if path else name
            node = self._member(inner, name, at, scope)
            members.append((name, node))
            while isinstance(node, ir.Alignment):
                node = node.inner
            if name and isinstance(node, ir.Leaf | ir.Record):
                scope[name] = self._scopes[node] if isinstance(node, ir.Record) else node
        record = ir.Record(con, path, tuple(members))
        self._scopes[record] = scope
        return record

    def _member(self, con: cs.Construct, name: str | None, path: str, scope: Scope) -> ir.Node:
        """Convert a member of a Struct to a node. `scope`: the names that the member can use.

        path: the path of the member. If the member has no name, it is the path of the Struct.
        """
        node = self._node(con, path, scope)
        if name is None and not _needs_no_name(node):
            refuse(path, f"{type(con).__name__} needs a name")
        return node

    def _node(self, con: cs.Construct, path: str, scope: Scope) -> ir.Node:
        check_hook(con, path)
        kind = type(con)
        if kind is cs.Struct:
            return self._record(con, path, scope)
        if kind is cs.Aligned:
            if not isinstance(con.modulus, int) or con.modulus < 2:
                refuse(path, f"Aligned needs a constant of 2 or more, not {con.modulus!r}")
            return ir.Alignment(con, path, con.modulus, self._node(con.subcon, path, scope))
        if kind is cs.Rebuild:
            check_rebuilt(con.func, path)
            return self._node(con.subcon, path, scope)
        if kind is cs.Array:
            return self._array(con, path, scope)
        if kind is cs.RepeatUntil:
            return self._repeat(con, path, scope)
        if kind is cs.GreedyRange:
            return self._greedy(con, path, scope)
        if kind is cs.IfThenElse:
            condition = read_expression(con.condfunc, scope, path)
            then = self._node(con.thensubcon, path, scope)
            return ir.Branch(con, path, condition, then, self._node(con.elsesubcon, path, scope))
        if kind is cs.Check:
            condition = read_expression(con.func, scope, path)
            if next(ir.fields_in(condition), None) is None:
                refuse(path, f"Check names no field: {con.func!r}")
            return ir.Test(con, path, condition)
        if kind is cs.Const:
            if type(con.subcon) not in (cs.Bytes, cs.FormatField):
                refuse(path, f"Const cannot contain {type(con.subcon).__name__}")
            return ir.Constant(con, path, int(con.subcon.sizeof()))
        if kind is type(cs.Pass):
            return ir.Nothing(con, path)
        if kind is cs.FormatField and con.fmtstr[1] in _SIZES:
            stored = np.dtype(_SIZES[con.fmtstr[1]]).newbyteorder(con.fmtstr[0])
            return self._leaf(ir.Number(con, path, stored))
        if kind is type(cs.Flag):
            return self._leaf(ir.Number(con, path, np.dtype(np.bool_)))
        if kind is NulString:
            return self._leaf(ir.String(con, path))
        if kind is cs.Bytes:
            return self._leaf(ir.Blob(con, path, self._count(con.length, path, scope)))
        if kind is cs.Padded and type(con.subcon) is type(cs.Pass):
            return ir.Gap(con, path, self._count(con.length, path, scope))
        refuse(path, f"the engine does not support {kind.__name__}")

    def _leaf(self, leaf: ir.Leaf) -> ir.Leaf:
        if leaf.path in self._paths:
            refuse(leaf.path, "two fields have this path")
        self._paths.add(leaf.path)
        return leaf

    def _array(self, con: cs.Array, path: str, scope: Scope) -> ir.Rows:
        count = self._count(con.count, path, scope)
        element = self._node(con.subcon, path, scope)
        if not isinstance(element, ir.Number | ir.String | ir.Record):
            refuse(path, f"an Array cannot contain {type(con.subcon).__name__}")
        if ir.least_size(element) == 0:
            refuse(path, "an element must have at least one byte")
        return ir.Rows(con, path, count, element)

    def _greedy(self, con: cs.GreedyRange, path: str, scope: Scope) -> ir.Rows:
        """Convert an array without a count. The reference driver cannot read such an array."""
        return ir.Rows(con, path, None, self._repeated(con, path, scope))

    def _repeated(self, con: cs.GreedyRange | cs.RepeatUntil, path: str, scope: Scope) -> ir.Record:
        if type(con.subcon) is not cs.Struct:
            kind, found = type(con).__name__, type(con.subcon).__name__
            refuse(path, f"{kind} needs a Struct, not {found}")
        element = self._record(con.subcon, path, scope)
        if ir.least_size(element) == 0:
            refuse(path, "an element must have at least one byte")
        return element

    def _repeat(self, con: cs.RepeatUntil, path: str, scope: Scope) -> ir.Repeat:
        element = self._repeated(con, path, scope)
        names = {**self._scopes[element]}
        del names["_"]  # Construct evaluates the condition on the element alone
        condition = read_expression(con.predicate, names, path)
        if not [*ir.operands_in(condition)]:
            refuse(path, f"the condition names no field: {con.predicate!r}")
        return ir.Repeat(con, path, condition, element)

    def _count(self, count: object, path: str, scope: Scope) -> ir.Expression:
        expression = read_expression(count, scope, path)
        if is_real(expression) or (isinstance(expression, int) and expression < 0):
            refuse(path, f"the count must be a whole number of 0 or more: {count!r}")
        return expression


def split_declaration(declaration: cs.Struct) -> tuple[cs.Struct, cs.Struct, cs.Struct]:
    """Split a declaration whose last two fields are a count and an array of `count` records.

    Return a Struct of the fields before these two, a Struct of the two fields, and a Struct of a
    single record. Raises TypeError for any other declaration.
    """
    head, tail = cs.Struct(*declaration.subcons[:-2]), cs.Struct(*declaration.subcons[-2:])
    (_, count), (name, rows) = Tree(tail).root.members
    if not (isinstance(count, ir.Number) and isinstance(rows, ir.Rows) and rows.count is count):
        raise TypeError("the last two fields must be a count and an array of that many records")
    return head, tail, cs.Struct(str(name) / cs.Array(1, declaration.subcons[-1].subcon.subcon))


def _needs_no_name(node: ir.Node) -> bool:
    """Return whether a node contains no field, so that the declaration may leave out its name."""
    if isinstance(node, ir.Branch):
        return _needs_no_name(node.then) and _needs_no_name(node.otherwise)
    if isinstance(node, ir.Alignment):
        return _needs_no_name(node.inner)
    return isinstance(node, ir.Constant | ir.Gap | ir.Test | ir.Nothing)


def _checked_name(member: cs.Renamed, path: str) -> str:
    name = member.name
    if not isinstance(name, str) or not name.isidentifier() or name.startswith("_"):
        refuse(path, f"{name!r} cannot be the name of a field")
    check_hook(member, path)
    return name


def check_hook(con: cs.Construct, path: str) -> None:
    """Raise TypeError if an object of a declaration has a hook, which the engine would not call.

    A hook is a function that Construct calls after parsing.
    """
    if con.parsed is not None:
        refuse(path, "a declaration cannot have hooks")
