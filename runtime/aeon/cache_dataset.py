"""Datasets of caches: the elements of records, read from blocks."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Final

import numpy as np

from exset.core.errors import Findings, FormatError, Place, Severity
from exset.core.limits import DEFAULT, Limits
from exset.core.text import counted
from exset.grammars.aeon.block import Block
from exset.grammars.aeon.manifest_types import NUMBER_DTYPES, ElementType
from exset.grammars.columns.arrays import Bytes, Flags, Floats, Ints, Longs, offsets_of
from exset.grammars.columns.blobs import Blobs
from exset.runtime.aeon.cache import Cache
from exset.runtime.aeon.record_dataset import Column, RecordDataset

_MAX_MAPPED: Final = 200
"""The number of blocks that stay mapped into memory: each needs a file handle."""

Opener = Callable[[], Block]


class CacheDataset(RecordDataset):
    """The records of a cache, in the order of the blocks. Elements are read from the files as
    needed.

    A pickle contains only paths: each process maps the files that it reads.
    """

    name = "block"

    def __init__(
        self,
        blocks: Cache | Block | Opener,
        *,
        types: str | Iterable[ElementType | str] | None = None,
        names: Iterable[str] | None = None,
        fields: Iterable[str] | None = None,
        padded: bool = False,
        findings: Findings | None = None,
        limits: Limits = DEFAULT,
    ) -> None:
        """Make a dataset of a cache, of a block, or of a function that returns a block.

        types: the types of the elements in the manifest, also as text such as `"FILE,ASCII_INT"`.
        Blocks do not store types; by default all elements are BINARY. names, fields, padded: as for
        `ManifestDataset`.

        All blocks are checked once; `findings` collects problems, such as a missing marker. Raises
        FormatError for blocks that are damaged or missing, and for elements that do not fit their
        types. Raises ValueError for an unknown type, and the errors of `ManifestDataset`.
        """
        kinds = None if types is None else _types(types)
        openers, counts = [], []
        self._place = Place(blocks.path) if isinstance(blocks, Cache) else None
        findings = Findings() if findings is None else findings
        for number, (opener, block) in enumerate(_opened(blocks, findings)):
            if len(block) and kinds is None:
                kinds = (ElementType.BINARY,) * block.known_width(self._place)
            self._check_block(number, block, kinds or ())
            openers.append(opener)
            counts.append(len(block))
        super().__init__(kinds or (), names, fields, padded, limits)
        self._openers = openers
        self._begins = offsets_of(np.array(counts, np.int64))
        self._mapped: dict[int, Blobs] = {}

    def __len__(self) -> int:
        return int(self._begins[-1])

    def element(self, row: int, column: int) -> bytes:
        """Return the element of a record in a column.

        Raises FormatError if the block has changed.
        """
        number = int(np.searchsorted(self._begins, row, side="right")) - 1
        element = (row - int(self._begins[number])) * len(self.types) + column
        return bytes(self._elements_of(number)[element])

    def __getstate__(self) -> dict[str, object]:
        return {**vars(self), "_mapped": {}}

    def column(self, column: int, rows: Longs) -> Column:
        """Return the elements of one column for the given records, in new arrays.

        Raises FormatError if a block has changed, LimitError for more than `max_batch` bytes.
        """
        parts, first = self._parts(rows)
        return self._column(parts, first + column, self.names[column], self.types[column])

    def read_into(self, column: int, rows: Longs, raw: Bytes) -> Flags:
        """Write the elements of one column for the given records into `raw`, of shape [records,
        bytes].

        Return a flag for each record: whether its element was written. Empty elements, and elements
        that are longer than a row of `raw`, are not written. Raises FormatError if a block has
        changed.
        """
        size, done = raw.shape[1], np.zeros(rows.size, np.bool_)
        if not raw.size:
            return done
        parts, first = self._parts(rows)
        target = raw.data.cast("B")
        for blobs, here in parts:
            elements = first[here] + column
            starts, lengths = blobs.starts[elements], blobs.lengths[elements]
            done[here] = fits = (lengths > 0) & (lengths <= size)
            source = blobs.data.data
            columns = (size * here[fits], starts[fits], lengths[fits])
            for at, begin, length in np.stack(columns, axis=1).tolist():
                target[at : at + length] = source[begin : begin + length]
        return done

    def _columns(self, rows: Longs) -> Iterator[Column]:
        parts, first = self._parts(rows)
        for column, name, kind in self.columns:
            yield self._column(parts, first + column, name, kind)

    def _parts(self, rows: Longs) -> tuple[list[tuple[Blobs, Longs]], Longs]:
        """Group the records `rows` by their blocks.

        Return two values: a list with a pair for each block, and an array. The pair has the block's
        elements, and the indices into `rows` of the records in the block. The array has, for each
        of `rows`, the index of the record's first element in its block.
        """
        blocks = np.searchsorted(self._begins, rows, side="right") - 1
        first = (rows - self._begins[blocks]) * len(self.types)
        parts = [
            (self._elements_of(number), np.flatnonzero(blocks == number))
            for number in np.unique(blocks).tolist()
        ]
        return parts, first

    def _column(
        self, parts: list[tuple[Blobs, Longs]], element: Longs, name: str, kind: ElementType
    ) -> Column:
        if kind in NUMBER_DTYPES:
            return _numbers(parts, element, kind)
        lengths = np.empty(element.size, np.int64)
        for blobs, here in parts:
            lengths[here] = blobs.lengths[element[here]]
        offsets = np.array(offsets_of(lengths))
        self._check_size(int(offsets[-1]), name)
        data = np.empty(int(offsets[-1]), np.uint8)
        for blobs, here in parts:
            chosen = blobs.take(element[here])
            for begin, each in zip(offsets[here].tolist(), chosen, strict=True):
                data[begin : begin + len(each)] = each
        return data, offsets

    def _elements_of(self, number: int) -> Blobs:
        """Return the elements of a block. Raises FormatError if the file has changed."""
        blobs = self._mapped.pop(number, None)
        if blobs is None:
            opener = self._openers[number]
            block = opener if isinstance(opener, Block) else opener()
            if len(block) != self._begins[number + 1] - self._begins[number]:
                message = f"block {number} has changed since the dataset was made"
                raise FormatError(message, place=self._place, code="aeon-cache-block")
            self._check_block(number, block, self.types)
            blobs = block.elements.data
            if len(self._mapped) >= _MAX_MAPPED:
                del self._mapped[next(iter(self._mapped))]
        self._mapped[number] = blobs  # moved to the end: the first is the least recently used
        return blobs

    def _check_block(self, number: int, block: Block, types: tuple[ElementType, ...]) -> None:
        """Raise FormatError if the elements of a block do not fit the types."""
        if len(block) == 0:
            return
        width = block.known_width(self._place)
        if width != len(types):
            has = counted(width, "element")
            names = counted(len(types), "type")
            raise self._wrong_types(f"each record has {has}, but `types` names {names}")
        for column, kind in enumerate(types):
            lengths = block.elements.data.lengths[column::width]
            wrong = np.flatnonzero(lengths != 4)
            if kind in NUMBER_DTYPES and wrong.size:
                record = int(wrong[0])
                where = f"block {number}, record {record}, element {column}"
                has = counted(int(lengths[record]), "byte")
                raise self._wrong_types(f"{where} has {has}, but {kind} needs 4 bytes")

    def _wrong_types(self, message: str) -> FormatError:
        hint = "give the types in the header of the manifest from which the cache was built"
        return FormatError(message, place=self._place, hint=hint, code="aeon-cache-width")


def _numbers(parts: list[tuple[Blobs, Longs]], element: Longs, kind: ElementType) -> Ints | Floats:
    dtype = np.dtype(NUMBER_DTYPES[kind])
    found: Ints | Floats = np.empty(element.size, dtype.newbyteorder("="))
    for blobs, here in parts:
        starts = blobs.starts[element[here]]
        found[here] = blobs.data[starts[:, None] + np.arange(4)].view(dtype)[:, 0]
    return found


def _opened(
    source: Cache | Block | Opener, findings: Findings
) -> Iterator[tuple[Block | Opener, Block]]:
    """Yield a pair for each block: an object that opens the block again, and the block.

    Raises FormatError for a cache that is damaged.
    """
    if isinstance(source, Block):
        yield source, source
    elif not isinstance(source, Cache):
        yield source, source()
    else:
        of_cache = Findings()
        for number, block in source.intact(of_cache):
            yield partial(source.block, number), block
        for finding in of_cache:
            if finding.severity is Severity.ERROR and finding.code != "aeon-cache-incomplete":
                raise FormatError.of(finding)
        findings.add_all(of_cache)


def _types(types: str | Iterable[ElementType | str]) -> tuple[ElementType, ...]:
    words = types.split(",") if isinstance(types, str) else types
    return tuple(ElementType(each.strip()) for each in words)
