"""The copy of a declaration that the reference driver runs, with a probe around each primitive."""

from collections.abc import Callable
from typing import IO, TypeAlias

from construct import (
    Aligned,
    Array,
    Construct,
    Container,
    IfThenElse,
    RepeatUntil,
    Struct,
    Subconstruct,
)

from exset.codecs.engine.ir import Alignment, Branch, Node, Nothing, Number, Record, Repeat, Rows

Run: TypeAlias = Callable[[Node, Construct, IO[bytes], Container], object]
"""What happens at a probe, given its node and the Construct object that does the work: it reads
what it stands around, or writes it, and returns its value for expressions."""


class Probe(Subconstruct):  # type: ignore[misc]
    """Stands around one Construct object and leaves reading and writing it to the run."""

    def __init__(self, node: Node, subcon: Construct, run: Run) -> None:
        """Put a probe around the Construct object of a node."""
        super().__init__(subcon)
        self.flagbuildnone = True
        self.node = node
        self.run = run

    def _parse(self, stream: IO[bytes], context: Container, path: str) -> object:
        return self.run(self.node, self.subcon, stream, context)

    def _build(self, obj: object, stream: IO[bytes], context: Container, path: str) -> object:
        return self.run(self.node, self.subcon, stream, context)


def copied(node: Node, run: Run) -> Construct:
    """The declaration again, probed: each primitive, each array, each element that is a Struct.

    An array of numbers has one probe and not one an element.
    """
    match node:
        case Record():
            members = [(name, copied(member, run)) for name, member in node.members]
            return Struct(*(name / con if name else con for name, con in members))
        case Branch():
            then, otherwise = copied(node.then, run), copied(node.otherwise, run)
            return IfThenElse(node.construct.condfunc, then, otherwise)
        case Rows(element=Number()):
            return Probe(node, Array(node.construct.count, node.element.construct), run)
        case Rows():
            inner = copied(node.element, run)
            if isinstance(node.element, Record):
                inner = Probe(node.element, inner, run)
            return Probe(node, Array(node.construct.count, inner, discard=True), run)
        case Repeat():
            inner = Probe(node.element, copied(node.element, run), run)
            return Probe(node, RepeatUntil(node.construct.predicate, inner, discard=True), run)
        case Alignment():
            inner = copied(node.inner, run)
            return Probe(node, Aligned(node.modulus, inner, node.construct.pattern), run)
        case Nothing():
            return node.construct
        case _:
            return Probe(node, node.construct, run)
