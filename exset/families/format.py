"""The record of one file format: its names, its signature, its options, its reader and writer."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, cast

from exset.core.callers import OptionError
from exset.core.errors import FormatError, Place
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.protocols import Model, OptionValue, Reader, Writer
from exset.core.source import Source
from exset.core.text import safe, with_article
from exset.families.family import Family, load
from exset.families.incremental import IncrementalWriter, Streamer
from exset.io.blocks import Blocks

if TYPE_CHECKING:
    from exset.core.errors import Findings

_OPTION_NAMES: Final[set[str]] = set()
"""The names of the options of all formats."""


@dataclass(frozen=True)
class Option:
    """One option of a format's reader or writer, for Python and for the command line.

    An option is a flag unless it has `choices`, or a `metavar` that names its value, such as
    `FILE`. `help` is the help text of the command line: an imperative sentence. `default` says in
    words what happens without the option. `untrusted` is the value of the unset option on a command
    line with `--untrusted`. `attribute`, for tests of round trips, names the attribute of a model
    with the value of a reader's option; a bool there is an index of `choices`.
    """

    name: str
    help: str
    choices: tuple[str, ...] = ()
    metavar: str = ""
    default: str = ""
    untrusted: str = ""
    attribute: str = ""

    def __post_init__(self) -> None:
        """Remember the name: a format ignores an unset option if another format has it."""
        _OPTION_NAMES.add(self.name)

    @property
    def is_flag(self) -> bool:
        """Whether the option's value is a bool."""
        return not self.choices and not self.metavar

    def value_of(self, model: Model) -> OptionValue:
        """Return the value that makes a reader give this model again; "" for the default."""
        value: object = getattr(model, self.attribute) if self.attribute else ""
        return self.choices[value] if isinstance(value, bool) else str(value)


LOSSY: Final = Option("lossy", "Drop what the target format cannot store, and report it.")
"""The option of each writer whose format cannot store every model of its family."""


