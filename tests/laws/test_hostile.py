"""What hostile files cost: the memory of counts that lie, and the depth of brackets."""

import time
import tracemalloc
from contextlib import suppress

import pytest

import exset
from exset.core.errors import Findings, FormatError
from tests.aeon.cpio_files import RECORDS, block
from tests.lens.bex_builder import RICH, ints

MANY = 1_000_000
MIB = 1 << 20


@pytest.mark.parametrize("number", [2**31 - 1, 0x00FFFFFF])
@pytest.mark.parametrize("known", ["bex", "block"])
def test_no_count_is_believed(known: str, number: int) -> None:
    """Whatever number is made a lie, no more is allocated than the file has to do with."""
    data = RICH if known == "bex" else block(RECORDS)
    lie = ints(number) if known == "bex" else number.to_bytes(4, "little")

    def attempt(at: int) -> None:
        with suppress(FormatError):
            exset.loads(data[:at] + lie + data[at + 4 :], format=known, findings=Findings())

    attempt(0)  # what is worked out once
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
    ("known", "begin", "bracket"),
    [
        *(("ex", b"name:", b"{"), ("ex", b"proc:", b"{"), ("ex", b";", b"["), ("ex", b"I:", b"(")),
        *(("loader_config", b"", b"["), ("loader_config", b"", b'{"a":'), ("schema", b"", b"[")),
        *(("schema", b"", b"{a: "), ("schema", b"", b"- "), ("schema", b"a: ", b"{")),
    ],
)
def test_a_million_brackets(known: str, begin: bytes, bracket: bytes) -> None:
    """An error at once, though `max_depth` itself allows them."""
    end = {b"{": b"}", b"[": b"]", b"(": b")", b"- ": b""}.get(bracket, b"}")
    data = begin + bracket * MANY + end * MANY + b";"
    start = time.monotonic()
    with pytest.raises(FormatError):
        exset.loads(data, format=known, findings=Findings())
    assert time.monotonic() - start < 30
    deeper = exset.Limits(max_depth=10 * MANY, max_text=1 << 30, max_nodes=1 << 30)
    with pytest.raises(FormatError):
        exset.loads(data, format=known, limits=deeper, findings=Findings())
