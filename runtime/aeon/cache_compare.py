"""Compare a block of a cache with the records of a manifest, and with the files that they name."""

from collections.abc import Iterator
from typing import Final, Literal, NamedTuple, TypeAlias

import numpy as np

from exset.core.text import counted, safe
from exset.grammars.aeon.block import Block
from exset.grammars.aeon.manifest import Manifest
from exset.grammars.aeon.manifest_types import ElementType
from exset.grammars.columns.blobs import Blobs
from exset.io.access import Access
from exset.runtime.aeon.elements import (
    ElementError,
    contents,
    elements,
    encoded_column,
    file_size,
)

_OTHER_VALUES: Final = (
    "name the manifest that the cache was built from, or rebuild the cache from this one"
)
_OTHER_FILES: Final = (
    "aeon reads the old contents: if the file has changed, exset cache repair rebuilds the block;"
    " else name the folder of the files with <--base or base=...>"
)


Compared: TypeAlias = Literal["nothing", "sizes", "contents"]
"""Which properties of files are compared."""


class Difference(NamedTuple):
    """The difference between a block and the records of a manifest.

    why: how the block differs. hint: what the user can do.
    """

    why: str
    hint: str


class _Element(NamedTuple):
    """The place of an element that differs. why: how it differs, only for a FILE element."""

    record: int
    column: int
    why: str = ""


class Comparison:
    """Compares blocks of a cache with records of a manifest.

    base, access: arguments of `elements.encoded`. compare: which properties of FILE elements are
    compared with the files. skipped: the elements that are not compared, because their files cannot
    be read.
    """

    def __init__(self, base: str, access: Access, compare: Compared) -> None:
        self.base = base
        self.access = access
        self.compare = compare
        self.skipped: list[ElementError] = []

    def difference(self, block: Block, records: Manifest) -> Difference | None:
        """Return how a block differs from the elements of the records. Return None if they are
        equal.
        """
        width = len(records.types)
        if block.width != width:
            has = counted(block.width or 0, "element")
            return Difference(f"its records have {has}, not {width}", _OTHER_VALUES)
        differing: list[_Element] = []
        for column, kind in enumerate(records.types):
            if kind is ElementType.FILE and self.compare == "nothing":
                continue
            found = block.elements.data.take(np.arange(column, len(block) * width, width))
            if kind is ElementType.FILE:
                differing += self._files(found, records, column)
            else:
                pairs = zip(found, encoded_column(records, column), strict=True)
                for row, (element, made) in enumerate(pairs):
                    if isinstance(made, ElementError) or made != element:
                        differing.append(_Element(row, column))
        if not differing:
            return None
        first, others = min(differing), len(differing) - 1
        also = f", and {counted(others, 'other element')}" if others else ""
        why = f"element {first.column} of its record {first.record} differs{first.why}{also}"
        return Difference(why, _OTHER_FILES if first.why else _OTHER_VALUES)

    def _files(self, found: Blobs, records: Manifest, column: int) -> Iterator[_Element]:
        """Yield the elements of a FILE column that differ from the files that the records name.

        found: the column's elements in the block. column: the index of the column.
        """
        paths = elements(records, column, base=self.base).strings
        for row, (element, path) in enumerate(zip(found, paths, strict=True)):
            place = records, row, column, path or b"", self.access
            size = file_size(*place)
            if isinstance(size, ElementError):
                self.skipped.append(size)
                continue
            name = safe((path or b"").decode("utf-8", "surrogateescape"))
            if size != len(element):
                yield _Element(
                    row, column, f" ({name}: {counted(size, 'byte')}, not {len(element):,})"
                )
            elif self.compare == "contents":
                data = contents(*place)
                if isinstance(data, ElementError):
                    self.skipped.append(data)
                elif data != element:
                    yield _Element(row, column, f" ({name}: other bytes)")
