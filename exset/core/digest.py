"""Digests of texts and of the sources of modules, for the names of cached files."""

import sys
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec, source_hash


def digest(text: str, *modules: str) -> str:
    """Return a hash of a text and of the sources of modules, as 16 digits for a file name.

    `modules` are full names; they are not imported. A library is named by the module that has its
    version.
    """
    parts = [text.encode()]
    for module in modules:
        spec = _spec(module)
        assert spec is not None
        assert spec.origin is not None
        with open(spec.origin, "rb") as file:
            parts.append(file.read())
    return source_hash(b"\0".join(parts)).hex()


def _spec(module: str) -> ModuleSpec | None:
    """Return where a module is. Unlike `find_spec`, this does not import its package."""
    package = module.rpartition(".")[0]
    if not package or package in sys.modules:
        return find_spec(module)
    found = _spec(package)
    assert found is not None
    return PathFinder.find_spec(module, found.submodule_search_locations)
