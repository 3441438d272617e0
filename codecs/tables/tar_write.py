"""Write tar archives in the format USTAR, without times and owners: equal members give equal
bytes.
"""

from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from exset.codecs.engine import Layout, Values, read, write
from exset.codecs.engine.gather import KERNELS, Mover
from exset.core.errors import FormatError
from exset.core.source import Source
from exset.grammars.columns.arrays import (
    Bytes,
    Longs,
    compact,
    constant,
    is_constant,
    offsets_of,
)
from exset.grammars.columns.strings import Strings

BLOCK: Final = 512
MOST: Final = 8**11 - 1
"""The largest size of a member, in bytes."""

_HEADER: Final = Layout("exset.codecs.tables.tar_layout:Header")
_RECORD: Final = 20 * BLOCK
_NAME, _PREFIX, _DIGITS, _SUM_DIGITS = 100, 155, 11, 6
_PAX_NAME: Final = b"././@PaxHeader"
_ZERO, _FILE, _PAX = ord("0"), ord("0"), ord("x")
_SAME: Final = {
    "mode": b"0000444\0",
    "uid": b"0000000\0",
    "gid": b"0000000\0",
    "mtime": b"00000000000\0",
    "chksum": b" " * 8,  # as it counts in the checksum
    "magic": b"ustar\0",
    "version": b"00",
    "uname": b"bigdata",
    "gname": b"bigdata",
    "devmajor": b"0000000\0",
    "devminor": b"0000000\0",
}


def member_sizes(names: Strings, lengths: Longs) -> Longs:
    """Return the number of bytes that each member takes in an archive: int64 [n]. lengths: of
    their contents.
    """
    sizes = BLOCK + lengths + -lengths % BLOCK
    long = _long_names(names)
    for row in np.flatnonzero(long).tolist():
        if _split(name := names[row] or b"") is None:
            pax = len(_pax_data(name))
            sizes[row] += BLOCK + pax + -pax % BLOCK
    return sizes


