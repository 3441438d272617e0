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

    A header has the data that all units of a model share. In a family without headers, it is None.
    """

    def of(self, model: Any, /) -> Iterable[object]:
        """Return the units of a model."""

    def header(self, model: Any, /) -> object:
        """Return the header of a model."""

    def no_header(self) -> object:
        """Return the header for a file to which no unit was written."""

    def model(self, units: object, header: object, /) -> Model:
        """Make a model of one unit; return a model unchanged.

        `units`: a unit or a model; any other object raises TypeError. `header`: the header of the
        file that is being written; None before the first write.
        """

    def joined(self, models: Iterable[Any], /) -> Model:
        """Join one or more models: return one model with all their units in order."""


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
        """Yield one or more models. Joined, they equal the model that the reader returns."""


class PartsOf(Protocol):
    """Functions that read a large input of a format (a file or a folder) in parts."""

    def count(self, source: Any, /) -> int:
        """Return how many parts an input is divided into. source: its `Blocks`, or a `Folder`."""

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

        Places of findings count from the start of the part. Raises OSError. Raises FormatError only
        if the input changed after it was divided. If `is_certain` of the state is False, the models
        may be wrong.
        """

    def joined(
        self, parts: "Sequence[tuple[PartState, Findings]]", limits: Limits, /
    ) -> "Findings | None":
        """Join the findings of the parts. Return None if the input must be read as a whole."""


class FolderReader(Protocol):
    """A function that reads a format of folders as a whole; a streamer yields chunks instead."""

    def __call__(
        self,
        folder: Folder,
        *,
        limits: Limits = ...,
        findings: "Findings | None" = ...,
        engine: Engine = ...,
        **options: OptionValue,
    ) -> Model:
        """Return the model in the folder. Raises FormatError if the folder is invalid."""


class ChunkWriter(Protocol):
    """A function that writes one file from a model that comes in chunks."""

    def __call__(
        self,
        models: Iterable[Any],
        out: BinaryIO,
        /,
        *,
        findings: "Findings",
        **options: OptionValue,
    ) -> bytes | None:
        """Write the file, and return the content of its sidecar; None if it needs no sidecar.

        `models`: one or more chunks of a model; each iteration reads the source again. The bytes
        must be the same, however the units are divided into chunks. Raises FormatError if the
        format cannot store the model.
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
        """Write the files to `folder`. `models`: chunks of a model, as for a `ChunkWriter`.

        The files must be the same, however the units are divided into chunks. Raises FormatError if
        the format cannot store a model; exset then removes the folder.
        """


class IncrementalWriter(Protocol):
    """An object that writes a format in chunks of bytes. Joined, these equal the writer's bytes."""

    is_counted: bool
    """Whether the file begins with the number of units."""

    def begin(self, header: Any, count: int, /) -> bytes:
        """Return the first bytes of a file of `count` units.

        The number of bytes must not depend on `count`: exset may call this again with another
        count.
        """

    def units(self, model: Any, /) -> bytes:
        """Return the bytes of the units of a model."""

    def end(self, size: int, /) -> bytes:
        """Return the last bytes of a file. `size`: the number of bytes before them."""
