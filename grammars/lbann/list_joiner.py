"""Join the chunks of a sample list one by one. Chunks that are joined need not stay in memory."""

from typing import Final, Protocol

import numpy as np

from exset.grammars.columns.arrays import Longs
from exset.grammars.columns.growing import Growing, GrowingOffsets, GrowingStrings
from exset.grammars.columns.spans import Spans
from exset.grammars.columns.strings import Strings
from exset.grammars.lbann.list_ids import Ids
from exset.grammars.lbann.list_types import Kind

_HEADER: Final = ("kind", "directory", "label_file")


class _Chunk(Protocol):
    """A chunk of the files of a list. Its columns are those of `SampleList`."""

    @property
    def kind(self) -> Kind: ...
    @property
    def directory(self) -> bytes: ...
    @property
    def label_file(self) -> bytes | None: ...
    @property
    def name(self) -> Strings: ...
    @property
    def others(self) -> np.ndarray[tuple[int], np.dtype[np.uint64]]: ...
    @property
    def id_offsets(self) -> Longs: ...
    @property
    def ids(self) -> Ids: ...


class ListJoiner:
    """Collects the files of several lists in the columns of one list."""

    def __init__(self) -> None:
        self._name, self._others = GrowingStrings(), Growing(np.uint64)
        self._id_offsets = GrowingOffsets()
        self._texts = GrowingStrings()
        self._spans = Growing(np.int64), Growing(np.int64)
        self._type: type[Ids] | None = None
        self._is_empty = True
        self._header: tuple[object, ...] | None = None

    def add(self, chunk: _Chunk) -> None:
        """Copy the files of a list to the end.

        Raises ValueError unless the kind, the directory, the label file and the type of ids are
        equal in all lists that are added. The type of ids does not matter in a list without ids.
        """
        header = tuple(getattr(chunk, name) for name in _HEADER)
        self._header = header if self._header is None else self._header
        for what, one, other in zip(_HEADER, self._header, header, strict=True):
            if one != other:
                raise ValueError(f"concat: the lists differ in {what}; exset list merge joins them")
        ids = chunk.ids
        if len(ids) or self._type is None:
            if not self._is_empty and self._type is not type(ids):
                raise ValueError("concat: ids are text in one list and integers in another")
            self._type = type(ids)
            self._is_empty = self._is_empty and not len(ids)
        self._name.add(chunk.name)
        self._others.add(chunk.others)
        self._id_offsets.add(chunk.id_offsets)
        if isinstance(ids, Strings):
            self._texts.add(ids)
        else:
            for column, values in zip(self._spans, (ids.first, ids.last), strict=True):
                column.add(values)

    def columns(self) -> dict[str, object]:
        """Return the columns for a `SampleList`. Call `add` no more after this."""
        first, last = (each.array() for each in self._spans)
        is_text = self._type is not Spans
        ids = self._texts.column() if is_text else Spans.unchecked(first=first, last=last)
        return {
            "name": self._name.column(),
            "others": self._others.array(),
            "id_offsets": self._id_offsets.array(),
            "ids": ids,
        }
