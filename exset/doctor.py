"""The state of an installation: versions, engines, and the cache of compiled code."""

import os
import pkgutil
import platform
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache as once
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import exset
from exset import formats, samples
from exset.core import disk_cache, kernels
from exset.core.errors import Findings, FormatError
from exset.core.protocols import Selectable
from exset.core.source import Source
from exset.core.text import size

if TYPE_CHECKING:
    from exset.codecs.engine import Layout

LIBRARIES = ("numpy", "lark", "interegular", "construct", "numba", "h5py", "ruamel.yaml")

_PACKAGES = ("exset.parsers", "exset.codecs", "exset.runtime")
_NEEDS_EXTRAS = ("exset.runtime.training.torch_dataset",)
"""Modules that import optional or slow libraries; they declare nothing to compile."""

_MANY = 1 << 15
"""So many units that all kernels are compiled."""

T = TypeVar("T")


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
        rows = [(name, found or "not installed") for name, found in self.versions.items()]
        rows.append(("platform", self.platform))
        engine = (
            "compiled for large files" if self.compiled else "plain Python, slow for large files"
        )
        rows.append(("engines", f"{engine} ({self.why})"))
        state = "" if self.writable else ", not writable: exset compiles in each process"
        if self.cache_problem:
            state = f", not used: {self.cache_problem}; set EXSET_CACHE to a folder of your own"
        rows.append(("cache", f"{self.cache}, {size(self.bytes)}{state}"))
        if self.stale:
            rows.append(("", f"{size(self.stale)} of other versions, which you can delete"))
        for label in ("grammars", "layouts", "kernels"):
            compiled: tuple[Compiled, ...] = getattr(self, label)
            rows += [("" if k else label, each.text) for k, each in enumerate(compiled)]
        if self.plugins or self.plugin_error:
            rows.append(("plugins", self.plugin_error or f"formats {', '.join(self.plugins)}"))
        if self.compiled and self.writable and not self.cache_problem and not self.ready:
            rows.append(
                ("", "exset compiles the rest at first use, or now: exset doctor --compile")
            )
        return rows


def examine() -> Installation:
    """Return the state of this installation; this compiles and writes nothing."""
    from exset.parsers.engine.grammar import Grammar

    folder = Path(disk_cache.folder())
    grammars = [_table(found.file, found.cache_name) for found in _declared(Grammar)]
    layouts = [_table(name, found.cache_name) for name, found in _layouts().items()]
    groups = [_group(found) for found in _declared(kernels.Kernels)]
    total = _size(folder)
    why = kernels.import_error()
    plugins, plugin_error = _plugins()
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
        writable=_is_writable(folder),
        bytes=total,
        stale=max(total - sum(each.bytes for each in (*grammars, *layouts, *groups)), 0),
        grammars=tuple(grammars),
        layouts=tuple(layouts),
        kernels=tuple(groups),
        plugins=plugins,
        plugin_error=plugin_error,
    )


def compile_all() -> float:
    """Compile all grammars, layouts and kernels; return the time in seconds.

    Kernels are compiled by use: this reads and writes the bundled samples, repeated until they are
    large, in every format of their family.
    """
    import numpy as np

    from exset.parsers.aeon.manifest import parse
    from exset.parsers.engine.grammar import Grammar
    from exset.runtime.aeon import crc32c, libstdcxx
    from exset.runtime.aeon.elements import elements
    from exset.runtime.samplers.registry import build_sampler

    start = time.perf_counter()
    for grammar in _declared(Grammar):
        _ = grammar.lowered
    for layout in _layouts().values():
        _ = layout.program
    for name in samples.names():
        fmt = formats.by_suffix(name)
        assert fmt is not None
        model = fmt.read(samples.read(name), findings=Findings())
        if isinstance(model, Selectable):
            model = model.select(np.resize(np.arange(len(model)), _MANY))
        for other in formats.of_family(fmt.family):
            with suppress(FormatError):  # a format may hold less than its family
                data = other.write(model, findings=Findings())
                other.read(Source(name, data), findings=Findings())
    numbers = parse(Source("numbers", b"@ASCII_INT\tASCII_FLOAT\n1\t0.5\n"))
    for column in range(2):
        elements(numbers, column, compiled=kernels.available())
    crc32c.crc32c(np.zeros(crc32c.KERNELS.compile_from, np.uint8))
    libstdcxx.shuffled(libstdcxx.KERNELS.compile_from, libstdcxx.MERSENNE, 1)
    libstdcxx.subset(libstdcxx.KERNELS.compile_from, 0.5, 1, 1)
    labels = np.arange(_MANY) % 64
    for sampler in ("exhaustive", "planned"):
        build_sampler(sampler, labels, 8, 1).plan()
    return time.perf_counter() - start


def _plugins() -> tuple[tuple[str, ...], str | None]:
    """Return the formats of other packages, or why they fail."""
    try:
        return tuple(fmt.name for fmt in formats.load_plugins()), None
    except FormatError as error:
        return (), error.message


@once
def _objects() -> tuple[object, ...]:
    """Return all objects that the modules of the engines declare, each once."""
    found = {}
    for name in _PACKAGES:
        for module in pkgutil.walk_packages(import_module(name).__path__, f"{name}."):
            if module.name not in _NEEDS_EXTRAS:
                found.update({id(each): each for each in vars(import_module(module.name)).values()})
    return tuple(found.values())


def _declared(kind: type[T]) -> Iterator[T]:
    return (each for each in _objects() if isinstance(each, kind))


def _layouts() -> dict[str, "Layout"]:
    """Return the layouts whose programs are cached, by name."""
    from exset.codecs.engine import ChunkedLayout, Layout

    chunked = _declared(ChunkedLayout)
    found = [*_declared(Layout), *(part for each in chunked for part in each.layouts)]
    return {each.name.removeprefix("exset."): each for each in found if each.name is not None}


def _table(name: str, cache_name: str | None) -> Compiled:
    file = Path(disk_cache.folder(), cache_name or "")
    ready = cache_name is not None and disk_cache.load(cache_name) is not None
    return Compiled(name, ready, _size(file) if ready else 0)


def _group(group: kernels.Kernels) -> Compiled:
    names = ", ".join(name.removeprefix("exset.") for name in group.modules)
    return Compiled(names, group.is_cached, _size(Path(disk_cache.folder(), group.cache_name)))


def _size(path: Path) -> int:
    """Return the bytes of a file, or of all files in a folder; 0 if it does not exist."""
    total = 0
    for file in [path] if path.is_file() else path.rglob("*"):
        try:
            total += file.stat().st_size if file.is_file() else 0
        except OSError:  # another process deleted it
            continue
    return total


def _is_writable(folder: Path) -> bool:
    """Whether files can be created in a folder that perhaps does not exist yet."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
