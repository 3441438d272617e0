"""The seeds of the fuzzer: files of a format, drawn from its strategy or found in folders."""

import importlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar, cast

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from exset import formats, samples
from exset.core.errors import Findings, FormatError
from exset.core.protocols import Model
from exset.families.family import load
from exset.families.format import Format
from exset.io import files
from exset.parsers.engine.grammar import Grammar

T = TypeVar("T")

_SMALL = 1 << 16  # bytes; a larger file is no seed


def drawn(fmt: Format, count: int, start: int) -> list[bytes]:
    """Return files of `count` models of the format's strategy, drawn with the seed `start`."""
    if fmt.strategy is None:
        return []
    strategy = cast(Callable[[], st.SearchStrategy[Model]], load(fmt.strategy))()
    made = list[bytes]()
    for model in collected(strategy, count, start):
        try:
            made.append(fmt.write(model, findings=Findings()))
        except FormatError:  # the format holds less than its family
            continue
    return made


def collected(strategy: st.SearchStrategy[T], count: int, start: int) -> list[T]:
    """Return `count` draws of a strategy, always the same for the same seed `start`."""
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


def found(fmt: Format, folders: Iterable[str]) -> list[bytes]:
    """Return the small files of a format in folders and below, and the bundled samples of it."""
    sources = [samples.read(name) for name in samples.names()]
    for folder in folders:
        for path in sorted(Path(folder).rglob("*")):
            if path.is_file() and path.stat().st_size <= _SMALL:
                try:
                    sources.append(files.read(path))
                except (FormatError, OSError):
                    continue
    kept: dict[bytes, None] = {}
    for source in sources:
        try:
            if formats.detect(source.data[: formats.HEAD], source.name) == fmt:
                kept[bytes(source.data)] = None
        except FormatError:
            continue
    return list(kept)


def words(reader: str) -> list[bytes]:
    """Return the literals of the grammars that the module of a reader, "module:function", uses."""
    home = importlib.import_module(reader.partition(":")[0])
    names = {getattr(each, "__module__", "") for each in vars(home).values()}
    used = [importlib.import_module(name) for name in names if name.startswith("exset.parsers")]
    values = [value for module in (home, *used) for value in vars(module).values()]
    grammars = [value for value in values if isinstance(value, Grammar)]
    literals = {literal for each in grammars for literal in each.lowered.literals if literal}
    return sorted(literal.encode() for literal in literals)
