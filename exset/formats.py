"""The registry of formats: find a format by name or suffix, or detect it.

Each module in `MODULES` declares families and the records of their formats. To add a format, write
such a module and add its name to `MODULES`; CONTRIBUTING has the steps. Another package adds a
`Format` as an entry point of the group `exset.formats`.
"""

import os
import re
from collections.abc import Iterable
from functools import cache
from importlib import import_module
from typing import cast, get_args

from exset.core.errors import FormatError, Place
from exset.core.kernels import Engine
from exset.core.lookalikes import foreign
from exset.core.protocols import Model
from exset.core.text import safe, with_article
from exset.families.family import Family
from exset.families.format import Format
from exset.families.tables import TABLE
from exset.io import sidecar
from exset.io.compression import SUFFIXES, content_of
from exset.io.folders import Folder

MODULES = (
    "exset.families.lens",
    "exset.families.lbann",
    "exset.families.aeon",
    "exset.families.tables",
    "exset.families.lists",
    "exset.families.siblings",
    "exset.families.shards",
    "exset.families.hdf5",
    "exset.families.arrow",
)
"""The modules that declare families, each with a tuple `FORMATS`."""

FORMATS: tuple[Format, ...] = tuple(
    fmt for module in MODULES for fmt in import_module(module).FORMATS
)
"""exset's own formats."""

GROUP = "exset.formats"
"""The group of entry points by which other packages add formats."""

HEAD = 4096
"""The number of bytes of a file that `detect` needs."""

COMPRESSED = tuple(SUFFIXES)
"""Suffixes of compression, which may follow the suffix of any format."""

_added: list[Format] = []


def all_formats() -> tuple[Format, ...]:
    """Return exset's formats, and the formats of other packages if these are loaded."""
    return (*FORMATS, *_added)


def load_plugins() -> tuple[Format, ...]:
    """Load the formats of other packages, and return them.

    If an entry point cannot be used, raises FormatError, which names the entry point.
    """
    from exset.core import plugins

    if not _added:
        found = plugins.found(GROUP, Format)
        taken = set(names())
        for fmt in found:
            if fmt.name in taken:
                why = "another format has this name"
                raise plugins.import_error(f"the format {fmt.name!r}", why)
            taken.add(fmt.name)
        _added.extend(found)
    return tuple(_added)


def of_files() -> tuple[Format, ...]:
    """Return exset's own formats whose inputs are files, not folders."""
    return tuple(fmt for fmt in FORMATS if not fmt.is_folder)


def names() -> tuple[str, ...]:
    """Return the names of exset's own formats."""
    return tuple(fmt.name for fmt in FORMATS)


def get(name: str) -> Format:
    """Return the format called `name`. An unknown name raises ValueError with similar names."""
    for search in (all_formats, load_plugins):
        for fmt in search():
            if fmt.name == name:
                return fmt
    bare = _uncompressed(name)
    if bare in (fmt.name for fmt in all_formats()):
        advice = f"write {bare}, and name the output x.{safe(name)} (-o x.{safe(name)})"
        raise ValueError(f"{safe(name)!r} is a format and a compression: {advice}")
    word = name.lower().removeprefix(".")
    likely = [
        fmt
        for fmt in all_formats()
        if f".{word}" in fmt.suffixes or word in f"{fmt.family.name} {fmt.title}".lower().split()
    ]
    there = ", ".join(fmt.name for fmt in likely or all_formats())
    raise ValueError(f"unknown format {safe(name)!r}: choose one of {there}")


def engine(name: str) -> Engine:
    """Return the engine called `name`. An unknown name raises ValueError with all names."""
    if name not in get_args(Engine):
        raise ValueError(f"unknown engine {name!r}: choose one of {', '.join(get_args(Engine))}")
    return cast(Engine, name)


def families() -> tuple[Family, ...]:
    """Return the families of all formats that are loaded."""
    found: dict[str, Family] = {}  # by name, as to hash a family takes long
    for fmt in all_formats():
        found.setdefault(fmt.family.name, fmt.family)
    return tuple(found.values())


def family_of(model: Model) -> Family:
    """Return the family of a model. Raise TypeError if the object is not a model."""
    for family in families():
        if isinstance(model, family.model):
            return family
    raise TypeError(f"expected a model, not {type(model).__name__}")


def of_family(family: Family) -> tuple[Format, ...]:
    """Return the formats of a family."""
    return tuple(fmt for fmt in all_formats() if fmt.family == family)


def default_of(family: Family) -> Format:
    """Return the text format of a family. If all its formats are binary, return the first one."""
    own = of_family(family)
    return next((fmt for fmt in own if not fmt.binary), own[0])


def suffixes(among: Iterable[Format]) -> str:
    """Return a text with the suffixes of the formats, each once, separated by commas."""
    return ", ".join(dict.fromkeys(suffix for fmt in among for suffix in fmt.suffixes))


def writers_of(family: Family) -> tuple[Format, ...]:
    """Return the formats whose writers accept models of a family, its own formats first."""
    own = (fmt for fmt in of_family(family) if fmt.can_write(family))
    others = (fmt for fmt in all_formats() if fmt.can_write(family) and fmt.family != family)
    return (*own, *others)


def text_of(fmt: Format) -> Format:
    """Return a format itself if it is a text format; else the first text format for its models.

    Raises FormatError if there are only binary formats.
    """
    for other in (fmt, *writers_of(fmt.family)):
        is_general = other is fmt or not other.is_partial
        if is_general and not other.binary and not other.is_folder:
            return other
    message = f"{with_article(fmt.family.noun)} has no text format"
    raise FormatError(message, hint="exset info and exset stats describe it", code="format")


