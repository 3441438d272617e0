"""What reads and writes a format part by part."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol

from exset.core.kernels import Engine
from exset.core.limits import Limits
from exset.io.files import Blocks

if TYPE_CHECKING:
    from exset.core.errors import Findings
    from exset.grammars.lens.examples import ExampleSet, SetHeader


class Streamer(Protocol):
    """What reads a format as it comes."""

    def __call__(
        self,
        blocks: Blocks,
        *,
        limits: Limits = ...,
        findings: "Findings | None" = ...,
        engine: Engine = ...,
    ) -> "Iterator[ExampleSet]":
        """Yield sets, one at least, that together are what the reader gives."""
        ...


class Pieces(Protocol):
    """What writes a format part by part; together that is what the writer gives."""

    is_counted: bool
    """Whether the number of units stands before them."""

    def begin(self, header: "SetHeader", count: int, /) -> bytes:
        """Return what stands before so many units.

        It may be asked for again with another count, which changes no length.
        """
        ...

    def units(self, model: "ExampleSet", /) -> bytes:
        """Return some units."""
        ...

    def end(self, size: int, /) -> bytes:
        """Return what stands after them; size: of all that comes before it."""
        ...
