"""The source of the package, for the tests of its rules."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from token import COMMENT, DEDENT, ENCODING, ENDMARKER, INDENT, NEWLINE, NL
from tokenize import tokenize

ROOT = Path(__file__).parent.parent
_NO_CODE = {COMMENT, DEDENT, ENCODING, ENDMARKER, INDENT, NEWLINE, NL}
FOLDERS = ("grammars", "parsers", "codecs", "runtime")
PLAIN = {
    *("exset.core.errors", "exset.core.source", "exset.core.limits", "exset.core.disk_cache"),
    *("exset.core.progress", "exset.core.text", "exset.core.lookalikes", "exset.core.signals"),
    *("exset.core.html", "exset.core.suggestions", "exset.core.threads"),
    *("exset.core.supervised", "exset.core.supervisor"),
    "exset.core.finding",
    *("exset.io.files", "exset.io.blocks", "exset.io.compression", "exset.io.compressors"),
    "exset.io.large_read",
    "exset.io.remote",
    *("exset.io.atomic_write", "exset.io.extraction", "exset.io.content_types"),
    *("exset.io.folders", "exset.io.access", "exset.io.beneath", "exset.io.named"),
    "exset.io.patterns",
}
"""The core modules that need nothing but the standard library."""


@cache
def modules() -> dict[str, Path]:
    """Return every module of the package by name, found through the folders and not the links."""
    found = {}
    for folder in ("exset", *FOLDERS):
        for path in (ROOT / folder).rglob("*.py"):
            parts = path.relative_to(ROOT).with_suffix("").parts
            if folder == "exset" and len(parts) > 1 and parts[1] in FOLDERS:
                continue
            name = ".".join(parts if folder == "exset" else ("exset", *parts))
            found[name.removesuffix(".__init__")] = path
    return found


@cache
def tree(name: str) -> ast.Module:
    return ast.parse(modules()[name].read_bytes())


@cache
def imports(name: str) -> tuple[tuple[str, int], ...]:
    """Return the modules that a module imports, at any depth of its code, each with the line."""
    return tuple(_imports(name))


def _imports(name: str) -> Iterator[tuple[str, int]]:
    for node in ast.walk(tree(name)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{modules()[name]}:{node.lineno}: a relative import"
            base = node.module or ""
            for alias in node.names:
                whole = f"{base}.{alias.name}"
                yield (whole if whole in modules() else base), node.lineno


def names_in(code: ast.Module) -> dict[str, str]:
    """Return the full name of each name that a module imports."""
    found = {}
    for node in ast.walk(code):
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.split(".")[0]
                found[alias.asname or top] = alias.name if alias.asname else top
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                found[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return found


def code_lines(name: str) -> int:
    """Count the lines of a module that have code: no docstring, comment or blank line."""
    texts = [
        node
        for node in ast.walk(tree(name))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    ]
    documented = {
        line for node in texts for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    with modules()[name].open("rb") as file:
        tokens = [token for token in tokenize(file.readline) if token.type not in _NO_CODE]
    lines = {line for token in tokens for line in range(token.start[0], token.end[0] + 1)}
    return len(lines - documented)
