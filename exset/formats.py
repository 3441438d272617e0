"""The formats that exset knows: their names, what tells them apart, what reads and writes them.

A format belongs to a family, whose formats all say the same model: a set of examples, say. What
reads and writes a format, and what is known of a model, is named as text, "module:function", and
imported on first use, so that the list itself costs nothing. To add a format, add a line to
`FORMATS`; a package of its own names a `Format` as an entry point of the group `exset.formats`.
"""

import os
import re
from functools import cache
from typing import cast, get_args

from exset.core.errors import FormatError, Place, safe
from exset.core.kernels import Engine
from exset.core.lookalikes import foreign
from exset.core.protocols import Model
from exset.core.text import with_article
from exset.families import family as families
from exset.families import signatures
from exset.families.family import Family
from exset.families.format import Format
from exset.io.compression import SUFFIXES, content_of

GROUP = "exset.formats"
"""The entry points by which other packages add formats."""

HEAD = 4096
"""How many bytes of a file `detect` looks at."""

COMPRESSED = tuple(SUFFIXES)
"""Suffixes of compression: they say nothing of the format."""


FORMATS: tuple[Format, ...] = (
    Format(
        name="ex",
        title="Lens example file, text",
        family=families.LENS,
        suffixes=(".ex",),
        reader="exset.parsers.lens.parse:parse",
        writer="exset.parsers.lens.render:render",
        first_bytes=signatures.LENS,
        options=("compact", "unshare", "lossy"),
        streamer="exset.parsers.lens.parse:stream",
        pieces="exset.parsers.lens.render:Pieces",
    ),
    Format(
        name="bex",
        title="Lens example file, binary",
        family=families.LENS,
        suffixes=(".bex",),
        reader="exset.codecs.lens.bex:decode",
        writer="exset.codecs.lens.bex:encode",
        magic=b"\xaa\xaa\xaa\xaa",
        options=("lossy",),
        binary=True,
        streamer="exset.codecs.lens.bex:stream",
        pieces="exset.codecs.lens.bex:Pieces",
    ),
    Format(
        name="sample_list",
        title="LBANN sample list",
        family=families.SAMPLE_LISTS,
        suffixes=(".sample_list",),
        reader="exset.parsers.lbann.sample_list:parse",
        writer="exset.runtime.lbann.list_convert:write",
        first_bytes=signatures.SAMPLE_LIST,
        options=("kind", "expand", "labels", "base", "root", "lossy"),
        read_options=("ids",),
    ),
    Format(
        name="schema",
        title="LBANN schema of HDF5 data",
        family=families.SCHEMA,
        suffixes=(".yaml", ".yml"),
        reader="exset.parsers.lbann.schema:parse",
        writer="exset.parsers.lbann.schema_text:render",
        first_bytes=signatures.YAML,
    ),
    Format(
        name="manifest",
        title="aeon manifest",
        family=families.MANIFEST,
        suffixes=(".tsv", ".csv"),
        reader="exset.parsers.aeon.manifest:parse",
        writer="exset.parsers.aeon.manifest_text:render",
        first_bytes=signatures.MANIFEST,
        options=("dialect", "lossy"),
        read_options=("dialect",),
        dialects=("head", "seed", "csv"),
    ),
    Format(
        name="block",
        title="aeon cache block",
        family=families.BLOCKS,
        suffixes=(".cpio",),
        reader="exset.codecs.aeon.cpio:decode",
        writer="exset.codecs.aeon.cpio_write:encode",
        magic=signatures.CPIO,
        first_bytes=signatures.BLOCK,
        options=("lossy",),
        binary=True,
        maps=True,
    ),
    Format(
        name="cpio",
        title="cpio archive, old binary format",
        family=families.BLOCKS,
        suffixes=(".cpio",),
        reader="exset.codecs.aeon.cpio:decode_archive",
        writer="exset.codecs.aeon.cpio_write:encode_archive",
        magic=signatures.CPIO,
        options=("lossy",),
        binary=True,
        maps=True,
    ),
    Format(
        name="records",
        title="aeon block as a manifest",
        family=families.BLOCKS,
        suffixes=(".records",),
        reader="exset.runtime.aeon.block_records:parse",
        writer="exset.runtime.aeon.block_records:render",
    ),
    Format(
        name="loader_config",
        title="aeon loader configuration",
        family=families.CONFIG,
        suffixes=(".json",),
        reader="exset.parsers.aeon.config:parse",
        writer="exset.parsers.aeon.config:render",
        first_bytes=signatures.CONFIG,
        options=("dialect", "compact", "lossy"),
        read_options=("dialect",),
        dialects=("head", "seed", "between", "habana"),
    ),
)


