"""Functions for all files of Arrow data: import pyarrow, convert its errors and its tables.

Source: pyarrow; the Arrow columnar format.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Final, NoReturn

from exset.core.errors import FormatError, LimitError, Place, with_source_name
from exset.core.limits import Limits, limit_hint
from exset.core.text import safe
from exset.grammars.tables.arrow_forms import FORMS, from_stored
from exset.grammars.tables.arrow_import import SOURCE
from exset.grammars.tables.features import CLASSES, stored_arrays, stored_classes
from exset.grammars.tables.media import without_structs
from exset.grammars.tables.table import Table

if TYPE_CHECKING:
    import pyarrow

_SMALL: Final = 1 << 26  # bytes that the data of any file may have


def library(name: str, module: str = "pyarrow") -> ModuleType:
    """Import and return pyarrow, or a module of it; name: the format, for the error.

    Raises FormatError without pyarrow; the error names the extra to install.
    """
    try:
        return import_module(module)
    except ImportError:
        raise FormatError(
            "Parquet, Feather and Arrow files need pyarrow",
            place=Place(name),
            hint="pip install 'exset[arrow]'",
            code="arrow-library",
        ) from None


def most_bytes(size: int, limits: Limits) -> int:
    """Return the most bytes that the decompressed data of a file of `size` bytes may have."""
    return min(limits.max_bytes, max(_SMALL, limits.max_ratio * size))


def check_size(name: str, size: int, most: int) -> None:
    """Raise LimitError if the data of the file `name` have more bytes (`size`) than `most`."""
    if size > most:
        message = f"the data have more than {most:,} bytes"
        raise LimitError(message, place=Place(name), hint=limit_hint("max_ratio"))


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Convert errors of pyarrow in this context to FormatError about the file `name`.

    System errors, which have an errno, are raised unchanged.
    """
    try:
        with with_source_name(name, SOURCE):
            yield
    except FormatError:
        raise
    # pyarrow's own errors are among these, such as ArrowInvalid and ArrowKeyError; those of
    # nanoarrow are RuntimeError. The errors of a hostile size are MemoryError and OverflowError.
    except (OSError, ValueError, LookupError, TypeError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        _fail(name, error)
    except (MemoryError, OverflowError, RuntimeError) as error:
        _fail(name, error)


def table_of(
    name: str, batches: "Iterable[pyarrow.RecordBatch]", schema: "pyarrow.Schema", most: int
) -> Table:
    """Return the table that consists of these batches.

    After each batch, check that the data have no more than `most` bytes. name: the file.
    """
    kept, size = [], 0
    for batch in batches:
        size += batch.nbytes
        check_size(name, size, most)
        kept.append(batch)
    data = library(name).Table.from_batches(kept, schema)
    table = Table.from_arrow(data)
    forms = table.metadata.get(FORMS)
    if forms is None:
        table = table.with_metadata({**table.metadata, FORMS: stored_arrays(schema.metadata or {})})
    names = forms if isinstance(forms, dict) else None
    table = without_structs(from_stored(table, most), schema.metadata or {}, names)
    classes = stored_classes(schema.metadata or {})
    if classes and CLASSES not in table.metadata:
        table = table.with_metadata({**table.metadata, CLASSES: classes})
    return table


def cannot_hold(error: Exception) -> FormatError:
    """Return the FormatError for a table that Arrow data cannot store; error: that of pyarrow."""
    message = f"Arrow data cannot hold the table: {_first_line(error)}"
    return FormatError(message, place=Place("table"), code="table-holds")


def _fail(name: str, error: Exception) -> NoReturn:
    message = f"the file is damaged (pyarrow: {_first_line(error)})"
    raise FormatError(message, place=Place(name), code="arrow") from None


def _first_line(error: Exception) -> str:
    return safe(str(error).partition("\n")[0].removesuffix("."))
