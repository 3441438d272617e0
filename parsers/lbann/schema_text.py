"""Write schemas as YAML.

A schema that was read from a text is written as a changed copy of this text: unchanged parts keep
their comments and order. Other schemas are written plainly, indented by two spaces for each level.
"""

import io
import re
from collections.abc import Iterable, Iterator
from collections.abc import Mapping as AnyMapping
from typing import Any, Final, cast

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from exset.core.errors import Finding, Findings, FormatError, Severity
from exset.core.limits import DEFAULT
from exset.core.source import Source
from exset.core.text import safe
from exset.grammars.columns.tree import DEEPEST
from exset.grammars.lbann.schema import METADATA, Node, Path, Schema, Value, equal_values
from exset.parsers.lbann import conduit
from exset.parsers.lbann.schema import parse

_PLAIN: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")
_UNSEEN: Final = re.compile(r"[\x00-\x1f\x7f-\xa0\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff\"\\]")
_UNLIMITED: Final = DEFAULT.with_(
    max_text=2**60, max_name=2**60, max_depth=DEEPEST, max_nodes=2**60
)


def render(schema: Schema, *, findings: Findings | None = None) -> bytes:
    """Return the text of a schema, which parses to an equal schema.

    The result is the source text of the schema, changed only where the schema differs from this
    text. If such a change fails, comments are lost, and a finding reports this. Raises FormatError
    for names and values that conduit cannot read in any notation of YAML.
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
        message = "the comments of the schema are lost"
        place = schema.place(None)
        findings.add(Finding("schema-comments", Severity.WARNING, message, place))
    return text


def written(
    root: Node, notes: AnyMapping[Path, str] | None = None, head: Iterable[str] = ()
) -> bytes:
    """Return the YAML of a tree without a source text. Raises FormatError as `render` does.

    notes: comments for nodes, by path. head: comment lines at the start.
    """
    lines = [_comment(line) for line in head]
    lines += _lines(root, (), notes or {}) if root.children or root.metadata else ["{}"]
    return ("\n".join(lines) + "\n").encode()


def scalar_text(value: int | float | str | None) -> str:
    """Return the YAML of a value. Raises FormatError if conduit would read another value."""
    if value is None:
        return "''"
    if isinstance(value, float):
        text = repr(value)
        return text if "." in text or "n" in text else text.replace("e", ".0e")
    if isinstance(value, str) and not equal_values(conduit.scalar(value), value):
        message = f"LBANN would not read the text {value[:40]!r} as text"
        raise FormatError(message, hint="it looks like a number, or is empty", code="schema-text")
    if isinstance(value, int):
        if not conduit.INT64[0] <= value <= conduit.INT64[1]:
            raise FormatError(f"the integer {value} is beyond 64 bits", code="schema-text")
        return str(value)
    return name_text(value)


def name_text(name: str) -> str:
    """Return a name or a text as YAML, in quotes if needed.

    Raises FormatError for NUL and lone surrogates.
    """
    if _PLAIN.fullmatch(name) and not conduit.SPECIAL_IN_YAML.fullmatch(name):
        return name
    return '"' + _UNSEEN.sub(_escaped, name) + '"'


def _escaped(match: re.Match[str]) -> str:
    char = match[0]
    if char in '"\\':
        return "\\" + char
    if char == "\0" or "\ud800" <= char <= "\udfff":
        raise FormatError(f"YAML cannot contain the character {char!r}", code="schema-text")
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
            raise FormatError(f"a field cannot have the name {METADATA}", code="schema-text")
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
    """Return the text of the tree `old`, changed so that it becomes a text of the tree `new`.

    Returns None if this fails.
    """
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
        # ruamel.yaml also interprets parts that a schema ignores, for example unknown tags.
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
    block = here[METADATA]
    for name in old.metadata.keys() - new.metadata.keys():
        del block[name]
    for name, directive in new.metadata.items():
        if old.metadata.get(name) != directive:
            block[name] = yaml.load(f"v: {_flow(directive.value)}")["v"]
