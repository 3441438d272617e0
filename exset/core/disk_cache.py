"""Compiled grammars, layouts and kernels on disk, in exset's package and in the user's cache.

If the cache is missing or damaged, or cannot be written, exset is only slower. exset does not trust
the files: each file begins with a checksum, and exset does not use a folder that other users can
write to.
"""

import contextlib
import os
import stat
import sys
from functools import partial
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec, source_hash

from exset.core import signals

ENVIRONMENT = "EXSET_CACHE"
"""The environment variable that sets another folder."""

PACKAGE = os.path.join(os.path.dirname(os.path.dirname(__file__)), "compiled")
"""The folder of the code that was compiled when exset was built, with the files of a cache."""

CHECKSUM = 8
"""The size of a checksum in bytes."""
_TEMPORARY = ".new-"


def folder() -> str:
    """Return the cache folder, by default the platform's folder for caches. It may not exist."""
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


def problem() -> str | None:
    """Return why it is unsafe to use the cache folder. Return None if it is safe.

    exset runs code from this folder, so no other user may be able to write to it.
    """
    if sys.platform == "win32" or not hasattr(os, "geteuid"):
        return None
    try:
        status = os.stat(folder())
    except OSError:  # it does not exist yet, or nothing can be read or stored there
        return None
    if status.st_uid != os.geteuid():
        return "it belongs to another user"
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return "other users can write to it"
    return None


def load(name: str) -> bytes | None:
    """Return the data stored under a name. Return None if they are missing or damaged."""
    found = find(name)
    return None if found is None else found[1]


def find(name: str) -> tuple[str, bytes] | None:
    """Find a compiled object by its name: return where it is stored, and its data.

    The first value is "package" or "cache". Return None if the object is not stored.
    """
    data = _read(PACKAGE, name)
    if data is not None:
        return "package", data
    data = None if problem() else _read(folder(), name)
    return None if data is None else ("cache", data)


def _read(place: str, name: str) -> bytes | None:
    try:
        with open(os.path.join(place, name), "rb") as file:
            found = file.read()
    except OSError:
        return None
    data = found[CHECKSUM:]
    return data if found[:CHECKSUM] == _checksum(name, data) else None


def store(name: str, data: bytes) -> bool:
    """Store data under a name atomically; return False if it cannot be stored."""
    if problem():
        return False
    target = os.path.join(folder(), name)
    temporary = os.path.join(os.path.dirname(target), f"{_TEMPORARY}{os.urandom(8).hex()}")
    try:
        create(os.path.dirname(name))
        try:
            with signals.cleanup_on_signal(partial(os.unlink, temporary)):
                with open(temporary, "xb") as file:
                    file.write(_checksum(name, data) + data)
                os.replace(temporary, target)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
    except OSError:
        return False
    return True


def create(name: str) -> None:
    """Create a folder in the cache, and its parents, for this user alone.

    Raises OSError if the system refuses this.
    """
    path = os.path.join(folder(), name)
    if os.path.isdir(path):
        return
    if name:
        create(os.path.dirname(name))
    else:
        os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    with contextlib.suppress(FileExistsError):
        os.mkdir(path, 0o700)


def _checksum(name: str, data: bytes) -> bytes:
    return source_hash(b"%b\0%b" % (name.encode(), data))


def digest(text: str, *modules: str) -> str:
    """Return a hash of a text and of the source code of modules: 16 hexadecimal digits.

    `modules`: full names of modules, which are not imported. To represent a library, name the
    module that contains its version.
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
    """Find the import spec of a module without importing the package that contains it."""
    package = module.rpartition(".")[0]
    if not package or package in sys.modules:
        return find_spec(module)
    found = _spec(package)
    assert found is not None
    return PathFinder.find_spec(module, found.submodule_search_locations)
