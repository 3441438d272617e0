"""Build cpio files without exset, for tests."""

import struct
from collections.abc import Iterable, Sequence

TIME = 1491868800


def entry(
    name: bytes, data: bytes = b"", *, time: int = TIME, mode: int = 0o100644, nlink: int = 0
) -> bytes:
    """Build an entry. name: without its NUL."""
    name += b"\0"
    words = (0o070707, 0, 0, mode, 0, 0, nlink, 0, time >> 16, time & 65535, len(name))
    head = struct.pack("<13H", *words, len(data) >> 16, len(data) & 65535)
    return head + name + b"\0" * (len(name) % 2) + data + b"\0" * (len(data) % 2)


END = entry(b"TRAILER!!!")
TRAILER = entry(b"cpiotlr", bytes(16))


def header(
    count: int,
    word: int | None = None,
    *,
    magic: bytes = b"MACR",
    version: int = 1,
    kind: bytes = b" " * 8,
    rest: bytes = bytes(36),
) -> bytes:
    """Build the first entry of a block."""
    data = magic + struct.pack("<II", version, 1) + kind
    data += struct.pack("<II", count, count if word is None else word) + rest
    return entry(b"cpiohdr", data)


def elements(records: Iterable[Sequence[bytes]]) -> list[bytes]:
    """Build the entries of records, with the names that aeon gives them."""
    made: list[bytes] = []
    for number, record in enumerate(records):
        for data in record:
            name = f"rec_{number:07d}.{len(made):02d}"[:15]
            made.append(entry(name.encode(), data))
    return made


def block(records: Sequence[Sequence[bytes]]) -> bytes:
    """Build a block as aeon writes it."""
    return header(len(records)) + b"".join(elements(records)) + TRAILER + END


RECORDS = [[b"12345", b"\1\0\0\0"], [b"", b"\xfe\xff\xff\xff"], [bytes(range(256)), b"\3\0\0\0"]]
BLOCK = block(RECORDS)
