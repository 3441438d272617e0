from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import exset
from exset.runtime.lbann.list_balance import balanced_order, loads_of
from tests.cli.command_line import run


@given(st.lists(st.integers(0, 1000)), st.integers(1, 9))
def test_every_file_once_and_no_rank_far_above(weights: list[int], ranks: int) -> None:
    array = np.array(weights, np.int64)
    order = balanced_order(array, ranks)
    assert sorted(order.tolist()) == list(range(len(weights)))
    loads = loads_of(array[order], ranks)
    assert loads.sum() == sum(weights)
    # The ranks differ by no more than the heaviest file.
    assert loads.max() - loads.min() <= max(weights, default=0)


def test_no_ranks() -> None:
    with pytest.raises(ValueError, match="ranks must be"):
        balanced_order(np.arange(3), 0)


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    counts = [9, 1, 8, 2, 7, 3, 0]
    rows = [(f"{n}.h5", [f"s{each}" for each in range(n)]) for n in counts]
    samples = exset.SampleList.of("CONDUIT_HDF5_INCLUSION", ".", rows)
    exset.save(samples, "l.sample_list")
    done = run("list", "balance", "--ranks", 2, "l.sample_list", "-o", "b.sample_list")
    assert done.exit_code == 0, done.output
    assert "before, the ranks read 6 to 24 samples each" in done.stderr
    assert "now, the ranks read 14 to 16 samples each" in done.stderr
    found = exset.load("b.sample_list", model=exset.SampleList)
    assert sorted(found) == sorted(samples)
    for n in counts:
        Path(f"{n}.h5").write_bytes(bytes(100 * n))
    done = run(
        "list", "balance", "--ranks", 2, "--by", "bytes", "l.sample_list", "-o", "b.sample_list"
    )
    assert "now, the ranks read 1,400 to 1,600 bytes each" in done.stderr
