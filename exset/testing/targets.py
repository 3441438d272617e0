"""The targets of the fuzzer: each format of the registry, or any other reader of bytes."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Final

from exset import formats
from exset.core.kernels import Engine
from exset.families.format import Format
from exset.testing import seeds
from exset.testing.contract import Readable, check

_ENGINES: Final[tuple[tuple[Engine, ...], ...]] = (
    ("auto", "table"),
    ("auto", "reference"),
    ("auto", "table"),
    ("table", "auto"),
    ("auto", "table"),
)


class Target(ABC):
    """Something to fuzz: it has seeds, and checks cases made of them."""

    name: str
    """The name, also of the folder of kept files."""
    is_deadly = False
    """Whether a crash is an error of another library, not of exset."""

    @abstractmethod
    def seeds(self, folders: Iterable[str], draw: int, start: int) -> list[bytes]:
        """Return good files: `draw` files drawn with the seed `start`, and those in folders."""

    @abstractmethod
    def check(self, data: bytes, number: int | None = None) -> bool:
        """Return whether the bytes were read; raises Broken.

        `number`: of the case; it selects the checks, None selects all.
        """

    def words(self) -> list[bytes]:
        """Return words to insert into the files."""
        return []

    def repaired(self, data: bytes) -> bytes:
        """Return a file with correct checksums."""
        return data


class ReaderTarget(Target):
    """A reader of bytes, checked by the contract."""

    def __init__(self, reader: Readable) -> None:
        self.name = reader.name
        self._reader = reader

    def check(self, data: bytes, number: int | None = None) -> bool:
        """Check a file as `contract.check`, with some engines and some sizes of chunks."""
        if number is None:
            return all([check(self._reader, data, step=step) for step in (None, 1, 7)])
        step = 1 + number % 97 if number % 7 == 0 else None
        engines = _ENGINES[number % len(_ENGINES)]
        return check(self._reader, data, engines=engines, step=step, deep=number % 4 == 0)


class FormatTarget(ReaderTarget):
    """A format."""

    def __init__(self, fmt: Format) -> None:
        """Take a format, also of another package."""
        super().__init__(fmt)
        self._fmt = fmt

    def seeds(self, folders: Iterable[str], draw: int, start: int) -> list[bytes]:
        """Return small files: drawn files, the bundled samples, and files in folders."""
        files = [*seeds.drawn(self._fmt, draw, start), *seeds.found(self._fmt, folders)]
        return [data for data in files if len(data) <= 2048] or files

    def words(self) -> list[bytes]:
        """Return the words of the grammar."""
        return seeds.words(self._fmt.reader)


def all_targets() -> tuple[Target, ...]:
    """Return all formats, also those of other packages."""
    return tuple(map(FormatTarget, (*formats.FORMATS, *formats.load_plugins())))
