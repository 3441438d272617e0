"""All grammars, layouts and kernels that exset compiles, each once on a machine."""

import pkgutil
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, TypeVar

from exset import formats, samples
from exset.core.errors import Findings, FormatError
from exset.core.kernels import available
from exset.core.protocols import Selectable
from exset.core.source import Source

if TYPE_CHECKING:
    from exset.codecs.engine import Layout

_PACKAGES = ("exset.parsers", "exset.codecs", "exset.runtime")
_NEEDS_EXTRAS = ("exset.runtime.training.torch_dataset",)
"""Modules that import optional or slow libraries; they declare nothing to compile."""

_MANY = 1 << 15
"""So many units that all kernels are compiled."""

T = TypeVar("T")


def layouts() -> "dict[str, Layout]":
    """Return the layouts whose programs are cached, by name."""
    from exset.codecs.engine import ChunkedLayout, Layout

    chunked = declared(ChunkedLayout)
    found = [*declared(Layout), *(part for each in chunked for part in each.layouts)]
    return {each.name.removeprefix("exset."): each for each in found if each.name is not None}


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
    for grammar in declared(Grammar):
        _ = grammar.lowered
    for layout in layouts().values():
        _ = layout.program
    for name in samples.names():
        fmt = formats.detect(b"", name)
        model = fmt.read(samples.read(name), findings=Findings())
        if isinstance(model, Selectable):
            model = model.select(np.resize(np.arange(len(model)), _MANY))
        for other in formats.of_family(fmt.family):
            with suppress(FormatError):  # a format may hold less than its family
                data = other.write(model, findings=Findings())
                other.read(Source(name, data), findings=Findings())
    numbers = parse(Source("numbers", b"@ASCII_INT\tASCII_FLOAT\n1\t0.5\n"))
    for column in range(2):
        elements(numbers, column, compiled=available())
    crc32c.crc32c(np.zeros(crc32c.KERNELS.compile_from, np.uint8))
    libstdcxx.shuffled(libstdcxx.KERNELS.compile_from, libstdcxx.MERSENNE, 1)
    libstdcxx.subset(libstdcxx.KERNELS.compile_from, 0.5, 1, 1)
    labels = np.arange(_MANY) % 64
    for sampler in ("exhaustive", "planned"):
        build_sampler(sampler, labels, 8, 1).plan()
    return time.perf_counter() - start


@cache
def _objects() -> tuple[object, ...]:
    """Return all objects that the modules of the engines declare, each once."""
    found = {}
    for name in _PACKAGES:
        for module in pkgutil.walk_packages(import_module(name).__path__, f"{name}."):
            if module.name not in _NEEDS_EXTRAS:
                found.update({id(each): each for each in vars(import_module(module.name)).values()})
    return tuple(found.values())


def declared(kind: type[T]) -> Iterator[T]:
    """Yield all objects of a class: grammars, layouts, or groups of kernels."""
    return (each for each in _objects() if isinstance(each, kind))