@dataclass(frozen=True)
class Format:
    """One file format: everything that exset knows of it.

    Code is named as text, "module:function", and imported on first use.

    Names. `suffixes`: the usual one is first. `title`: the name for people.

    Detection. `magic`: the first bytes of every file; empty if there are none. `signature`: a
    regular expression that the first bytes of a file match. It must match in linear time, and
    match also if these bytes are cut anywhere. It separates formats that have the same magic.

    Code. `reader` with its `read_options`; `writer` with its `options`. `streamer` reads and
    `incremental_writer` writes a file in chunks. `binary`: its files must not go to a terminal.
    `maps`: its reader leaves the contents in the mapped file. `takes`: other families whose models
    the writer also takes.

    Findings. `findings`: the texts that declare and explain the findings, each as "package:path";
    see `exset.grammars.columns.findings`. `repairs`: codes of findings that the writer repairs; the
    written file then gives another model.

    Tests. `samples`: bundled files in `exset/samples`, each with its name and a line of
    description. `strategy`: a function that returns a Hypothesis strategy for models of the format.
    """

    name: str
    title: str
    family: Family
    suffixes: tuple[str, ...]
    reader: str
    writer: str
    magic: bytes = b""
    signature: str | None = None
    options: tuple[Option, ...] = ()
    read_options: tuple[Option, ...] = ()
    binary: bool = False
    maps: bool = False
    takes: tuple[Family, ...] = ()
    streamer: str | None = None
    incremental_writer: str | None = None
    findings: tuple[str, ...] = ()
    repairs: tuple[str, ...] = ()
    samples: tuple[tuple[str, str], ...] = ()
    strategy: str | None = None

    @property
    def suffix(self) -> str:
        """The usual suffix of the format's files, with the dot."""
        return self.suffixes[0]

    def option(self, name: str, *, reading: bool = False) -> Option | None:
        """Return the option of the writer, or of the reader if `reading`; None if unknown."""
        options = self.read_options if reading else self.options
        return next((option for option in options if option.name == name), None)

    def can_write(self, family: Family) -> bool:
        """Return whether the format's writer accepts models of a family."""
        return family == self.family or family in self.takes

    def read(
        self,
        source: Source,
        *,
        limits: Limits = DEFAULT,
        findings: "Findings | None" = None,
        engine: Engine = "auto",
        **options: OptionValue,
    ) -> Model:
        """Read a source.

        Raises FormatError if the source is not of this format, and the OptionError of `chosen`.
        """
        reader = cast(Reader, self._loaded(self.reader))
        chosen = self.chosen(options, reading=True)
        return reader(source, limits=limits, findings=findings, engine=engine, **chosen)

    def write(
        self, model: Model, *, findings: "Findings | None" = None, **options: OptionValue
    ) -> bytes:
        """Write a model as bytes.

        Raises FormatError where the format cannot store the model, TypeError for a model that the
        writer does not take, and the OptionError of `chosen`.
        """
        if not isinstance(model, tuple(family.model for family in (self.family, *self.takes))):
            expected = with_article(self.family.model.__name__)
            raise TypeError(f"the model to write must be {expected}, not {type(model).__name__}")
        writer = cast(Writer, self._loaded(self.writer))
        return writer(model, findings=findings, **self.chosen(options))

    def stream(
        self,
        blocks: Blocks,
        *,
        limits: Limits = DEFAULT,
        findings: "Findings | None" = None,
        engine: Engine = "auto",
        **options: OptionValue,
    ) -> Iterator[Model]:
        """Read in chunks: yield a model of the units in each chunk.

        Raises FormatError and OptionError as `read` does, and FormatError for a format that has no
        streamer.
        """
        streamer = cast(Streamer, self._loaded(self._chunked(self.streamer, blocks.name)))
        chosen = self.chosen(options, reading=True)
        return streamer(blocks, limits=limits, findings=findings, engine=engine, **chosen)

    def write_incrementally(
        self, name: str, findings: "Findings", **options: OptionValue
    ) -> IncrementalWriter:
        """Return an object that writes in chunks.

        `name`: the file to write. Raises FormatError if there is no such writer, and OptionError.
        """
        target = self._chunked(self.incremental_writer, name)
        make = cast(Callable[..., IncrementalWriter], self._loaded(target))
        return make(findings, **self.chosen(options))

    def chosen(
        self, options: Mapping[str, OptionValue], *, reading: bool = False
    ) -> dict[str, OptionValue]:
        """Return the options that are set, of the writer or, with `reading`, of the reader.

        Raises OptionError for an option that the format does not have, and for a value that is not
        one of the choices. An unset option that only another format has is no error.
        """
        for name, value in options.items():
            option = self.option(name, reading=reading)
            if option is None:
                if value or name not in _OPTION_NAMES:
                    taken = self.read_options if reading else self.options
                    names = ", ".join(each.name for each in taken) or "none"
                    message = (
                        f"unknown option {name!r} of the format {self.name!r}; its options: {names}"
                    )
                    raise OptionError(message)
            elif value and option.choices and value not in option.choices:
                choices = ", ".join(option.choices)
                message = (
                    f"unknown {name} {value!r} of the format {self.name!r}: choose one of {choices}"
                )
                raise OptionError(message)
        return {name: value for name, value in options.items() if value}

    def _loaded(self, target: str) -> object:
        """Import code of the format; raises FormatError if another package's code is missing."""
        try:
            return load(target)
        except (ImportError, AttributeError) as error:
            if target.startswith("exset."):
                raise
            from exset.core.plugins import import_error

            raise import_error(
                f"the format {self.name!r}", f"{type(error).__name__}: {safe(str(error))}"
            ) from error

    def _chunked(self, target: str | None, name: str) -> str:
        if target is None:
            message = f"{self.name} ({self.title}) cannot be read or written in chunks"
            hint = "use exset.load and exset.save, which handle it whole"
            raise FormatError(message, place=Place(name), hint=hint, code="format")
        return target
