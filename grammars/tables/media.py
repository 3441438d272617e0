"""Pictures and sounds as the library `datasets` stores them: the bytes and the path of each file.

In Arrow data they are a column of structs with the fields `bytes` and `path`. In a table the bytes
are a column such as `image`, and the paths are the column `image.path`. Source: `datasets` 5.2,
`features.Image` and `Audio`.
"""

from collections.abc import Container, Iterable, Mapping
from typing import Final

import numpy as np

from exset.grammars.columns.arrays import constant
from exset.grammars.columns.strings import Strings
from exset.grammars.tables.columns import Records, TableColumn, Text, masked
from exset.grammars.tables.features import stored_features
from exset.grammars.tables.table import Table

MEDIA: Final = "media"
"""The member of a table's metadata with the columns of pictures and sounds, `Image` or `Audio`."""
PATH: Final = ".path"
"""The end of the name of the column with their paths."""
_BYTES: Final = "bytes"
_KINDS: Final = ("Image", "Audio")


def media_of(table: Table) -> dict[str, str]:
    """Return a dict from the name of each column of pictures or sounds to its kind of media."""
    found = table.metadata.get(MEDIA)
    named = found.items() if isinstance(found, dict) else ()
    return {name: kind for name, kind in named if kind in _KINDS and _is_media(table, name)}


def _is_media(table: Table, name: str) -> bool:
    column, path = table.columns.get(name), table.columns.get(name + PATH)
    is_bytes = isinstance(column, Strings) and not isinstance(column, Text)
    return is_bytes and (path is None or isinstance(path, Text))


def with_structs(
    columns: Mapping[str, TableColumn], media: Iterable[str]
) -> dict[str, TableColumn]:
    """Return columns in which the bytes and the paths of each column of media are joined to
    structs.
    """
    made = dict(columns)
    for name in media:
        contents = columns[name]
        path = made.pop(name + PATH, None)
        if path is None:
            path = Text.unchecked(**vars(Strings.empty(len(contents))))
        fields = {_BYTES: contents, PATH[1:]: path}
        made[name] = Records(fields, constant(True, len(contents), np.bool_))
    return made


def without_structs(
    table: Table, metadata: Mapping[bytes, bytes], names: Container[str] | None
) -> Table:
    """Return a table in which each struct of media is split into a column of bytes and one of
    paths.

    metadata: the metadata of the Arrow schema, which names these structs. names: the columns that
    the table had when exset wrote it; paths that are not among them are dropped. None if exset did
    not write it.
    """
    features = stored_features(metadata).items()
    kinds = {name: each["_type"] for name, each in features if each.get("_type") in _KINDS}
    found = {name: fields for name in kinds if (fields := _fields(name, table)) is not None}
    if not found:
        return table
    columns: dict[str, TableColumn] = {}
    for name, column in table.columns.items():
        stem = name if name in found else name.rpartition(".")[0]
        if stem not in found:
            columns[name] = column
        elif stem not in columns:
            columns[stem], paths = found[stem]
            if names is None or stem + PATH in names:
                columns[stem + PATH] = paths
    media = {name: kinds[name] for name in found}
    return Table(columns, table.rows, {MEDIA: media, **table.metadata})


def _fields(name: str, table: Table) -> tuple[Strings, Text] | None:
    """Return the bytes and the paths in a column of media; None for another column.

    name: of the column. A struct in which each row has a value was read as separate columns, one
    for each field.
    """
    struct = table.columns.get(name)
    inner = {part: table.columns.get(f"{name}.{part}") for part in (_BYTES, PATH[1:])}
    if isinstance(struct, Records) and not any(inner.values()):
        inner = {part: masked(each, struct.present) for part, each in struct.fields.items()}
    elif struct is not None:
        return None
    others = [each for each in table.columns if each.startswith(f"{name}.")]
    contents, path = inner.pop(_BYTES, None), inner.pop(PATH[1:], None)
    if not isinstance(contents, Strings) or not isinstance(path, Text) or inner or len(others) > 2:
        return None
    return Strings.unchecked(**vars(contents)), path
