"""Schemas, to YAML: the text that a schema was read from, changed where the schema was.

What was read keeps its comments and its order. A schema that a program made is written plainly:
names and metadata in their order, two blanks a level.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator
from collections.abc import Mapping as AnyMapping
from typing import Any, Final, cast

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from exset.core.errors import Finding, Findings, FormatError, Severity, safe
from exset.core.limits import DEFAULT
from exset.core.source import Source
from exset.grammars.columns.tree import DEEPEST
from exset.grammars.lbann.schema import METADATA, Node, Path, Schema, Value, alike
from exset.parsers.lbann import conduit
from exset.parsers.lbann.schema import parse

_PLAIN: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")
_UNSEEN: Final = re.compile(r"[\x00-\x1f\x7f-\xa0\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff\"\\]")
_UNLIMITED: Final = DEFAULT.with_(
    max_text=2**60, max_name=2**60, max_depth=DEEPEST, max_nodes=2**60
)


def render(schema: Schema, *, findings: Findings | None = None) -> bytes:
    """Return the text of a schema, which reads back as the same.

    The text that it was read from is returned as it is if it still says this, else with what
    differs changed; a finding says where comments could not be kept. Raises FormatError for what no
    YAML can tell conduit.
    """
    if schema.source is None:
        return written(schema.root)
    if (old := _parsed(schema.source.data)) == schema:
        return schema.source.data
    if old is not None:
        text = _changed(schema.source.data, old.root, schema.root)
        if text is not None and _parsed(text) == schema:
            return text
    text = written(schema.root)
    if findings is not None and b"#" in schema.source.data:
        message = "its comments could not be kept"
        place = schema.place(None)
        findings.add(Finding("schema-comments", Severity.WARNING, message, place))
    return text


def written(
    root: Node, notes: AnyMapping[Path, str] | None = None, head: Iterable[str] = ()
) -> bytes:
    """Return the plain text of a tree; FormatError for names and values that cannot be written.

    notes: comments for nodes, by path; head: lines of comment to begin with.
    """
    lines = [_comment(line) for line in head]
    lines += _lines(root, (), notes or {}) if root.children or root.metadata else ["{}"]
    return ("\n".join(lines) + "\n").encode()


def scalar_text(value: int | float | str | None) -> str:
    """Return a value so that conduit, and YAML, read it back; FormatError if they would not."""
    if value is None:
        return "''"
    if isinstance(value, float):
        text = repr(value)
        return text if "." in text or "n" in text else text.replace("e", ".0e")
    if isinstance(value, str) and not alike(conduit.scalar(value), value):
        message = f"the text {value[:40]!r} would be read as something else"
        raise FormatError(message, hint="it looks like a number, or is empty", code="schema-text")
    if isinstance(value, int):
        if not conduit.INT64[0] <= value <= conduit.INT64[1]:
            raise FormatError(f"{value} is beyond 64 bits", code="schema-text")
        return str(value)
    return name_text(value)


def name_text(name: str) -> str:
    """Return a name or a text, quoted where it must be; FormatError for what UTF-8 cannot say."""
    if _PLAIN.fullmatch(name) and not conduit.OTHERS_READ.fullmatch(name):
        return name
    return '"' + _UNSEEN.sub(_escaped, name) + '"'


def _escaped(match: re.Match[str]) -> str:
    char = match[0]
    if char in '"\\':
        return "\\" + char
    if char == "\0" or "\ud800" <= char <= "\udfff":
        raise FormatError(f"the character {char!r} cannot be written", code="schema-text")
    return f"\\U{ord(char):08x}"


def _comment(text: str) -> str:
    return f"# {safe(text)}"


def _lines(node: Node, path: Path, notes: AnyMapping[Path, str]) -> Iterator[str]:
    blank = "  " * len(path)
    if node.metadata:
        yield f"{blank}{METADATA}:"
        for name, directive in node.metadata.items():
            value = "" if directive.value is None else f" {_flow(directive.value)}"
            yield f"{blank}  {name_text(name)}:{value}"
    for name, child in node.children.items():
        if name == METADATA:
            raise FormatError(f"no field can be called {METADATA}", code="schema-text")
        note = notes.get((*path, name))
        yield f"{blank}{name_text(name)}:{'' if note is None else '  ' + _comment(note)}"
        yield from _lines(child, (*path, name), notes)


def _flow(value: Value) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_flow, value))}]"
    if isinstance(value, AnyMapping):
        return f"{{{', '.join(f'{name_text(k)}: {_flow(v)}' for k, v in value.items())}}}"
    return scalar_text(value)


def _parsed(text: bytes) -> Schema | None:
    try:
        return parse(Source("schema", text), limits=_UNLIMITED)
    except FormatError:
        return None


def _changed(text: bytes, old: Node, new: Node) -> bytes | None:
    """Return a text with what differs between two trees changed; None where that fails."""
    yaml = YAML(typ="rt", pure=True)
    yaml.preserve_quotes = True
    yaml.width = 2**20
    try:
        root = yaml.load(text.decode())
        if not isinstance(root, AnyMapping):
            return None
        _change(yaml, cast("dict[str, Any]", root), old, new)
        out = io.BytesIO()
        yaml.dump(root, out)
    except (YAMLError, ValueError, LookupError, TypeError, AttributeError, OverflowError):
        # A text that ruamel.yaml takes for more than a schema, such as one with odd tags.
        return None
    return out.getvalue()


def _change(yaml: YAML, here: dict[str, Any], old: Node, new: Node) -> None:
    keys = {str(key): key for key in here}
    for name in old.children.keys() - new.children.keys():
        del here[keys[name]]
    if old.metadata != new.metadata:
        _change_metadata(yaml, here, old, new)
    for name, child in new.children.items():
        before = old.children.get(name)
        if before == child:
            continue
        if before is not None and isinstance(here[keys[name]], AnyMapping):
            _change(yaml, here[keys[name]], before, child)
        else:
            here[keys.get(name, name)] = yaml.load(written(child).decode())


def _change_metadata(yaml: YAML, here: dict[str, Any], old: Node, new: Node) -> None:
    if not isinstance(here.get(METADATA), AnyMapping):
        here[METADATA] = yaml.load("{}")
        here[METADATA].fa.set_block_style()
    said = here[METADATA]
    for name in old.metadata.keys() - new.metadata.keys():
        del said[name]
    for name, directive in new.metadata.items():
        if old.metadata.get(name) != directive:
            said[name] = yaml.load(f"v: {_flow(directive.value)}")["v"]
