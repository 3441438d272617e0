"""Find what can be compiled: the grammars, layouts and kernels that modules of exset declare."""

import pkgutil
import re
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TypeVar

from exset.codecs.engine import ChunkedLayout, Layout
from exset.core.kernels import Kernels
from exset.parsers.engine.grammar import Grammar

_PACKAGES = ("exset.parsers", "exset.codecs", "exset.runtime")
_DECLARATION = re.compile(
    r"^\w+(: Final)? = (Kernels|Grammar|Layout|ChunkedLayout)\(", re.MULTILINE
)

T = TypeVar("T")


def grammars() -> list[Grammar]:
    """Return every `Grammar` that a module of exset declares."""
    return _declared(Grammar)


def kernels() -> list[Kernels]:
    """Return all groups of kernels (`Kernels`) that modules of exset declare."""
    return _declared(Kernels)


def layouts() -> dict[str, Layout]:
    """Return, by name, all binary layouts whose compiled form exset caches on disk."""
    parts = (part for each in _declared(ChunkedLayout) for part in each.layouts)
    found = [*_declared(Layout), *parts]
    return {each.name.removeprefix("exset."): each for each in found if each.name is not None}


def _declared(kind: type[T]) -> list[T]:
    return [each for each in _objects() if isinstance(each, kind)]


@cache
def _objects() -> tuple[object, ...]:
    """Import the modules that have declarations, and return the objects in them, each once.

    Other modules are not imported, as they may need optional or slow libraries.
    """
    found: dict[int, object] = {}
    for package in _PACKAGES:
        for info in pkgutil.walk_packages(import_module(package).__path__, f"{package}."):
            spec = find_spec(info.name)
            if spec and spec.origin and _DECLARATION.search(Path(spec.origin).read_text("utf-8")):
                found |= {id(each): each for each in vars(import_module(info.name)).values()}
    return tuple(found.values())
