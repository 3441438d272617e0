"""What is known of one file format: its names, its marks, its options, its reader and writer."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, cast

from exset.core.errors import FormatError, Place, safe
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.protocols import Model, Option, Reader, Writer
from exset.core.source import Source
from exset.core.text import with_article
from exset.families.family import Family, load
from exset.families.incremental import Pieces, Streamer
from exset.io.files import Blocks

if TYPE_CHECKING:
    from exset.core.errors import Findings
    from exset.grammars.lens.examples import ExampleSet

OPTIONS: Final = frozenset(
    ("base", "compact", "dialect", "expand", "kind", "labels", "lossy", "root", "unshare")
)
"""The options of exset's writers: one that is not set may go to a format that does not take it."""

READ_OPTIONS: Final = frozenset(("dialect", "ids"))
"""The options of its readers."""


class OptionError(TypeError, ValueError):
    """An option that a format does not take, or a value of one that there is not."""


@dataclass(frozen=True)
class Format:
    """One file format: its names, the marks it is known by, its reader and its writer.

    `magic` are the bytes that every file of the format begins with (empty: none); `first_bytes`
    is a regular expression for how its files begin, which must match in linear time and may match
    where they are cut short; with a magic, it tells the format from others of that magic.
    `options` are the words its writer takes, `read_options` those of its reader, `dialects` the
    values of the option `dialect`; `binary` files are not for a terminal. `streamer` and `pieces`
    are for formats that are read and written part by part; of files that it `maps`, the reader
    leaves the contents where they are.
    """

    name: str
    title: str
    family: Family
    suffixes: tuple[str, ...]
    reader: str
    writer: str
    magic: bytes = b""
    first_bytes: str | None = None
    options: tuple[str, ...] = ()
    read_options: tuple[str, ...] = ()
    dialects: tuple[str, ...] = ()
    binary: bool = False
    maps: bool = False
    streamer: str | None = None
    pieces: str | None = None

    @property
    def suffix(self) -> str:
        """The usual suffix of its files, with the dot."""
        return self.suffixes[0]

    def read(
        self,
        source: Source,
        *,
        limits: Limits = DEFAULT,
        findings: "Findings | None" = None,
        engine: Engine = "auto",
        **options: Option,
    ) -> Model:
        """Read a source; FormatError for what is not of the format, TypeError as `chosen`."""
        reader = cast(Reader, self._loaded(self.reader))
        chosen = self.chosen(options, reading=True)
        return reader(source, limits=limits, findings=findings, engine=engine, **chosen)

    def write(
        self, model: Model, *, findings: "Findings | None" = None, **options: Option
    ) -> bytes:
        """Write a model as bytes; an option that is set must be one that the writer takes.

        Raises FormatError where the format cannot hold the model, and TypeError for a model of
        another family and as `chosen`.
        """
        if not isinstance(model, self.family.model):
            wanted = with_article(self.family.model.__name__)
            raise TypeError(f"the model to write must be {wanted}, not {type(model).__name__}")
        writer = cast(Writer, self._loaded(self.writer))
        return writer(model, findings=findings, **self.chosen(options))

    def stream(
        self,
        blocks: Blocks,
        *,
        limits: Limits = DEFAULT,
        findings: "Findings | None" = None,
        engine: Engine = "auto",
    ) -> "Iterator[ExampleSet]":
        """Read as it comes; raises FormatError as `read`, and for a format that cannot be."""
        streamer = cast(Streamer, self._loaded(self._part(self.streamer, blocks.name)))
        return streamer(blocks, limits=limits, findings=findings, engine=engine)

    def in_pieces(self, name: str, findings: "Findings", **options: Option) -> Pieces:
        """Return what writes part by part; raises as `stream` and `chosen`.

        name: of the file to be written.
        """
        make = cast(Callable[..., Pieces], self._loaded(self._part(self.pieces, name)))
        return make(findings, **self.chosen(options))

    def _loaded(self, target: str) -> object:
        """Import what reads or writes; FormatError where another package names what is not."""
        try:
            return load(target)
        except (ImportError, AttributeError) as error:
            if target.startswith("exset."):
                raise
            from exset.core.plugins import trouble

            raise trouble(
                f"the format {self.name!r}", f"{type(error).__name__}: {safe(str(error))}"
            ) from error

    def _part(self, target: str | None, name: str) -> str:
        if target is None:
            raise FormatError(
                f"{self.name} ({self.title}) is not read or written part by part",
                place=Place.of(name),
                hint="exset.load and exset.save read and write it whole",
                code="format",
            )
        return target

    def chosen(self, options: Mapping[str, Option], reading: bool = False) -> dict[str, Option]:
        """Return the options that are set, of its writer or, `reading`, of its reader.

        OptionError for one that is set but not taken here, for one that no format takes, and for a
        dialect that there is not.
        """
        taken = self.read_options if reading else self.options
        known = READ_OPTIONS if reading else OPTIONS
        for name, value in options.items():
            if name not in taken and (value or name not in known):
                raise OptionError(
                    f"the format {self.name!r} takes no option {name!r};"
                    f" it takes {', '.join(taken) or 'none'}"
                )
        dialect = options.get("dialect")
        if dialect and dialect not in self.dialects:
            there = ", ".join(self.dialects)
            raise OptionError(
                f"the format {self.name!r} has no dialect {dialect!r}; there are {there}"
            )
        return {name: value for name, value in options.items() if value}
