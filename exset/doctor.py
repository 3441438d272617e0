"""How exset is: versions, engines, and what it keeps once a machine."""

import importlib
import os
import pkgutil
import platform
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache as once
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

import exset
from exset import formats, samples
from exset.core import disk_cache, kernels
from exset.core.errors import Findings, FormatError
from exset.core.protocols import Selectable
from exset.core.source import Source

if TYPE_CHECKING:
    from exset.codecs.engine import Layout
    from exset.parsers.engine.grammar import Grammar

LIBRARIES = ("numpy", "lark", "interegular", "construct", "numba", "h5py", "ruamel.yaml")

_HOMES = ("exset.parsers", "exset.codecs", "exset.runtime")
_OF_EXTRAS = ("exset.runtime.training.torch_dataset",)
"""Modules that import what may not be there, or is slow; they declare nothing."""

_MANY = 1 << 15
"""Examples that are so many that everything is compiled that can be."""


@dataclass(frozen=True)
class Part:
    """What is worked out once a machine: a lowered grammar or layout, or compiled kernels."""

    name: str
    ready: bool
    files: int
    bytes: int


@dataclass(frozen=True)
class Report:
    """The state of this installation."""

    versions: dict[str, str | None]
    """Of exset, Python and the libraries; None for one that is not installed."""
    platform: str
    compiled: bool
    """Whether long files are read and written by compiled code."""
    why: str
    """Why, or why not."""
    cache: str
    """The folder of the cache."""
    writable: bool
    bytes: int
    """Of all in the cache."""
    stale: int
    """Bytes in the cache that this version of exset has no use for."""
    grammars: tuple[Part, ...]
    layouts: tuple[Part, ...]
    kernels: tuple[Part, ...]
    added: tuple[str, ...]
    """The formats of other packages."""
    trouble: str | None
    """Why those cannot be used."""

    @property
    def ready(self) -> bool:
        """Whether nothing is left to be worked out."""
        tables = (*self.grammars, *self.layouts)
        parts = (*tables, *(self.kernels if self.compiled else ()))
        return all(part.ready for part in parts)

    def to_dict(self) -> dict[str, object]:
        """Return it for JSON."""
        return {**asdict(self), "ready": self.ready}


def examine() -> Report:
    """Look; nothing is compiled and nothing written."""
    folder = Path(disk_cache.folder())
    grammars = tuple(_lowered(found.file, found.cache_name) for found in _grammars())
    layouts = tuple(_lowered(name, found.cache_name) for name, found in _layouts().items())
    groups = tuple(_group(found) for found in _groups())
    used = sum(part.bytes for part in (*grammars, *layouts, *groups))
    everything = _size(folder)
    compiled, why = _compiler()
    added, trouble = _added()
    return Report(
        versions={
            "exset": exset.__version__,
            "Python": platform.python_version(),
            **{name: _version(name) for name in LIBRARIES},
        },
        platform=platform.platform(),
        compiled=compiled,
        why=why,
        cache=str(folder),
        writable=_is_writable(folder),
        bytes=everything,
        stale=max(everything - used, 0),
        grammars=grammars,
        layouts=layouts,
        kernels=groups,
        added=added,
        trouble=trouble,
    )


def warm_up() -> float:
    """Read, write and draw much, so that all is compiled; return how many seconds it took.

    The bundled samples, repeated, are what is read and written, in every format of their family;
    grammars and layouts that none of these is of are only made into tables.
    """
    import numpy as np

    from exset.parsers.aeon.manifest import parse
    from exset.runtime.aeon import crc32c, libstdcxx
    from exset.runtime.aeon.elements import elements
    from exset.runtime.samplers.registry import build_sampler

    begun = time.perf_counter()
    for grammar in _grammars():
        _ = grammar.lowered
    for layout in _layouts().values():
        _ = layout.program
    for name in samples.names():
        known = formats.by_suffix(name)
        assert known is not None
        model = known.read(samples.read(name), findings=Findings())
        if isinstance(model, Selectable):
            model = model.select(np.resize(np.arange(len(model)), _MANY))
        for other in formats.of_family(known.family):
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
    return time.perf_counter() - begun


def _added() -> tuple[tuple[str, ...], str | None]:
    """The formats of other packages, or why they cannot be used."""
    try:
        return tuple(known.name for known in formats.installed()), None
    except FormatError as error:
        return (), error.message


def _compiler() -> tuple[bool, str]:
    """Whether kernels are compiled, and why or why not."""
    why = kernels.import_error()
    return why is None, why or "numba is installed"


@once
def _objects() -> tuple[object, ...]:
    """All that the modules of the engines hold: what is declared in them is found, not listed."""
    found = {}
    for home in _HOMES:
        package = importlib.import_module(home)
        for module in pkgutil.walk_packages(package.__path__, f"{home}."):
            if module.name not in _OF_EXTRAS:
                declared = vars(importlib.import_module(module.name)).values()
                found.update({id(each): each for each in declared})
    return tuple(found.values())


def _grammars() -> Iterator["Grammar"]:
    from exset.parsers.engine.grammar import Grammar

    yield from (each for each in _objects() if isinstance(each, Grammar))


def _groups() -> Iterator[kernels.Kernels]:
    yield from (each for each in _objects() if isinstance(each, kernels.Kernels))


def _layouts() -> dict[str, "Layout"]:
    """Those whose programs are kept, by name."""
    from exset.codecs.engine import Layout, Parted

    found = [each for each in _objects() if isinstance(each, Layout)]
    found += [part for each in _objects() if isinstance(each, Parted) for part in each.layouts]
    return {each.name.removeprefix("exset."): each for each in found if each.name is not None}


def _lowered(name: str, cache_name: str | None) -> Part:
    found = Path(disk_cache.folder(), cache_name or "")
    return Part(name, found.is_file(), int(found.is_file()), _size(found))


def _group(group: kernels.Kernels) -> Part:
    folder = Path(group.folder)
    names = ", ".join(name.removeprefix("exset.") for name in group.modules)
    return Part(names, group.is_cached, len(list(folder.glob("**/*.nbc"))), _size(folder))


def _size(path: Path) -> int:
    """Bytes of a file, or of all files in a folder; 0 for none."""
    files = [path] if path.is_file() else path.rglob("*")
    total = 0
    for file in files:
        try:
            total += file.stat().st_size if file.is_file() else 0
        except OSError:  # gone meanwhile
            continue
    return total


def _is_writable(folder: Path) -> bool:
    """Whether files can be made in a folder that may be yet to make."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
