"""A sample list that is read in chunks equals the list that is read as a whole."""

from collections.abc import Iterator
from typing import cast
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import exset
from exset import Findings, FormatError, formats
from exset.core.limits import DEFAULT
from exset.grammars.lbann.sample_list import SampleList
from exset.grammars.lbann.units import joined
from exset.io.blocks import Blocks
from exset.parsers.lbann import list_reading, sample_list
from exset.testing.lbann import sample_lists

LIST = formats.get("sample_list")
HEAD = 40


@pytest.fixture(autouse=True)
def _little_decides() -> Iterator[None]:
    """Let the first 40 bytes decide the type of the ids."""
    with (
        patch.object(list_reading, "COMPARED_BYTES", HEAD),
        patch.object(sample_list, "COMPARED_BYTES", HEAD),
    ):
        yield


def chunks(data: bytes, size: int, findings: Findings) -> list[SampleList]:
    slices = (data[at : at + size] for at in range(0, len(data), size))
    blocks = Blocks("x", slices, len(data))
    models = LIST.stream(blocks, limits=DEFAULT, findings=findings)
    return [*cast("Iterator[SampleList]", models)]


def read(data: bytes, size: int | None) -> object:
    """Return the list and the findings, or the first error; size: of the blocks."""
    findings = Findings()
    try:
        if size is None:
            made = exset.loads(data, model=SampleList, name="x", findings=findings)
        else:
            made = joined(chunks(data, size, findings))
    except FormatError as error:
        return error.finding
    findings.sort()  # each chunk reports its findings by kind
    return (
        made,
        made.totals,
        [*findings],
        {each.code: findings.count(each.code) for each in findings},
    )


@given(sample_lists(max_files=9), st.integers(1, 60))
def test_any_list(made: SampleList, size: int) -> None:
    data = exset.dumps(made, format="sample_list")
    assert read(data, size) == read(data, None)


HEADER = b"CONDUIT_HDF5_INCLUSION\n%b\nfolder\n"
ROWS = b"".join(b"f%d.h5 2 1 a%d b\n" % (row, row) for row in range(40))
AGAIN = b"".join(b"f%d.h5 2 1 c d\n" % row for row in (7, 7, 3))


@pytest.mark.parametrize(
    ("counts", "rows"),
    [
        (b"80 40 40", ROWS),
        (b"81 40 40", ROWS),
        (b"80 40 41", ROWS),
        (b"86 43 43", ROWS + AGAIN),
        (b"83 42 42", ROWS + AGAIN[:15] + b"f9.h5 1 1 c\n"),
        (b"84 44 42", ROWS + AGAIN[:15] + b"f9.h5 2 3 c d\n"),
        (b"80 40 40", ROWS[:-2] + b"\n"),
        (b"80 40 40", ROWS.replace(b".h5", b"")),
    ],
    ids=["valid", "totals", "files", "again", "fewer", "more", "ids", "names"],
)
@pytest.mark.parametrize("size", [1, 7, 100])
def test_lists(counts: bytes, rows: bytes, size: int) -> None:
    data = HEADER % counts + rows
    assert len(chunks(HEADER % b"80 40 40" + ROWS, size, Findings())) > 5
    assert read(data, size) == read(data, None)


def test_equal_hashes_are_no_equal_names() -> None:
    data = HEADER % b"80 40 40" + ROWS
    with patch(
        "builtins.hash", lambda value: len(value) if b"\n" not in value else int(value[1:-4])
    ):
        assert read(data, 50) == read(data, None)
        assert read(HEADER % b"82 41 41" + ROWS + AGAIN[:14], 50) != read(data, None)


def test_many_files_named_again() -> None:
    count = 3000
    rows = b"".join(b"f%d.h5 1 0 a\n" % (row % (count // 2)) for row in range(count))
    findings = Findings()
    chunks(HEADER % b"3000 0 3000" + rows, 1 << 12, findings)
    assert findings.count("lbann-repeated-file") == count // 2


def test_integer_ids_are_read_as_a_whole() -> None:
    """Only the whole text shows whether ids are integers: 007 is none."""
    rows = b"".join(b"f%d 1 0 %d\n" % (row, row + 1) for row in range(99))
    for last, is_integer in ((b"g 1 0 7\n", True), (b"g 1 0 007\n", False)):
        [model] = chunks(HEADER % b"100 0 100" + rows + last, 50, Findings())
        assert model.has_integer_ids == is_integer
        assert len(model.name) == 100


def test_chunks_have_the_totals_of_the_list() -> None:
    models = chunks(HEADER % b"99 40 40" + ROWS, 100, Findings())
    assert {model.totals for model in models} == {(99, 40)}
    assert np.concatenate([model.included for model in models]).sum() == 80
