"""Read NPZ files, ZIP files of NumPy's arrays, as tables; pickles are refused.

Source: NumPy, "numpy.lib.format".
"""

import io
import json
import re
import struct
import warnings
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from tokenize import TokenError
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from exset.core.errors import Findings, FormatError, LimitError, Place
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits, limit_hint
from exset.core.source import Source
from exset.core.text import safe
from exset.grammars.columns.arrays import as_flags
from exset.grammars.tables import flat
from exset.grammars.tables.findings import finding_at
from exset.grammars.tables.flat_parts import InMemory, unflattened
from exset.grammars.tables.table import Table

METADATA: Final = "exset.json"
ARRAY: Final = "array"
SUFFIX: Final = ".npy"
_LONGEST_HEADER: Final = 10_000  # the default of NumPy, which parses the header as Python literal
_DEEPEST: Final = 16
_QUOTED: Final = re.compile(rb"'[^'\\]*'|\"[^\"\\]*\"")
_BRACKETS: Final = re.compile(rb"[][(){}]")
_OPERATORS: Final = re.compile(rb"[-+~*/%@^&|!=<>.]|not|lambda|if|for|and|or")
_SMALL: Final = 1 << 26  # bytes that any archive may have
MAGIC: Final = b"\x93NUMPY"
HEAD: Final = _LONGEST_HEADER + len(MAGIC)
"""The most bytes that a header may have."""


def read(
    source: Source,
    *,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
) -> Table:
    """Return the table of an NPZ file. Raises FormatError and LimitError.

    The arrays of another program become columns by `exset.grammars.tables.flat.from_foreign`.
    """
    arrays = _arrays(source, limits)
    stored = arrays.pop(METADATA, None)
    return table_of(source, arrays, stored, findings)


def read_array(
    source: Source,
    *,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
) -> Table:
    """Return the table of an NPY file: one column, `array`.

    Raises FormatError for a damaged file.
    """
    array = _array(source.name, ARRAY, source.data, limits)
    return table_of(source, {ARRAY: array}, None, findings)


def table_of(
    source: Source,
    arrays: dict[str, NDArray[Any]],
    stored: NDArray[Any] | None,
    findings: Findings | None,
) -> Table:
    """Return the table of the arrays in a file.

    stored: the array with the JSON value that exset wrote; None for a file of another program.
    """
    try:
        if stored is not None:
            known = json.loads(stored.tobytes())
            if isinstance(known, dict):
                return unflattened(InMemory(arrays), known)
        table, is_single = flat.from_foreign(arrays)
    except (ValueError, RecursionError) as error:
        raise _error(source.name, safe(str(error))) from None
    if is_single and findings is not None:
        findings.add(finding_at("table-one-row", Place(source.name)))
    return table


def _arrays(source: Source, limits: Limits) -> dict[str, NDArray[Any]]:
    """Return the members of the archive by name, without the suffix `.npy`."""
    found: dict[str, NDArray[Any]] = {}
    with damage(source.name):
        members = list(_members(source, limits))
    for name, data in members:
        short = name.removesuffix(SUFFIX)
        if short in found:
            raise _error(source.name, f"two members have the name {safe(name)!r}")
        is_array = data.startswith(MAGIC)
        found[short] = (
            _array(source.name, name, data, limits) if is_array else np.frombuffer(data, np.uint8)
        )
    return found


@contextmanager
def damage(name: str) -> Iterator[None]:
    """Raise `zipfile`'s errors in this context as FormatError about the archive `name`."""
    try:
        yield
    except FormatError:
        raise
    except (zipfile.BadZipFile, zlib.error) as error:
        raise _error(name, f"the ZIP archive is damaged: {safe(str(error))}") from None
    except (OSError, ValueError, LookupError, RuntimeError, EOFError, struct.error) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise _error(name, f"the ZIP archive cannot be read: {safe(str(error))}") from None


