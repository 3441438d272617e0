"""Protocols for reading and writing in chunks: the functions of a format and of a family."""

from collections.abc import Generator, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

from exset.core.kernels import Engine
from exset.core.limits import Limits
from exset.core.parts import FilePart, PartState
from exset.core.protocols import Model, OptionValue
from exset.io.blocks import Blocks
from exset.io.folders import Folder, NewFolder

if TYPE_CHECKING:
    from exset.core.errors import Findings


class Units(Protocol):
    """Functions that split models of a family into units, and join units to a model.

    A header belongs to all units of a model; it is None in a family without headers.
    """

    def of(self, model: Any, /) -> Iterable[object]:
        """Return the units of a model."""

    def header(self, model: Any, /) -> object:
        """Return the header of a model."""

    def no_header(self) -> object:
        """Return the header of an empty file, to which nothing was written."""

    def model(self, units: object, header: object, /) -> Model:
        """Make a model of one unit; return a model unchanged; TypeError for anything else.

        `header`: the header of the file being written, or None before the first write.
        """

    def joined(self, models: Sequence[Any], /) -> Model:
        """Join one or more models: return a model with all their units in order."""


class Streamer(Protocol):
    """A function that reads a format in chunks."""

    def __call__(
        self,
        blocks: Blocks,
        *,
        limits: Limits = ...,
        findings: "Findings | None" = ...,
        engine: Engine = ...,
        **options: OptionValue,
    ) -> Iterator[Any]:
        """Yield one or more models; joined, they equal the model that the reader returns."""


class PartsOf(Protocol):
    """Functions that read a large input of a format in parts: a file, or a folder."""

    def count(self, source: Any, /) -> int:
        """Return into how many parts an input is divided; source: its `Blocks`, or a `Folder`."""

    def read(
        self,
        source: Any,
        part: FilePart,
        findings: "Findings",
        limits: Limits,
        engine: Engine,
        /,
    ) -> Generator[Any, None, PartState]:
        """Yield models of the units in a part, and return the state of the part.

        Findings have places in the part. Raises OSError, and FormatError for an input
        that is no longer the one that was divided, but for no other. If the state is not certain,
        the models are not those of the file.
        """

    def joined(
        self, parts: "Sequence[tuple[PartState, Findings]]", limits: Limits, /
    ) -> "Findings | None":
        """Return the findings of the file, or None if it must be read as a whole."""


class FolderReader(Protocol):
    """A function that reads a format of folders; a streamer of folders yields chunks instead."""

    def __call__(
        self,
        folder: Folder,
        *,
        limits: Limits = ...,
        findings: "Findings | None" = ...,
        engine: Engine = ...,
        **options: OptionValue,
    ) -> Model:
        """Return the model in the folder, or raise FormatError."""


class ChunkWriter(Protocol):
    """A function that writes a file of a model that comes in chunks."""

    def __call__(
        self,
        models: Iterable[Any],
        out: BinaryIO,
        /,
        *,
        findings: "Findings",
        **options: OptionValue,
    ) -> bytes | None:
        """Write the file, and return the content of its sidecar, if it needs one.

        `models`: one or more chunks of a model; they can be iterated over again, which reads the
        source again. The file contains the whole model, however the units are divided into chunks.
        Raises FormatError if the format cannot hold the model.
        """


class FolderWriter(Protocol):
    """A function that writes a format of folders, whole or in chunks."""

    def __call__(
        self,
        models: Iterable[Any],
        folder: NewFolder,
        /,
        *,
        findings: "Findings",
        **options: OptionValue,
    ) -> None:
        """Write the files; `models`: chunks of a model, as a `ChunkWriter` gets them.

        The files must not depend on how the units are divided into chunks. Raises FormatError if
        the format cannot store a model; then the folder is removed.
        """


class IncrementalWriter(Protocol):
    """An object that writes a format in chunks, with the same bytes as the writer."""

    is_counted: bool
    """Whether the file begins with the number of units."""

    def begin(self, header: Any, count: int, /) -> bytes:
        """Return the beginning of a file of `count` units.

        A second call with another count returns the same number of bytes.
        """

    def units(self, model: Any, /) -> bytes:
        """Return the units of a model."""

    def end(self, size: int, /) -> bytes:
        """Return the end of a file; `size`: the number of bytes before this end."""
