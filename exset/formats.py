"""The formats that exset knows: their names, what tells them apart, what reads and writes them.

A format belongs to a family, whose formats all say the same model: a set of examples, say. What
reads and writes a format, and what is known of a model, is named as text, "module:function", and
imported on first use, so that the list itself costs nothing. To add a format, add a line to
`FORMATS`.
"""

import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, cast, get_args

from exset import beginnings, families
from exset.compression import SUFFIXES, content_of
from exset.errors import FormatError, Place, safe
from exset.families import Family, load
from exset.files import Blocks
from exset.kernels import Engine
from exset.limits import DEFAULT, Limits
from exset.pieces import Pieces, Streamer
from exset.protocols import Model, Option, Reader, Writer
from exset.source import Source

if TYPE_CHECKING:
    from exset.errors import Findings
    from exset.grammars.examples import ExampleSet

HEAD = 4096
"""How many bytes of a file `detect` looks at."""

COMPRESSED = tuple(SUFFIXES)
"""Suffixes of compression: they say nothing of the format."""


class OptionError(TypeError):
    """An option that a format does not take."""


@dataclass(frozen=True)
class Format:
    """One file format: its names, the marks it is known by, its reader and its writer.

    `magic` are the bytes that every file of the format begins with (empty: none); `first_bytes`
    is a regular expression for how its files begin, which must match in linear time and may match
    where they are cut short; with a magic, it tells the format from others of that magic.
    `options` are the words its writer takes, `read_options` those of its reader; `binary` files are
    not for a terminal. `streamer` and `pieces` are for formats that are read and written part by
    part; of files that it `maps`, the reader leaves the contents where they are.
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
        reader = cast(Reader, load(self.reader))
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
            wanted = self.family.model.__name__
            article = "an" if wanted[0] in "AEIOU" else "a"
            given = type(model).__name__
            raise TypeError(f"the model to write must be {article} {wanted}, not {given}")
        writer = cast(Writer, load(self.writer))
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
        streamer = cast(Streamer, load(self._part(self.streamer, blocks.name)))
        return streamer(blocks, limits=limits, findings=findings, engine=engine)

    def in_pieces(self, name: str, findings: "Findings", **options: Option) -> Pieces:
        """Return what writes part by part; raises as `stream` and `chosen`.

        name: of the file to be written.
        """
        make = cast(Callable[..., Pieces], load(self._part(self.pieces, name)))
        return make(findings, **self.chosen(options))

    def _part(self, target: str | None, name: str) -> str:
        if target is None:
            able = ", ".join(each.name for each in FORMATS if each.streamer and each.pieces)
            raise FormatError(
                f"{self.name} ({self.title}) is not read or written part by part",
                place=Place.of(name),
                hint=f"formats that are: {able}",
                code="format",
            )
        return target

    def chosen(self, options: Mapping[str, Option], reading: bool = False) -> dict[str, Option]:
        """Return the options that are set, of its writer or, `reading`, of its reader.

        OptionError for one that is set but not taken here, and for one that no format takes.
        """
        taken = self.read_options if reading else self.options
        known = {
            option
            for each in FORMATS
            for option in (each.read_options if reading else each.options)
        }
        for name, value in options.items():
            if name not in taken and (value or name not in known):
                raise OptionError(
                    f"format {self.name!r} takes no option {name!r}"
                    f" (it takes {', '.join(taken) or 'none'})"
                )
        return {name: value for name, value in options.items() if value}


FORMATS: tuple[Format, ...] = (
    Format(
        name="ex",
        title="Lens example file, text",
        family=families.LENS,
        suffixes=(".ex",),
        reader="exset.parsers.lens:parse",
        writer="exset.parsers.lens_text:render",
        first_bytes=beginnings.LENS,
        options=("compact", "unshare", "lossy"),
        streamer="exset.parsers.lens:stream",
        pieces="exset.parsers.lens_text:Pieces",
    ),
    Format(
        name="bex",
        title="Lens example file, binary",
        family=families.LENS,
        suffixes=(".bex",),
        reader="exset.codecs.lens:decode",
        writer="exset.codecs.lens:encode",
        magic=b"\xaa\xaa\xaa\xaa",
        options=("lossy",),
        binary=True,
        streamer="exset.codecs.lens:stream",
        pieces="exset.codecs.lens:Pieces",
    ),
    Format(
        name="sample_list",
        title="LBANN sample list",
        family=families.SAMPLE_LISTS,
        suffixes=(".sample_list",),
        reader="exset.parsers.sample_list:parse",
        writer="exset.runtime.list_kinds:write",
        first_bytes=beginnings.SAMPLE_LIST,
        options=("kind", "expand", "labels", "base", "lossy"),
        read_options=("ids",),
    ),
    Format(
        name="schema",
        title="LBANN schema of HDF5 data",
        family=families.SCHEMA,
        suffixes=(".yaml", ".yml"),
        reader="exset.parsers.schema:parse",
        writer="exset.parsers.schema_text:render",
        first_bytes=beginnings.YAML,
    ),
    Format(
        name="manifest",
        title="aeon manifest",
        family=families.MANIFEST,
        suffixes=(".tsv", ".csv"),
        reader="exset.parsers.manifest:parse",
        writer="exset.parsers.manifest_text:render",
        first_bytes=beginnings.MANIFEST,
        options=("dialect", "lossy"),
        read_options=("dialect",),
    ),
    Format(
        name="block",
        title="aeon cache block",
        family=families.BLOCKS,
        suffixes=(".cpio",),
        reader="exset.codecs.cpio:decode",
        writer="exset.codecs.cpio_writing:encode",
        magic=beginnings.CPIO,
        first_bytes=beginnings.BLOCK,
        options=("lossy",),
        binary=True,
        maps=True,
    ),
    Format(
        name="cpio",
        title="cpio archive, old binary format",
        family=families.BLOCKS,
        suffixes=(".cpio",),
        reader="exset.codecs.cpio:decode_archive",
        writer="exset.codecs.cpio_writing:encode_archive",
        magic=beginnings.CPIO,
        options=("lossy",),
        binary=True,
        maps=True,
    ),
    Format(
        name="records",
        title="aeon block as a manifest",
        family=families.BLOCKS,
        suffixes=(".records",),
        reader="exset.runtime.block_records:parse",
        writer="exset.runtime.block_records:render",
    ),
    Format(
        name="loader_config",
        title="aeon loader configuration",
        family=families.CONFIG,
        suffixes=(".json",),
        reader="exset.parsers.loader_config:parse",
        writer="exset.parsers.loader_config_text:render",
        first_bytes=beginnings.CONFIG,
        options=("dialect", "compact", "lossy"),
        read_options=("dialect",),
    ),
)


def names() -> tuple[str, ...]:
    """Return the names of all formats, in the order of the registry."""
    return tuple(known.name for known in FORMATS)


def get(name: str) -> Format:
    """Return the format of that name; raises ValueError that lists the names there are."""
    for known in FORMATS:
        if known.name == name:
            return known
    raise ValueError(f"there is no format {safe(name)!r}; there are {', '.join(names())}")


def engine(name: str) -> Engine:
    """Return an engine by its name; raises ValueError that lists the names there are."""
    if name not in get_args(Engine):
        raise ValueError(f"no engine is called {name!r}; there are {', '.join(get_args(Engine))}")
    return cast(Engine, name)


def family_of(model: Model) -> Family:
    """Return the family of a model; TypeError for what is no model."""
    for known in FORMATS:
        if isinstance(model, known.family.model):
            return known.family
    raise TypeError(f"a model is wanted, not {type(model).__name__}")


def text_of(known: Format) -> Format:
    """Return the text format of a format's family: itself, or what shows it to people."""
    return next(each for each in FORMATS if each.family == known.family and not each.binary)


