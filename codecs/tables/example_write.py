"""Write rows as messages tf.train.Example, or SequenceExample if a column has lists of lists.

Maps have no order: entries are sorted by name, so that the same rows give the same bytes.
"""

from collections.abc import Mapping
from typing import Final

import numpy as np

from exset.codecs.tables.examples import (
    BYTES_LIST,
    ENTRY,
    FEATURE_LISTS,
    FEATURES,
    FLOAT_LIST,
    INT64_LIST,
    ITEM,
)
from exset.codecs.tables.ropes import Rope, varints
from exset.codecs.tables.wire import BYTES, KEY, VALUE
from exset.grammars.columns.arrays import Flags, Longs, as_singles, compact, offsets_of
from exset.grammars.columns.strings import Strings
from exset.grammars.tables.columns import Lists, Numbers, TableColumn, type_of
from exset.grammars.tables.shard_findings import cannot_hold

_MOST: Final = 1 << 63
_TAGS: Final = {
    number: bytes([number << 3 | BYTES]) for number in (BYTES_LIST, FLOAT_LIST, INT64_LIST)
}


def messages(columns: Mapping[str, TableColumn], rows: int) -> Strings:
    """Return a message for each row. Raises FormatError for a column that no feature can store."""
    made = {
        name.encode("utf-8", "surrogatepass"): entry(name, each) for name, each in columns.items()
    }
    every = np.ones(rows, np.bool_)
    context, lists = _nothing(rows), _nothing(rows)
    for _, (rope, is_list) in sorted(made.items()):
        if is_list:
            lists = lists + rope
        else:
            context = context + rope
    message = context.within(_tag(FEATURES), every)
    return (message + lists.within(_tag(FEATURE_LISTS), lists.lengths > 0)).joined()


def entry(name: str, column: TableColumn) -> tuple[Rope, bool]:
    """Return for each row the bytes of the entry, in a map of features, that stores the value
    of the column `name`.

    Also return whether the value is a FeatureList. Raises FormatError for a column that no
    feature can store.
    """
    try:
        key = name.encode()
    except UnicodeEncodeError:
        raise cannot_hold(name, "the name of a feature must be UTF-8") from None
    present = column.present
    if is_list := isinstance(column, Lists) and _is_nested(column.items):
        assert isinstance(column, Lists)
        steps = _feature(name, column.items).within(
            _tag(ITEM), np.ones(len(column.items), np.bool_)
        )
        value = Rope.of(_regrouped(steps.joined(), column.offsets))
    else:
        value = _feature(name, column)
    before = _tag(KEY) + varints(np.array([len(key)])).data.tobytes() + key + _tag(VALUE)
    return value.within(before, present).within(_tag(ENTRY), present), is_list


def _is_nested(items: TableColumn) -> bool:
    """Return whether the items of a list are themselves lists or arrays."""
    return isinstance(items, Lists) or (isinstance(items, Numbers) and bool(items.shape))


def _feature(name: str, column: TableColumn) -> Rope:
    """Return the bytes of a message Feature for each row of the column `name`; a row without a
    value gets no bytes.
    """
    present = column.present
    items, bounds = column, None
    if isinstance(column, Lists):
        items, bounds = column.items, column.offsets
        is_plain = isinstance(items, Strings | Numbers) and not _is_nested(items)
        if is_plain and not items.present.all():
            raise cannot_hold(
                name, f"a feature cannot store {type_of(column)} if items have no value"
            )
    if isinstance(items, Strings):
        kind, list_ = BYTES_LIST, Rope.of(items).within(_tag(ITEM), items.present)
        if bounds is not None:
            list_ = Rope.of(_regrouped(list_.joined(), bounds))
    elif isinstance(items, Numbers) and (bounds is None or not items.shape):
        kind, packed = _packed(name, items, bounds)
        list_ = packed.within(_tag(ITEM), packed.lengths > 0)
    else:
        raise cannot_hold(name, f"a feature cannot hold {type_of(column)}")
    return list_.within(_TAGS[kind], present)


def _packed(name: str, column: Numbers, bounds: Longs | None) -> tuple[int, Rope]:
    """Return how a feature stores the numbers of a column: the kind of its list, and the bytes
    of each row.

    name: of the column, for errors. bounds: where the numbers of each row begin; None if each
    row of the column is a single number or one array.
    """
    values = column.values
    size = int(np.prod(column.shape))
    if bounds is None:
        bounds = offsets_of(compact(column.present * np.int64(size)))
        if not column.present.all():
            values = values[column.present]
    values = np.ascontiguousarray(values).reshape(-1)
    if values.dtype.kind == "f":
        floats = as_singles(values).astype("<f4", copy=False)
        if values.dtype.itemsize == 8 and not np.array_equal(floats, values, equal_nan=True):
            problem = "a feature cannot store float64, and some values do not fit in float32"
            raise cannot_hold(name, problem)
        data = floats.view(np.uint8)
        return FLOAT_LIST, Rope.of(_strings(data, bounds * 4))
    if values.dtype.kind not in "biu":
        raise cannot_hold(name, f"a feature cannot hold {type_of(column)}")
    if values.dtype == np.uint64 and values.max(initial=0) >= _MOST:
        raise cannot_hold(name, "a feature cannot store whole numbers of 2**63 or more")
    digits = varints(values.astype(np.int64))
    return INT64_LIST, Rope.of(_regrouped(digits, bounds))


def _regrouped(strings: Strings, bounds: Longs) -> Strings:
    """Join consecutive strings: row i of the result joins the strings from `bounds[i]` on.

    Its last string is the one before `bounds[i + 1]`.
    """
    return _strings(strings.data, strings.offsets[bounds])


def _strings(data: "np.ndarray[tuple[int], np.dtype[np.uint8]]", offsets: Longs) -> Strings:
    present: Flags = np.ones(offsets.size - 1, np.bool_)
    return Strings.unchecked(data=data, offsets=offsets, present=compact(present))


def _nothing(rows: int) -> Rope:
    return Rope.of(_strings(np.empty(0, np.uint8), np.zeros(rows + 1, np.int64)))


def _tag(number: int) -> bytes:
    """Return the tag of field `number`, for a value that begins with its length in bytes."""
    return bytes([number << 3 | BYTES])
