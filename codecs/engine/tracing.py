"""Copy a declaration, with a probe around each primitive.

The probes trace values for the reference driver.
"""

from collections.abc import Callable
from typing import IO, TypeAlias

import construct as cs

from exset.codecs.engine import ir

Run: TypeAlias = Callable[[ir.Node, cs.Construct, IO[bytes], cs.Container], object]
"""A function that reads or writes the Construct object of a node, and returns its value."""


class _Probe(cs.Subconstruct):  # type: ignore[misc]
    """Wraps an object of Construct, and calls `run` when the object should be read or written.

    `run` then reads or writes the object itself.
    """

    def __init__(self, node: ir.Node, subcon: cs.Construct, run: Run) -> None:
        super().__init__(subcon)
        self.flagbuildnone = True
        self.node = node
        self.run = run

    def _parse(self, stream: IO[bytes], context: cs.Container, path: str) -> object:
        return self.run(self.node, self.subcon, stream, context)

    def _build(self, obj: object, stream: IO[bytes], context: cs.Container, path: str) -> object:
        return self.run(self.node, self.subcon, stream, context)


def traced(node: ir.Node, run: Run) -> cs.Construct:
    """Copy a declaration, with a probe around each primitive, array, and Struct in an array.

    run: what each probe calls. An array of numbers has a single probe.
    """
    match node:
        case ir.Record():
            members = [(name, traced(member, run)) for name, member in node.members]
            return cs.Struct(*(name / con if name else con for name, con in members))
        case ir.Branch():
            then, otherwise = traced(node.then, run), traced(node.otherwise, run)
            return cs.IfThenElse(node.construct.condfunc, then, otherwise)
        case ir.Rows(element=ir.Number()):
            return _Probe(node, cs.Array(node.construct.count, node.element.construct), run)
        case ir.Rows():
            inner = traced(node.element, run)
            if isinstance(node.element, ir.Record):
                inner = _Probe(node.element, inner, run)
            return _Probe(node, cs.Array(node.construct.count, inner, discard=True), run)
        case ir.Repeat():
            inner = _Probe(node.element, traced(node.element, run), run)
            return _Probe(node, cs.RepeatUntil(node.construct.predicate, inner, discard=True), run)
        case ir.Alignment():
            inner = traced(node.inner, run)
            return _Probe(node, cs.Aligned(node.modulus, inner, node.construct.pattern), run)
        case ir.Nothing():
            return node.construct
        case _:
            return _Probe(node, node.construct, run)
