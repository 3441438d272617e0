"""Read tf.train.Example and tf.train.SequenceExample messages of many records at once.

This module declares the field numbers of these messages (feature.proto, example.proto). It follows
the rules of Protocol Buffers. If a map has a key twice, the last entry counts. If a Feature has
lists of two kinds, the last kind counts. Messages that occur twice are joined. Packed and unpacked
numbers may be mixed. Unknown fields are skipped.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from exset.codecs.tables.spans import gathered
from exset.codecs.tables.wire import (
    BYTES,
    FIXED32,
    VALUE,
    VARINT,
    Parts,
    WireError,
    fields_of,
    pairs_of,
    varints,
)
from exset.grammars.columns.arrays import (
    Bytes,
    Flags,
    Longs,
    constant,
    groups_of,
    offsets_of,
)
from exset.grammars.tables.columns import Numbers, first_wrong_text

FEATURES: Final = 1
"""The field number of Example.features, and of SequenceExample.context."""
FEATURE_LISTS: Final = 2
"""The field number of SequenceExample.feature_lists."""
ENTRY: Final = 1
"""The field number of a map's entries in Features and FeatureLists."""
ITEM: Final = 1
"""The field number of the values of a BytesList, FloatList or Int64List, or of a FeatureList."""
NONE, BYTES_LIST, FLOAT_LIST, INT64_LIST = range(4)
"""The kinds of a Feature: the number of the field that it has, or 0 for none."""


class ExampleError(ValueError):
    """Raised for a record that is not a valid Example.

    record: the index of the record.
    """

    def __init__(self, record: int, problem: str) -> None:
        super().__init__(problem)
        self.record = record


@dataclass(frozen=True)
class Entries:
    """The entries of the maps in all records; an entry has a name and a value.

    records: the record of each entry. names: the distinct names. codes: the index in `names` of
    each entry's name. values: the messages that are the values; their owners are the entries.
    """

    records: Longs
    names: list[bytes]
    codes: Longs
    values: Parts

    def chosen(self, records: int) -> Iterator[tuple[bytes, Longs]]:
        """Yield each name, and for each record the index of its last entry with this name, or -1.

        records: how many records there are.
        """
        for name, which in zip(self.names, groups_of(self.codes, len(self.names)), strict=True):
            found = np.full(records, -1, np.int64)
            found[self.records[which]] = which
            yield name, found


@dataclass(frozen=True)
class Features:
    """The values of features: each feature is a list of bytes, of floats or of int64.

    kinds: the kind of each feature's list. strings: the starts and lengths of the values of all
    BytesLists. numbers: for each other kind, the values of all lists of the kind. offsets: for
    each kind, int64 [n + 1], the index at which the values of each feature begin.
    """

    kinds: Longs
    strings: tuple[Longs, Longs]
    numbers: dict[int, Numbers]
    offsets: dict[int, Longs]


def entries_of(data: Bytes, starts: Longs, lengths: Longs, maps: int) -> Entries:
    """Return all entries, each with a name and a value, of the maps in records.

    starts, lengths: where each record is in `data`. maps: FEATURES or FEATURE_LISTS. Raises
    ExampleError for a damaged record.
    """
    try:
        pairs = pairs_of(data, starts, starts + lengths, maps, ENTRY)
    except WireError as error:
        raise _damaged(error.message) from None
    owners = pairs.owners
    names, codes = gathered(data, pairs.key_starts, pairs.key_ends - pairs.key_starts).distinct()
    if (wrong := first_wrong_text(names)) is not None:
        record = int(owners[(codes == wrong).argmax()])
        raise ExampleError(record, "the name of a feature is not UTF-8")
    number, wire = (constant(each, pairs.entries.size, np.int64) for each in (VALUE, BYTES))
    values = Parts(pairs.entries, number, wire, pairs.starts, pairs.ends)
    return Entries(owners, [name or b"" for name in names.tolist()], codes, values)


def steps_of(data: Bytes, entries: Entries) -> tuple[Parts, Longs]:
    """Return the messages `Feature` in all FeatureLists, and for each the index of the entry
    to which it belongs.

    data: the bytes of the file. entries: the names and values of FeatureLists. In the result,
    the owner of each message is its own number, from 0.
    """
    lists = entries.values
    steps = _fields(data, lists, entries.records[lists.owners], ITEM)
    return steps._replace(owners=np.arange(steps.owners.size)), lists.owners[steps.owners]


