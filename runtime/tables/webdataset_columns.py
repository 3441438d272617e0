"""Encode columns as members of WebDataset, and decode them; the extension gives the type.

A column `label` of integers becomes members `KEY.label.cls`. Text gets `.txt`, arrays get `.npy`,
and bytes get `.bin` or, depending on their first bytes, `.jpg` and so on. A column that is called
`cls`, `txt` and so on needs no second extension. Source: webdataset, `autodecode.py`.
"""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

import numpy as np

from exset.core.text import has_bytes
from exset.grammars.columns.strings import Strings
from exset.grammars.tables.cells import Room
from exset.grammars.tables.columns import Lists, Numbers, TableColumn, Text, text_or_bytes, type_of
from exset.grammars.tables.shard_findings import cannot_hold
from exset.io.content_types import HEAD, suffix_of
from exset.runtime.tables.decimal_columns import integers, integers_of
from exset.runtime.tables.npy_columns import arrays, arrays_of

_INTEGERS: Final = frozenset(("cls", "cls2", "class", "count", "index", "inx", "id"))
_TEXTS: Final = frozenset(("txt", "text", "transcript", "json", "jsn"))
_CONTENTS: Final = frozenset(
    ("jpg", "png", "gif", "bmp", "tif", "webp", "wav", "flac", "ogg", "mp3", "mp4", "avi", "mkv")
)
_BLOBS: Final = _CONTENTS | frozenset(
    ("bin", "jpeg", "ppm", "pgm", "pbm", "npz", "ten", "tb", "msg", "mp", "cbor", "gz", "zst")
)
PICKLES: Final = frozenset(("pyd", "pickle", "pkl", "pth", "pt"))
"""The extensions of pickles, which exset neither loads nor writes."""
_ADDED: Final = frozenset(("cls", "txt", "npy", "bin")) | _CONTENTS
"""The extensions that are added to the names of columns."""
_WRONG: Final = re.compile(r"[/\0]")


def encoded(name: str, column: TableColumn, content: str = "") -> tuple[str, Strings]:
    """Return the extension and the contents of the members of a column.

    content: the extension for bytes, by default the one that `content_of` finds in the column.
    Raises FormatError for a column that members cannot hold.
    """
    if _WRONG.search(name):
        raise cannot_hold(name, "a name of a column cannot have a slash or a NUL")
    if not has_bytes(name):
        raise cannot_hold(name, "the name of the column is not valid Unicode")
    last = name.rpartition(".")[2]
    if isinstance(column, Text):
        return (name if last in _TEXTS and name != f"{name[:-4]}.txt" else f"{name}.txt"), column
    if isinstance(column, Strings):
        return (name if name in _BLOBS else f"{name}.{content or content_of(column)}"), column
    if isinstance(column, Numbers) and is_decimal(column):
        is_known = last in _INTEGERS and (last != "cls" or name == last)
        return (name if is_known else f"{name}.cls"), integers_of(column)
    if isinstance(column, Numbers) or (isinstance(column, Lists) and _is_flat(column.items)):
        return ("npy" if name == "npy" else f"{name}.npy"), arrays_of(column)
    raise cannot_hold(name, f"a member cannot hold {type_of(column)}")


def is_decimal(column: Numbers) -> bool:
    """Return whether numbers are written as decimal digits: single integers up to 64 bits."""
    return (
        not column.shape and column.values.dtype.kind in "iu" and column.values.dtype != np.uint64
    )


def _is_flat(items: TableColumn) -> bool:
    """Return whether items are single numbers, all present."""
    return isinstance(items, Numbers) and not items.shape and bool(items.present.all())


def content_of(column: Strings) -> str:
    """Return the extension for a column of bytes, by the first bytes of each row.

    Return `bin` if the rows differ.
    """
    found = set()
    for row in np.flatnonzero(column.present).tolist():
        begin, end = int(column.offsets[row]), int(column.offsets[row + 1])
        found.add(suffix_of(column.data[begin : min(end, begin + HEAD)].data)[1:])
        if len(found) > 1 or not found <= _CONTENTS:
            return "bin"
    return next(iter(found), "bin")


def names_of(extensions: Sequence[str]) -> list[str]:
    """Return a column name for each extension.

    It lacks the extension that a writer adds for the type, if all names stay unique.
    """
    bare = [
        stem if dot and last in _ADDED else extension
        for extension in extensions
        for stem, dot, last in (extension.rpartition("."),)
    ]
    counts = Counter(bare)
    names = [
        name if counts[name] == 1 else extension
        for name, extension in zip(bare, extensions, strict=True)
    ]
    return names if len(set(names)) == len(names) else list(extensions)


def decoded(extension: str, contents: Strings, room: Room) -> TableColumn:
    """Return the column of members: numbers, text or arrays by their extension, or else bytes.

    room: the memory that is left for columns.
    """
    last = extension.rpartition(".")[2]
    made: TableColumn | None = None
    if last in _INTEGERS:
        made = integers(contents)
    elif last == "npy":
        made = arrays(contents, room)
    if made is None and last in _INTEGERS | _TEXTS:
        made = text_or_bytes(contents)
    return contents if made is None else made
