"""Make tables from Arrow data of other libraries; arrays with NumPy's layout are not copied."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from exset.core.errors import FormatError, Place
from exset.core.text import safe
from exset.grammars.columns.arrays import Bytes, Flags, Longs, constant, offsets_of
from exset.grammars.columns.strings import Strings
from exset.grammars.tables.arrow_export import KEY
from exset.grammars.tables.arrow_view import View
from exset.grammars.tables.columns import (
    Lists,
    Numbers,
    Records,
    TableColumn,
    Text,
    concat_columns,
    dense_lists,
    first_wrong_text,
    masked,
    type_of,
)
from exset.grammars.tables.fixed import as_lists
from exset.grammars.tables.nanoarrow import nanoarrow, view_of

if TYPE_CHECKING:
    from nanoarrow.c_schema import CSchema

SOURCE: Final = "Arrow table"
"""The name of the data in errors."""

_NUMBERS: Final = {
    **{f"{sign}int{bits}": f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)},
    **{"half_float": "float16", "float": "float32", "double": "float64"},
}
_VIEW: Final = np.dtype([("length", "<i4"), ("prefix", "<i4"), ("buffer", "<i4"), ("at", "<i4")])


def imported(data: object) -> tuple[dict[str, TableColumn], int, dict[str, Any]]:
    """Return the columns, the number of rows and the metadata of an Arrow stream.

    Raises FormatError for a type that exset does not have, TypeError for an object without Arrow
    data, and ImportError without nanoarrow.
    """
    if not hasattr(data, "__arrow_c_stream__"):
        found = type(data).__name__
        raise TypeError(f"expected a table of Arrow, such as a DataFrame, not {found}")
    with nanoarrow().c_array_stream(data) as stream:
        schema = stream.get_schema()
        fields = [_Field(schema.child(i), schema.child(i).name) for i in range(schema.n_children)]
        names = [field.name for field in fields]
        if len(set(names)) < len(names):
            raise _same_names(next(name for name in names if names.count(name) > 1))
        chunks = [_chunk(fields, array) for array in stream] or [
            (_chunk(fields, nanoarrow().c_array([], schema)))
        ]
    rows = sum(rows for _, rows in chunks)
    columns: dict[str, TableColumn] = {}
    for i, name in enumerate(names):
        for flat, column in _flat(name, _joined([parts[i] for parts, _ in chunks])).items():
            if flat in columns:
                raise _same_names(flat)
            columns[flat] = column
    return columns, rows, _metadata(schema)


class _Field:
    """A field of a schema: its name, its type and its children."""

    def __init__(self, schema: "CSchema", name: str) -> None:
        self.name = name
        view = view_of(schema)
        self.type: str = view.type
        self.size: int = view.fixed_size or 0
        self.unit: str = view.time_unit or ""
        self.shape = (self.size,)
        if view.extension_name == "arrow.fixed_shape_tensor":
            self.shape = tuple(json.loads(bytes(view.extension_metadata))["shape"])
        children = (schema.child(i) for i in range(schema.n_children))
        self.children = [_Field(child, f"{name}.{child.name}") for child in children]
        value = schema.dictionary
        self.values = None if value is None else _Field(value, name)

    @property
    def last_name(self) -> str:
        return self.name.rpartition(".")[2]


def _same_names(name: str) -> FormatError:
    message = f"two columns have the name {safe(name)!r}"
    hint = "rename one of them"
    return FormatError(message, place=Place(SOURCE), hint=hint, code="table-names")


def _chunk(fields: list[_Field], array: Any) -> tuple[list[TableColumn], int]:
    view = View(array.view(), array)
    columns = [
        _column(field, view.child(i), view.offset, view.length) for i, field in enumerate(fields)
    ]
    return columns, view.length


def _joined(parts: Sequence[TableColumn]) -> TableColumn:
    """Join the rows of the chunks of one column; if some chunks have arrays and others lists,
    the result has lists.
    """
    if len({type_of(part) for part in parts}) == 1:
        return concat_columns(parts)
    present = np.concatenate([part.present for part in parts])
    if all(isinstance(part, Records) for part in parts):
        records = cast(Sequence[Records], parts)
        fields = {
            name: _joined([part.fields[name] for part in records]) for name in records[0].fields
        }
        return Records(fields, present)
    lists = [as_lists(part) if isinstance(part, Numbers) else cast(Lists, part) for part in parts]
    lengths = np.concatenate([part.lengths for part in lists])
    return Lists.of(_joined([part.items for part in lists]), lengths, present)


def _flat(name: str, column: TableColumn) -> dict[str, TableColumn]:
    """Return a column by its name; a record whose rows are all present becomes a column for
    each field, named `name.FIELD`.
    """
    if not isinstance(column, Records) or not column.present.all():
        return {name: column}
    found: dict[str, TableColumn] = {}
    for inner, field in column.fields.items():
        found.update(_flat(f"{name}.{inner}", field))
    return found


def _column(field: _Field, view: View, begin: int, length: int) -> TableColumn:
    """Convert `length` rows of an Arrow array, from row `begin` on, to a column.

    view: the array; its own offset is added to `begin`.
    """
    begin += view.offset
    end = begin + length
    present = _present(view, begin, end)
    if field.values is not None:
        codes = Numbers.of(_values(view.type, view, begin, end), present)
        values = _column(field.values, view.dictionary, 0, view.dictionary.length)
        return _looked_up(values, codes)
    if field.type in ("list", "large_list", "map"):
        offsets = _list_offsets(view, begin, end)
        first = int(offsets[0])
        items = _column(field.children[0], view.child(0), first, int(offsets[-1]) - first)
        return dense_lists(items, offsets - first, present)
    if field.type == "fixed_size_list":
        item = field.children[0]
        items = _column(item, view.child(0), begin * field.size, length * field.size)
        if isinstance(items, Numbers) and _are_present(items, present, field.size):
            shape = (*field.shape, *items.shape) if len(field.shape) == 1 else field.shape
            return Numbers.of(items.values.reshape(length, *shape), present)
        offsets = np.arange(length + 1, dtype=np.int64) * field.size
        return dense_lists(items, offsets, present)
    if field.type == "struct":
        fields = {
            child.last_name: _column(child, view.child(i), begin, length)
            for i, child in enumerate(field.children)
        }
        return Records(fields, present)
    if field.type in ("string_view", "binary_view"):
        return _kind(field, _viewed(view, begin, end, present))
    if field.type in ("string", "large_string", "binary", "large_binary"):
        offsets = _list_offsets(view, begin, end)
        data = view.bytes(2)
        return _kind(field, Strings.from_spans(data, offsets[:-1], offsets[1:], present))
    if field.type == "fixed_size_binary":
        data = view.bytes(1)
        starts = np.arange(begin, end, dtype=np.int64) * field.size
        return Strings.from_spans(data, starts, starts + field.size, present)
    if field.type == "na":
        return Text.unchecked(**vars(Strings.empty(length)))
    return Numbers.of(_values(field.type, view, begin, end, field), present)


def _values(
    kind: str, view: View, begin: int, end: int, field: _Field | None = None
) -> NDArray[Any]:
    if kind == "bool":
        return _bits(view.bytes(1), begin, end)
    unit = field.unit if field is not None else ""
    found = view.numbers(1)[begin:end]
    if kind in _NUMBERS:
        return found.view(_NUMBERS[kind])
    if kind == "date32":
        return found.view(np.int32).astype("M8[D]")
    if kind in ("timestamp", "duration", "date64"):
        code = "m" if kind == "duration" else "M"
        return found.view(np.int64).view(f"{code}8[{unit or 'ms'}]")
    name = safe(field.name) if field is not None else kind
    raise FormatError(
        f"column {name!r} has the type {kind}, which tables of exset do not have",
        place=Place(SOURCE),
        hint="cast the column to a number or to text first",
        code="table-type",
    )


def _list_offsets(view: View, begin: int, end: int) -> Longs:
    """Return the offsets of the lists or strings in rows `begin` to `end` - 1: int64 [rows + 1].

    For zero rows an Arrow array may have no offsets; the result is then [0].
    """
    if begin == end:
        return np.zeros(1, np.int64)
    offsets: Longs = view.numbers(1)[begin : end + 1].astype(np.int64)
    return offsets


def _present(view: View, begin: int, end: int) -> Flags:
    if view.type == "na":
        return constant(False, end - begin, np.bool_)
    bitmap = view.bytes(0)
    if view.null_count == 0 or not bitmap.size:
        return constant(True, end - begin, np.bool_)
    return _bits(bitmap, begin, end)


def _bits(bitmap: Bytes, begin: int, end: int) -> Flags:
    first = begin >> 3
    found = bitmap[first : (end + 7) >> 3]
    unpacked = np.unpackbits(found, bitorder="little")[begin - 8 * first : end - 8 * first]
    return unpacked.view(np.bool_)


def _kind(field: _Field, strings: Strings) -> Strings:
    """Return strings as text or bytes, by the type of the field. Raises FormatError for text that
    is not UTF-8.
    """
    if "string" not in field.type:
        return strings
    if (row := first_wrong_text(strings)) is not None:
        raise FormatError(
            f"column {safe(field.name)!r}: row {row} is not UTF-8",
            place=Place(SOURCE),
            hint="make it a column of bytes",
            code="table-text",
        )
    return Text.unchecked(**vars(strings))


def _are_present(items: Numbers, present: Flags, size: int) -> bool:
    """Return whether the items of all present rows are present.

    present: for each row, whether it is present. size: the number of items of each row.
    """
    return bool(items.present.all() or items.present[np.repeat(present, size)].all())


def _looked_up(values: TableColumn, codes: Numbers) -> TableColumn:
    """Return the values at the given indices, `codes`, as Arrow's dictionary arrays store them. A
    row without an index has no value.
    """
    if len(values):
        rows = np.where(codes.present, codes.values.astype(np.int64), 0)
        found = values.take(rows)
    else:
        found = Text.unchecked(**vars(Strings.empty(len(codes))))
    return found if codes.present.all() else masked(found, codes.present)


def _viewed(view: View, begin: int, end: int, present: Flags) -> Strings:
    """Return the strings in rows `begin` to `end` - 1 of an array of one of Arrow's view types.

    In such an array each row is 16 bytes: they contain a short string, or say where in another
    buffer the string is.
    """
    raw = view.bytes(1)
    views = raw.view(_VIEW)[begin:end]
    parts = [view.bytes(i) for i in range(2, view.buffers - 1)]  # the last one has their sizes
    bases = raw.size + offsets_of(np.array([part.size for part in parts], np.int64))
    is_short = views["length"] <= 12
    inside = (np.arange(begin, end, dtype=np.int64) * 16) + 4
    outside = bases[np.where(is_short, 0, views["buffer"])] + views["at"]
    starts = np.where(is_short, inside, outside)
    data = np.concatenate([raw, *parts])
    return Strings.from_spans(data, starts, starts + views["length"], present)


def _metadata(schema: "CSchema") -> dict[str, Any]:
    """Return the metadata that exset stored in a schema; {} if there are none."""
    stored = dict(schema.metadata or {}).get(KEY)
    try:
        found = json.loads(stored) if stored is not None else {}
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
