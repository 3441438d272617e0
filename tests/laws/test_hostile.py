"""Hostile files: wrong counts must not take memory, and deep brackets must be errors."""

import tracemalloc
from contextlib import suppress

import pytest

import exset
from exset.core.errors import Findings, FormatError
from tests.aeon.cpio_files import RECORDS, block
from tests.lens.bex_builder import RICH, ints
from tests.peaks import at_most

# Lens refuses names of more than 1 MiB; the other formats need fewer brackets.
MANY = {"ex": 1_000_000, "loader_config": 200_000, "schema": 200_000}
MIB = 1 << 20


@pytest.mark.parametrize("number", [2**31 - 1, 0x00FFFFFF])
@pytest.mark.parametrize("name", ["bex", "block"])
def test_no_count_is_trusted(name: str, number: int) -> None:
    """A wrong number anywhere in a file allocates no more memory than the file justifies."""
    data = RICH if name == "bex" else block(RECORDS)
    lie = ints(number) if name == "bex" else number.to_bytes(4, "little")

    def attempt(at: int) -> None:
        with suppress(FormatError):
            exset.loads(data[:at] + lie + data[at + 4 :], format=name, findings=Findings())

    attempt(0)  # fills caches
    attempt(len(data) - 8)
    tracemalloc.start()
    try:
        for at in range(0, len(data) - 3, 9):
            attempt(at)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 16 * MIB, peak


@pytest.mark.parametrize(
    ("name", "begin", "bracket"),
    [
        *(("ex", b"name:", b"{"), ("ex", b"proc:", b"{"), ("ex", b";", b"["), ("ex", b"I:", b"(")),
        *(("loader_config", b"", b"["), ("loader_config", b"", b'{"a":'), ("schema", b"", b"[")),
        *(("schema", b"", b"{a: "), ("schema", b"", b"- "), ("schema", b"a: ", b"{")),
    ],
)
def test_many_brackets(name: str, begin: bytes, bracket: bytes) -> None:
    """A FormatError, even if `max_depth` allows the depth."""
    end = {b"{": b"}", b"[": b"]", b"(": b")", b"- ": b""}.get(bracket, b"}")
    data = begin + bracket * MANY[name] + end * MANY[name] + b";"
    with pytest.raises(FormatError):
        exset.loads(data, format=name, findings=Findings())
    deeper = exset.Limits(max_depth=10 * MANY[name], max_text=1 << 30, max_nodes=1 << 30)
    with pytest.raises(FormatError):
        exset.loads(data, format=name, limits=deeper, findings=Findings())


@pytest.mark.parametrize(
    ("name", "begin", "bracket"),
    [("ex", b"name:", b"{"), ("loader_config", b"", b"[")],
)
def test_many_open_brackets(name: str, begin: bytes, bracket: bytes) -> None:
    """Parser states deeper than 16 bits can count, and a bound on the memory for each of them."""
    with suppress(FormatError):
        exset.loads(begin + bracket * 40_000, format=name)  # loads modules and kernels
    data = begin + bracket * 120_000
    with at_most(8 * MIB + 56 * len(data)), pytest.raises(FormatError, match="is not closed"):
        exset.loads(data, format=name, findings=Findings())
