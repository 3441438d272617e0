"""A Sphinx extension: pictures and tables of the declarations that exset runs.

- `{railroad} FILE.lark`: a diagram for each rule of a grammar.
- `{grammar} FILE.lark`: the text of a grammar, in colours.
- `{layout} module:object`: the fields of a layout of Construct.
- `{options}`: the options of all families and formats, one by one.
"""

import html
import io
import os
import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any, TypeAlias

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
from exset.cli.format_options import Step, switch
from exset.core.text import with_article
from exset.families.option import Option


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
            code = f"{indent}<code>{html.escape(field)}</code>" if field else ""
            cells = (begin, size, code, html.escape(what))
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
        if not each.name and not isinstance(each, cs.Const):
            continue
        held = each.subcon if each.name else each
        what, inner = _type(held)
        yield level, each.name or "", _size(held), what
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
        sign = "signed " if layout.fmtstr[-1] in "bhilq" else ""
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
        parts = [part for part in _branches(layout) if _is_group(part)]
        return f"depends on {_count(layout.condfunc)}", parts
    if isinstance(layout, cs.Aligned):
        return f"{_type(layout.subcon)[0]}, up to a multiple of {layout.modulus} bytes", []
    if isinstance(layout, cs.Bytes):
        return f"bytes: {_count(layout.length)}", []
    if _is_group(layout):
        return "fields", [layout]
    return {"Flag": "0 or 1"}.get(type(layout).__name__, "text that ends with a NUL"), []


def _branches(layout: Any) -> list[Any]:
    """Return the layouts between which conditions choose."""
    if not isinstance(layout, cs.IfThenElse):
        return [layout]
    return [*_branches(layout.thensubcon), *_branches(layout.elsesubcon)]


def _is_group(layout: Any) -> bool:
    return isinstance(layout, cs.Struct)


def _count(expression: Any) -> str:
    """Return the words for an expression of other fields."""
    fields = r"this(?:\['_'\]|\._)*(?:\['(\w+)'\]|\.(\w+))"
    text = re.sub(fields, lambda found: found[1] or found[2], str(expression))
    text = re.sub(r"\((\w+) \* \(\1 > 0\)\)", r"\1 (a negative number is 0)", text)
    return re.sub(r"\A\(([^()]*)\)\Z", r"\1", text)


class Options(SphinxDirective):
    """The options of all families and formats, one by one."""

    def run(self) -> list[nodes.Node]:
        """Return a section for each family and each format that has options."""
        found: list[nodes.Node] = []
        for family in {fmt.family.name: fmt.family for fmt in formats.FORMATS}.values():
            steps: Steps = [
                ("to check", "check", family.check_options),
                (f"from {with_article(family.noun)} to a table", "table", family.table_options),
                (f"from a table to {with_article(family.noun)}", "table", family.model_options),
            ]
            found += _section(f"options-of-{family.name}", f"Every {family.noun}", steps)
        for fmt in sorted(formats.FORMATS, key=lambda fmt: fmt.name):
            steps = [("to read", "read", fmt.read_options), ("to write", "write", fmt.options)]
            found += _section(f"options-{fmt.name}", f"{fmt.name}: {fmt.title}", steps)
        return found


Steps: TypeAlias = "list[tuple[str, Step, tuple[Option, ...]]]"
"""What the options are for, in words and on the command line, and the options."""


def _section(name: str, title: str, steps: Steps) -> list[nodes.Node]:
    """Return the section of a family or a format; [] if it has no options."""
    entries = [
        _entry(words, switch(option.name, step), option)
        for words, step, options in steps
        for option in options
    ]
    if not entries:
        return []
    section = nodes.section(ids=[nodes.make_id(name)])
    section += nodes.title(text=title)
    section += nodes.raw("", f'<dl class="options">{"".join(entries)}</dl>', format="html")
    return [section]


def _entry(words: str, switch: str, option: Option) -> str:
    values = " | ".join(option.choices) or option.metavar
    shown = html.escape(f"{switch} {values}".rstrip())
    default = f" Default: {option.default}." if option.default else ""
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(option.help + default))
    python = f'In Python <code class="literal">{html.escape(option.name)}</code>.'
    return (
        f'<dt><code class="literal">{shown}</code> {html.escape(words)}</dt>'
        f"<dd>{text} {python}</dd>"
    )


def setup(app: Sphinx) -> dict[str, object]:
    """Add the directives, and the colours of grammars."""
    app.add_lexer("lark", LarkLexer)
    app.add_directive("grammar", Grammar)
    app.add_directive("railroad", Railroad)
    app.add_directive("layout", LayoutTable)
    app.add_directive("options", Options)
    return {"version": exset.__version__, "parallel_read_safe": True}
