"""`exset.split`: sizes, and models that cannot be split."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import exset
from tests.cli.command_line import run


def list_of(*counts: int) -> exset.SampleList:
    """Return a sample list of files with these numbers of samples."""
    files = [(f"{i}.h5", [f"s{k}" for k in range(n)]) for i, n in enumerate(counts)]
    return exset.SampleList.of("CONDUIT_HDF5_INCLUSION", "d", files)


def test_one_size_makes_two_parts() -> None:
    examples = exset.load("exset::xor.ex", model=exset.ExampleSet)
    assert list(map(len, exset.split(examples, 0.75))) == [3, 1]
    assert list(map(len, exset.split(examples, 1))) == [1, 3]
    first, rest = exset.split(examples, "0*")
    assert [each.name for each in first] == ["00", "01"] and len(rest) == 2


def test_a_schema_cannot_be_split() -> None:
    with pytest.raises(TypeError):
        exset.split(exset.Schema.of({"a": None}), 0.5)  # type: ignore[type-var]


@given(
    st.lists(st.integers(1, 50), min_size=1, max_size=6),
    st.sampled_from([[0.9, 0.1], [0.1, 0.9], [0.8, 0.1, 0.1], [0.5, None], [1, None], [0.3]]),
    st.none() | st.integers(0, 100),
)
def test_groups_are_divided_with_any_seed(
    counts: list[int], sizes: list[float | None], seed: int | None
) -> None:
    """Each part has a group if there are enough groups, and if its size is at least one unit."""
    samples = list_of(*counts)
    total = sum(counts)
    wanted = [total if size is None else total * size if size < 1 else size for size in sizes]
    if len(counts) < len(sizes) or min(wanted) < 2 or total - sum(wanted[:-1]) < 2:
        return
    parts = exset.split(samples, sizes, seed=seed, by="file")
    assert all(len(part) for part in parts)
    names = [{file.path for file in part.files} for part in parts]
    assert sum(map(len, names)) == len(set().union(*names))
    if sum(wanted) >= total:
        assert sum(map(len, parts)) == total


def test_a_part_without_a_group_gets_the_nearest() -> None:
    samples = list_of(50, 3, 1)
    for seed in range(10):
        small, large = exset.split(samples, [0.1, 0.9], seed=seed, by="file")
        assert len(small) in (1, 3, 4) and len(large) in (50, 51, 53)
    assert [*map(len, exset.split(list_of(5, 5), [2], seed=1, by="file"))] == [5]


@pytest.mark.parametrize(
    ("sizes", "by", "words"),
    [
        (
            [0.5, 0.3, 0.2],
            "file",
            "3 groups, one for each value of file, but there are only 2 groups of 4 to 6 items",
        ),
        ([0.99, 0.01], "file", r"part 2 would be empty: 0\.01 of 10 items"),
        ([0.01, None], None, r"part 1 would be empty: 0\.01 of 10 items"),
        ([10, None], None, r"part 2 would be empty: the other parts take all items \(10\)"),
        (["no*", None], None, r"part 1 would be empty: .*'no\*'"),
    ],
)
def test_parts_that_would_be_empty(sizes: list[float], by: str | None, words: str) -> None:
    for seed in (None, 1, 2):
        with pytest.raises(ValueError, match=words):
            exset.split(list_of(6, 4), sizes, seed=seed, by=by)


def test_the_command_line_says_which_part_is_empty(tmp_path: str) -> None:
    path = f"{tmp_path}/all.sample_list"
    exset.save(list_of(5), path)
    done = run("split", path, f"{tmp_path}/a=50%", f"{tmp_path}/b=rest", "--by", "file")
    assert done.exit_code == 2 and "there is only 1 group of 5 items" in done.stderr
