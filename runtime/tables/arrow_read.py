"""Read files of Arrow data, whole or in chunks of rows, in the batches of pyarrow."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, BinaryIO, TypeVar

from exset.core.limits import Limits
from exset.grammars.tables.table import Table
from exset.io.blocks import Blocks
from exset.runtime.tables.arrow_files import library, most_bytes, reading, table_of

if TYPE_CHECKING:
    import pyarrow

R = TypeVar("R", bound="ArrowReader")


class ArrowReader(ABC):
    """Reads a file of Arrow data.

    `name`: the name of the file. `file`: a file of pyarrow. `most`: the most bytes of its data.
    """

    def __init__(self, name: str, data: memoryview | BinaryIO, size: int, limits: Limits) -> None:
        """Read from `data`, the content of the file or an open file that allows seeking.

        size: how many bytes the file has.
        """
        pa = library(name)
        is_memory = isinstance(data, memoryview)
        self.name = name
        self.file = pa.BufferReader(pa.py_buffer(data)) if is_memory else pa.PythonFile(data, "r")
        self.most = most_bytes(size, limits)

    @abstractmethod
    def schema(self) -> "pyarrow.Schema":
        """Return the schema of the file, after checking the sizes that the file declares."""

    @abstractmethod
    def batches(self) -> "Iterator[pyarrow.RecordBatch]":
        """Yield the rows in batches, from the first row on at each call."""

    def whole(self) -> Table:
        """Return the table. Raises FormatError and LimitError."""
        with reading(self.name):
            schema = self.schema()
            table_of(self.name, (), schema, self.most)  # its errors come first, as in chunks
            return table_of(self.name, self.batches(), schema, self.most)

    def tables(self) -> Iterator[Table]:
        """Yield the table in chunks. Raises the errors of `whole`.

        If the types of columns depend on the rows, all rows are read twice. If the batches then
        have different types, the whole table is one chunk.
        """
        with reading(self.name):
            schema = self.schema()
            empty = table_of(self.name, (), schema, self.most)
            is_decided = all(map(_is_decided, schema)) and not _has_forms(empty, schema)
            if not is_decided and any(each.types != empty.types for each in self._chunks(schema)):
                yield table_of(self.name, self.batches(), schema, self.most)
                return
            yield empty
            yield from self._chunks(schema)

    def _chunks(self, schema: "pyarrow.Schema") -> Iterator[Table]:
        left = self.most
        for batch in self.batches():
            yield table_of(self.name, (batch,), schema, left)
            left -= batch.nbytes


def reader_of(blocks: Blocks, kind: type[R], limits: Limits) -> tuple[R, Iterator[Table]]:
    """Return a reader of the class `kind` for a file, and the file's table in chunks."""
    assert blocks.file is not None and blocks.size is not None
    reader = kind(blocks.name, blocks.file, blocks.size, limits)
    return reader, reader.tables()


def _is_decided(field: "pyarrow.Field") -> bool:
    """Return whether the schema alone, without the rows, decides the type of a column."""
    types, kind = library("", "pyarrow.types"), field.type
    if types.is_struct(kind):
        return not field.nullable and all(map(_is_decided, kind))
    if types.is_fixed_size_list(kind):
        return not kind.value_field.nullable and _is_decided(kind.value_field)
    if types.is_list(kind) or types.is_large_list(kind):
        return _is_decided(kind.value_field)
    return not types.is_nested(kind) and not isinstance(kind, library("").BaseExtensionType)


def _has_forms(empty: Table, schema: "pyarrow.Schema") -> bool:
    """Return whether any column of the table has another type than the column in the file.

    empty: the table without rows.
    """
    plain = schema.empty_table().replace_schema_metadata(None)
    return Table.from_arrow(plain).types != empty.types