def stem(name: str) -> str:
    """Return a file name without suffixes of compression and format: `a` for `a.ex.gz`."""
    bare = _uncompressed(name)
    return os.path.splitext(bare)[0] if by_suffix(name) else bare


def by_suffix(name: str, family: Family | None = None) -> Format | None:
    """Return the format that has the suffix of a file name. Return None if no format has it.

    A suffix of compression, such as `.gz`, may follow. If several formats have the suffix, return
    one that stores models of `family`; if there is none, return one that stores tables. Without
    `family`, return the first format.
    """
    among = with_suffix(name)
    if family is not None:
        own = [fmt for fmt in among if fmt.can_write(family)]
        among = (*own, *(fmt for fmt in among if fmt.family == TABLE), *among)
    return among[0] if among else None


def with_suffix(name: str) -> tuple[Format, ...]:
    """Return the formats that have the suffix of a file name.

    A suffix of compression, such as `.gz`, may follow.
    """
    bare = _uncompressed(name).lower()
    for search in (all_formats, load_plugins):
        if found := tuple(fmt for fmt in search() if bare.endswith(fmt.suffixes)):
            return found
        if not os.path.splitext(bare)[1]:
            break
    return ()


def by_signature(head: bytes) -> Format | None:
    """Return the first of exset's text formats whose signature matches; None if none matches."""
    return next((fmt for fmt in FORMATS if not fmt.magic and _matches(fmt, head)), None)


def detect(head: bytes, name: str, argument: str = "format") -> Format:
    """Return the format of a file: by magic, else by the suffix of its name, else by signature.

    `head`: the beginning of the uncompressed data. `argument`: the name of the caller's argument
    that can name a format, for messages. If the suffix belongs to a format with magic bytes, and
    the file does not begin with them, exset prefers any other format that fits. Raises FormatError
    if no format or several formats fit; the message lists the candidates.
    """
    if (compressed := content_of(head)) is not None:
        message = (
            f"this is {compressed.name} data: exset decompresses only whole files, and only once"
        )
        hint = "decompress it first"
        raise FormatError(message, place=Place(name), hint=hint, code="compression")
    bare = _uncompressed(name).lower()
    others = (fmt for fmt in all_formats() if bare.endswith(fmt.other_suffixes))
    by_name = next((fmt for fmt in others if _matches(fmt, head[:HEAD])), None)
    by_name = by_name or _chosen(with_suffix(name), name, head)
    for search in (all_formats, load_plugins):
        fmt, candidates = _detected(head, by_name, search())
        if fmt is not None:
            return fmt
        if candidates:
            break
    likely = candidates or [fmt for fmt in all_formats() if fmt.binary == (b"\0" in head)]
    there = ", ".join(fmt.name for fmt in likely)
    default = f"name the format with <--from NAME or {argument}=NAME>: {there}"
    message, hint = "exset does not recognise the format", default
    if candidates:
        message = "the format is ambiguous: several formats begin like this"
    elif not head:
        message = "the file is empty, and its name does not show the format"
    elif advice := foreign(head):
        hint = f"{advice}; else {default}"
    raise FormatError(message, place=Place(name), hint=hint, code="format")


def _detected(
    head: bytes, by_name: Format | None, among: tuple[Format, ...]
) -> tuple[Format | None, list[Format]]:
    """Return the format of a file, and a list of all formats that fit.

    The format is None if no format or several formats fit. by_name: the format that the suffix
    names. among: the formats to try.
    """
    among = tuple(fmt for fmt in among if not fmt.only_by_suffix or fmt == by_name)
    candidates = [fmt for fmt in among if fmt.magic and head.startswith(fmt.magic)]
    candidates = [fmt for fmt in candidates if _matches(fmt, head[:HEAD])] or [
        fmt for fmt in candidates if fmt.signature is None
    ]
    if len(candidates) == 1:
        return candidates[0], candidates
    if by_name and not (by_name.binary and by_name.magic):
        return by_name, candidates
    if not candidates:
        candidates = [fmt for fmt in among if not fmt.magic and _matches(fmt, head[:HEAD])]
    if len(candidates) == 1:
        return candidates[0], candidates
    if by_name and (not candidates or by_name in candidates):
        return by_name, candidates
    return None, candidates


def detect_folder(folder: Folder) -> Format | None:
    """Return the first format of folders that fits the names in a folder; None if none fits."""
    for search in (all_formats, load_plugins):
        for fmt in search():
            if any(map(folder.has, fmt.contains)):
                return fmt
    return None


def _chosen(among: tuple[Format, ...], name: str, head: bytes) -> Format | None:
    """Choose one of several formats with the same suffix: by the sidecar of the file, else by its
    first bytes.

    If neither fits a format, return the first format. If there are no formats, return None.
    """
    if len(among) > 1:
        found = [fmt for fmt in among if fmt.has_sidecar and sidecar.is_of(name)]
        found += [fmt for fmt in among if _matches(fmt, head[:HEAD])]
        found += [fmt for fmt in among if fmt.recognises(head[:HEAD])]
        among = (*found, *among)
    return among[0] if among else None


def maps(head: bytes) -> bool:
    """Return whether to map a file into memory instead of reading it. head: its first bytes."""
    return any(fmt.maps and head.startswith(fmt.magic) for fmt in all_formats())


def _uncompressed(name: str) -> str:
    """Return a file name without its suffix of compression, if it has one."""
    bare, suffix = os.path.splitext(name)
    return bare if suffix in COMPRESSED else name


def _matches(fmt: Format, head: bytes) -> bool:
    """Return whether the signature of a format matches. An empty file matches no signature."""
    signature = fmt.signature
    return bool(head) and signature is not None and _compiled(signature).match(head) is not None


@cache
def _compiled(pattern: str) -> re.Pattern[bytes]:
    return re.compile(pattern.encode("latin-1"))
