"""Export tables to other libraries as Arrow data; columns with Arrow's layout are not copied.

Source: the Arrow columnar format, and the Arrow PyCapsule interface.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from exset.grammars.columns.arrays import Flags, Longs
from exset.grammars.columns.strings import Strings
from exset.grammars.tables.columns import ITEM, ColumnPath, Lists, Numbers, TableColumn, Text
from exset.grammars.tables.nanoarrow import nanoarrow, stream_class

if TYPE_CHECKING:
    from nanoarrow.c_array import CArray
    from nanoarrow.c_array_stream import CArrayStream
    from nanoarrow.c_schema import CSchema

KEY: Final = b"exset"
"""The key of a table's metadata in the metadata of a schema."""

MOST_SHORT: Final = (1 << 31) - 1
"""The most bytes or items of a column whose offsets have 32 bits."""


@dataclass(frozen=True)
class Wide:
    """The paths of columns that need a wider Arrow type, because a chunk of the table needs it.

    `nullable`: columns with rows without a value. `large`: columns whose offsets need 64 bits.
    """

    nullable: frozenset[ColumnPath] = frozenset()
    large: frozenset[ColumnPath] = frozenset()


_NARROW: Final = Wide()


def exported(
    columns: "Mapping[str, TableColumn]",
    rows: int,
    metadata: Mapping[str, Any],
    wide: Wide = _NARROW,
) -> "CArrayStream":
    """Return a table as an Arrow stream of one batch. Raises ImportError without nanoarrow.

    wide: the columns that need a wider type than this table alone needs, because it is a chunk of
    a larger table.
    """
    arrays = {name: _array(column, (name,), wide) for name, column in columns.items()}
    schema = _struct({name: each[0] for name, each in arrays.items()}, nullable=False)
    schema = schema.modify(metadata={KEY: json.dumps(metadata, separators=(",", ":")).encode()})
    array = _made(schema, rows, [None], [each[1] for each in arrays.values()])
    return stream_class().from_c_arrays([array], schema)


Typed = tuple["CSchema", "CArray"]


def _array(column: TableColumn, path: ColumnPath, wide: Wide) -> Typed:
    """Return the Arrow type and the Arrow array of a column. path: the names that lead to it
    from the table.
    """
    validity = _validity(column.present)
    nullable = validity is not None or path in wide.nullable
    if isinstance(column, Numbers):
        return _numbers(column, nullable)
    is_large = path in wide.large
    if isinstance(column, Strings):
        return _strings(column, nullable, is_large)
    if isinstance(column, Lists):
        item, items = _array(column.items, (*path, ITEM), wide)
        is_large, offsets = _offsets(column.offsets, is_large)
        na = nanoarrow()
        made = (na.large_list if is_large else na.list_)(item, nullable=nullable)
        schema = na.c_schema(made)
        return schema, _made(schema, len(column), [validity, offsets], [items])
    fields = {name: _array(field, (*path, name), wide) for name, field in column.fields.items()}
    schema = _struct({name: each[0] for name, each in fields.items()}, nullable)
    return schema, _made(schema, len(column), [validity], [each[1] for each in fields.values()])


def _numbers(column: Numbers, nullable: bool) -> Typed:
    na, validity, values = nanoarrow(), _validity(column.present), column.values
    if not column.shape:
        schema = _type(values.dtype, nullable)
        return schema, _made(schema, len(column), [validity, _buffer(values)])
    schema = _type(values.dtype, False)
    array = _made(schema, values.size, [None, _buffer(values.reshape(-1))])
    for level in reversed(range(len(column.shape))):
        is_row = level == 0
        made = na.fixed_size_list(schema, column.shape[level], nullable=nullable and is_row)
        schema = na.c_schema(made)
        rows = len(column) * int(np.prod(column.shape[:level]))
        array = _made(schema, rows, [validity if is_row else None], [array])
    return schema, array


def _strings(column: Strings, nullable: bool, is_large: bool) -> Typed:
    na, validity = nanoarrow(), _validity(column.present)
    is_large, offsets = _offsets(column.offsets, is_large)
    if isinstance(column, Text):
        make = na.large_string if is_large else na.string
    else:
        make = na.large_binary if is_large else na.binary
    schema = na.c_schema(make(nullable=nullable))
    data = np.ascontiguousarray(column.data)
    return schema, _made(schema, len(column), [validity, offsets, data])


def _made(
    schema: "CSchema", length: int, buffers: list[Any], children: "list[CArray] | None" = None
) -> "CArray":
    nulls = -1 if buffers[0] is not None else 0
    made: CArray = nanoarrow().c_array_from_buffers(
        schema, length, buffers, null_count=nulls, children=children or ()
    )
    return made


def _struct(fields: "dict[str, CSchema]", nullable: bool) -> "CSchema":
    na = nanoarrow()
    named = [field.modify(name=name) for name, field in fields.items()]
    made: CSchema = na.c_schema(na.struct(named, nullable=nullable))
    return made


def _type(dtype: np.dtype[Any], nullable: bool) -> "CSchema":
    """Return the Arrow type of single numbers of a dtype. nullable: whether rows may have no
    value.
    """
    na = nanoarrow()
    if dtype.kind == "M":
        unit, count = np.datetime_data(dtype)
        if unit == "D" and count == 1:
            return na.c_schema(na.date32(nullable=nullable))
        return na.c_schema(na.timestamp(unit, nullable=nullable))
    if dtype.kind == "m":
        return na.c_schema(na.duration(np.datetime_data(dtype)[0], nullable=nullable))
    names = {"bool": "bool_"}
    made: CSchema = na.c_schema(getattr(na, names.get(dtype.name, dtype.name))(nullable=nullable))
    return made


def _buffer(values: NDArray[Any]) -> NDArray[Any]:
    if values.dtype.kind == "b":
        return np.packbits(values, bitorder="little")
    if values.dtype == "M8[D]":
        return values.view(np.int64).astype(np.int32)
    if values.dtype.kind in "mM":
        return np.ascontiguousarray(values).view(np.int64)
    return np.ascontiguousarray(values)


def _validity(present: Flags) -> NDArray[np.uint8] | None:
    """Return the validity bitmap of a column, or None if all rows have a value."""
    return None if present.all() else np.packbits(present, bitorder="little")


def _offsets(offsets: Longs, is_large: bool) -> tuple[bool, NDArray[Any]]:
    """Return whether the offsets need 64 bits, and the offsets, in 64 or in 32 bits.

    is_large: whether they must have 64 bits even if they are small.
    """
    if is_large or offsets[-1] > MOST_SHORT:
        return True, np.ascontiguousarray(offsets)
    return False, offsets.astype(np.int32)
