"""Convert declarations of users to the nodes of the engine.

These declarations may use more of Construct than exset's own. Construct computes some members when
it builds, such as the count of a PrefixedArray. Such members become fields of the engine, but not
columns.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

import construct as cs

from exset.codecs.custom.advice import LAMBDA_ADVICE, advice_for
from exset.codecs.custom.symbols import number_of, symbolic
from exset.codecs.custom.text import Encoding
from exset.codecs.engine import ir
from exset.codecs.engine.declaration import Tree, check_hook
from exset.codecs.engine.expressions import Scope, read_expression, refuse

_PASSED_ON: Final = (cs.Hex, cs.HexDump, cs.Default)
_LENGTH: Final = "_length"
_COUNT: Final = "_count"


class WideTree(Tree):
    """A checked declaration of a user.

    - encodings: the encoding of each text, by path.
    - labels: the names of the numbers of each Enum and FlagsEnum, by path.
    - hidden: the paths of fields that are not columns.
    - computed: how to compute each field that is computed when it is written: from the array or
      bytes that the field counts, or by an expression.

    Raises TypeError for an object that the engine cannot run. The message says what to write
    instead.
    """

    def __init__(self, declaration: cs.Construct) -> None:
        self.encodings: dict[str, Encoding] = {}
        self.labels: dict[str, Mapping[int, str]] = {}
        self.hidden: set[str] = set()
        self.computed: dict[str, Length | object] = {}
        inner = declaration
        while isinstance(inner, cs.Renamed | cs.Compiled):
            inner = inner.subcon if isinstance(inner, cs.Renamed) else inner.defersubcon
        super().__init__(inner if type(inner) is cs.Struct else cs.Struct("value" / inner))
        self._check_last(self.root)

    def _check_last(self, node: ir.Node) -> None:
        """Raise TypeError for a GreedyRange of records that is not the last field."""
        members = node.members if isinstance(node, ir.Record) else ()
        for number, (_, member) in enumerate(members, 1):
            if number == len(members) and isinstance(member, ir.Rows):
                continue
            for each in nodes_in(member):
                if isinstance(each, ir.Rows) and each.count is None:
                    refuse(each.path, "GreedyRange must be the last field of the layout")

    def _member(self, con: cs.Construct, name: str | None, path: str, scope: Scope) -> ir.Node:
        if name is None:
            con = _stripped(con)
            if isinstance(con, cs.FormatField | cs.Bytes | cs.BytesInteger):
                size = con.length if isinstance(con, cs.Bytes | cs.BytesInteger) else con.sizeof()
                return ir.Gap(cs.Padding(1), path, self._count(size, path, scope))
            return super()._member(con, name, path, scope)
        if path in self._paths:
            refuse(path, "two fields have this name; rename one of them")
        if isinstance(con, cs.Computed):
            scope[name] = self._expression(con.func, scope, path)  # type: ignore[assignment]
            return ir.Nothing(con, path)
        if isinstance(con, cs.Const) and isinstance(con.value, int):
            scope[name] = int(con.value)
        return super()._member(con, name, path, scope)

    def _node(self, con: cs.Construct, path: str, scope: Scope) -> ir.Node:
        kind = type(con)
        check_hook(con, path)
        if kind in _HANDLERS:
            return _HANDLERS[kind](self, con, path, scope)
        if kind in _PASSED_ON:
            return self._node(con.subcon, path, scope)
        try:
            return super()._node(con, path, scope)
        except TypeError as error:
            advice = advice_for(con)
            if not advice or not str(error).endswith(f"does not support {kind.__name__}"):
                raise
            raise TypeError(f"{error}; {advice}") from None

    # Numbers.

    def _enum(self, con: Any, path: str, scope: Scope) -> ir.Node:
        node = self._node(con.subcon, path, scope)
        if not isinstance(node, ir.Number) or node.is_real:
            refuse(path, f"{type(con).__name__} needs a whole number")
        named = con.flags if isinstance(con, cs.FlagsEnum) else con.encmapping
        self.labels[path] = {int(value): str(name) for name, value in named.items()}
        return node

    def _rebuild(self, con: Any, path: str, scope: Scope) -> ir.Node:
        node = self._node(con.subcon, path, scope)
        if isinstance(node, ir.Number):
            self.computed[path] = con.func
        return node

    def _constant(self, con: Any, path: str, scope: Scope) -> ir.Node:
        """Convert a constant of Construct, `con`, to a node that allows only the constant's bytes.

        path: the path of the field. scope: the fields that come before it.
        """
        inner = _stripped(con.subcon)
        if isinstance(con.value, float) or not isinstance(
            inner, cs.Bytes | cs.FormatField | cs.BytesInteger | cs.StringEncoded
        ):
            refuse(path, f"Const cannot contain {type(inner).__name__}")
        try:
            raw = con.build(None)
            fixed = con.sizeof() == len(raw)
        except cs.ConstructError:
            fixed = False
        if not fixed:
            refuse(path, "Const needs a fixed size")
        is_plain = type(con.subcon) in (cs.Bytes, cs.FormatField)
        return ir.Constant(con if is_plain else cs.Const(bytes(raw)), path, len(raw))

    # Bytes and text.

    def _text(self, con: Any, path: str, scope: Scope) -> ir.Node:
        node = self._node(con.subcon, path, scope)
        text = node.members[-1][1] if isinstance(node, ir.Record) else node
        if not isinstance(text, ir.String | ir.Blob):
            refuse(path, "a string needs GreedyBytes")
        strip = self.encodings[path].strip if path in self.encodings else 0
        self.encodings[path] = Encoding(con.encoding, strip)
        return node

    def _rest(self, con: Any, path: str, scope: Scope) -> ir.Node:
        return self._leaf(ir.Blob(con, path, None))

    def _terminated(self, con: Any, path: str, scope: Scope) -> ir.Node:
        options = (con.term, con.include, con.consume, con.require)
        if type(con.subcon) is not type(cs.GreedyBytes) or options != (b"\0", False, True, True):
            refuse(path, f"the engine does not support this NullTerminated; {advice_for(con)}")
        return self._leaf(ir.String(con, path))

    def _fixed(self, con: Any, path: str, scope: Scope) -> ir.Node:
        inner = con.subcon
        if isinstance(inner, cs.NullStripped) and set(inner.pad) == {0}:
            self.encodings[path] = Encoding("", len(inner.pad))
            inner = inner.subcon
        if type(inner) is not type(cs.GreedyBytes):
            refuse(path, f"the engine does not support this FixedSized; {advice_for(con)}")
        return self._leaf(ir.Blob(con, path, self._count(con.length, path, scope)))

    def _prefixed(self, con: Any, path: str, scope: Scope) -> ir.Node:
        length = self._number(con.lengthfield, path, _LENGTH, scope)
        inner = con.subcon
        if isinstance(inner, cs.StringEncoded):
            self.encodings[path] = Encoding(inner.encoding, 0)
            inner = inner.subcon
        if type(inner) is not type(cs.GreedyBytes):
            refuse(path, f"the engine does not support this Prefixed; {advice_for(con)}")
        extra = ir.least_size(length) if con.includelength else 0
        count: ir.Expression = ir.Operation("-", (length, extra)) if extra else length
        self.computed[length.path] = Length(path, extra)
        blob = self._leaf(ir.Blob(con, path, count))
        return self._group(con, path, scope, length, blob)

    def _number(self, con: cs.Construct, path: str, suffix: str, scope: Scope) -> ir.Number:
        """Convert a number that Construct writes before a field, such as the field's count.

        The number is not a column. suffix: the number's path is the field's path plus this suffix.
        """
        node = self._node(con, path + suffix, scope)
        if not isinstance(node, ir.Number) or node.is_real:
            refuse(path, f"{type(con).__name__} cannot be a count")
        self.hidden.add(node.path)
        return node

    def _group(self, con: cs.Construct, path: str, scope: Scope, *nodes: ir.Node) -> ir.Record:
        """Return one node for a member of a Struct that becomes several nodes.

        con: the member. path: the path of the member's field. scope: the fields to which the member
        can refer. nodes: the several nodes.
        """
        record = ir.Record(con, path, tuple((None, node) for node in nodes))
        self._scopes[record] = {"_": scope}
        return record

    # Arrays.

    def _array(self, con: cs.Array, path: str, scope: Scope) -> ir.Rows:
        count = self._count(con.count, path, scope)
        return ir.Rows(con, path, count, self._element(con, path, scope))

    def _greedy(self, con: Any, path: str, scope: Scope) -> ir.Rows:
        return ir.Rows(con, path, None, self._element(con, path, scope))

    def _element(self, con: Any, path: str, scope: Scope) -> ir.Node:
        element = self._node(con.subcon, path, scope)
        if not isinstance(element, ir.Number | ir.String | ir.Blob | ir.Record):
            inner = type(_stripped(con.subcon)).__name__
            refuse(path, f"an array cannot contain {inner}; write a Struct with it")
        if ir.least_size(element) == 0:
            refuse(path, "an element must have at least one byte")
        return element

    def _prefixed_array(self, con: Any, path: str, scope: Scope) -> ir.Node:
        names = [member.name for member in con.subcons]
        if con.parsebuildfrom != "items" or names != ["count", "items"]:
            refuse(path, f"the engine does not support FocusedSeq; {advice_for(con)}")
        count_field, items = (member.subcon for member in con.subcons)
        if not isinstance(count_field, cs.Rebuild) or not isinstance(items, cs.Array):
            refuse(path, f"the engine does not support FocusedSeq; {advice_for(con)}")
        count = self._number(count_field.subcon, path, _COUNT, scope)
        self.computed[count.path] = Length(path, 0)
        inner: Scope = {"_": scope, "count": count}
        return self._group(con, path, scope, count, self._array(items, path, inner))

    # Branches and expressions.

    def _if(self, con: Any, path: str, scope: Scope) -> ir.Node:
        condition = self._expression(con.condfunc, scope, path)
        both = not any(_stripped(each) is cs.Pass for each in (con.thensubcon, con.elsesubcon))
        then, other = (f"{path}.then", f"{path}.otherwise") if both and path else (path, path)
        return ir.Branch(
            con,
            path,
            condition,
            self._node(con.thensubcon, then, scope),
            self._node(con.elsesubcon, other, scope),
        )

    def _check(self, con: Any, path: str, scope: Scope) -> ir.Node:
        condition = self._expression(con.func, scope, path)
        if next(ir.fields_in(condition), None) is None:
            refuse(path, "Check names no field")
        return ir.Test(con, path, condition)

    def _switch(self, con: Any, path: str, scope: Scope) -> ir.Node:
        """Convert a Switch to branches.

        The path of a field in a branch contains the key of the case: `body.3.size` for case 3.
        """
        key = self._expression(con.keyfunc, scope, path)
        labels = self.labels.get(key.path, {}) if isinstance(key, ir.Number) else {}
        values = {label: value for value, label in labels.items()}
        node = self._node(con.default, f"{path}.default", scope)
        for case, inner in reversed(con.cases.items()):
            value = values.get(str(case), number_of(case))
            if not isinstance(value, int):
                refuse(path, f"a case of a Switch must be a number, not {case!r}")
            name = getattr(case, "name", None) or str(case)
            test = ir.Operation("==", (key, int(value)))
            node = ir.Branch(con, path, test, self._node(inner, f"{path}.{name}", scope), node)
        return node

    def _expression(self, value: object, scope: Scope, path: str) -> ir.Expression:
        found = symbolic(value)
        if callable(found) and found is value and not isinstance(value, cs.ExprMixin):
            refuse(path, f"the engine cannot run this function; {LAMBDA_ADVICE}")
        return read_expression(found, scope, path)

    def _count(self, count: object, path: str, scope: Scope) -> ir.Expression:
        found = symbolic(count)
        if callable(found) and not isinstance(found, cs.ExprMixin):
            refuse(path, f"the engine cannot run this function; {LAMBDA_ADVICE}")
        return super()._count(found, path, scope)

    def _inside(self, con: Any, path: str, scope: Scope) -> ir.Node:
        return self._node(_stripped(con), path, scope)


class Length:
    """The value of a number that counts the elements, or bytes, of the field at `path`.

    The value is the number of elements or bytes plus `extra`.
    """

    def __init__(self, path: str, extra: int) -> None:
        self.path = path
        self.extra = extra


def _stripped(con: cs.Construct) -> cs.Construct:
    """Return a Construct object without its wrappers, if they do not change its bytes."""
    while isinstance(con, cs.Compiled | cs.Enum | cs.Hex | cs.Default) or (
        isinstance(con, cs.Renamed) and con.name is None
    ):
        con = con.defersubcon if isinstance(con, cs.Compiled) else con.subcon
    return con


def nodes_in(node: ir.Node) -> "list[ir.Node]":
    """Return a node and all nodes below it."""
    match node:
        case ir.Record():
            inner = [member for _, member in node.members]
        case ir.Rows() | ir.Repeat():
            inner = [node.element]
        case ir.Branch():
            inner = [node.then, node.otherwise]
        case ir.Alignment():
            inner = [node.inner]
        case _:
            inner = []
    return [node, *(each for member in inner for each in nodes_in(member))]


_Handler = Callable[[WideTree, Any, str, Scope], ir.Node]
_HANDLERS: Final[dict[type, _Handler]] = {
    cs.Renamed: WideTree._inside,
    cs.Compiled: WideTree._inside,
    cs.Enum: WideTree._enum,
    cs.FlagsEnum: WideTree._enum,
    cs.Rebuild: WideTree._rebuild,
    cs.Const: WideTree._constant,
    cs.StringEncoded: WideTree._text,
    type(cs.GreedyBytes): WideTree._rest,
    cs.NullTerminated: WideTree._terminated,
    cs.FixedSized: WideTree._fixed,
    cs.Prefixed: WideTree._prefixed,
    cs.GreedyRange: WideTree._greedy,
    cs.FocusedSeq: WideTree._prefixed_array,
    cs.Check: WideTree._check,
    cs.IfThenElse: WideTree._if,
    cs.Switch: WideTree._switch,
}
