"""Write WebDataset: tar archives whose bytes depend only on the table.

Source: webdataset, `writer.py`, with keys that have no dots, and sorted extensions.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Final

import numpy as np
from numpy.typing import NDArray

from exset.codecs.tables.spans import gathered
from exset.codecs.tables.tar_write import members
from exset.core.text import safe
from exset.grammars.columns.arrays import Flags, Longs, constant, offsets_of
from exset.grammars.columns.strings import Strings
from exset.grammars.tables.columns import Lists, Numbers, TableColumn, type_of
from exset.grammars.tables.shard_findings import cannot_hold
from exset.grammars.tables.table import Table
from exset.runtime.tables.seen import Seen
from exset.runtime.tables.webdataset import KEY, META, NAME, NOTHING, numbered_keys
from exset.runtime.tables.webdataset_columns import encoded, is_decimal

_CHUNK: Final = 1 << 22
"""The approximate number of bytes of samples that are encoded at once."""
_MOST_ROWS: Final = 1 << 13
_DIGITS: Final = 8


def is_plain(name: str, column: TableColumn, seen: Seen) -> bool:
    """Return whether a reader gives a column its name and its type even without a sidecar.

    seen: what all chunks of the column show; `column` may be one of the chunks.
    """
    return name == name.lower() and _plain_type(column, seen) == type_of(column)


def _plain_type(column: TableColumn, seen: Seen) -> str | None:
    """Return the type that a column has when it is read without its sidecar."""
    if not seen.has_rows:
        return None
    if isinstance(column, Lists):
        return column.type if len(seen.lengths) > 1 else None
    if isinstance(column, Numbers) and is_decimal(column):
        return "int64"
    return type_of(column)


@dataclass(frozen=True)
class Archive:
    """The samples of an archive: the key of each, and its members' contents by extension,
    sorted.
    """

    keys: Strings
    extensions: list[bytes]
    contents: list[Strings]

    @classmethod
    def of(
        cls,
        table: Table,
        first: int = 0,
        known: Mapping[str, str] = MappingProxyType({}),
        before: bytes | None = None,
    ) -> "Archive":
        """Encode a table, or a chunk of a table. Raises FormatError if members cannot hold it.

        For a chunk, `first` is the number of its first sample, `known` has the extensions of the
        columns of bytes, and `before` is the key of the sample before.
        """
        columns = dict(table.columns)
        keys = columns.pop(KEY, None)
        made: dict[str, tuple[str, Strings]] = {}
        for name, column in columns.items():
            extension, content = encoded(name, column, known.get(name, ""))
            if (other := made.setdefault(extension.lower(), (name, content))[0]) != name:
                why = f"the columns {safe(other)!r} and {safe(name)!r} differ only in upper case"
                raise cannot_hold(name, why)
        extensions = sorted(made)
        contents = [made[each][1] for each in extensions]
        names = _numbered(first, table.rows) if keys is None else _checked(keys, first, before)
        empty = ~np.any([each.present for each in contents], axis=0) if contents else None
        if empty is None or empty.any():
            present = np.ones(table.rows, np.bool_) if empty is None else empty
            extensions, contents = [*extensions, NOTHING], [*contents, _nothing(present)]
        return cls(
            names, [each.encode("utf-8", "surrogateescape") for each in extensions], contents
        )

    def sizes(self) -> Longs:
        """Return the approximate number of bytes of each sample in an archive: int64 [n]."""
        sizes = np.zeros(len(self.keys), np.int64)
        for each in self.contents:
            sizes += np.where(each.present, 512 + each.lengths + -each.lengths % 512, 0)
        return sizes

    def members(self, begin: int = 0, stop: int | None = None) -> Iterator[memoryview]:
        """Yield the bytes of the members of the samples `begin` to `stop` - 1, in chunks."""
        ends = np.cumsum(self.sizes())
        stop = len(self.keys) if stop is None else stop
        while begin < stop:
            most = (int(ends[begin - 1]) if begin else 0) + _CHUNK
            after = max(begin + 1, int(np.searchsorted(ends, most, "right")))
            after = min(after, stop, begin + _MOST_ROWS)
            yield self._chunk(begin, after)
            begin = after

    def _chunk(self, begin: int, stop: int) -> memoryview:
        """Return the members of the samples `begin` to `stop` - 1 as bytes of the archive:
        sample by sample, then by extension.
        """
        rows = np.arange(begin, stop)
        columns = [each.take(rows) for each in self.contents]
        present = np.stack([each.present for each in columns], axis=1)
        if len(columns) == 1:
            data = columns[0] if present.all() else columns[0].take(np.flatnonzero(present[:, 0]))
        else:
            firsts = np.cumsum([0, *(each.data.size for each in columns[:-1])])
            starts = np.stack([each.offsets[:-1] for each in columns], axis=1) + firsts
            lengths = np.stack([each.lengths for each in columns], axis=1)
            joined = np.concatenate([each.data for each in columns])
            data = gathered(joined, starts[present], lengths[present])
        return members(self._names(rows, present), data)

    def _names(self, rows: Longs, present: Flags) -> Strings:
        """Return the name of each member: the key, a dot and the extension.

        rows, present: the sample of each member, and which members exist.
        """
        keys = self.keys.take(rows)
        parts = Strings.of([b"." + each for each in self.extensions])
        data = np.concatenate([keys.data, parts.data])
        row, column = np.nonzero(present)
        starts = np.stack(
            [keys.offsets[:-1][row], keys.data.size + parts.offsets[:-1][column]], axis=1
        )
        lengths = np.stack([keys.lengths[row], parts.lengths[column]], axis=1)
        joined = gathered(data, starts.reshape(-1), lengths.reshape(-1))
        return joined.with_unchecked(
            offsets=joined.offsets[::2], present=np.ones(row.size, np.bool_)
        )


def _numbered(first: int, count: int) -> Strings:
    """Return `count` keys, from the number `first` on, as `numbered_keys` does but faster."""
    if first + count > 10**_DIGITS:
        return Strings.of(numbered_keys(first, count))
    digits = _fours()[np.stack(divmod(np.arange(first, first + count), 10**4), axis=1)]
    offsets = offsets_of(constant(_DIGITS, count, np.int64))
    return Strings(digits.reshape(-1), offsets, constant(True, count, np.bool_))


@cache
def _fours() -> NDArray[np.uint8]:
    """Return the digits of the numbers from 0 to 9999: uint8 [10000, 4]."""
    return np.array([b"%04d" % number for number in range(10**4)]).view(np.uint8).reshape(-1, 4)


def _nothing(present: Flags) -> Strings:
    return Strings(np.empty(0, np.uint8), np.zeros(present.size + 1, np.int64), present)


def _checked(keys: TableColumn, first: int, before: bytes | None) -> Strings:
    """Return the keys that a table has for its samples.

    Raises FormatError for a key that a reader would not return unchanged. first: the row of the
    first key. before: the key before it, if this is a chunk.
    """
    if not isinstance(keys, Strings):
        raise cannot_hold(KEY, f"keys must be text, not {type_of(keys)}")
    raw = Strings.unchecked(**vars(keys))
    for row, key in enumerate(raw, first):
        match = None if key is None or b"\0" in key else NAME.fullmatch(key + b".x")
        if key is None or match is None or match[2] != b"x" or META.match(key):
            why = "the part of a key after its last slash must have no dots and must not be empty"
            raise cannot_hold(KEY, why, row)
        if key == before:
            raise cannot_hold(KEY, "two neighbouring samples have the same key", row)
        before = key
    return raw
