"""A Sphinx extension: pictures and tables of the declarations that exset runs.

- `{railroad} FILE.lark`: a diagram for each rule of a grammar.
- `{grammar} FILE.lark`: the text of a grammar, in colours.
- `{layout} module:object`: the fields of a layout of Construct.
- `{options}`: the options of all formats, one by one.
"""

import html
import io
import os
import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import construct as cs
import railroad as rr
from docutils import nodes
from lark import Lark, Token, Tree
from pygments.lexer import RegexLexer
from pygments.token import Comment, Keyword, Name, Operator, String
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import exset
from exset import formats, grammars
from exset.cli.format_options import switch


class LarkLexer(RegexLexer):
    """Colours for Lark grammars."""

    name = "Lark"
    aliases = ("lark",)
    tokens = {  # noqa: RUF012  # as Pygments declares it
        "root": [
            (r"//[^\n]*", Comment),
            (r"%\w+", Keyword),
            (r'"(\\.|[^"\\\n])*"i?', String),
            (r"(?<=[\s|(])/(?!/)(\\.|[^/\\\n])+/[imslux]*", String.Regex),
            (r"->\s*\w+", Name.Label),
            (r"_?[A-Z][A-Z0-9_]*", Name.Constant),
            (r"[?!]?_?[a-z][a-z0-9_]*", Name.Function),
            (r"[|*+?:()\[\]{}.,~]|\d+", Operator),
            (r"\s+|.", String.Other),
        ]
    }


def source_of(name: str) -> str:
    """Return the text of a grammar of exset."""
    with open(os.path.join(*grammars.__path__, name), encoding="ascii") as file:
        return file.read()


class Grammar(SphinxDirective):
    """The text of a grammar."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return a block that scrolls."""
        text = source_of(self.arguments[0])
        block = nodes.literal_block(text, text, language="lark", classes=["declaration"])
        return [block]


class Railroad(SphinxDirective):
    """Diagrams of the rules of a grammar."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return a diagram for each rule; a rule of another rule is a link to its diagram."""
        name = self.arguments[0]
        reader = Lark.open_from_package("lark", "lark.lark", ["grammars"], parser="lalr")
        tree = reader.parse(source_of(name))
        rules = [each for each in tree.children if isinstance(each, Tree) and each.data == "rule"]
        prefix = name.removesuffix(".lark").replace("_", "-")
        parts = [self._diagram(rule, prefix) for rule in rules]
        return [nodes.raw("", "".join(parts), format="html")]

    def _diagram(self, rule: Tree[Token], prefix: str) -> str:
        name, *_, body = rule.children
        out = io.StringIO()
        rr.Diagram(_picture(body, prefix), type="simple").writeSvg(out.write)
        title = html.escape(str(name).lstrip("?!"))
        label = html.escape(f"Diagram of the rule {title}", quote=True)
        svg = out.getvalue().replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1)
        anchor = f"{prefix}-{title}"
        return (
            f'<p class="rule" id="{anchor}"><code>{title}</code></p><div class="rail">{svg}</div>'
        )


def _picture(node: Any, prefix: str) -> Any:
    """Return the diagram of a part of a rule."""
    if isinstance(node, Token):
        return _word(str(node), prefix)
    inner = [_picture(child, prefix) for child in node.children if child is not None]
    if node.data == "expansions":
        return inner[0] if len(inner) == 1 else rr.Choice(0, *inner)
    if node.data == "alias":
        return inner[0]
    if node.data == "expansion":
        return rr.Sequence(*inner) if inner else rr.Skip()
    if node.data == "maybe":
        return rr.Optional(inner[0])
    if node.data == "expr" and node.children[1] is not None:
        many = {"*": rr.ZeroOrMore, "+": rr.OneOrMore, "?": rr.Optional}
        return many[str(node.children[1])](inner[0])
    if node.data == "template_usage":
        return _word(str(node.children[0].children[0]), prefix)
    return inner[0]


def _word(text: str, prefix: str) -> Any:
    if text[0] in '"/':
        return rr.Terminal(text.strip('"') if text[0] == '"' else text)
    if text.isupper():
        return rr.Terminal(text, cls="named")
    return rr.NonTerminal(text, href=f"#{prefix}-{text}")


class LayoutTable(SphinxDirective):
    """The fields of a layout."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return a table: offset, bytes, field, type."""
        module, _, name = self.arguments[0].partition(":")
        layout = getattr(import_module(module), name)
        rows = ["<tr><th>byte</th><th>bytes</th><th>field</th><th>what it is</th></tr>"]
        at: int | None = 0
        for level, field, size, what in _fields(layout, 0):
            begin = "" if at is None or level else str(at)
            indent = "&emsp;" * level
            cells = (begin, size, f"{indent}<code>{html.escape(field)}</code>", html.escape(what))
            rows.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
            if not level:
                at = None if at is None or not size.isdigit() else at + int(size)
        table = f'<table class="docutils bytes">{"".join(rows)}</table>'
        text = f'<div class="table-wrapper">{table}</div>'
        return [nodes.raw("", text, format="html")]


