"""Write one file of WebDataset or TFRecord from tables that come in chunks."""

from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO

from exset.codecs.tables.example_write import entry
from exset.codecs.tables.tar_write import end
from exset.core.errors import Findings
from exset.grammars.columns.strings import Strings
from exset.grammars.tables import sidecar
from exset.grammars.tables.columns import TableColumn, Text
from exset.grammars.tables.survey import small
from exset.grammars.tables.table import Table
from exset.runtime.tables import tfrecord_write, webdataset_write
from exset.runtime.tables.losses import Held
from exset.runtime.tables.seen import Seen
from exset.runtime.tables.webdataset_columns import content_of, encoded
from exset.runtime.tables.webdataset_write import Archive

IsPlain = Callable[[str, TableColumn, Seen], bool]
"""A function that returns whether a column can be read back without a sidecar."""


def write_webdataset(
    tables: Iterable[Table], out: BinaryIO, /, *, findings: Findings, lossy: bool = False
) -> bytes | None:
    """Write a table that comes in chunks as one archive; return its sidecar, if any.

    The same table gives the same bytes. Raises FormatError for a column that members cannot hold;
    with `lossy` it is dropped.
    """
    held = Held(tables, encoded, lossy, findings)

    def chunks() -> Iterator[bytes | memoryview]:
        size = 0
        for archive in archives(held):
            for chunk in archive.members():
                size += len(chunk)
                yield chunk
        yield end(size)

    return _written(held, chunks(), out, webdataset_write.is_plain)


def write_tfrecord(
    tables: Iterable[Table], out: BinaryIO, /, *, findings: Findings, lossy: bool = False
) -> bytes | None:
    """Write a table that comes in chunks as one TFRecord file; return its sidecar, if any.

    Rows with lists of arrays or of lists become a SequenceExample, others an Example. The same
    table gives the same bytes. Raises FormatError for a column that a feature cannot hold; with
    `lossy` it is dropped.
    """
    held = Held(tables, entry, lossy, findings)
    chunks = (chunk for table in small(held) for chunk in tfrecord_write.chunks(table))
    return _written(held, chunks, out, tfrecord_write.is_plain)


def archives(tables: Iterable[Table]) -> Iterator[Archive]:
    """Yield the samples of tables as archives of a few rows each.

    Raises FormatError for a column that members cannot store.
    """
    contents, first, before = _contents(tables), 0, None
    for table in small(tables):
        archive = Archive.of(table, first, contents, before)
        yield archive
        first, before = first + table.rows, archive.keys[-1] if table.rows else before


def _contents(tables: Iterable[Table]) -> dict[str, str]:
    """Return for each column of bytes its extension, which depends on all rows."""
    found: dict[str, str] = {}
    for table in tables:
        columns = {
            name: column
            for name, column in table.columns.items()
            if isinstance(column, Strings) and not isinstance(column, Text)
        }
        if not columns:
            break
        for name, column in columns.items():
            if column.present.any() and found.get(name) != "bin":
                content = content_of(column)
                found[name] = content if found.setdefault(name, content) == content else "bin"
    return found


def _written(
    tables: Held, chunks: Iterator[bytes | memoryview], out: BinaryIO, is_plain: IsPlain
) -> bytes | None:
    """Write the encoded chunks of tables to `out`; return the sidecar, or None if none is needed.

    is_plain: returns whether a reader gives a column its type even without a sidecar.
    """
    file = sidecar.Fingerprint()
    with tables.in_order():
        for chunk in chunks:
            file.add(chunk)
            out.write(chunk)
    first = tables.first
    plain = all(is_plain(name, column, tables.seen[name]) for name, column in first.columns.items())
    if plain and not first.metadata:
        return None
    return sidecar.text_of(first, file.value(), tables.rows)
