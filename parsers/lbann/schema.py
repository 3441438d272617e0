"""Parse schemas from YAML to the values that LBANN gets.

LBANN reads YAML with conduit. conduit ignores merge keys, tags and all documents except the first.
It has its own types of scalars (`exset.parsers.lbann.conduit`).
"""

from collections.abc import Iterator

from exset.core.errors import Findings, FormatError, Place
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.source import Source, Span
from exset.core.suggestions import did_you_mean
from exset.grammars.columns import tree
from exset.grammars.columns.tree import DEEPEST, Style
from exset.grammars.lbann.schema import (
    DIRECTIVES,
    METADATA,
    Directive,
    Node,
    Schema,
    Value,
    list_value,
)
from exset.grammars.lbann.schema_findings import finding_at, wrong_suffix
from exset.parsers.lbann import conduit
from exset.parsers.shared.tree_limits import too_deep, too_many
from exset.parsers.shared.yaml_tree import BadKey, document


def parse(
    source: Source,
    *,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
) -> Schema:
    """Return the schema of a text. ruamel.yaml is the only engine.

    findings: collects warnings. Raises FormatError for a text that LBANN cannot load, and
    LimitError for a text that exceeds `max_text`, `max_depth`, `max_nodes` or `max_name`.
    """
    return _Reader(source, limits, Findings() if findings is None else findings).schema()


class _Reader:
    """Makes the values of a schema from a YAML tree. Each use of an alias makes new values."""

    def __init__(self, source: Source, limits: Limits, findings: Findings) -> None:
        self._source = source
        self._limits = limits
        self._findings = findings
        self._visited = 0

    def schema(self) -> Schema:
        read = document(self._source, self._limits)
        if read.root is None:
            message = "the schema contains only spaces and comments"
            raise FormatError(message, source=self._source, code="lbann-empty")
        if read.bad_key is not None:
            raise self._bad_key(read.bad_key)
        if (finding := wrong_suffix(self._source.name)) is not None:
            self._findings.add(finding)
        root = self._node(read.root, read.root.span, 0)
        if not isinstance(read.root.content, dict):
            message = "not a schema: it names no group or field"
            hint = "a schema starts with the name of a group or field, and a colon"
            raise self._error(message, read.root.span, "schema-empty", hint)
        if read.second is not None:
            self._report("lbann-second-document", read.second)
        return Schema(root, self._source)

    def _node(self, item: tree.Node, span: Span | None, depth: int) -> Node:
        self._visit(item.span, item.style, depth)
        if not isinstance(item.content, dict):
            if item.content:
                self._report("lbann-discarded", item.span)
            return Node(span=span)
        children: dict[str, Node] = {}
        metadata: dict[str, Directive] = {}
        for name, key, value in self._pairs(item):
            if name == METADATA:
                metadata = self._metadata(value, depth + 1)
                continue
            if "/" in name:
                self._report("lbann-slash", key)
            if name in DIRECTIVES and not isinstance(value.content, dict):
                self._report("lbann-directive-as-field", key, raw=name)
                self._visit(value.span, value.style, depth + 1)
                children[name] = Node(span=key)
            else:
                children[name] = self._node(value, key, depth + 1)
        return Node(children, metadata, span)

    def _metadata(self, item: tree.Node, depth: int) -> dict[str, Directive]:
        self._visit(item.span, item.style, depth)
        if not isinstance(item.content, dict):
            if item.content:
                self._report("lbann-discarded", item.span)
            return {}
        directives = {}
        for name, key, value in self._pairs(item):
            if name not in DIRECTIVES:
                hint = did_you_mean(name, DIRECTIVES) or f"LBANN reads {', '.join(DIRECTIVES)}"
                self._report("lbann-unknown-directive", key, raw=name, hint=hint)
            elif name == "hwc":
                self._report("schema-hwc", key)
            span = value.span if value.content else key  # an empty value begins in another line
            directives[name] = Directive(self._value(value, depth + 1), span)
        return directives

    def _pairs(self, item: tree.Node) -> Iterator[tuple[str, Span | None, tree.Node]]:
        """Yield each member of a mapping as a tuple: its name, the place of its name, and its
        content.
        """
        seen: set[str] = set()
        for text, member in item.members.items():
            self._visit(member.name, member.style, 0)
            name = self._text(text, member.name)
            if name in seen:  # equal after the cut at a NUL
                raise self._bad_key(BadKey(member.name, name))
            seen.add(name)
            if name == "<<" and not member.style.quoted:
                self._report("lbann-merge-key", member.name)
            yield name, member.name, member.value

    def _value(self, item: tree.Node, depth: int) -> Value:
        self._visit(item.span, item.style, depth)
        if isinstance(item.content, dict):
            return {name: self._value(value, depth + 1) for name, _, value in self._pairs(item)}
        if isinstance(item.content, tuple):
            return list_value([self._value(each, depth + 1) for each in item.content])
        text = self._text(str(item.content), item.span)
        value = conduit.scalar(text)
        if found := conduit.surprise(text, not item.style.quoted, value):
            self._report(
                "lbann-odd-scalar", item.span, raw=text[:40], meaning=found[0], hint=found[1]
            )
        return value

    def _text(self, raw: str, span: Span | None) -> str:
        text, nul, _ = raw.partition("\0")
        if nul:
            self._report("lbann-nul", span)
        return text

    def _visit(self, span: Span | None, style: Style, depth: int) -> None:
        self._visited += 1
        if self._visited > self._limits.max_nodes:
            what = "values, counting those that aliases repeat"
            raise too_many(self._source, span, self._limits, what)
        if depth > min(self._limits.max_depth, DEEPEST):
            raise too_deep(self._source, span, self._limits)
        if style.tag not in (None, "!", "?"):
            self._report("lbann-tag", span, raw=style.tag)

    def _report(self, code: str, span: Span | None, **words: object) -> None:
        assert span is not None  # as every node of a text has one
        self._findings.add(finding_at(code, Place.in_text(self._source, span), **words))

    def _bad_key(self, key: BadKey) -> FormatError:
        if key.name is None:
            return self._error("a name must be text", key.span, "lbann-key")
        hint = "remove one, or move the content of both under one"
        return self._error(f"the name {key.name!r} is repeated", key.span, "lbann-duplicate", hint)

    def _error(
        self, message: str, span: Span | None, code: str, hint: str | None = None
    ) -> FormatError:
        return FormatError(message, source=self._source, span=span, code=code, hint=hint)
