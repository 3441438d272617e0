"""Read and write Feather and Arrow files, which have the memory format of Arrow, with pyarrow.

Source: the Arrow columnar format, "Serialization and Interprocess Communication"; pyarrow.
"""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, BinaryIO

from exset.core.errors import Findings
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.source import Source
from exset.grammars.tables.table import Table
from exset.io.blocks import Blocks
from exset.runtime.tables.arrow_chunks import write_batches
from exset.runtime.tables.arrow_files import library
from exset.runtime.tables.arrow_read import ArrowReader, reader_of

if TYPE_CHECKING:
    import pyarrow


def read(
    source: Source,
    *,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
) -> Table:
    """Return the table of a Feather or Arrow file. Raises FormatError and LimitError."""
    return _File(source.name, source.view, len(source.view), limits).whole()


def read_stream(
    source: Source,
    *,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
) -> Table:
    """Return the table of an Arrow stream. Raises FormatError and LimitError."""
    return _Stream(source.name, source.view, len(source.view), limits).whole()


def stream(
    blocks: Blocks,
    *,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
) -> Iterator[Table]:
    """Yield a table for each batch of a Feather or Arrow file. Raises the errors of `read`."""
    yield from reader_of(blocks, _File, limits)[1]


def stream_stream(
    blocks: Blocks,
    *,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
) -> Iterator[Table]:
    """Yield a table for each batch of an Arrow stream. Raises the errors of `read_stream`."""
    yield from reader_of(blocks, _Stream, limits)[1]


class _File(ArrowReader):
    """Reads Feather and Arrow files."""

    def schema(self) -> "pyarrow.Schema":
        """Return the schema."""
        self.file.seek(0)
        return library(self.name).ipc.open_file(self.file).schema

    def batches(self) -> "Iterator[pyarrow.RecordBatch]":
        """Yield the batches."""
        self.file.seek(0)
        reader = library(self.name).ipc.open_file(self.file)
        for number in range(reader.num_record_batches):
            yield _checked(reader.get_batch(number))


class _Stream(ArrowReader):
    """Reads Arrow streams."""

    def schema(self) -> "pyarrow.Schema":
        """Return the schema."""
        self.file.seek(0)
        return library(self.name).ipc.open_stream(self.file).schema

    def batches(self) -> "Iterator[pyarrow.RecordBatch]":
        """Yield the batches."""
        self.file.seek(0)
        yield from map(_checked, library(self.name).ipc.open_stream(self.file))


def write_chunks(tables: Iterable[Table], out: BinaryIO, /, *, findings: Findings) -> None:
    """Write a table that comes in chunks as one Feather file, which is not compressed.

    Raises FormatError if Arrow data cannot hold the table, and OSError.
    """
    new_file = library("table").ipc.new_file
    write_batches(tables, out, lambda sink, data, schema: new_file(sink, schema))


def write_stream_chunks(tables: Iterable[Table], out: BinaryIO, /, *, findings: Findings) -> None:
    """Write a table that comes in chunks as one Arrow stream, which is not compressed.

    Raises FormatError if Arrow data cannot hold the table, and OSError.
    """
    new_stream = library("table").ipc.new_stream
    write_batches(tables, out, lambda sink, data, schema: new_stream(sink, schema))


def _checked(batch: "pyarrow.RecordBatch") -> "pyarrow.RecordBatch":
    """Return a batch, after checking that its offsets are within its buffers.

    pyarrow does not check this.
    """
    batch.validate(full=True)
    return batch
