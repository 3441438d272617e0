"""What the fuzzer tries: each format of the registry, and what is more than a file of a format."""

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias, cast

from hypothesis import strategies as st

from exset import formats
from exset.core.errors import Findings
from exset.core.kernels import Engine
from exset.core.limits import Limits
from exset.core.source import Source
from exset.families import family
from exset.families.format import Format
from exset.grammars.lbann.labels import Labels
from exset.parsers.lbann import labels
from exset.testing import checksums, seeds
from exset.testing.contract import Readable, check
from exset.testing.folders import packed, packed_from
from exset.testing.trials import Checked

_TURNS: Final[tuple[tuple[Engine, ...], ...]] = (
    ("auto", "table"),
    ("auto", "reference"),
    ("auto", "table"),
    ("table", "auto"),
    ("auto", "table"),
)
_SMALL: Final = 1 << 14

_Drawn: TypeAlias = bytes | Mapping[str, bytes]


class Target(Checked, Protocol):
    """What cases are made for, and what holds them to what is promised."""

    @property
    def is_deadly(self) -> bool:
        """Whether another's library may crash on it, which is no fault of exset."""
        ...

    def seeds(self, folders: Iterable[str], draw: int, start: int) -> list[bytes]:
        """Return good files: so many drawn, `start` seeding the draw, and those in folders."""
        ...

    def words(self) -> list[bytes]:
        """Return what to put into them."""
        ...

    def mended(self, data: bytes) -> bytes:
        """Return them with the checksums that they should have."""
        ...


@dataclass(frozen=True)
class Read:
    """A format, or anything else that reads bytes."""

    known: Readable
    usual: tuple[bytes, ...] = ()
    is_deadly: bool = False

    @property
    def name(self) -> str:
        """The name of the format."""
        return self.known.name

    def seeds(self, folders: Iterable[str], draw: int, start: int) -> list[bytes]:
        """Return small files as the writer writes them, and the bundled samples."""
        if not isinstance(self.known, Format):
            return [*self.usual]
        files = [*seeds.drawn(self.known, draw, start), *seeds.found(self.known, folders)]
        return [data for data in files if len(data) <= 2048] or files

    def words(self) -> list[bytes]:
        """Return the words of the grammar."""
        return seeds.words(cast(seeds.Homed, self.known))

    def mended(self, data: bytes) -> bytes:
        """Return them as they are: there are none."""
        return data

    def check(self, data: bytes, number: int | None = None) -> bool:
        """Check it as `contract.check` does, with some engines and in some parts."""
        if number is None:
            return all([check(self.known, data, step=step) for step in (None, 1, 7)])
        step = 1 + number % 97 if number % 7 == 0 else None
        engines = _TURNS[number % len(_TURNS)]
        return check(self.known, data, engines=engines, step=step, deep=number % 4 == 0)


@dataclass(frozen=True)
class Kept:
    """What lies on the disk: a file, or a folder as `exset.testing.folders` has it.

    strategy, checker: what draws it and what checks it, each as "module:function". marks: the ends
    of the names of what is taken for a good one, in folders of seeds; is_below: not such a file
    alone, but all of what the folder lies in that has one.
    """

    name: str
    strategy: str
    checker: str
    given: tuple[bytes, ...] = ()
    marks: tuple[str, ...] = ()
    is_below: bool = False
    is_deadly: bool = False

    def seeds(self, folders: Iterable[str], draw: int, start: int) -> list[bytes]:
        """Return small ones."""
        made = cast(Callable[[], st.SearchStrategy[_Drawn]], family.load(self.strategy))
        drawn = seeds.collected(made(), draw, start)
        files = [each if isinstance(each, bytes) else packed(each) for each in drawn]
        for folder in folders:
            for here, _, names in sorted(os.walk(folder)):
                if self.marks and any(name.endswith(self.marks) for name in names):
                    files += self._found(here, sorted(names))
        return [data for data in files if len(data) <= _SMALL]

    def words(self) -> list[bytes]:
        """Return what its files are told by."""
        return [*self.given]

    def mended(self, data: bytes) -> bytes:
        """Return them with the checksums of HDF5."""
        return checksums.mended(data)

    def check(self, data: bytes, number: int | None = None) -> bool:
        """Lay it out in a new folder, and see what comes of it there."""
        checker = cast(Callable[[bytes, int | None], bool], family.load(self.checker))
        return checker(data, number)

    def _found(self, folder: str, names: list[str]) -> list[bytes]:
        if self.is_below:
            above = os.path.dirname(folder)
            return [packed_from(above)] if _size(above) <= _SMALL else []
        paths = (os.path.join(folder, name) for name in names if name.endswith(self.marks))
        return [open(path, "rb").read() for path in paths if os.path.getsize(path) <= _SMALL]