def stem(name: str) -> str:
    """Take one suffix of compression and one of a known format off a file name."""
    bare = _uncompressed(name)
    known = by_suffix(name)
    return os.path.splitext(bare)[0] if known else bare


def by_suffix(name: str) -> Format | None:
    """Return the format whose suffix a file name bears, compressed or not, or None."""
    bare = _uncompressed(name).lower()
    return next((known for known in FORMATS if bare.endswith(known.suffixes)), None)


def detect(head: bytes, name: str) -> Format:
    """Tell a file's format: by magic, else by the suffix of its name, else by its first bytes.

    `head` is the beginning of the uncompressed data. The suffix of a binary format counts last,
    for what lacks its magic is none. Raises FormatError that lists the candidates.
    """
    if (packed := content_of(head)) is not None:
        raise FormatError(
            f"this is {packed.name} data: only files are unpacked, and only once",
            place=Place.of(name),
            hint="unpack it, and read what comes out",
            code="compression",
        )
    marked = [known for known in FORMATS if known.magic and head.startswith(known.magic)]
    marked = [known for known in marked if _begins(known, head[:HEAD])] or [
        known for known in marked if known.first_bytes is None
    ]
    if len(marked) == 1:
        return marked[0]
    named = by_suffix(name)
    if named and not named.binary:
        return named
    if not marked:
        marked = [known for known in FORMATS if not known.magic and _begins(known, head[:HEAD])]
    if len(marked) == 1:
        return marked[0]
    if named and (not marked or named in marked):
        return named
    candidates = ", ".join(f"{known.name} ({known.title})" for known in marked or FORMATS)
    raise FormatError(
        "the format is ambiguous: several begin so" if marked else "not a format that exset knows",
        place=Place.of(name),
        hint=f"say which with --from NAME, or format=NAME in Python: {candidates}",
        code="format",
    )


def maps(head: bytes) -> bool:
    """Tell by its first bytes whether a file is of a format that is better mapped than read."""
    return any(known.maps and head.startswith(known.magic) for known in FORMATS)


def _uncompressed(name: str) -> str:
    """Take one suffix of compression off a file name."""
    bare, suffix = os.path.splitext(name)
    return bare if suffix in COMPRESSED else name


def _begins(known: Format, head: bytes) -> bool:
    """Tell whether a file of that format may begin with these bytes; none tell nothing."""
    pattern = known.first_bytes
    return bool(head) and pattern is not None and _compiled(pattern).match(head) is not None


@cache
def _compiled(pattern: str) -> re.Pattern[bytes]:
    return re.compile(pattern.encode("latin-1"))
