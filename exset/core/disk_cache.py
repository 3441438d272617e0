"""The cache on disk: lowered grammars and layouts, and compiled kernels.

A missing, broken or unwritable cache only costs time.
"""

import contextlib
import os
import sys
from functools import partial
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec, source_hash

from exset.core import signals

ENVIRONMENT = "EXSET_CACHE"
"""The environment variable that sets another folder."""


def folder() -> str:
    """Return the cache folder, by default the platform's own for caches. It may not exist."""
    if named := os.environ.get(ENVIRONMENT):
        return named
    home = os.path.expanduser("~")
    if home == "~":  # a user without a home has no cache: no folder can be created there
        home = os.devnull
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or os.path.join(home, "AppData", "Local")
    elif sys.platform == "darwin":
        base = os.path.join(home, "Library", "Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.join(home, ".cache")
    return os.path.join(base, "exset")


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


def load(name: str) -> bytes | None:
    """Return the data stored under a name, or None."""
    try:
        with open(os.path.join(folder(), name), "rb") as file:
            return file.read()
    except OSError:
        return None


def store(name: str, data: bytes) -> bool:
    """Store data under a name atomically, and return whether that was possible."""
    target = os.path.join(folder(), name)
    temporary = os.path.join(os.path.dirname(target), f".new-{os.urandom(8).hex()}")
    try:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        try:
            with signals.cleanup_on_signal(partial(os.unlink, temporary)):
                with open(temporary, "xb") as file:
                    file.write(data)
                os.replace(temporary, target)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
    except OSError:
        return False
    return True
