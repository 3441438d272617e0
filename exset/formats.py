"""The formats that exset knows: their names, what tells them apart, what reads and writes them.

A format names its reader and writer as text, "module:function"; they are imported on first use,
so that the list itself costs nothing. To add a format, add a line to `FORMATS`.
"""

import re
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import PurePath
from typing import TYPE_CHECKING, Protocol, cast

from exset.errors import FormatError, Place, safe
from exset.limits import DEFAULT, Limits
from exset.source import Source

if TYPE_CHECKING:
    from exset.errors import Findings
    from exset.grammars.examples import ExampleSet

HEAD = 4096
"""How many bytes of a file `detect` looks at."""

COMPRESSED = (".gz", ".Z", ".bz2", ".bz")
"""Suffixes of compression: they say nothing of the format."""


class Reader(Protocol):
    """What reads a format: `parse` of a text, `decode` of a binary file."""

    def __call__(
        self, source: Source, *, limits: Limits = ..., findings: "Findings | None" = ...
    ) -> "ExampleSet":
        """Return the model that the source holds, or raise FormatError."""
        ...


class Writer(Protocol):
    """What writes a format: `render` to text, `encode` to a binary file."""

    def __call__(
        self, model: "ExampleSet", /, *, findings: "Findings | None" = ..., **options: bool
    ) -> bytes:
        """Return the bytes of a file, or raise FormatError for what the format cannot hold."""
        ...


@dataclass(frozen=True)
class Format:
    """One file format: its names, the marks it is known by, its reader and its writer.

    `magic` are the bytes that every file of the format begins with (empty: none); `first_bytes`
    is a regular expression for how its files begin; `options` are the words its writer takes;
    `binary` files are not for a terminal.
    """

    name: str
    title: str
    family: str
    suffixes: tuple[str, ...]
    reader: str
    writer: str
    magic: bytes = b""
    first_bytes: str | None = None
    options: tuple[str, ...] = ()
    binary: bool = False

    @property
    def suffix(self) -> str:
        """The usual suffix of its files, with the dot."""
        return self.suffixes[0]

    def read(
        self, source: Source, *, limits: Limits = DEFAULT, findings: "Findings | None" = None
    ) -> "ExampleSet":
        """Read a source; raises FormatError for what is not of the format."""
        return cast(Reader, _load(self.reader))(source, limits=limits, findings=findings)

    def write(
        self, model: "ExampleSet", *, findings: "Findings | None" = None, **options: bool
    ) -> bytes:
        """Write a model as bytes; an option that is set must be one that the writer takes.

        Raises FormatError where the format cannot hold the model, TypeError for a strange option.
        """
        chosen = {name: value for name, value in options.items() if value}
        for name in chosen:
            if name not in self.options:
                raise TypeError(
                    f"format {self.name!r} takes no option {name!r}"
                    f" (it takes {', '.join(self.options) or 'none'})"
                )
        return cast(Writer, _load(self.writer))(model, findings=findings, **chosen)


FORMATS: tuple[Format, ...] = (
    Format(
        name="ex",
        title="Lens example file, text",
        family="lens",
        suffixes=(".ex",),
        reader="exset.parsers.lens:parse",
        writer="exset.parsers.lens_text:render",
        first_bytes=(
            r"(?:\xef\xbb\xbf)?(?:[ \t\r\n\f\v]|(?<![^\r\n])#[^\r\n]*)*"
            r"(?:[-+]?\d+\s+){0,3}"
            r"(?:[;\[]|(?:proc|max|min|grace|def[IT]|act[IT]|name|freq|[ItTiBb]):)"
        ),
        options=("compact", "unshare", "lossy"),
    ),
    Format(
        name="bex",
        title="Lens example file, binary",
        family="lens",
        suffixes=(".bex",),
        reader="exset.codecs.lens:decode",
        writer="exset.codecs.lens:encode",
        magic=b"\xaa\xaa\xaa\xaa",
        options=("lossy",),
        binary=True,
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


def text_of(known: Format) -> Format:
    """Return the text format of a format's family: itself, or what shows it to people."""
    return next(each for each in FORMATS if each.family == known.family and not each.binary)


def stem(name: str) -> str:
    """Take one suffix of compression and one of a known format off a file name."""
    bare = _uncompressed(name)
    known = by_suffix(name)
    return bare[: -len(PurePath(bare).suffix)] if known else bare


def by_suffix(name: str) -> Format | None:
    """Return the format whose suffix a file name bears, compressed or not, or None."""
    bare = _uncompressed(name).lower()
    return next((known for known in FORMATS if bare.endswith(known.suffixes)), None)


def detect(head: bytes, name: str) -> Format:
    """Tell a file's format: by magic, else by its first bytes, else by the suffix of its name.

    `head` is the beginning of the uncompressed data. Where several formats may begin so, the
    suffix chooses among them. Raises FormatError that lists the candidates.
    """
    marked = [known for known in FORMATS if known.magic and head.startswith(known.magic)]
    if not marked:
        marked = [known for known in FORMATS if _begins(known, head[:HEAD])]
    if len(marked) == 1:
        return marked[0]
    named = by_suffix(name)
    if named and (not marked or named in marked):
        return named
    candidates = ", ".join(f"{known.name} ({known.title})" for known in marked or FORMATS)
    raise FormatError(
        "the format is ambiguous: several begin so" if marked else "not a format that exset knows",
        place=Place.of(name),
        hint=f"say which with --from NAME, or format=NAME in Python: {candidates}",
        code="format",
    )


def _uncompressed(name: str) -> str:
    """Take one suffix of compression off a file name."""
    path = PurePath(name)
    return name[: -len(path.suffix)] if path.suffix in COMPRESSED else name


def _begins(known: Format, head: bytes) -> bool:
    """Tell whether a file of that format may begin with these bytes."""
    pattern = known.first_bytes
    return pattern is not None and _compiled(pattern).match(head) is not None


@cache
def _compiled(pattern: str) -> re.Pattern[bytes]:
    return re.compile(pattern.encode("latin-1"))


@cache
def _load(target: str) -> object:
    """Import what "module:function" names."""
    module, _, function = target.partition(":")
    loaded: object = getattr(import_module(module), function)
    return loaded
