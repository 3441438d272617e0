"""The other targets of the fuzzer: folders, HDF5 files, label files, sounds and videos."""

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias, cast

from hypothesis import strategies as st

from exset.codecs.aeon import avi, wave
from exset.core.errors import Findings
from exset.core.kernels import Engine
from exset.core.limits import Limits
from exset.core.protocols import Model
from exset.core.source import Source
from exset.families.family import load
from exset.grammars.lbann.labels import Labels
from exset.parsers.lbann import labels
from exset.testing import targets
from exset.testing.media import avis, waves
from exset.testing.targets import RarerCheck, ReaderTarget, Target
from tests.fuzz import checksums
from tests.fuzz.folders import joined, joined_from
from tests.fuzz.format_folders import FORMAT_FOLDERS
from tests.fuzz.provided import PROVIDED

_SMALL: Final = 1 << 14

_Drawn: TypeAlias = bytes | Mapping[str, bytes]


@dataclass(frozen=True)
class FolderTarget(Target):
    """Files on a disk: one file, or a folder as bytes as in `tests.fuzz.folders`.

    strategy, checker: functions that draw and check cases, as "module:function". marks: suffixes of
    good files in folders of seeds. is_below: a seed is not one such file, but everything in the
    folder above it. The checker's arguments are a case, its number, and whether to check what is
    written, too.
    """

    name: str
    strategy: str
    checker: str
    literals: tuple[bytes, ...] = ()
    marks: tuple[str, ...] = ()
    is_below: bool = False
    is_deadly: bool = False

    @property
    def rarer(self) -> Mapping[RarerCheck, int]:
        """One case in five gets what is built or written."""
        return {"written": 5}

    def seeds(self, folders: Iterable[str], draw: int, start: int) -> list[bytes]:
        """Return small files or folders."""
        made = cast(Callable[[], st.SearchStrategy[_Drawn]], load(self.strategy))
        drawn = targets.collected(made(), draw, start)
        files = [each if isinstance(each, bytes) else joined(each) for each in drawn]
        for folder in folders:
            for here, _, names in sorted(os.walk(folder)):
                if self.marks and any(name.endswith(self.marks) for name in names):
                    files += self._found(here, sorted(names))
        return [data for data in files if len(data) <= _SMALL]

    def words(self) -> list[bytes]:
        """Return words that are common in its files."""
        return [*self.literals]

    def repaired(self, data: bytes) -> bytes:
        """Return the data with correct HDF5 checksums."""
        return checksums.repaired(data)

    def check(self, data: bytes, number: int | None = None) -> bool:
        """Check a case in a new folder."""
        checker = cast(Callable[[bytes, int | None, bool], bool], load(self.checker))
        return checker(data, number, self.has("written", number))

    def _found(self, folder: str, names: list[str]) -> list[bytes]:
        if self.is_below:
            above = os.path.dirname(folder)
            return [joined_from(above)] if _size(above) <= _SMALL else []
        paths = (os.path.join(folder, name) for name in names if name.endswith(self.marks))
        return [open(path, "rb").read() for path in paths if os.path.getsize(path) <= _SMALL]


def _size(folder: str) -> int:
    paths = (os.path.join(here, name) for here, _, names in os.walk(folder) for name in names)
    return sum(map(os.path.getsize, paths))


class LabelFile:
    """A reader of label files, which have no format of their own: sample lists name them."""

    name = "labels"

    def read(self, source: Source, *, limits: Limits, findings: Findings, engine: Engine) -> Labels:
        """Read a file."""
        return labels.parse(source, limits=limits, findings=findings, engine=engine)


class LabelTarget(ReaderTarget):
    """Label files."""

    def __init__(self) -> None:
        super().__init__(LabelFile())

    def seeds(self, folders: Iterable[str], draw: int, start: int) -> list[bytes]:
        """Return two files."""
        return [b"a.jpg 1\nb.jpg -2\n", b" x 0\r\n"]

    def words(self) -> list[bytes]:
        """Return the words of the grammar."""
        return targets.words("exset.parsers.lbann.labels:parse")


class SoundFile:
    """A reader of WAVE files, which have no format of their own: manifests name them."""

    name = "wave"

    def read(self, source: Source, *, limits: Limits, findings: Findings, engine: Engine) -> Model:
        """Read a file as its rate and its samples."""
        sound = wave.decode(source, limits=limits, findings=findings, engine=engine)
        return [sound.rate, *sound.samples.tolist()]


class VideoFile:
    """A reader of AVI files; the pictures in them are not decoded."""

    name = "avi"

    def read(self, source: Source, *, limits: Limits, findings: Findings, engine: Engine) -> Model:
        """Read a file as its size and its frames."""
        video = avi.decode(source, limits=limits, findings=findings, engine=engine)
        return [video.width, video.height, *map(bytes, video.frames)]


class MediaTarget(ReaderTarget):
    """WAVE or AVI files."""

    def __init__(
        self, reader: SoundFile | VideoFile, strategy: Callable[[], st.SearchStrategy[bytes]]
    ) -> None:
        super().__init__(reader)
        self._strategy = strategy

    def seeds(self, folders: Iterable[str], draw: int, start: int) -> list[bytes]:
        """Return drawn files."""
        return targets.collected(self._strategy(), draw, start)

    def words(self) -> list[bytes]:
        """Return the names of chunks."""
        return [b"RIFF", b"LIST", b"AVIX", b"movi", b"rec ", b"00dc", b"idx1", b"JUNK", b"data"]


MEDIA: Final = (MediaTarget(SoundFile(), waves), MediaTarget(VideoFile(), avis))

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

FOLDERS: Final = (
    *FORMAT_FOLDERS,
    FolderTarget(
        name="imagefolder",
        strategy="tests.fuzz.class_folders:class_folders",
        checker="tests.fuzz.class_folders:check_class_folder",
        literals=(b"\n==> metadata.csv <==\n", b"\n==> a/1.jpg <==\n", b"file_name", b"../x", b"{"),
    ),
    FolderTarget(
        name="cache",
        strategy="tests.fuzz.cache_folders:cache_folders",
        checker="tests.fuzz.disk:check_cache",
        literals=(*_HEADS, *_CACHED),
        marks=(".cpio",),
        is_below=True,
    ),
    FolderTarget(
        name="manifest_files",
        strategy="tests.fuzz.cache_folders:manifest_folders",
        checker="tests.fuzz.disk:check_manifest",
        literals=(*_HEADS, *_NAMED),
    ),
    FolderTarget(
        name="hdf5_files",
        strategy="tests.fuzz.hdf5:hdf5_files",
        checker="tests.fuzz.disk:check_hdf5",
        literals=_HDF5,
        marks=(".h5", ".hdf5"),
        is_deadly=True,
    ),
    FolderTarget(
        name="list_files",
        strategy="tests.fuzz.hdf5:listed_folders",
        checker="tests.fuzz.disk:check_list",
        literals=(*_HEADS, *_NAMED, *_HDF5),
        is_deadly=True,
    ),
)


def all_targets() -> tuple[Target, ...]:
    """Return all targets: formats, label files, sounds and videos, `FOLDERS` and `PROVIDED`."""
    return (*targets.all_targets(), LabelTarget(), *MEDIA, *FOLDERS, *PROVIDED)


def get(name: str) -> Target:
    """Return a target by its name; raises KeyError."""
    return {each.name: each for each in all_targets()}[name]
