"""What formats are made of: models, and what reads, writes, counts and checks them."""

from typing import TYPE_CHECKING, Protocol, Self, TypeAlias, runtime_checkable

from exset.core.kernels import Engine
from exset.core.limits import Limits
from exset.core.source import Source
from exset.io.access import Access

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from exset.core.errors import Findings

Option: TypeAlias = bool | str
"""The value of a reader's or a writer's option: most are set or not, some name a choice."""


class Model(Protocol):
    """What a file says, whatever its family."""

    def __len__(self) -> int:
        """How many there are of the family's unit, such as examples."""
        ...


@runtime_checkable
class Selectable(Model, Protocol):
    """A model of which a part is a model."""

    def select(self, which: "ArrayLike | slice", /) -> Self:
        """Some of its units: indices in any order, a mask, or a slice."""
        ...


class Summary(Protocol):
    """What a model holds, in numbers."""

    def rows(self) -> list[tuple[str, str]]:
        """Return the numbers as (label, text), for people."""
        ...

    def to_dict(self) -> dict[str, object]:
        """Return the numbers for JSON."""
        ...


class Reporter(Protocol):
    """What reports the numbers of a model."""

    def __call__(self, model: Model, /, *, detailed: bool = ...) -> Summary:
        """Return the numbers; detailed: with those that take longer."""
        ...


class FileCheck(Protocol):
    """What checks the files that a model names."""

    def __call__(
        self,
        model: Model,
        findings: "Findings",
        /,
        *,
        name: str,
        base: str,
        access: Access,
        jobs: int,
        limits: Limits,
    ) -> None:
        """Add a finding for all that is wrong with them."""
        ...


class Reader(Protocol):
    """What reads a format: `parse` of a text, `decode` of a binary file."""

    def __call__(
        self,
        source: Source,
        *,
        limits: Limits = ...,
        findings: "Findings | None" = ...,
        engine: Engine = ...,
        **options: Option,
    ) -> Model:
        """Return the model that the source holds, or raise FormatError."""
        ...


class Writer(Protocol):
    """What writes a format: `render` to text, `encode` to a binary file."""

    def __call__(
        self, model: Model, /, *, findings: "Findings | None" = ..., **options: Option
    ) -> bytes:
        """Return the bytes of a file, or raise FormatError for what the format cannot hold."""
        ...
