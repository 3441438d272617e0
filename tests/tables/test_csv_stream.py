"""CSV in chunks: joined, the chunks are the table of the whole file, with its findings."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import exset
from exset import Findings, FormatError, Table, streaming
from exset.parsers.tables import csv_stream
from exset.testing.tables import texts

CELLS = st.sampled_from(
    [
        "a",
        "1",
        "-2",
        "2.5",
        "",
        '""',
        '"1"',
        '"a,\n""b"',
        "1e400",
        "18446744073709551615",
        "=x",
        "é",
    ]
)


def chunks(path: Path, block: int) -> tuple[list[Table], list[str]]:
    """Return the chunks of a file, read in blocks of some bytes, and their findings."""
    findings = Findings()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_stream, "_BLOCK", block)
        with streaming.opened(path, format="csv") as file:
            tables = [each for each in file.stream(findings) if isinstance(each, Table)]
    return tables, [*map(str, findings)]


def check(path: Path, block: int) -> list[Table]:
    """Check that the chunks give the table of the whole file, or both an error."""
    findings = Findings()
    try:
        whole = exset.load(path, format="csv", model=Table, findings=findings)
    except FormatError:
        with pytest.raises(FormatError):
            chunks(path, block)
        return []
    tables, found = chunks(path, block)
    assert Table.concat(tables) == whole and tables[0].metadata == whole.metadata
    assert found == [*map(str, findings)]
    return tables


@given(
    names=st.lists(st.sampled_from(["a", "b", "x:0", "x:1", '"c"', "1"]), min_size=1, max_size=3),
    cells=st.lists(CELLS, max_size=12),
    block=st.integers(1, 9),
)
@example(["x:0", "x:1"], ["1", "2", "", "1", "2", "2.5"], 4)
@example(["x:0", "x:1"], ["1", "9007199254740993", "2.5", "1"], 4)
def test_any_rows(names: list[str], cells: list[str], block: int) -> None:
    width = len(names)
    rows = [names, *(cells[at : at + width] for at in range(0, len(cells), width))]
    with TemporaryDirectory() as folder:
        path = Path(folder, "x.csv")
        path.write_text("".join(",".join(row) + "\n" for row in rows))
        check(path, block)


@given(table=texts(), block=st.integers(1, 40))
def test_any_table_with_its_sidecar(table: Table, block: int) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, "x.csv")
        exset.save(table, path, findings=Findings())
        assert Table.concat(check(path, block)) == table


@pytest.mark.parametrize(
    "columns",
    [{"a": "int8", "b": "text"}, {"a": "int16", "b": "bool"}, {"a": "int16"}],
)
def test_a_sidecar_that_does_not_fit(columns: dict[str, str], tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    exset.save(Table.of({"a": np.arange(100, 140), "b": ["x", "y"] * 20}, {"kind": "made"}), path)
    beside = tmp_path / "x.csv.exset.json"
    value = json.loads(beside.read_text())
    beside.write_text(json.dumps({**value, "columns": columns}))
    assert len(check(path, 20)) == 1


def test_chunks_are_small(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    exset.save(Table.of({"a": np.arange(1000), "b": ["x,\n", ""] * 500}), path)
    assert len(check(path, 500)) > 10
    exset.save(exset.load(path), tmp_path / "x.csv.gz", findings=Findings())
    assert len(check(tmp_path / "x.csv.gz", 500)) > 10  # of a temporary file


def test_the_second_reading_uses_the_types_of_the_first(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("a,b\n" + "1,x\n" * 50 + "2.5,=y\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streaming, "SMALL", -1)
        patch.setattr(csv_stream, "_BLOCK", 40)
        findings = Findings()
        assert exset.convert(path, tmp_path / "x.npz", findings=findings) == 51
    assert exset.load(tmp_path / "x.npz") == exset.load(path, findings=Findings())
    assert [finding.code for finding in findings] == ["csv-formula"]
