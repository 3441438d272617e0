"""The elements of manifests, against independent ways to make them."""

import base64
import ctypes
import errno
import math
import os
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exset import Manifest
from exset.core.source import Source
from exset.grammars.aeon.manifest import joined
from exset.grammars.aeon.manifest_types import ElementType
from exset.io.access import Access
from exset.parsers.aeon import base64 as manifest_base64
from exset.parsers.aeon import manifest_columns as c
from exset.parsers.aeon.manifest import parse
from exset.parsers.aeon.numbers import numbers
from exset.runtime.aeon.elements import elements, encoded
from exset.testing.aeon import fields


def read(text: bytes) -> Manifest:
    return parse(Source("m.tsv", text))


def test_failed_elements_keep_their_place() -> None:
    manifest = read(b"@ASCII_INT\tBINARY\n\n1\tQQ==\nx\tQ\n")
    numbers, blobs = elements(manifest, 0), elements(manifest, 1)
    assert numbers.numbers.tolist() == [1, 0]
    assert [(error.record, error.column, error.line) for error in numbers.errors] == [(1, 0, 4)]
    assert list(blobs.strings) == [b"A", None]
    assert blobs.errors[0].code == "aeon-base64-memory"
    assert str(blobs.errors[0]).startswith("record 1, column 1, line 4: ")
    assert [[type(each) is bytes for each in record] for record in encoded(manifest)] == [
        [True, True],
        [False, False],
    ]
    assert next(encoded(manifest, [1]))[0].record == 1  # type: ignore[union-attr]


def test_files(tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(b"alpha")
    text = b"@FILE\tSTRING\na.bin\t1\nno.bin\t2\n.\t3\n\t4\na.bin\0x\t5\n"
    records = list(encoded(read(text), base=str(tmp_path)))
    assert [record[0] for record in records if isinstance(record[0], bytes)] == [b"alpha"] * 2
    messages = [str(record[0]) for record in records[1:4]]
    assert "No such file" in messages[0] and "line 3" in messages[0]
    assert "folder" in messages[1] and "folder" in messages[2]


def test_files_outside_of_the_roots_are_not_read(tmp_path: Path) -> None:
    inside, outside = tmp_path / "in", tmp_path / "out"
    for folder in (inside, outside):
        folder.mkdir()
        (folder / "a").write_bytes(b"alpha")
    (inside / "link").symlink_to(outside / "a")
    text = b"@FILE\na\n../out/a\n%s\nlink\n../in/a\n" % os.fsencode(outside / "a")
    given, access = read(text), Access(roots=(str(inside),))
    found = [each for [each] in encoded(given, base=str(inside), access=access)]
    assert [each if isinstance(each, bytes) else each.code for each in found] == [
        *(b"alpha", "aeon-file-outside", "aeon-file-outside", "aeon-file-outside", b"alpha"),
    ]
    assert [each for [each] in encoded(given, base=str(inside))] == [b"alpha"] * 5


@pytest.mark.parametrize(
    ("root", "path", "expected"),
    [
        (b"", b"a", b"a"),
        (b"r", b"a", b"r/a"),
        (b"r/", b"a", b"r/a"),
        (b"r", b"/a", b"/a"),
        (b"r", b"", b"r"),
        (b"r", b"~/./a", b"r/~/./a"),
    ],
)
def test_roots(root: bytes, path: bytes, expected: bytes) -> None:
    assert joined(root, path) == expected


@given(st.lists(fields(ElementType.BINARY)))
def test_base64_is_that_of_the_standard_library(given: list[bytes]) -> None:
    for field in given:
        found, kind = manifest_base64.decode(base64.b64encode(field))
        assert (found, kind) == (field, manifest_base64.CLEAN)
        assert manifest_base64.decode(field) == by_groups(field)
    for texts in (given, [base64.b64encode(field) for field in given]):
        buffer = np.frombuffer(b"".join(texts), np.uint8)
        lengths = np.array([len(text) for text in texts], np.int64)
        ends = np.cumsum(lengths)
        for compiled in (False, True):
            where = buffer, ends - lengths, ends, compiled
            assert manifest_base64.issues(*where).tolist() == [by_groups(text)[1] for text in texts]
            blobs = [
                None if kind == manifest_base64.MEMORY else blob
                for blob, kind in map(by_groups, texts)
            ]
            assert manifest_base64.decoded(*where).tolist() == blobs


def by_groups(field: bytes) -> tuple[bytes, int]:
    """Decode by aeon's rule, group by group."""
    alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="
    made = bytearray()
    for at in range(0, len(field), 4):
        group = [alphabet.find(byte) if byte in alphabet else 0 for byte in field[at : at + 4]]
        end = next((i for i in (2, 3) if field[at + i : at + i + 1] == b"="), 4)
        if len(group) < end or not field[at : at + end].isascii():
            return b"", manifest_base64.MEMORY
        group = [*group, 0, 0][:4]
        both = [
            group[0] << 2 | group[1] >> 4,
            group[1] << 4 | group[2] >> 2,
            group[2] << 6 | group[3],
        ]
        made += bytes(byte & 255 for byte in both[: end - 1])
        if end < 4:
            break
    try:
        is_clean = base64.b64decode(field, validate=True) == made
    except ValueError:
        is_clean = False
    return bytes(made), manifest_base64.CLEAN if is_clean else manifest_base64.LAX


libc = ctypes.CDLL(None, use_errno=True)
libc.strtod.restype, libc.strtof.restype = ctypes.c_double, ctypes.c_float
for function in (libc.strtod, libc.strtof):
    function.argtypes = (ctypes.c_char_p, ctypes.POINTER(ctypes.c_char_p))


def of_c(function: Callable[..., float], field: bytes) -> tuple[float, int]:
    """Return the value of C's strtod or strtof, and the issue that C++ sees with it."""
    text = ctypes.create_string_buffer(field + b"\0")
    end = ctypes.c_char_p()
    ctypes.set_errno(0)
    value = function(ctypes.cast(text, ctypes.c_char_p), ctypes.byref(end))
    if ctypes.get_errno() == errno.ERANGE:
        return 0.0, c.RANGE
    rest = ctypes.cast(end, ctypes.c_void_p).value or 0
    return value, c.FINE if rest > ctypes.addressof(text) else c.NO_NUMBER


@given(st.lists(fields(ElementType.ASCII_FLOAT) | st.floats().map(lambda x: repr(x).encode())))
@pytest.mark.parametrize("compiled", [False, True])
def test_numbers_are_those_of_c(compiled: bool, given: list[bytes]) -> None:
    buffer = np.frombuffer(b"".join(given), np.uint8)
    lengths = np.array([len(field) for field in given], np.int64)
    ends = np.cumsum(lengths)
    starts = ends - lengths
    ints = numbers(ElementType.ASCII_INT, buffer, starts, ends, compiled)
    floats = numbers(ElementType.ASCII_FLOAT, buffer, starts, ends, compiled)
    for i, field in enumerate(given):
        value, how = of_c(libc.strtod, field)
        if how in (c.RANGE, c.NO_NUMBER):
            assert ints.issues[i] == how
        else:
            whole = math.trunc(value) if math.isfinite(value) else 2**31
            assert ints.values[i] == (whole if -(2**31) <= whole < 2**31 else -(2**31))
        value, how = of_c(libc.strtof, field)
        if how in (c.RANGE, c.NO_NUMBER):
            assert floats.issues[i] == how
        elif not math.isnan(value):
            assert floats.values[i].tobytes() == struct.pack("=f", value)
        else:
            assert np.isnan(floats.values[i])
