"""Read and write Parquet files, which store compressed columns in row groups, with pyarrow.

Source: the Parquet format, version 2.6; pyarrow.
"""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, BinaryIO, Final

from exset.core.errors import Findings, Place
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.source import Source
from exset.grammars.columns.findings import Rules
from exset.grammars.tables.columns import Lists, Numbers, Records, TableColumn
from exset.grammars.tables.table import Table
from exset.io.blocks import Blocks
from exset.runtime.tables.arrow_chunks import ArrowTables, BatchWriter, Sink, write_batches
from exset.runtime.tables.arrow_files import check_size, library
from exset.runtime.tables.arrow_read import ArrowReader, reader_of

if TYPE_CHECKING:
    import pyarrow
    from pyarrow.parquet import ParquetFile

_RULES: Final = Rules("exset.grammars.tables:arrow.findings")
_BATCH: Final = 1 << 24  # bytes of the rows that are read at once
_WIDTH: Final = 8  # bytes that a value of a row may take in memory, even if all are equal


def read(
    source: Source,
    *,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
) -> Table:
    """Return the table of a Parquet file. Raises FormatError and LimitError.

    A wrong checksum of a page is a finding, and the page is read nevertheless.
    """
    reader = _Parquet(source.name, source.view, len(source.view), limits)
    table = reader.whole()
    reader.add_findings(findings)
    return table


def stream(
    blocks: Blocks,
    *,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
) -> Iterator[Table]:
    """Yield the rows of a Parquet file in tables; errors and findings are as for `read`."""
    reader, tables = reader_of(blocks, _Parquet, limits)
    yield from tables
    reader.add_findings(findings)


class _Parquet(ArrowReader):
    """Reads Parquet files; `has_checksums`: whether all checksums so far are right."""

    has_checksums = True

    def schema(self) -> "pyarrow.Schema":
        """Return the schema."""
        file = self._opened()
        check_size(self.name, _size(file), self.most)
        return file.schema_arrow

    def batches(self) -> "Iterator[pyarrow.RecordBatch]":
        """Yield the rows of the file in batches, one row group after another."""
        file = self._opened()
        for number in range(file.num_row_groups):
            done = 0
            try:
                for batch in _rows(file, number):
                    yield batch
                    done += batch.num_rows
            except OSError as error:
                if "CRC" not in str(error):
                    raise
                self.has_checksums = False
                file = self._opened()
                for batch in _rows(file, number):
                    yield batch.slice(done)
                    done = max(0, done - batch.num_rows)

    def add_findings(self, findings: Findings | None) -> None:
        """Add the finding for a wrong checksum."""
        if findings is not None and not self.has_checksums:
            findings.add(_RULES.finding("parquet-checksum", Place(self.name)))

    def _opened(self) -> "ParquetFile":
        self.file.seek(0)
        parquet = library(self.name, "pyarrow.parquet")
        file: ParquetFile = parquet.ParquetFile(
            self.file, page_checksum_verification=self.has_checksums
        )
        return file


def _rows(file: "ParquetFile", number: int) -> "Iterator[pyarrow.RecordBatch]":
    """Yield the rows of the row group with this number in small batches."""
    group = file.metadata.row_group(number)
    rows = _BATCH * max(1, group.num_rows) // max(1, group.total_byte_size)
    yield from file.iter_batches(max(1, min(rows, group.num_rows)), row_groups=[number])


def write_chunks(tables: Iterable[Table], out: BinaryIO, /, *, findings: Findings) -> None:
    """Write a table that comes in chunks as one Parquet file; the same table gives the same bytes.

    Raises FormatError if Arrow data cannot hold the table, and OSError.
    """
    write_batches(tables, out, _writer)


def _writer(sink: Sink, data: ArrowTables, schema: "pyarrow.Schema") -> BatchWriter:
    columns = list(_leaves(data.stored))
    writer: BatchWriter = library("table", "pyarrow.parquet").ParquetWriter(
        sink,
        schema,
        version="2.6",
        compression="zstd",
        # Long lists of floats repeat no values, and nobody searches files for them.
        use_dictionary=[path for path, leaf, is_inside in columns if not _has_floats(leaf)],
        write_statistics=[path for path, leaf, is_inside in columns if not is_inside],
        write_page_checksum=True,
    )
    return writer


def _size(file: "ParquetFile") -> int:
    """Return the uncompressed size in bytes that the end of the file declares."""
    metadata = file.metadata
    groups = [metadata.row_group(number) for number in range(file.num_row_groups)]
    rows = max(metadata.num_rows, sum(group.num_rows for group in groups))
    size = sum(max(0, group.total_byte_size) for group in groups)
    return int(max(size, rows * _WIDTH * max(1, metadata.num_columns)))


def _leaves(table: Table) -> Iterator[tuple[str, TableColumn, bool]]:
    """Yield the columns that Parquet stores: the path of each, its values, and whether it is
    nested.
    """
    for name, column in table.columns.items():
        yield from _inner(name, column, False)


def _inner(
    path: str, column: TableColumn, is_inside: bool
) -> Iterator[tuple[str, TableColumn, bool]]:
    if isinstance(column, Lists):
        yield from _inner(f"{path}.list.element", column.items, True)
    elif isinstance(column, Records):
        for name, field in column.fields.items():
            yield from _inner(f"{path}.{name}", field, True)
    elif isinstance(column, Numbers) and column.shape:
        yield path + ".list.element" * len(column.shape), column, True
    else:
        yield path, column, is_inside


def _has_floats(column: TableColumn) -> bool:
    return isinstance(column, Numbers) and column.values.dtype.kind == "f"
