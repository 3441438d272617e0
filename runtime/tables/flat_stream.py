"""Read tables that a file stores as flat arrays, some rows at a time."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from exset.grammars.tables.flat_parts import Parts, check_lengths, rows_of
from exset.grammars.tables.table import Table

SMALL: Final = 1 << 20
"""The bytes of a file that is read at once, as that is faster."""
CHUNK: Final = 1 << 23
"""The approximate number of bytes of the arrays in a chunk."""
_MOST: Final = 1 << 26
"""The most bytes of the rows that must be read at once."""
_NOTES: Final = "flat"


def streamed(
    arrays: Parts,
    stored: Mapping[str, Any],
    size: int,
    notes: dict[str, object],
    whole: Callable[[], Table],
    least: int = 1,
) -> Iterator[Table]:
    """Yield a table in chunks of rows.

    If the arrays do not fit `stored`, yield it as a whole. arrays: reads parts of arrays. stored:
    the metadata, and the form (the kind of values) of each column. size: the bytes of all arrays.
    whole: returns the whole table. notes: the notes that are kept about the file. least: each
    chunk, except the last, has a multiple of this number of rows. If there are columns other than
    numbers, all chunks are first read once to see whether they fit.
    """
    if _NOTES not in notes:
        notes[_NOTES] = _fit(arrays, stored, size, least)
    if notes[_NOTES]:
        yield from _chunks(arrays, stored, size, least)
    else:
        yield whole()


def _fit(arrays: Parts, stored: Mapping[str, Any], size: int, least: int) -> bool:
    """Return whether all arrays fit `stored`, and `least` rows are not too large to read at once.

    size: the number of bytes to read at once.
    """
    try:
        check_lengths(arrays, stored)
        if least * size > _MOST * stored["rows"]:
            return False
        rows_of(arrays, stored, 0, 0)  # checks the dtypes
        if not all(each == "numbers" for each in stored["columns"].values()):
            for _ in _chunks(arrays, stored, size, least):
                pass
    except (ValueError, TypeError):
        return False
    return True


def _chunks(arrays: Parts, stored: Mapping[str, Any], size: int, least: int) -> Iterator[Table]:
    rows = stored["rows"]
    step = max(1, CHUNK * rows // max(size, 1) // least) * least
    for begin in range(0, max(rows, 1), step):
        yield rows_of(arrays, stored, begin, min(begin + step, rows))
