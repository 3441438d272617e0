"""Write tables that come in chunks as Arrow data, in batches that do not depend on the chunks."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import RawIOBase
from typing import TYPE_CHECKING, Any, BinaryIO, Final, Protocol

from exset.core.errors import FormatError
from exset.grammars.tables.arrow_export import MOST_SHORT, Wide, exported
from exset.grammars.tables.arrow_forms import to_store
from exset.grammars.tables.columns import ColumnPath, Numbers
from exset.grammars.tables.features import KEY, classes_of, features_of
from exset.grammars.tables.media import media_of, with_structs
from exset.grammars.tables.survey import Survey, in_batches
from exset.grammars.tables.table import Table
from exset.runtime.tables.arrow_files import cannot_hold, library

if TYPE_CHECKING:
    import pyarrow

_BATCH: Final = 1 << 24
"""The approximate number of bytes of the values in a batch, or in a row group of Parquet."""


@dataclass(frozen=True)
class ArrowTables:
    """A table that comes in chunks, prepared for files of Arrow data.

    `stored`: the table without rows, in the form that the file stores. `rows`: the number of rows
    of a batch.
    """

    tables: Iterable[Table]
    stored: Table
    rows: int
    _absent: frozenset[ColumnPath]
    _wide: Wide
    _classes: dict[str, list[str]]
    _media: dict[str, str]

    @classmethod
    def of(cls, tables: Iterable[Table]) -> "ArrowTables":
        """Read all chunks once, to find out how to store the table.

        Raises FormatError if Arrow data cannot store it.
        """
        classes: list[dict[str, list[str]]] = []

        def watched() -> Iterator[Table]:
            for table in tables:
                own = classes_of(table)
                known = classes[0] if classes else own
                classes[:] = [{name: known[name] for name in known if name in own}]
                yield table

        survey = Survey.of(watched())
        absent = frozenset(survey.absent)
        with _checked():
            stored = to_store(survey.first, absent)
        media = media_of(survey.first)
        # `datasets` takes only structs of fields that may be absent, and are not large.
        nullable = absent.union((name, part) for name in media for part in ("bytes", "path"))
        large = frozenset(path for path, count in survey.totals.items() if count > MOST_SHORT)
        rows = survey.rows_of(_BATCH)
        return cls(tables, stored, rows, absent, Wide(nullable, large), classes[0], media)

    def schema(self) -> "pyarrow.Schema":
        """Return the schema of the file. Raises FormatError if Arrow cannot store the table."""
        with _checked():
            return self._data(self.stored).schema

    def batches(self) -> "Iterator[pyarrow.Table]":
        """Yield the table in batches of `rows` rows. Raises FormatError if Arrow cannot store
        it.
        """
        for table in in_batches(self.tables, self.rows):
            with _checked():
                data = self._data(to_store(table, self._absent))
            yield data

    def _data(self, stored: Table) -> "pyarrow.Table":
        """Convert some rows, in the form that the file stores, to a table of pyarrow.

        Columns of classes become int64.
        """
        pa = library("table")
        columns = dict(stored.columns)
        for name in self._classes:
            numbers = columns[name]
            assert isinstance(numbers, Numbers)
            columns[name] = Numbers.of(numbers.values.astype("int64"), numbers.present)
        columns = with_structs(columns, self._media)
        stream = exported(columns, stored.rows, stored.metadata, self._wide)
        data = pa.RecordBatchReader.from_stream(stream).read_all()
        fields = [
            field.with_nullable(True) if field.name in {*self._classes, *self._media} else field
            for field in data.schema
        ]
        features = features_of(columns, self._classes, self._media)
        schema = pa.schema(fields, {**data.schema.metadata, KEY: features})
        return pa.Table.from_arrays(data.columns, schema=schema)


class BatchWriter(Protocol):
    """A writer of pyarrow."""

    def write_table(self, table: "pyarrow.Table", rows: int, /) -> None:
        """Write a table as one batch of `rows` rows."""

    def close(self) -> None:
        """Write the end of the file."""


def write_batches(
    tables: Iterable[Table],
    out: BinaryIO,
    open_writer: "Callable[[Sink, ArrowTables, pyarrow.Schema], BatchWriter]",
) -> None:
    """Write a table that comes in chunks with a writer of pyarrow.

    tables: the chunks, which are read twice. open_writer: makes the writer. Raises FormatError if
    Arrow data cannot hold the table, and OSError.
    """
    data = ArrowTables.of(tables)
    schema, sink = data.schema(), Sink(out)
    try:
        with _checked():
            writer = open_writer(sink, data, schema)
        for batch in data.batches():
            with _checked():
                writer.write_table(batch, max(1, batch.num_rows))
        with _checked():
            writer.close()
    except BaseException:
        sink.is_open = False
        raise


class Sink(RawIOBase):
    """A file for pyarrow to write, which pyarrow cannot close; after an error, it ignores
    writes.
    """

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self.is_open = True

    def writable(self) -> bool:
        """Return True."""
        return True

    def write(self, data: Any, /) -> int:
        """Write bytes, unless there was an error; return how many bytes `data` has."""
        view = memoryview(data)
        if self.is_open:
            self._out.write(view)
        return view.nbytes


@contextmanager
def _checked() -> Iterator[None]:
    """In this context, convert errors of pyarrow to FormatError, except errors of the system,
    which have an `errno`.
    """
    try:
        yield
    except FormatError:
        raise
    except (OSError, ValueError, TypeError, NotImplementedError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise cannot_hold(error) from None
