"""Read a large file into memory of large pages, in several threads.

Most of the time of a large read goes to the system, which provides and clears memory page by page.
The threads write into a new `bytes` object. CPython documents that this is allowed before the first
use of the object.
"""

import ctypes
import os
import sys
from contextlib import suppress
from typing import BinaryIO, Final

from exset.core import threads

_PAGE: Final = 1 << 12
_LARGE_PAGES: Final = 14  # MADV_HUGEPAGE of Linux


def read(file: BinaryIO, size: int) -> bytes:
    """Return the next `size` bytes of a regular file. Return fewer if the file ends earlier."""
    if not hasattr(os, "preadv") or sys.implementation.name != "cpython":
        return file.read(size)
    make, address_of = ctypes.pythonapi.PyBytes_FromStringAndSize, ctypes.pythonapi.PyBytes_AsString
    make.restype, make.argtypes = ctypes.py_object, (ctypes.c_char_p, ctypes.c_ssize_t)
    address_of.restype, address_of.argtypes = ctypes.c_void_p, (ctypes.py_object,)
    data: bytes = make(None, size)
    address = address_of(data)
    _use_large_pages(address, size)
    view = memoryview((ctypes.c_char * size).from_address(address)).cast("B")
    handle, start = file.fileno(), file.tell()
    ends = list[int]()

    def fill(low: int, high: int) -> None:
        while low < high and (count := os.preadv(handle, [view[low:high]], start + low)):
            low += count
        if low < high:
            ends.append(low)

    threads.divided(fill, size, True)
    size = min(ends, default=size)
    file.seek(start + size)
    return data[:size]


def _use_large_pages(address: int, size: int) -> None:
    """Ask the system to use large pages for `size` bytes of memory at `address`.

    The system may refuse.
    """
    if sys.platform != "linux":
        return
    first = -(-address // _PAGE) * _PAGE
    last = (address + size) // _PAGE * _PAGE
    with suppress(OSError, AttributeError):
        advise = ctypes.CDLL(None).madvise
        advise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
        advise(first, last - first, _LARGE_PAGES)