def _size(folder: str) -> int:
    paths = (os.path.join(here, name) for here, _, names in os.walk(folder) for name in names)
    return sum(map(os.path.getsize, paths))


class LabelFile:
    """Label files, which are no format of their own: only a sample list has a use for them."""

    name = "labels"
    reader = "exset.parsers.lbann.labels:parse"

    def read(self, source: Source, *, limits: Limits, findings: Findings, engine: Engine) -> Labels:
        """Read one."""
        return labels.parse(source, limits=limits, findings=findings, engine=engine)


_HEADS: Final = tuple(
    b"\n==> %s <==\n" % name
    for name in (b"manifest.tsv", b"x@", b"x|", b"x/", b"d/a.h5", b"labels.txt", b"../x", b"a/b@")
)
_CACHED: Final = (
    *(b"block_0.cpio", b"block_1.cpio", b"block_999999999.cpio", b"caching_in_progress"),
    *(b"cache_complete", b".exset-journal", b"aeon_cache_00000000/", b"@ <==", b"| <==", b"/ <=="),
)
_HDF5: Final = (
    *(b"\x89HDF\r\n\x1a\n", b"OHDR", b"OCHK", b"TREE", b"SNOD", b"HEAP", b"GCOL", b"FRHP"),
    *(b"\xff" * 8, b"\0" * 8, b"\x01" + b"\0" * 7, b"\0" * 64, b"\xff" * 64),
)
_NAMED: Final = (b"a.h5", b"sub/b.h5", b"d", b"d/a.h5@", b"SINGLE-SAMPLE", b"a.jpg", b"/dev/zero")

KEPT: Final = (
    Kept(
        name="cache",
        strategy="exset.testing.caches:cache_folders",
        checker="exset.testing.disk:check_cache",
        given=(*_HEADS, *_CACHED),
        marks=(".cpio",),
        is_below=True,
    ),
    Kept(
        name="manifest_files",
        strategy="exset.testing.caches:manifest_folders",
        checker="exset.testing.disk:check_manifest",
        given=(*_HEADS, *_NAMED),
    ),
    Kept(
        name="hdf5",
        strategy="exset.testing.hdf5:hdf5_files",
        checker="exset.testing.disk:check_hdf5",
        given=_HDF5,
        marks=(".h5", ".hdf5"),
        is_deadly=True,
    ),
    Kept(
        name="list_files",
        strategy="exset.testing.hdf5:listed_folders",
        checker="exset.testing.disk:check_list",
        given=(*_HEADS, *_NAMED, *_HDF5),
        is_deadly=True,
    ),
)


def every() -> tuple[Target, ...]:
    """Return all there are: formats, those of other packages too, label files, and `KEPT`."""
    known = (*formats.FORMATS, *formats.installed())
    lines = (b"a.jpg 1\nb.jpg -2\n", b" x 0\r\n")
    return (*map(Read, known), Read(LabelFile(), lines), *KEPT)


def get(name: str) -> Target:
    """Return one by its name; raises KeyError."""
    return {each.name: each for each in every()}[name]