def most_bytes(size: int, limits: Limits) -> int:
    """Return how many bytes the members of an archive of `size` bytes may have."""
    return min(limits.max_bytes, max(_SMALL, limits.max_ratio * size))


def _members(source: Source, limits: Limits) -> Iterator[tuple[str, bytes]]:
    """Yield the name and the bytes of each member. Raises LimitError for too many bytes."""
    left = most = most_bytes(len(source.data), limits)
    with zipfile.ZipFile(io.BytesIO(source.data)) as archive:
        for member in archive.infolist():
            left -= member.file_size
            if left < 0:
                message = f"the members have more than {most:,} bytes"
                raise LimitError(message, place=Place(source.name), hint=limit_hint("max_ratio"))
            if not member.is_dir():
                with archive.open(member) as file:
                    yield member.filename, file.read(member.file_size + 1)


class Header(NamedTuple):
    """The header of an NPY file; `begin`: the offset at which the array begins."""

    shape: tuple[int, ...]
    is_fortran: bool
    dtype: np.dtype[Any]
    begin: int


def header_of(file: str, name: str, head: bytes) -> Header:
    """Return the header of an NPY file, given its first HEAD bytes.

    file: the name of the file or archive. name: the name of the member. Raises FormatError for an
    invalid header, and for an array of Python objects.
    """
    if not _is_plain(head[:HEAD]):
        raise _error(file, f"{safe(name)}: the header is cut short or damaged")
    stream = io.BytesIO(head)
    try:
        version = npy.read_magic(stream)
        header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        with warnings.catch_warnings():  # about headers that Python 2 wrote
            warnings.simplefilter("ignore")
            shape, is_fortran, dtype = header(stream, max_header_size=_LONGEST_HEADER)
    # What NumPy raises for a header that is no literal of Python.
    except (ValueError, TypeError, SyntaxError, TokenError, RecursionError, MemoryError):
        raise _error(file, f"{safe(name)}: the header is cut short or damaged") from None
    if dtype.hasobject:
        raise _error(file, f"{safe(name)}: the array has Python objects, which exset never loads")
    return Header(shape, is_fortran, dtype, stream.tell())


def _array(file: str, name: str, data: bytes, limits: Limits) -> NDArray[Any]:
    """Return the array of an NPY file, a view of its bytes."""
    shape, is_fortran, dtype, begin = header_of(file, name, data)
    count = prod(shape)
    if count * dtype.itemsize > len(data) - begin or min(shape, default=0) < 0:
        raise _error(file, f"{safe(name)}: the array ends before its last element")
    if not count and max(shape, default=0) > limits.max_events:
        message = f"{safe(name)}: the array has more than {limits.max_events:,} rows of 0 bytes"
        raise LimitError(message, place=Place(file), hint=limit_hint("max_events"))
    if not dtype.itemsize:
        raise _error(file, f"{safe(name)}: the array has elements of 0 bytes")
    array = np.frombuffer(data, dtype, count, begin)
    if dtype.kind == "b":
        array = as_flags(array)
    return array.reshape(shape[::-1]).transpose() if is_fortran else array.reshape(shape)


def _is_plain(data: bytes) -> bool:
    """Return whether it is safe to parse the header of an NPY file as a literal of Python.

    Python's parser may crash on deep brackets, and on long chains of operators.
    """
    size = int.from_bytes(data[8:10] if data[6:7] == b"\1" else data[8:12], "little")
    begin = 10 if data[6:7] == b"\1" else 12
    bare = _QUOTED.sub(b"", data[begin : begin + size])
    brackets = _BRACKETS.findall(bare)
    depth = most = 0
    for bracket in brackets:
        depth += 1 if bracket in b"([{" else -1
        most = max(most, depth)
    return most <= _DEEPEST and not _OPERATORS.search(bare)


def _error(file: str, message: str) -> FormatError:
    return FormatError(message, place=Place(file), code="npz")
