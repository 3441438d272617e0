"""Write TFRecord files of tf.train.Example: a record for each row, a feature for each column."""

from collections.abc import Iterator
from typing import Final

import numpy as np

from exset.codecs.tables.example_write import messages
from exset.codecs.tables.tfrecord import records
from exset.grammars.columns.strings import Strings
from exset.grammars.tables.columns import (
    Lists,
    Numbers,
    TableColumn,
    type_of,
)
from exset.grammars.tables.survey import Survey
from exset.grammars.tables.table import Table
from exset.runtime.tables.seen import Seen

_CHUNK: Final = 1 << 14  # the most rows that are encoded at once
_SIZE: Final = 1 << 22  # about the bytes of the rows


def chunks(table: Table) -> Iterator[memoryview]:
    """Yield the records of a table, in chunks. Raises FormatError for a column that a feature
    cannot hold.
    """
    rows = min(Survey.of([table]).rows_of(_SIZE), _CHUNK)
    for begin in range(0, table.rows, rows):
        part = table[begin : begin + rows]
        yield records(messages(part.columns, part.rows))


def is_plain(name: str, column: TableColumn, seen: Seen) -> bool:
    """Return whether a reader gives a column its type even without a sidecar.

    seen: what all chunks of the column show; `column` may be one of the chunks.
    """
    return _plain_type(column, seen) == type_of(column)


def _plain_type(column: TableColumn, seen: Seen) -> str | None:
    """Return the type that a column has when it is read without its sidecar."""
    if not seen.has_rows:
        return None
    if isinstance(column, Lists):
        if len(seen.lengths) == 1 and 0 not in seen.lengths:
            return None
        assert seen.items is not None
        inner = _plain_type(column.items, seen.items)
        return None if inner is None or "[" in inner else f"list<{inner}>"
    if isinstance(column, Strings):
        return "text" if seen.is_text else "bytes"
    assert isinstance(column, Numbers)
    kind = "float32" if column.values.dtype.kind == "f" else "int64"
    size = int(np.prod(column.shape))
    return (
        None
        if len(column.shape) > 1 or (column.shape and size < 2)
        else kind + (f"[{size}]" if column.shape else "")
    )
