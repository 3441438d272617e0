"""Find the places in the source that make messages, and watch which of them run."""

import ast
import builtins
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeGuard, TypeVar
from unittest.mock import patch

import click

from exset.core import callers
from exset.core.errors import Finding
from exset.runtime.aeon.elements import ElementError
from tests import messages

ROOT = Path(__file__).parent.parent
Site = tuple[str, int]
T = TypeVar("T")
_NO_MESSAGE = {"place", "span", "findings", "code", "source", "field", "hint"}
_NO_MESSAGE |= {"name", "path", "file", "folder", "key", "ctx", "param", "size", "total"}
_FINDING_MAKERS = {"finding_at", "Finding", "FormatError", "LimitError"}
_REFUSALS = {"UsageError", "BadParameter", ".fail", "OptionError", "say"}
_ERRORS = {
    name
    for name, kind in vars(builtins).items()
    if isinstance(kind, type)
    and issubclass(kind, Exception)
    and not issubclass(kind, AssertionError)
}
_MAKERS = _FINDING_MAKERS | _REFUSALS | _ERRORS


@contextmanager
def watched(seen: set[Site]) -> Iterator[None]:
    """Collect the lines of exset's source that make messages.

    These lines make findings, raise usage errors or write to the terminal, or they raise an error
    whose text becomes part of a message.
    """

    def watching(plain: Callable[..., T]) -> Callable[..., T]:
        def made(*args: object, **words: object) -> T:
            frame = sys._getframe(1)
            lines = list(traceback.walk_stack(frame))
            error = sys.exception()
            while error is not None:
                lines += traceback.walk_tb(error.__traceback__)
                error = error.__context__
            for each, line in lines:
                name = each.f_code.co_filename
                if name.startswith(str(ROOT)) and "/tests/" not in name:
                    seen.add((str(Path(name).resolve().relative_to(ROOT)), line))
            return plain(*args, **words)

        return made

    with (
        patch.object(Finding, "__init__", watching(Finding.__init__)),
        patch.object(click.ClickException, "__init__", watching(click.ClickException.__init__)),
        patch.object(ElementError, "__init__", watching(ElementError.__init__)),
        patch.object(click, "echo", watching(click.echo)),
        patch.object(messages, "words", watching(messages.words)),
        patch.object(callers, "trimmed", lambda error: error),
    ):
        yield


def sites() -> dict[tuple[str, int, int], str]:
    """Return the calls that make messages: file, first and last line; and their code.

    They include the calls of functions that pass on a message.
    """
    trees = {
        str(path.relative_to(ROOT)): ast.parse(path.read_bytes())
        for folder in ("exset", "grammars", "parsers", "codecs", "runtime")
        for path in sorted((ROOT / folder).rglob("*.py"))
        if path.resolve().relative_to(ROOT) == path.relative_to(ROOT)
        if "testing" not in path.parts
    }
    passing = {name: set(_passing(tree)) for name, tree in trees.items()}
    public = {each for found in passing.values() for each in found if each.lstrip(".")[0] != "_"}
    found = {}
    for name, tree in trees.items():
        makers = _MAKERS | public | passing[name]
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and node.args and _called(node) & makers:
                last = node.end_lineno or node.lineno
                found[name, node.lineno, last] = " ".join(ast.unparse(node).split())[:120]
    return found


def _called(node: ast.Call) -> set[str]:
    """Return the name of the called function, and with a dot if it may be a method."""
    _, dot, name = ast.unparse(node.func).rpartition(".")
    return {name, dot + name}


def _passing(tree: ast.Module) -> Iterator[str]:
    """Yield the functions of a module that pass on a message, methods with a dot."""
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef) or function.name.startswith("__"):
            continue
        parameters = [each.arg for each in (*function.args.args, *function.args.kwonlyargs)]
        for node in ast.walk(function):
            if isinstance(node, ast.Call) and _called(node) & _MAKERS:
                words = [*node.args, *(each.value for each in node.keywords)]
                whole = {each.id for each in words if isinstance(each, ast.Name)}
                parts = {each.id for word in words for each in ast.walk(word) if _is_message(each)}
                if (whole - _NO_MESSAGE | parts) & set(parameters):
                    yield f".{function.name}" if parameters[0] == "self" else function.name


def _is_message(node: ast.AST) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and node.id in ("message", "why")
