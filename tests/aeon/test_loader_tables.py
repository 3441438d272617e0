"""Numbers that are converted once for all records: the batches are those made record by record."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from exset import DataLoader, Findings, FormatError
from exset.runtime.aeon.provision import tables

LINES = [b"5\tab\t7", b" 6\tabcd\t-7", b"12x\tz\t0", b"-1\tabc\t3", b"8\t \t4"]
ETL: list[dict[str, Any]] = [
    {"type": "label", "binary": False},
    {"type": "blob", "output_count": 4, "output_type": "uint8_t"},
    {"type": "label", "binary": True, "output_type": "float", "name": "a"},
]


@pytest.fixture(autouse=True)
def current(folder: Path) -> Path:
    (folder / "caches").mkdir()
    return folder


def batches(lines: list[bytes], on_error: Any = "raise", **members: Any) -> list[Any]:
    """Return what a loader delivers in two epochs, and the codes of its findings."""
    Path("m.tsv").write_bytes(b"@STRING\tSTRING\tASCII_INT\n" + b"\n".join(lines) + b"\n")
    config = {"manifest_filename": "m.tsv", "batch_size": 2, "random_seed": 5, "etl": ETL}
    findings = Findings()
    found: list[Any] = []
    with DataLoader(config | members, on_error=on_error, findings=findings) as loader:
        for _ in range(2):
            stream = iter(loader)
            while True:
                try:
                    found.append([array.tolist() for array in values(next(stream))])
                except FormatError as error:
                    found.append(error.message)
                except StopIteration:
                    break
    return [*found, [each.code for each in findings]]


@pytest.mark.parametrize("on_error", ["raise", "skip", "blank"])
@pytest.mark.parametrize("cached", [False, True])
def test_tables_change_nothing(
    on_error: str, cached: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    members: dict[str, Any] = {"shuffle_enable": True, "block_size": 2}
    members |= {"cache_directory": "caches"} if cached else {}
    lines = [*LINES, b"cat\tabc\t1", b"7\tabcde\t2"]
    found = batches(lines, on_error, **members)
    assert found[-1] or on_error == "raise"
    monkeypatch.setattr(tables, "_MOST", 0)
    assert batches(lines, on_error, **members) == found


def test_no_record_is_provided_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only those that are rare or wrong are."""
    Path("m.tsv").write_bytes(b"@ASCII_INT\n" + b"7\n" * 99)
    config = {"manifest_filename": "m.tsv", "batch_size": 9, "etl": [ETL[2]]}
    with DataLoader(config, findings=Findings()) as loader:
        monkeypatch.setattr(loader._batching.opened.provider, "_provide", None)
        assert sum(float(array.sum()) for batch in loader for array in values(batch)) == 99 * 7


def test_compat_copies_bits() -> None:
    Path("m.tsv").write_bytes(b"@ASCII_INT\n1\n-2\n")
    config = {"manifest_filename": "m.tsv", "batch_size": 2, "etl": [ETL[2]], "random_seed": 1}
    with DataLoader(config, compat="aeon", findings=Findings()) as loader:
        [bits] = values(next(loader))
        assert bits.view(np.int32).tolist() == [[1], [-2]]


def values(batch: Any) -> list[Any]:
    """Return the arrays of a batch."""
    return [array for _, array in batch]
