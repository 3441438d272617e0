"""Schemas, from YAML: the tree of fields and their metadata, as LBANN has it in memory.

conduit is LBANN's reader: it knows no merge keys, no tags and no more than one document, and what
type a text has is for it to say (`exset.parsers.lbann.conduit`).
"""

from __future__ import annotations

from collections.abc import Iterator

from exset.core.errors import Finding, Findings, FormatError, Place
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.source import Source, Span
from exset.grammars.lbann.schema import (
    DIRECTIVES,
    HWC,
    METADATA,
    Directive,
    Node,
    Schema,
    Value,
    listed,
)
from exset.grammars.lbann.schema_findings import finding_at
from exset.parsers.lbann import conduit
from exset.parsers.shared.yaml_tree import (
    DEEPEST,
    Item,
    Mapping,
    Scalar,
    Sequence,
    document,
    too_deep,
    too_many,
)


def parse(
    source: Source,
    *,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
) -> Schema:
    """Read a schema; there is one engine, ruamel.yaml.

    Traps are added to `findings`. Raises FormatError for what LBANN cannot load, LimitError for
    what goes beyond `max_text`, `max_depth`, `max_nodes` or `max_name`.
    """
    heard = Findings() if findings is None else findings
    return _Reader(source, limits, heard).schema()


class _Reader:
    """Makes nodes and values of a YAML tree, each thing that an alias repeats once more."""

    def __init__(self, source: Source, limits: Limits, findings: Findings) -> None:
        self._source = source
        self._limits = limits
        self._findings = findings
        self._visited = 0

    def schema(self) -> Schema:
        read = document(self._source, self._limits)
        if read.root is None:
            raise FormatError(
                "nothing but blanks and comments", source=self._source, code="lbann-empty"
            )
        if self._source.name.endswith(".yml"):
            what, hint = "it knows YAML by the suffix .yaml alone", "call the file .yaml"
            self._add(
                finding_at("lbann-refuses", Place.of(self._source.name), what=what, hint=hint)
            )
        root = self._node(read.root, read.root.span, 0)
        if not isinstance(read.root, Mapping):
            hint = (
                "a schema begins with the name of a group or field, and a colon: is it this file?"
            )
            raise self._error(
                "this is no schema: it names nothing", read.root.span, "schema-empty", hint
            )
        if read.second is not None:
            self._trap("lbann-second-document", read.second)
        return Schema(root, self._source)

    def _node(self, item: Item, span: Span, depth: int) -> Node:
        self._visit(item, depth)
        if not isinstance(item, Mapping):
            if not isinstance(item, Scalar) or item.text:
                self._trap("lbann-discarded", item.span)
            return Node(span=span)
        children: dict[str, Node] = {}
        metadata: dict[str, Directive] = {}
        for name, key, value in self._pairs(item):
            if name == METADATA:
                metadata = self._metadata(value, depth + 1)
                continue
            if "/" in name:
                self._trap("lbann-slash", key)
            if name in DIRECTIVES and not isinstance(value, Mapping):
                self._trap("lbann-directive-as-field", key, raw=name)
                self._visit(value, depth + 1)
                children[name] = Node(span=key)
            else:
                children[name] = self._node(value, key, depth + 1)
        return Node(children, metadata, span)

    def _metadata(self, item: Item, depth: int) -> dict[str, Directive]:
        self._visit(item, depth)
        if not isinstance(item, Mapping):
            if not isinstance(item, Scalar) or item.text:
                self._trap("lbann-discarded", item.span)
            return {}
        directives = {}
        for name, key, value in self._pairs(item):
            if name not in DIRECTIVES:
                hint = f"it knows {', '.join(DIRECTIVES)}"
                if name == HWC:
                    hint = "but scales of several channels need it, whatever its value"
                self._trap("lbann-unknown-directive", key, raw=name, hint=hint)
            directives[name] = Directive(self._value(value, depth + 1), value.span)
        return directives

    def _pairs(self, item: Mapping) -> Iterator[tuple[str, Span, Item]]:
        """Yield names, where they stand, and what they name; each name can stand once."""
        seen: set[str] = set()
        for key, value in item.pairs:
            self._visit(key, 0)
            if not isinstance(key, Scalar):
                raise self._error("a name must be a text", key.span, "lbann-key")
            name = self._text(key)
            if name in seen:
                hint = "remove one, or put what they hold under one"
                raise self._error(f"{name!r} stands here twice", key.span, "lbann-duplicate", hint)
            seen.add(name)
            if name == "<<" and key.plain:
                self._trap("lbann-merge-key", key.span)
            yield name, key.span, value

    def _value(self, item: Item, depth: int) -> Value:
        self._visit(item, depth)
        if isinstance(item, Mapping):
            return {name: self._value(value, depth + 1) for name, _, value in self._pairs(item)}
        if isinstance(item, Sequence):
            return listed([self._value(each, depth + 1) for each in item.items])
        text = self._text(item)
        value = conduit.scalar(text)
        if doubt := conduit.doubt(text, item.plain, value):
            self._trap(
                "lbann-odd-scalar", item.span, raw=text[:40], meaning=doubt[0], hint=doubt[1]
            )
        return value

    def _text(self, item: Scalar) -> str:
        text, nul, _ = item.text.partition("\0")
        if nul:
            self._trap("lbann-nul", item.span)
        return text

    def _visit(self, item: Item, depth: int) -> None:
        self._visited += 1
        if self._visited > self._limits.max_nodes:
            raise too_many(self._source, item.span, self._limits)
        if depth > min(self._limits.max_depth, DEEPEST):
            raise too_deep(self._source, item.span, self._limits)
        if item.tag is not None and item.tag not in ("!", "?"):
            self._trap("lbann-tag", item.span, raw=item.tag)

    def _trap(self, code: str, span: Span, **words: object) -> None:
        self._add(finding_at(code, Place.in_text(self._source, span), **words))

    def _add(self, finding: Finding) -> None:
        self._findings.add(finding)

    def _error(self, message: str, span: Span, code: str, hint: str | None = None) -> FormatError:
        return FormatError(message, source=self._source, span=span, code=code, hint=hint)