def features_of(data: Bytes, messages: Parts, count: int, records: Longs) -> Features:
    """Decode messages `Feature`; several may belong to the same feature, and are joined.

    messages: their owners are the numbers of the features, from 0 to `count` - 1. records: the
    record of each feature.
    """
    lists = _fields(data, messages, records[messages.owners])
    owners = messages.owners[lists.owners]
    is_list = (lists.wires == BYTES) & (lists.numbers >= BYTES_LIST) & (lists.numbers <= INT64_LIST)
    if not is_list.all():
        lists, owners = lists.take(np.flatnonzero(is_list)), owners[is_list]
    kinds = np.zeros(count, np.int64)
    kinds[owners] = lists.numbers
    changed = np.flatnonzero(
        (owners[1:] == owners[:-1]) & (lists.numbers[1:] != lists.numbers[:-1])
    )
    if changed.size:  # only lists after the last change of a feature's kind count
        last = np.full(count, -1, np.int64)
        last[owners[changed]] = changed
        kept = np.flatnonzero(np.arange(owners.size) > last[owners])
        lists, owners = lists.take(kept), owners[kept]
    strings, counts = _strings(data, _of_kind(BYTES_LIST, lists, owners), records)
    numbers: dict[int, Numbers] = {}
    offsets = {BYTES_LIST: offsets_of(np.bincount(counts, minlength=count))}
    for kind in (FLOAT_LIST, INT64_LIST):
        of_kind = _of_kind(kind, lists, owners)
        if of_kind.owners.size:
            numbers[kind], owners_of, sizes = _numbers(data, kind, of_kind, records)
            lengths = np.bincount(owners_of, sizes, minlength=count).astype(np.int64)
            offsets[kind] = offsets_of(lengths)
    return Features(kinds, strings, numbers, offsets)


def _of_kind(kind: int, lists: Parts, owners: Longs) -> Parts:
    """Return the lists of one kind; the owner of each is its feature, from `owners`."""
    return _chosen(lists._replace(owners=owners), lists.numbers == kind)


def _strings(data: Bytes, lists: Parts, records: Longs) -> tuple[tuple[Longs, Longs], Longs]:
    """Return where the values in BytesLists are in `data`: their starts and lengths, and for
    each the index of its list.

    records: the record of each list's feature.
    """
    values = _fields(data, lists, records[lists.owners], ITEM)
    return (values.starts, values.ends - values.starts), lists.owners[values.owners]


def _numbers(data: Bytes, kind: int, lists: Parts, records: Longs) -> tuple[Numbers, Longs, Longs]:
    """Return the numbers in `lists`, and two arrays for the runs of numbers in them.

    `kind`: FLOAT_LIST or INT64_LIST, the kind of all lists. `records`: the record of each feature,
    for errors. A run is one field of a list, often packed; the arrays have the feature and the
    length of each run. Raises ExampleError for a damaged list.
    """
    parts = _fields(data, lists, records[lists.owners])
    wire = FIXED32 if kind == FLOAT_LIST else VARINT
    is_item = (parts.numbers == ITEM) & ((parts.wires == wire) | (parts.wires == BYTES))
    starts, ends = parts.starts[is_item], parts.ends[is_item]
    features = lists.owners[parts.owners[is_item]]
    if kind == FLOAT_LIST:
        sizes = ends - starts
        if (wrong := sizes % 4 != 0).any():
            raise ExampleError(int(records[features[wrong.argmax()]]), "a packed float is cut")
        floats = gathered(data, starts, sizes).data.view("<f4").astype(np.float32, copy=False)
        return Numbers.of(floats), features, sizes // 4
    try:
        values, counts = varints(data, starts, ends)
    except WireError as error:
        record = int(records[features[error.message]])
        raise ExampleError(record, "a packed integer is damaged") from None
    return Numbers.of(values), features, counts


def _fields(data: Bytes, messages: Parts, records: Longs, number: int = 0) -> Parts:
    """Split messages into their fields. Raises ExampleError, which names the record.

    records: the record of each message. number: return only the fields of bytes that have this
    field number; 0 for all fields.
    """
    try:
        return fields_of(data, messages.starts, messages.ends, number, BYTES)
    except WireError as error:
        raise _damaged(int(records[error.message])) from None


def _damaged(record: int) -> ExampleError:
    return ExampleError(record, "a message in it is cut or damaged")


def _chosen(parts: Parts, which: Flags) -> Parts:
    """Return the fields that `which` marks."""
    return parts if which.all() else parts.take(np.flatnonzero(which))
