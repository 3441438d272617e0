"""What the fuzzer tries: each format of the registry, or any other reader of bytes."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Protocol, cast

from exset import formats
from exset.core.kernels import Engine
from exset.families.format import Format
from exset.testing import seeds
from exset.testing.contract import Readable, check
from exset.testing.trials import Checked

_TURNS: Final[tuple[tuple[Engine, ...], ...]] = (
    ("auto", "table"),
    ("auto", "reference"),
    ("auto", "table"),
    ("table", "auto"),
    ("auto", "table"),
)


class Target(Checked, Protocol):
    """Something that is fuzzed: it has seeds, and checks cases made of them."""

    @property
    def is_deadly(self) -> bool:
        """Whether another library may crash on it, which is no fault of exset."""
        ...

    def seeds(self, folders: Iterable[str], draw: int, start: int) -> list[bytes]:
        """Return good files: `draw` that are drawn with the seed `start`, and those in folders."""
        ...

    def words(self) -> list[bytes]:
        """Return words to insert into them."""
        ...

    def repaired(self, data: bytes) -> bytes:
        """Return a file with correct checksums."""
        ...


@dataclass(frozen=True)
class ReaderTarget:
    """A format, or another reader of bytes with its own seeds."""

    reader: Readable
    own_seeds: tuple[bytes, ...] = ()
    is_deadly: bool = False

    @property
    def name(self) -> str:
        """The name of the format."""
        return self.reader.name

    def seeds(self, folders: Iterable[str], draw: int, start: int) -> list[bytes]:
        """Return small files of the format's strategy, and its bundled samples."""
        if not isinstance(self.reader, Format):
            return [*self.own_seeds]
        files = [*seeds.drawn(self.reader, draw, start), *seeds.found(self.reader, folders)]
        return [data for data in files if len(data) <= 2048] or files

    def words(self) -> list[bytes]:
        """Return the words of the grammar."""
        return seeds.words(cast(seeds.HasReader, self.reader))

    def repaired(self, data: bytes) -> bytes:
        """Return the file unchanged: it has no checksums."""
        return data

    def check(self, data: bytes, number: int | None = None) -> bool:
        """Check a file as `contract.check`, with some engines and some sizes of chunks."""
        if number is None:
            return all([check(self.reader, data, step=step) for step in (None, 1, 7)])
        step = 1 + number % 97 if number % 7 == 0 else None
        engines = _TURNS[number % len(_TURNS)]
        return check(self.reader, data, engines=engines, step=step, deep=number % 4 == 0)


def all_targets() -> tuple[Target, ...]:
    """Return all formats, also those of other packages."""
    return tuple(map(ReaderTarget, (*formats.FORMATS, *formats.load_plugins())))
