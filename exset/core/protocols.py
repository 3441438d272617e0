"""The protocols of models, readers, writers, summaries and checks of files."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self, TypeAlias, runtime_checkable

from exset.core.jobs import Jobs
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.source import Source
from exset.io.access import DEFAULT_ACCESS, Access

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import ArrayLike

    from exset.core.errors import Findings

Level: TypeAlias = Literal["said", "meant"]
"""How a table stores a model: as the file says it, or as dense arrays of what the file means."""

OptionValue: TypeAlias = bool | str
"""The value of a reader's or a writer's option: a flag, a choice or a text."""


class Model(Protocol):
    """The content of a file, of any family."""

    def __len__(self) -> int:
        """Return the number of units, such as examples."""


@runtime_checkable
class Selectable(Model, Protocol):
    """A model that can select some of its units."""

    def select(self, which: "ArrayLike | slice", /) -> Self:
        """Return a model of some units. `which`: their indices in any order, a mask, or a slice."""


@runtime_checkable
class Named(Model, Protocol):
    """A model whose units have names."""

    def unit_names(self) -> "Iterator[bytes]":
        """Yield the name of each unit; yield `b""` for a unit without a name."""


@runtime_checkable
class Joinable(Selectable, Protocol):
    """A model that can select units, and join other models of its class."""

    def concat(self, *others: Any) -> Self:
        """Return a model with the units of this model, then the units of the other models."""


class Summary(Protocol):
    """Numbers about a model."""

    def rows(self) -> list[tuple[str, str]]:
        """Return the numbers for people, as pairs (label, text)."""

    def to_dict(self) -> dict[str, object]:
        """Return the numbers for JSON."""


class Reporter(Protocol):
    """A function that summarises a model in numbers."""

    def __call__(self, model: Model, /, *, detailed: bool = ...) -> Summary:
        """Return the summary; `detailed`: also numbers that take longer to compute."""


class ChunkReporter(Protocol):
    """A function that summarises a model in numbers, from its chunks."""

    def __call__(self, chunks: "Iterable[Any]", /, *, detailed: bool = ...) -> Summary:
        """Return the summary; `detailed`: also numbers that take longer to compute."""


class Tally(Protocol):
    """Counts that summarise a model, made from its chunks; a dataclass that a journal can store.

    The class is called with one argument, `detailed`: whether to count also what takes longer.
    """

    def add(self, model: Any, /) -> None:
        """Count the next chunk of the model."""

    def merge(self, other: Any, /) -> None:
        """Add the counts of the next part of the model; another `Tally` has counted this part."""

    def report(self) -> Summary:
        """Return the summary. Add nothing after this call."""


@dataclass(frozen=True)
class CheckOptions:
    """How to check the files that a model names.

    name: the model's name in messages. base: the folder that relative paths begin at, by default
    the current folder. access: which files may be opened, and how. jobs: the number of processes,
    or an `Execution`. decode: whether to decode whole records, too.
    """

    name: str
    base: str = ""
    access: Access = DEFAULT_ACCESS
    jobs: Jobs = 1
    limits: Limits = DEFAULT
    decode: bool = False


class ModelCheck(Protocol):
    """Checks the model of a file, chunk by chunk, for errors that a reader accepts."""

    def __call__(self, model: Model, findings: "Findings", /, *, first: int) -> None:
        """Check a model, and add a finding for each error and each likely mistake.

        `first`: the index, in the file, of the model's first unit; places of findings need it.
        """

    @property
    def common(self) -> tuple[str, ...]:
        """Values that must be equal in all parts of a file.

        If parts have different values, exset reads and checks the file as a whole.
        """


class FileCheck(Protocol):
    """A function that checks the files that a model names."""

    def __call__(self, model: Model, findings: "Findings", options: CheckOptions, /) -> None:
        """Add a finding for each error and each likely mistake."""


class Reader(Protocol):
    """A function that reads a format: `parse` for text, `decode` for binary."""

    def __call__(
        self,
        source: Source,
        *,
        limits: Limits = ...,
        findings: "Findings | None" = ...,
        engine: Engine = ...,
        **options: OptionValue,
    ) -> Model:
        """Return the model in the source. Raises FormatError if the source is invalid."""


class Writer(Protocol):
    """A function that writes a format: `render` for text, `encode` for binary."""

    def __call__(
        self, model: Model, /, *, findings: "Findings | None" = ..., **options: OptionValue
    ) -> bytes:
        """Return the bytes of a file. Raises FormatError if the format cannot store the model."""
