"""Reading and writing in chunks: the functions of a format, and those of a family."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from exset.core.kernels import Engine
from exset.core.limits import Limits
from exset.core.protocols import Model
from exset.io.blocks import Blocks

if TYPE_CHECKING:
    from exset.core.errors import Findings


class Units(Protocol):
    """The functions that take a family's models apart into units, and join them again.

    A header belongs to all units of a model; None where the family has no header.
    """

    def of(self, model: Any, /) -> Iterable[object]:
        """Return the units of a model."""

    def header(self, model: Any, /) -> object:
        """Return the header of a model."""

    def no_header(self) -> object:
        """Return the header of a model that has no units."""

    def model(self, units: object, header: object, /) -> Model:
        """Return a model of one unit, or the model itself; TypeError for anything else.

        `header`: of the file that is written, or None if nothing was written yet.
        """

    def joined(self, models: Sequence[Any], /) -> Model:
        """Return one model of at least one, with their units one after the other."""


class Streamer(Protocol):
    """A function that reads a format in chunks."""

    def __call__(
        self,
        blocks: Blocks,
        *,
        limits: Limits = ...,
        findings: "Findings | None" = ...,
        engine: Engine = ...,
    ) -> Iterator[Any]:
        """Yield models, at least one, that together are what the reader returns."""


class IncrementalWriter(Protocol):
    """An object that writes a format in chunks: the same bytes as the writer."""

    is_counted: bool
    """Whether the file begins with the number of units."""

    def begin(self, header: Any, count: int, /) -> bytes:
        """Return the beginning of a file of `count` units.

        A second call with another count returns as many bytes.
        """

    def units(self, model: Any, /) -> bytes:
        """Return the units of a model."""

    def end(self, size: int, /) -> bytes:
        """Return the end of a file; `size`: the number of bytes before it."""