_TYPES = {"b": "integer", "h": "integer", "i": "integer", "l": "integer", "q": "integer"}


def _fields(layout: Any, level: int) -> Iterator[tuple[int, str, str, str]]:
    """Yield the level, the name, the bytes and the type of each field."""
    for each in layout.subcons:
        if not each.name:
            continue
        what, inner = _type(each.subcon)
        yield level, each.name, _size(each.subcon), what
        for part in inner:
            yield from _fields(part, level + 1)


def _size(layout: Any) -> str:
    try:
        return str(layout.sizeof())
    except (cs.SizeofError, AttributeError, KeyError):
        return "varies"


def _type(layout: Any) -> tuple[str, list[Any]]:
    """Return the words for a type, and the layouts that it contains."""
    while isinstance(layout, cs.Renamed | cs.Rebuild):
        layout = layout.subcon
    if isinstance(layout, cs.Const):
        value = layout.value
        return f"always {value:#x}" if isinstance(value, int) else f"always {value!r}", []
    if isinstance(layout, cs.FormatField):
        sign = "" if layout.fmtstr[-1].isupper() or layout.fmtstr[-1] == "f" else "signed "
        order = "big" if layout.fmtstr[0] == ">" else "little"
        kind = _TYPES.get(layout.fmtstr[-1].lower(), "real")
        bits = 8 * layout.length
        return f"{sign}{kind} of {bits} bits" + (f", {order} end first" if bits > 8 else ""), []
    if isinstance(layout, cs.Array):
        what, inner = _type(layout.subcon)
        return f"{_count(layout.count)} times: {what}", inner
    if isinstance(layout, cs.RepeatUntil):
        what, inner = _type(layout.subcon)
        return f"repeated until the last one: {what}", inner
    if isinstance(layout, cs.IfThenElse):
        parts = [part for part in (layout.thensubcon, layout.elsesubcon) if _is_group(part)]
        return f"depends on {_count(layout.condfunc)}", parts
    if isinstance(layout, cs.Aligned):
        return f"{_type(layout.subcon)[0]}, up to a multiple of {layout.modulus} bytes", []
    if isinstance(layout, cs.Bytes):
        return f"bytes: {_count(layout.length)}", []
    if _is_group(layout):
        return "fields", [layout]
    return {"Flag": "0 or 1"}.get(type(layout).__name__, "text that ends with a NUL"), []


def _is_group(layout: Any) -> bool:
    return isinstance(layout, cs.Struct)


def _count(expression: Any) -> str:
    text = re.sub(r"this(\._)*\['?|'?\]|this\.(_\.)*", "", str(expression))
    return re.sub(r"\((\w+) \* \(\1 > 0\)\)", r"\1 (a negative number is 0)", text)


class Options(SphinxDirective):
    """The options of formats."""

    def run(self) -> list[nodes.Node]:
        """Return a section for each format that has options."""
        found: list[nodes.Node] = []
        for fmt in sorted(formats.FORMATS, key=lambda fmt: fmt.name):
            sides = (("to read", "read", fmt.read_options), ("to write", "write", fmt.options))
            rows = [
                _row(side, switch(option.name, verb), option)
                for side, verb, options in sides
                for option in options
            ]
            if not rows:
                continue
            section = nodes.section(ids=[nodes.make_id(f"options-{fmt.name}")])
            section += nodes.title(text=f"{fmt.name}: {fmt.title}")
            head = "<tr><th>option</th><th>in Python</th><th>values</th><th>meaning</th></tr>"
            table = f'<table class="docutils options">{head}{"".join(rows)}</table>'
            wrapped = f'<div class="table-wrapper">{table}</div>'
            section += nodes.raw("", wrapped, format="html")
            found.append(section)
        return found


def _row(side: str, switch: str, option: Any) -> str:
    values = ", ".join(option.choices) or option.metavar or "on or off"
    default = f" (default: {option.default})" if option.default else ""
    code = "<code>{}</code>".format
    cells = (
        f"{code(html.escape(switch))} {side}",
        code(html.escape(option.name)),
        html.escape(values),
        html.escape(option.help + default),
    )
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


def setup(app: Sphinx) -> dict[str, object]:
    """Add the directives, and the colours of grammars."""
    app.add_lexer("lark", LarkLexer)
    app.add_directive("grammar", Grammar)
    app.add_directive("railroad", Railroad)
    app.add_directive("layout", LayoutTable)
    app.add_directive("options", Options)
    return {"version": exset.__version__, "parallel_read_safe": True}
