"""The state of an installation: versions, engines, and the cache of compiled code."""

import os
import platform
from contextlib import suppress
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import exset
from exset import compiling, formats
from exset.core import disk_cache
from exset.core.errors import FormatError
from exset.core.kernels import Kernels, import_error
from exset.core.text import size

LIBRARIES = ("numpy", "lark", "interegular", "construct", "numba", "h5py", "ruamel.yaml")


@dataclass(frozen=True)
class Compiled:
    """A grammar, a layout or a group of kernels: exset compiles each once on a machine."""

    name: str
    ready: bool
    bytes: int

    @property
    def text(self) -> str:
        """The state in words."""
        return f"{self.name}: {f'ready, {size(self.bytes)}' if self.ready else 'not yet'}"


@dataclass(frozen=True)
class Installation:
    """The state of this installation; its attributes are those of the JSON of `exset doctor`.

    `versions` has None for a library that is not installed. `compiled` says whether kernels can be
    compiled, and `why`. Sizes are in bytes; `stale` is the size of files in the cache that this
    version does not use. `cache_problem` is why exset does not use the cache. `plugins` are
    formats of other packages; `plugin_error` is why they fail.
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
        """Whether nothing remains to compile."""
        kernels = self.kernels if self.compiled else ()
        return all(each.ready for each in (*self.grammars, *self.layouts, *kernels))

    def to_dict(self) -> dict[str, object]:
        """Return the state for JSON."""
        return {**asdict(self), "ready": self.ready}

    def rows(self) -> list[tuple[str, str]]:
        """Return the state for people, as (label, text)."""
        how = "compiled for large files" if self.compiled else "plain Python, slow for large files"
        state = "" if self.writable else ", not writable: exset compiles in each process"
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
        if self.compiled and self.writable and not self.cache_problem and not self.ready:
            hint = "exset compiles the rest at first use, or now: exset doctor --compile"
            rows.append(("", hint))
        return rows


def examine() -> Installation:
    """Return the state of this installation; this compiles and writes nothing."""
    from exset.parsers.engine.grammar import Grammar

    folder = Path(disk_cache.folder())
    grammars = tuple(_stored(each.file, each.cache_name) for each in compiling.declared(Grammar))
    layouts = tuple(_stored(name, each.cache_name) for name, each in compiling.layouts().items())
    kernels = tuple(map(_compiled, compiling.declared(Kernels)))
    total = _size(folder)
    why = import_error()
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
        why=why or "numba is installed",
        cache=str(folder),
        cache_problem=disk_cache.problem(),
        writable=existing.is_dir() and os.access(existing, os.W_OK | os.X_OK),
        bytes=total,
        stale=max(total - sum(each.bytes for each in (*grammars, *layouts, *kernels)), 0),
        grammars=grammars,
        layouts=layouts,
        kernels=kernels,
        plugins=tuple(plugins),
        plugin_error=plugin_error,
    )


def _stored(name: str, cache_name: str | None) -> Compiled:
    """Return the state of a grammar or a layout, which is one file of the cache."""
    if cache_name is None or disk_cache.load(cache_name) is None:
        return Compiled(name, False, 0)
    return Compiled(name, True, _size(Path(disk_cache.folder(), cache_name)))


def _compiled(group: Kernels) -> Compiled:
    names = ", ".join(name.removeprefix("exset.") for name in group.modules)
    return Compiled(names, group.is_cached, _size(Path(disk_cache.folder(), group.cache_name)))


def _size(path: Path) -> int:
    """Return the bytes of a file, or of all files in a folder; 0 if it does not exist."""
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
