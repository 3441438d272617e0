"""The memory that the columns of a table take beyond the bytes of their file is limited."""

from math import isqrt
from pathlib import Path

import numpy as np
import pytest

import exset
from exset import Limits, Table
from exset.core.errors import Findings, LimitError
from exset.core.limits import DEFAULT
from exset.grammars.tables.cells import CELL
from exset.grammars.tables.columns import Numbers
from tests.fuzz.pumps import ROWS
from tests.peaks import at_most

BUFFERS = 1 << 23
"""The bytes that the engine of texts takes for a file of any size."""
MOST = 1 << 22
SMALL = Limits(max_array=MOST)


def loaded(data: bytes, name: str, limits: Limits = DEFAULT) -> Table:
    """The table of the data, whatever is found in them."""
    table = exset.loads(data, format=name, limits=limits, findings=Findings())
    assert isinstance(table, Table)
    return table


@pytest.mark.parametrize("name", ROWS)
def test_rows_with_names_of_their_own(name: str) -> None:
    """Memory stays within the limit and 64 times the file; a file that needs more is refused."""
    rows = isqrt(MOST // (4 * CELL))
    less, more = (b"".join(map(ROWS[name], range(count))) for count in (rows, 4 * rows))
    loaded(less, name)  # what is imported is not counted
    with at_most(BUFFERS + MOST + 64 * len(less)):
        table = loaded(less, name, SMALL)
    assert len(table) == rows <= len(table.columns)
    allowed = at_most(BUFFERS + MOST + 64 * len(more))
    with allowed, pytest.raises(LimitError, match="the columns need more"):
        exset.loads(more, format=name, limits=SMALL)


def test_many_names_in_one_row() -> None:
    """The work for a column does not depend on the number of columns."""
    names = [f"a{number}" for number in range(3000)]
    data = exset.dumps(Table.of({name: [1] for name in names}), format="tfrecord")
    assert sorted(loaded(data, "tfrecord").columns) == sorted(names)


@pytest.mark.parametrize("data", [b"," * (1 << 20), b",".join(b"a%d" % i for i in range(1 << 17))])
def test_many_names_in_csv(data: bytes) -> None:
    loaded(b"a,b", "csv")
    with at_most((1 << 26) + 64 * len(data)), pytest.raises(LimitError, match="need more"):
        loaded(data, "csv")


def one_array(rows: int, size: int) -> Table:
    """A table in which only the first of several rows has an array."""
    values, present = np.zeros((rows, size), np.float32), np.zeros(rows, np.bool_)
    values[0], present[0] = 1, True
    return Table.of({"x": Numbers.of(values, present), "row": np.arange(rows)})


@pytest.mark.parametrize(
    ("name", "rows", "size"), [("tfrecord", 300, 5000), ("webdataset", 80, 50_000)]
)
def test_arrays_of_rows_without_a_value(name: str, rows: int, size: int) -> None:
    table = one_array(rows, size)
    data = exset.dumps(table, format=name)
    assert exset.loads(data, format=name) == table
    with at_most(64 * len(data)), pytest.raises(LimitError, match="the columns need more"):
        exset.loads(data, format=name, limits=Limits(max_array=1 << 20))


@pytest.mark.parametrize("name", ["tfrecord", "webdataset"])
def test_shards_with_columns_of_their_own(folder: Path, name: str) -> None:
    Path("shards").mkdir()
    suffix = {"tfrecord": ".tfrecord", "webdataset": ".tar"}[name]
    tables = [one_array(1, 50_000), Table.of({"y": np.arange(300)})]
    for number, table in enumerate(tables):
        exset.save(table, f"shards/{number}{suffix}", format=name)
    size = sum(each.stat().st_size for each in Path("shards").iterdir())
    assert len(exset.load("shards", format=f"{name}-shards")) == 301
    with at_most(64 * size), pytest.raises(LimitError, match="the columns need more"):
        exset.load("shards", format=f"{name}-shards", limits=Limits(max_array=1 << 20))


def test_a_long_value_of_many_utterances(folder: Path) -> None:
    """Kaldi's segments of one recording share its path or command."""
    Path("data").mkdir()
    count, command = 2000, "cat " + "x" * 10_000
    keys = [f"u{number:05}" for number in range(count)]
    Path("data/wav.scp").write_text(f"r {command}\n")
    Path("data/segments").write_text(
        "".join(f"{key} r {at}.0 {at}.5\n" for at, key in enumerate(keys))
    )
    Path("data/utt2spk").write_text("".join(f"{key} {key}\n" for key in keys))
    assert len(exset.load("data", format="kaldi_data")) == count
    with pytest.raises(LimitError, match="the columns need more"):
        exset.load("data", format="kaldi_data", limits=Limits(max_array=1 << 20))
