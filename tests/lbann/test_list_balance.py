from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import exset
from exset.runtime.lbann.list_balance import balanced_order, dealt, loads_of
from tests.cli.command_line import run


@example([1, 1, 15, 6, 7, 2, 7], 3)  # two ranks lack a file in the last round
@given(st.lists(st.integers(0, 1000)), st.integers(1, 9))
def test_every_file_once_and_no_rank_far_above(weights: list[int], ranks: int) -> None:
    array = np.array(weights, np.int64)
    order = balanced_order(array, ranks)
    assert sorted(order.tolist()) == list(range(len(weights)))
    loads = loads_of(array[order], ranks)
    assert loads.sum() == sum(weights)
    # The ranks differ by no more than the heaviest file.
    assert loads.max() - loads.min() <= max(weights, default=0)
    assert [*map(len, (order[rank::ranks] for rank in range(ranks)))] == [
        len(range(rank, len(weights), ranks)) for rank in range(ranks)
    ]
    if weights:  # never worse than the rule alone that deals the heaviest first
        rounds = dealt(array, ranks)
        alone = np.where(rounds < 0, 0, array[rounds]).sum(axis=0)
        assert loads.max() <= alone.max() and loads.min() >= alone.min()


@given(st.lists(st.integers(0, 30), min_size=1, max_size=8), st.integers(2, 3))
def test_the_bound_of_the_rule_that_takes_the_longest_first(weights: list[int], ranks: int) -> None:
    """Graham's bound for any assignment of files to ranks: 4/3 - 1 / (3 * ranks) of the least."""
    array = np.array(weights, np.int64)
    loads = loads_of(array[balanced_order(array, ranks)], ranks)
    least = min(
        max(
            sum(w for w, to in zip(weights, way, strict=True) if to == rank)
            for rank in range(ranks)
        )
        for way in product(range(ranks), repeat=len(weights))
        if sorted(map(way.count, range(ranks)))[0] >= len(weights) // ranks
    )
    assert 3 * ranks * loads.max() <= (4 * ranks - 1) * least


def test_files_are_exchanged_for_an_even_result() -> None:
    """Dealt by weight alone, the ranks would read 18 and 14."""
    weights = np.array([8, 7, 6, 5, 4, 2], np.int64)
    rounds = dealt(weights, 2)
    assert sorted(weights[rounds].sum(axis=0)) == [15, 17]
    assert loads_of(weights[balanced_order(weights, 2)], 2).tolist() == [16, 16]


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
