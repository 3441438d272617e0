"""What a fuzzer begins with: files of a format, drawn from its strategy or found in a folder."""

import importlib
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol, TypeVar

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from exset import formats, samples
from exset.core.errors import Findings, FormatError
from exset.core.protocols import Model
from exset.families.format import Format
from exset.io import files
from exset.parsers.engine.grammar import Grammar
from exset.testing.caches import archives, blocks
from exset.testing.configs import loader_configs
from exset.testing.lens import example_sets
from exset.testing.manifest import manifests
from exset.testing.sample_list import sample_lists
from exset.testing.schema import schemas

T = TypeVar("T")

_SMALL = 1 << 16  # of a file; what is longer is no seed


class Homed(Protocol):
    """What says which module it is read by."""

    @property
    def reader(self) -> str:
        """Its reader, as "module:function"."""
        ...


def models(known: Format) -> st.SearchStrategy[Model] | None:
    """Return a strategy for models that a format can hold, if exset has one."""
    drawn: dict[str, st.SearchStrategy[Model]] = {
        "ex": example_sets(text=True, binary=False),
        "bex": example_sets(text=False, binary=True),
        "sample_list": sample_lists(),
        "schema": schemas(),
        "manifest": manifests(),
        "block": blocks(),
        "cpio": archives(),
        "records": blocks(),
        "loader_config": loader_configs(),
    }
    return drawn.get(known.name)


def drawn(known: Format, count: int, start: int) -> list[bytes]:
    """Return so many files of a format, none if there is no strategy; `start` seeds the draw."""
    strategy, made = models(known), list[bytes]()
    for model in () if strategy is None else collected(strategy, count, start):
        try:
            made.append(known.write(model, findings=Findings()))
        except FormatError:  # it holds less than its family
            continue
    return made


def collected(strategy: st.SearchStrategy[T], count: int, start: int) -> list[T]:
    """Return so many of what a strategy draws, always the same for the same start."""
    made: list[T] = []

    @seed(start)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def collect(each: T) -> None:
        made.append(each)

    collect()
    return made


def found(known: Format, folders: Iterable[str]) -> list[bytes]:
    """Return the small files of a format in folders and below, and the bundled samples of it."""
    sources = [samples.read(name) for name in samples.names()]
    for folder in folders:
        for path in sorted(Path(folder).rglob("*")):
            if path.is_file() and path.stat().st_size <= _SMALL:
                try:
                    sources.append(files.read(path))
                except (FormatError, OSError):
                    continue
    taken: dict[bytes, None] = {}
    for source in sources:
        try:
            if formats.detect(source.data[: formats.HEAD], source.name) == known:
                taken[bytes(source.data)] = None
        except FormatError:
            continue
    return list(taken)


def words(known: Homed) -> list[bytes]:
    """Return the literals of the grammars that a reader's package knows, those of its module."""
    home = importlib.import_module(known.reader.partition(":")[0])
    modules = [home] + [
        importlib.import_module(each.__module__)
        for each in vars(home).values()
        if getattr(each, "__module__", "").startswith("exset.parsers")
    ]
    grammars: list[Grammar] = [
        each for module in modules for each in vars(module).values() if isinstance(each, Grammar)
    ]
    literals = {literal for each in grammars for literal in each.lowered.literals if literal}
    return sorted(literal.encode() for literal in literals)
