"""Make a table of blocks.

It has a row for each record and a column for each element of a record.
"""

from collections.abc import Iterable
from typing import cast

import numpy as np

from exset.core.errors import Findings
from exset.core.limits import DEFAULT, Limits
from exset.core.protocols import Level
from exset.grammars.aeon.block import Block
from exset.grammars.aeon.manifest_types import NUMBER_DTYPES, ElementType
from exset.grammars.columns.arrays import Bytes, Floats, Ints, Longs, constant
from exset.grammars.columns.strings import Strings
from exset.grammars.tables.columns import TableColumn, text_or_bytes
from exset.grammars.tables.table import Table
from exset.runtime.aeon.cache import Cache
from exset.runtime.aeon.cache_dataset import CacheDataset
from exset.runtime.aeon.table import metadata_of, numbers_column


def to_table(
    blocks: Block | Cache,
    /,
    *,
    level: Level,
    findings: Findings,
    limits: Limits = DEFAULT,
    types: str | Iterable[ElementType | str] | None = None,
    names: Iterable[str] | None = None,
) -> Table:
    """Return the table of a block, or of all blocks of a cache, with a row for each record.

    types: the types of the elements in the manifest, also as text such as `"FILE,ASCII_INT"`.
    Blocks do not store types; by default all elements are BINARY. ASCII_INT becomes a column of
    int32, ASCII_FLOAT of float32. STRING becomes text if all its values are UTF-8, else bytes.
    BINARY becomes bytes, and FILE becomes the bytes of the files. names: the names of the columns,
    by default `0`, `1` and so on. `level` has no effect. Raises the errors of `CacheDataset`.
    """
    dataset = CacheDataset(blocks, types=types, names=names, findings=findings, limits=limits)
    arrays = dataset.batch(np.arange(len(dataset)))
    columns: dict[str, TableColumn] = {}
    for _, name, kind in dataset.columns:
        if kind in NUMBER_DTYPES:
            columns[name] = numbers_column(cast("Ints | Floats", arrays[name]))
            continue
        data, offsets = (
            cast(Bytes, arrays[f"{name}.values"]),
            cast(Longs, arrays[f"{name}.offsets"]),
        )
        strings = Strings(data, offsets, constant(True, offsets.size - 1, np.bool_))
        columns[name] = text_or_bytes(strings) if kind is ElementType.STRING else strings
    metadata = metadata_of("block", level, dataset.types, dataset.names)
    return Table(columns, len(dataset), metadata)
