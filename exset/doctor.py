"""The state of an installation: versions, engines, and the cache of compiled code."""

import os
import platform
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import exset
from exset import formats
from exset.compiler import declared
from exset.core import background, disk_cache
from exset.core.errors import FormatError
from exset.core.kernels import Kernels
from exset.core.text import size

LIBRARIES = ("numpy", "lark", "construct", "numba", "llvmlite", "h5py")


@dataclass(frozen=True)
class Compiled:
    """Whether a grammar, a layout or a group of kernels is compiled, and where it is stored.

    place: "package" if it came with exset, "cache" if exset compiled it on this machine. error: why
    it could not be compiled.
    """

    name: str
    ready: bool
    bytes: int
    place: str | None = None
    error: str | None = None

    @property
    def text(self) -> str:
        """The state in words."""
        if self.ready:
            return f"{self.name}: ready in the {self.place}, {size(self.bytes)}"
        return f"{self.name}: {f'cannot be compiled: {self.error}' if self.error else 'not yet'}"


@dataclass(frozen=True)
class Installation:
    """The state of this installation; `exset doctor --json` prints the same attributes.

    - `versions`: the versions of libraries; None for a library that is not installed.
    - `compiled`: whether compiled kernels can be used. If not, `why` has the reason.
    - `stale`: the size of the files in the cache that this version does not use. All sizes are in
      bytes.
    - `cache_problem`: why exset does not use the cache.
    - `plugins`: formats of other packages. `plugin_error`: why these formats fail.
    """

    versions: dict[str, str | None]
    platform: str
    compiled: bool
    why: str
    cache: str
    cache_problem: str | None
    writable: bool
    bytes: int
    stale: int
    grammars: tuple[Compiled, ...]
    layouts: tuple[Compiled, ...]
    kernels: tuple[Compiled, ...]
    plugins: tuple[str, ...]
    plugin_error: str | None

    @property
    def ready(self) -> bool:
        """Whether everything is compiled."""
        kernels = self.kernels if self.compiled else ()
        return all(each.ready for each in (*self.grammars, *self.layouts, *kernels))

    def to_dict(self) -> dict[str, object]:
        """Return the state for JSON."""
        return {**asdict(self), "ready": self.ready}

    def rows(self) -> list[tuple[str, str]]:
        """Return the state for people, as pairs (label, text)."""
        how = "compiled for large files" if self.compiled else "plain Python, slow for large files"
        state = "" if self.writable else ", not writable: exset compiles no kernels"
        if self.cache_problem:
            state = f", not used: {self.cache_problem}; set EXSET_CACHE to a folder of your own"
        rows = [
            *((name, found or "not installed") for name, found in self.versions.items()),
            ("platform", self.platform),
            ("engines", f"{how} ({self.why})"),
            ("cache", f"{self.cache}, {size(self.bytes)}{state}"),
        ]
        if self.stale:
            rows.append(("", f"{size(self.stale)} of other versions, which you can delete"))
        for label in ("grammars", "layouts", "kernels"):
            texts = [each.text for each in getattr(self, label)]
            rows += zip([label, *[""] * (len(texts) - 1)], texts, strict=True)
        if self.plugins or self.plugin_error:
            rows.append(("plugins", self.plugin_error or f"formats {', '.join(self.plugins)}"))
        if self.compiled and not self.versions["numba"]:
            rows.append(("", "numba is not installed: kernels that are not ready run as Python"))
        if self.compiled and self.writable and not self.cache_problem and not self.ready:
            hint = "exset compiles the rest when needed, or now: exset doctor --compile"
            rows.append(("", hint))
        return rows


def examine() -> Installation:
    """Return the state of this installation, without compiling or writing anything."""
    folder = Path(disk_cache.folder())
    grammars = tuple(_stored(each.file, each.cache_name) for each in declared.grammars())
    layouts = tuple(_stored(name, each.cache_name) for name, each in declared.layouts().items())
    kernels = tuple(map(_compiled, declared.kernels()))
    parts = (*grammars, *layouts, *kernels)
    used = sum(each.bytes for each in parts if each.place == "cache")
    total = _size(folder)
    why = _import_error()
    try:
        plugins, plugin_error = [fmt.name for fmt in formats.load_plugins()], None
    except FormatError as error:
        plugins, plugin_error = [], error.message
    existing = next((each for each in (folder, *folder.parents) if each.exists()), folder)
    return Installation(
        versions={
            "exset": exset.__version__,
            "Python": platform.python_version(),
            **{name: _version(name) for name in LIBRARIES},
        },
        platform=platform.platform(),
        compiled=why is None,
        why=why or "llvmlite is installed",
        cache=str(folder),
        cache_problem=disk_cache.problem(),
        writable=existing.is_dir() and os.access(existing, os.W_OK | os.X_OK),
        bytes=total,
        stale=max(total - used, 0),
        grammars=grammars,
        layouts=layouts,
        kernels=kernels,
        plugins=tuple(plugins),
        plugin_error=plugin_error,
    )


def compile_all() -> float:
    """Compile all grammars, layouts and kernels; return the time in seconds."""
    start = time.perf_counter()
    background.run()
    return time.perf_counter() - start


def _import_error() -> str | None:
    """Return why compiled kernels cannot be loaded, or None."""
    try:
        import_module("exset.core.native")
    except ModuleNotFoundError:
        return "llvmlite is not installed"
    except Exception as error:  # a damaged library may raise anything
        return f"llvmlite cannot be imported: {error}"
    return None


def _stored(name: str, cache_name: str | None) -> Compiled:
    """Return the state of compiled code that is one file of the cache. name: what is compiled."""
    if cache_name and (found := disk_cache.find(cache_name)):
        return Compiled(name, True, len(found[1]) + disk_cache.CHECKSUM, found[0])
    return Compiled(name, False, 0)


def _compiled(group: Kernels) -> Compiled:
    stored = _stored(group.modules[-1].removeprefix("exset."), group.name)
    return stored if stored.ready else replace(stored, error=group.failure())


def _size(path: Path) -> int:
    """Return the size of a file, or of all files in a folder, in bytes; 0 if it is missing."""
    total = 0
    for file in [path] if path.is_file() else path.rglob("*"):
        with suppress(OSError):  # another process deleted it
            total += file.stat().st_size if file.is_file() else 0
    return total


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