def members(names: Strings, data: Strings) -> memoryview:
    """Return the bytes of an archive's members: regular files with these names and data.

    Raises FormatError for a file of 8 GiB or more.
    """
    kinds = constant(_FILE, len(names), np.uint8)
    prefixes = Strings.empty(len(names))
    if (long := np.flatnonzero(_long_names(names))).size:
        names, prefixes, kinds, data = _with_long_names(names, data, long)
    if data.lengths.max(initial=0) > MOST:
        raise FormatError("a member has 8 GiB or more", code="table-holds")
    sizes = compact(BLOCK + data.lengths + -data.lengths % BLOCK)
    begins = offsets_of(sizes)
    out = np.zeros(int(begins[-1]), np.uint8)
    is_regular = len(names) > 0 and is_constant(sizes)  # the headers are a slice of the archive
    if is_regular:
        headers = out.reshape(len(names), -1)[:, :BLOCK]
    else:
        headers = np.empty((len(names), BLOCK), np.uint8)
    _fill(headers, names, prefixes, kinds, data.lengths)
    if not is_regular:
        out.reshape(-1, BLOCK)[begins[:-1] // BLOCK] = headers
    Mover(KERNELS.use_compiled(out.size)).put_strings(out, data, begins[:-1] + BLOCK)
    return out.data


def _fill(
    headers: NDArray[np.uint8], names: Strings, prefixes: Strings, kinds: Bytes, lengths: Longs
) -> None:
    """Fill the headers of n members, uint8 [n, 512], with these values and their checksums.

    kinds: the type flags. lengths: the sizes of the members' data.
    """
    template, fields = _template()
    headers[:] = template
    name, digits = padded(names, int(names.lengths.max(initial=0))), _octal(lengths, _DIGITS)
    sums = template.sum(dtype=np.int64) + kinds
    sums += name.sum(axis=1, dtype=np.uint32) + digits.sum(axis=1, dtype=np.uint32)
    headers[:, fields["name"]][:, : name.shape[1]] = name
    headers[:, fields["size"]][:, :_DIGITS] = digits
    headers[:, fields["typeflag"]] = kinds[:, np.newaxis]
    if prefixes.data.size:
        headers[:, fields["prefix"]] = prefix = padded(prefixes, _PREFIX)
        sums += prefix.sum(axis=1, dtype=np.uint32)
    headers[:, fields["chksum"]][:, :_SUM_DIGITS] = _octal(sums, _SUM_DIGITS)
    headers[:, fields["chksum"]][:, _SUM_DIGITS] = 0


@cache
def _template() -> tuple[Bytes, dict[str, slice]]:
    """Return a header without name, size and checksum, and the slice of each field in a header."""
    blank = read(_HEADER, Source("header", bytes(BLOCK)))
    fields = {name: slice(int(blank.starts[name][0]), 0) for name in blank}
    columns: dict[str, Values] = {}
    for name in blank:
        values = blank[name]
        if not isinstance(values, Strings):
            columns[name] = values
        else:
            width = int(values.lengths[0])
            columns[name] = Strings.of([_SAME.get(name, b"").ljust(width, b"\0")])
    begins = [each.start for each in fields.values()]
    for name, stop in zip(fields, [*begins[1:], BLOCK], strict=True):
        fields[name] = slice(fields[name].start, stop)
    fields["size"] = slice(fields["size_0"].start, fields["mtime"].start)
    return np.frombuffer(write(_HEADER, columns), np.uint8), fields


def end(size: int) -> bytes:
    """Return the bytes that end an archive whose members take `size` bytes."""
    return bytes(2 * BLOCK + -(size + 2 * BLOCK) % _RECORD)


def padded(strings: Strings, width: int) -> NDArray[np.uint8]:
    """Return strings as rows of `width` bytes, uint8 [n, width]; the rest of a row is NULs."""
    field = np.zeros((len(strings), width), np.uint8)
    field[np.arange(width) < strings.lengths[:, np.newaxis]] = strings.data
    return field


def _octal(numbers: Longs, digits: int) -> Bytes:
    """Return each number as ASCII octal digits: uint8 [n, digits]."""
    shifts = 3 * np.arange(digits - 1, -1, -1)
    return ((numbers[:, np.newaxis] >> shifts & 7) + _ZERO).astype(np.uint8)


def _long_names(names: Strings) -> NDArray[np.bool_]:
    return names.lengths > _NAME


def _with_long_names(
    names: Strings, data: Strings, long: Longs
) -> tuple[Strings, Strings, Bytes, Strings]:
    """Split names that are too long at a slash; if that is not enough, insert a pax header.

    long: the indices of these names. Return the names, the prefixes, the type flags and the data
    of all members, including the pax headers.
    """
    rows: list[tuple[bytes, bytes | None, int, bytes]] = []
    which = set(long.tolist())
    contents = data.tolist()
    for row, name in enumerate(names.tolist()):
        name, content = name or b"", contents[row] or b""
        prefix = None
        if row in which:
            if (split := _split(name)) is not None:
                prefix, name = split
            else:
                rows.append((_PAX_NAME, None, _PAX, _pax_data(name)))
                name = name[:_NAME]
        rows.append((name, prefix, _FILE, content))
    kinds = np.array([kind for _, _, kind, _ in rows], np.uint8)
    columns = [[row[i] for row in rows] for i in (0, 1, 3)]
    made = [Strings.of(column) for column in columns]  # type: ignore[arg-type]
    return made[0], made[1], kinds, made[2]


def _split(name: bytes) -> tuple[bytes, bytes] | None:
    """Split a long name into a prefix and a name that fit a header; return None if none do."""
    at = name.find(b"/", max(0, len(name) - _NAME - 1))
    if not 0 < at <= _PREFIX or at == len(name) - 1:
        return None
    return name[:at], name[at + 1 :]


def _pax_data(name: bytes) -> bytes:
    """Return the data of a pax header that stores a name: `LENGTH path=NAME` and a line break."""
    rest = b" path=" + name + b"\n"
    size = len(rest)
    while len(str(size)) + len(rest) != size:
        size = len(str(size)) + len(rest)
    return str(size).encode() + rest