_added: list[Format] = []


def every() -> tuple[Format, ...]:
    """Return the formats of exset, and those of other packages if they were looked for yet."""
    return (*FORMATS, *_added)


def installed() -> tuple[Format, ...]:
    """Look for the formats of other packages, and return them.

    FormatError that names it for one that cannot be used.
    """
    from exset.core import plugins

    if not _added:
        found = plugins.found(GROUP, Format)
        taken = set(names())
        for known in found:
            if known.name in taken:
                raise plugins.trouble(f"the format {known.name!r}", "another format has this name")
            taken.add(known.name)
        _added.extend(found)
    return tuple(_added)


def names() -> tuple[str, ...]:
    """Return the names of exset's own formats, in the order of the registry."""
    return tuple(known.name for known in FORMATS)


def get(name: str) -> Format:
    """Return the format of that name; raises ValueError that lists the names there are."""
    for look in (every, installed):
        for known in look():
            if known.name == name:
                return known
    there = ", ".join(known.name for known in every())
    raise ValueError(f"there is no format {safe(name)!r}; there are {there}")


def engine(name: str) -> Engine:
    """Return an engine by its name; raises ValueError that lists the names there are."""
    if name not in get_args(Engine):
        raise ValueError(f"no engine is called {name!r}; there are {', '.join(get_args(Engine))}")
    return cast(Engine, name)


def family_of(model: Model) -> Family:
    """Return the family of a model; TypeError for what is no model."""
    for known in every():
        if isinstance(model, known.family.model):
            return known.family
    raise TypeError(f"a model is wanted, not {type(model).__name__}")


def of_family(family: Family) -> tuple[Format, ...]:
    """Return the formats of a family."""
    return tuple(known for known in every() if known.family == family)


def text_of(known: Format) -> Format:
    """Return the text format of a format's family: itself, or what shows it to people.

    FormatError for a family that has none.
    """
    for each in of_family(known.family):
        if not each.binary:
            return each
    raise FormatError(f"no text format shows {with_article(known.family.noun)}", code="format")


def stem(name: str) -> str:
    """Take one suffix of compression and one of a known format off a file name."""
    bare = _uncompressed(name)
    known = by_suffix(name)
    return os.path.splitext(bare)[0] if known else bare


def by_suffix(name: str) -> Format | None:
    """Return the format whose suffix a file name bears, compressed or not, or None."""
    bare = _uncompressed(name).lower()
    for look in (every, installed):
        for known in look():
            if bare.endswith(known.suffixes):
                return known
        if not os.path.splitext(bare)[1]:
            break
    return None


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
    named = by_suffix(name)
    for look in (every, installed):
        known, candidates = _told(head, named, look())
        if known is not None:
            return known
        if candidates:
            break
    there = ", ".join(f"{known.name} ({known.title})" for known in candidates or every())
    usual = f"say which with --from NAME, or format=NAME in Python: {there}"
    message, hint = "not a format that exset knows", usual
    if candidates:
        message = "the format is ambiguous: several begin so"
    elif not head:
        message = "the file is empty, and its name does not say its format"
    elif advice := foreign(head):
        hint = f"{advice}; else {usual}"
    elif head.startswith(b"\x89HDF\r\n\x1a\n"):
        message = "an HDF5 file: it holds data, and exset looks at what names them"
        hint = "make a list of its samples with exset list build, a schema with exset schema build"
    raise FormatError(
        message,
        place=Place.of(name),
        hint=hint,
        code="format",
    )


def _told(
    head: bytes, named: Format | None, among: tuple[Format, ...]
) -> tuple[Format | None, list[Format]]:
    """Return which of some formats a file is of, if that can be told, and which it may be of."""
    marked = [known for known in among if known.magic and head.startswith(known.magic)]
    marked = [known for known in marked if _begins(known, head[:HEAD])] or [
        known for known in marked if known.first_bytes is None
    ]
    if len(marked) == 1:
        return marked[0], marked
    if named and not named.binary:
        return named, marked
    if not marked:
        marked = [known for known in among if not known.magic and _begins(known, head[:HEAD])]
    if len(marked) == 1:
        return marked[0], marked
    if named and (not marked or named in marked):
        return named, marked
    return None, marked


def maps(head: bytes) -> bool:
    """Tell by its first bytes whether a file is of a format that is better mapped than read."""
    return any(known.maps and head.startswith(known.magic) for known in every())


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
