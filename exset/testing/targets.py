"""The targets of the fuzzer: formats, or other readers of bytes, with their seed files."""

import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final, Literal, TypeAlias, TypeVar, cast

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from exset import formats, samples
from exset.core.errors import Findings, FormatError
from exset.core.kernels import Engine
from exset.core.protocols import Model
from exset.families.family import load
from exset.families.format import Format
from exset.io import files
from exset.parsers.engine.grammar import Grammar
from exset.testing.contract import Readable, check

T = TypeVar("T")

_SMALL: Final = 1 << 16  # bytes; a larger file is no seed
_PAIRS: Final[tuple[tuple[Engine, Engine], ...]] = (
    ("auto", "table"),
    ("auto", "reference"),
    ("table", "auto"),
    ("table", "reference"),
)

RarerCheck: TypeAlias = Literal["engines", "chunks", "written"]
"""What is checked for only some cases.

- engines: a second engine, or a second call, gives the same;
- chunks: the file gives the same if it is read in chunks;
- written: what is read can be written, and read again.
"""


class Target(ABC):
    """What a fuzzer tests: it has seeds, and checks the cases that are made from its seeds."""

    name: str
    """The name of the target, and of the folder of kept files."""
    is_deadly = False
    """Whether a crash is an error of another library, not of exset."""

    @property
    def rarer(self) -> Mapping[RarerCheck, int]:
        """For each check that not all cases get: of how many cases one gets it.

        The numbers should be odd and have no common divisor, so that all combinations occur.
        """
        return {}

    def has(self, check: RarerCheck, number: int | None) -> bool:
        """Return whether the case `number` gets one of the rarer checks; None gets all of them."""
        return check in self.rarer and (number is None or number % self.rarer[check] == 0)

    @abstractmethod
    def seeds(self, folders: Iterable[str], draw: int, start: int) -> list[bytes]:
        """Return valid files: `draw` files drawn with the seed `start`, and files in `folders`."""

    @abstractmethod
    def check(self, data: bytes, number: int | None = None) -> bool:
        """Return whether the bytes were read. Raises Broken if they break a rule of the contract.

        `number`: the number of the case, which selects the checks. None selects all checks.
        """

    def words(self) -> list[bytes]:
        """Return words that the fuzzer inserts into files."""
        return []

    def repaired(self, data: bytes) -> bytes:
        """Return a file with correct checksums."""
        return data


def rarer_of(fmt: Format) -> Mapping[RarerCheck, int]:
    """Return the rarer checks of a format: see `Target.rarer`."""
    written: Mapping[RarerCheck, int] = {"engines": 5, "written": 9}
    return {**written, "chunks": 13} if fmt.streamer else written


class ReaderTarget(Target):
    """A reader of bytes as a target. The reader must be picklable."""

    def __init__(self, reader: Readable) -> None:
        self.name = reader.name
        self._reader = reader

    @property
    def rarer(self) -> Mapping[RarerCheck, int]:
        """One case in five is read by a second engine."""
        return {"engines": 5}

    def check(self, data: bytes, number: int | None = None) -> bool:
        """Check a file as `contract.check` does.

        The number of the case selects the engines, the size of chunks, and the formats to write.
        """
        if number is None:
            return all([check(self._reader, data, step=step) for step in (None, 1, 7)])
        engines: tuple[Engine, ...] = (("auto", "table")[number % 2],)
        if self.has("engines", number):
            engines = _PAIRS[number // self.rarer["engines"] % len(_PAIRS)]
        step = 1 + number % 97 if self.has("chunks", number) else None
        deep, turn = self.has("written", number), number // self.rarer.get("written", 1)
        return check(self._reader, data, engines=engines, step=step, deep=deep, turn=turn)


class FormatTarget(ReaderTarget):
    """A format, of exset or of another package."""

    def __init__(self, fmt: Format) -> None:
        super().__init__(fmt)
        self._fmt = fmt
        self.is_deadly = fmt.may_crash
        self.needs = fmt.needs

    @property
    def rarer(self) -> Mapping[RarerCheck, int]:
        """One case in five is read by a second engine, one in nine written, one in 13 in chunks."""
        return rarer_of(self._fmt)

    def seeds(self, folders: Iterable[str], draw: int, start: int) -> list[bytes]:
        """Return small files: drawn files, the bundled samples, and files in folders."""
        files = [*drawn(self._fmt, draw, start), *found(self._fmt, folders)]
        return [data for data in files if len(data) <= 2048] or files

    def words(self) -> list[bytes]:
        """Return the words of the format's grammar."""
        return words(self._fmt.reader)


def all_targets() -> tuple[Target, ...]:
    """Return a target for each format of files, also for formats of other packages."""
    return tuple(map(FormatTarget, (*formats.of_files(), *formats.load_plugins())))


def drawn(fmt: Format, count: int, start: int) -> list[bytes]:
    """Return the files of `count` models that the format's strategy draws with the seed `start`."""
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
    """Return `count` draws of a strategy; the same seed `start` gives the same draws."""
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
    """Return a format's small files that are in the folders, their subfolders and the samples."""
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
    """Return the fixed texts of the grammars that a reader uses. reader: "module:function"."""
    home = importlib.import_module(reader.partition(":")[0])
    names = {getattr(each, "__module__", "") for each in vars(home).values()}
    used = [importlib.import_module(name) for name in names if name.startswith("exset.parsers")]
    values = [value for module in (home, *used) for value in vars(module).values()]
    grammars = [value for value in values if isinstance(value, Grammar)]
    literals = {literal for each in grammars for literal in each.lowered.literals if literal}
    return sorted(literal.encode() for literal in literals)
