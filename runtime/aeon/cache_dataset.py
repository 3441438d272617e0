"""Datasets of caches: the elements of records, from the blocks that have them."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Final

import numpy as np

from exset.core.errors import Findings, FormatError, Place, Severity
from exset.core.limits import DEFAULT, Limits
from exset.grammars.aeon.block import Block
from exset.grammars.aeon.manifest_types import ElementType
from exset.grammars.columns.arrays import Floats, Ints, Longs, offsets_of
from exset.grammars.columns.blobs import Blobs
from exset.runtime.aeon.cache import Cache
from exset.runtime.aeon.record_dataset import NUMBERS, Column, RecordDataset

_OPEN: Final = 200
"""How many blocks are kept mapped into memory: each takes a handle of the system's."""

Opener = Callable[[], Block]


class CacheDataset(RecordDataset):
    """The records of a cache, block after block; their elements stay in the files.

    What is pickled are the paths: each process maps the files that it reads.
    """

    name = "block"

    def __init__(
        self,
        blocks: Cache | Block | Opener,
        *,
        types: str | Iterable[ElementType | str] | None = None,
        names: Iterable[str] | None = None,
        padded: bool = False,
        findings: Findings | None = None,
        limits: Limits = DEFAULT,
    ) -> None:
        """Take a cache, a block, or what opens one, and the types that no block says.

        types: `"FILE,ASCII_INT"`, say, or those of the manifest; by default all are bytes. names,
        padded: as `ManifestDataset`.

        All blocks are looked at once; what is odd is added to `findings`, such as that the cache
        is not marked as complete. Raises FormatError for blocks that are broken or missing, and for
        elements that cannot be of the types; ValueError for what is no type, and as
        `ManifestDataset`.
        """
        kinds = None if types is None else _types(types)
        openers, counts = [], []
        self._place = Place.of(blocks.path) if isinstance(blocks, Cache) else None
        heard = Findings() if findings is None else findings
        for number, (opener, block) in enumerate(_opened(blocks, heard)):
            if len(block) and kinds is None:
                kinds = (ElementType.BINARY,) * block.known_width(self._place)
            self._check_block(number, block, kinds or ())
            openers.append(opener)
            counts.append(len(block))
        super().__init__(kinds or (), names, padded, limits)
        self._openers = openers
        self._begins = offsets_of(np.array(counts, np.int64))
        self._held: dict[int, Blobs] = {}

    def __len__(self) -> int:
        return int(self._begins[-1])

    def __getstate__(self) -> dict[str, object]:
        return {**vars(self), "_held": {}}

    def _columns(self, rows: Longs) -> Iterator[Column]:
        blocks = np.searchsorted(self._begins, rows, side="right") - 1
        first = (rows - self._begins[blocks]) * len(self.types)
        parts = [
            (self._blobs(number), np.flatnonzero(blocks == number))
            for number in np.unique(blocks).tolist()
        ]
        for column, kind in enumerate(self.types):
            element = first + column
            if kind in NUMBERS:
                yield _numbers(parts, element, kind)
                continue
            lengths = np.empty(rows.size, np.int64)
            for blobs, here in parts:
                lengths[here] = blobs.lengths[element[here]]
            offsets = np.array(offsets_of(lengths))
            self._check(int(offsets[-1]), self.names[column])
            data = np.empty(int(offsets[-1]), np.uint8)
            for blobs, here in parts:
                wanted = blobs.take(element[here])
                for begin, each in zip(offsets[here].tolist(), wanted, strict=True):
                    data[begin : begin + len(each)] = each
            yield data, offsets

    def _blobs(self, number: int) -> Blobs:
        """The elements of a block, those asked for last being kept; FormatError if it changed."""
        held = self._held.pop(number, None)
        if held is None:
            block = self._openers[number]()
            if len(block) != self._begins[number + 1] - self._begins[number]:
                raise FormatError(
                    f"block {number} has changed", place=self._place, code="aeon-cache-block"
                )
            self._check_block(number, block, self.types)
            held = block.elements.data
            if len(self._held) >= _OPEN:
                del self._held[next(iter(self._held))]
        self._held[number] = held
        return held

    def _check_block(self, number: int, block: Block, types: tuple[ElementType, ...]) -> None:
        """Raises FormatError for a block whose elements cannot be of the types."""
        if len(block) == 0:
            return
        width = block.known_width(self._place)
        if width != len(types):
            message = f"records have {width} elements, not {len(types)}: other types?"
            raise FormatError(message, place=self._place, code="aeon-cache-width")
        for column, kind in enumerate(types):
            lengths = block.elements.data.lengths[column::width]
            wrong = lengths != 4
            if kind in NUMBERS and wrong.any():
                record = int(wrong.argmax())
                raise FormatError(
                    f"block {number}, record {record}, element {column}: {lengths[record]} bytes,"
                    f" but {kind} has four: other types?",
                    place=self._place,
                    code="aeon-cache-width",
                )


def _numbers(parts: list[tuple[Blobs, Longs]], element: Longs, kind: ElementType) -> Ints | Floats:
    found: Ints | Floats = np.empty(element.size, np.dtype(NUMBERS[kind]).newbyteorder("="))
    for blobs, here in parts:
        starts = blobs.starts[element[here]]
        raw = blobs.data[starts[:, None] + np.arange(4)]
        found[here] = raw.view(NUMBERS[kind])[:, 0]
    return found


def _opened(given: Cache | Block | Opener, findings: Findings) -> Iterator[tuple[Opener, Block]]:
    """Yield the blocks, and what opens them again. Raises FormatError if not all are whole."""
    if isinstance(given, Block):
        yield partial(_same, given), given
    elif not isinstance(given, Cache):
        yield given, given()
    else:
        heard = Findings()
        for number, block in given.whole(heard):
            yield partial(given.block, number), block
        for finding in heard:
            if finding.severity is Severity.ERROR and finding.code != "aeon-cache-incomplete":
                raise FormatError.of(finding)
            findings.add(finding)


def _same(block: Block) -> Block:
    return block


def _types(given: str | Iterable[ElementType | str]) -> tuple[ElementType, ...]:
    words = given.split(",") if isinstance(given, str) else given
    return tuple(ElementType(each.strip()) for each in words)
