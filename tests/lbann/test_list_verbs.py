"""Operations on sample lists: split, merge, shuffle, order by ranks, statistics."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import exset
from exset import Findings, FormatError, LimitError, Limits, SampleList
from exset.grammars.lbann.list_types import Kind
from exset.runtime.lbann.list_merge import merged
from exset.runtime.lbann.list_order import rank_order, shuffled
from exset.splitting import bounds
from exset.testing import example_sets, sample_lists
from tests.cli.command_line import run

INCLUSIONS = [kind for kind in Kind if not kind.is_exclusion]


def inclusion_lists() -> st.SearchStrategy[SampleList]:
    """Lists in which every pair is unique."""
    lists = st.sampled_from(INCLUSIONS).flatmap(lambda kind: sample_lists(kind=kind))
    return lists.filter(lambda samples: not (samples.kind.is_single and samples.has_integer_ids))


@given(inclusion_lists(), st.integers(1, 4), st.none() | st.integers(0, 9), st.booleans())
def test_parts_are_disjoint_and_complete(
    samples: SampleList, count: int, seed: int | None, by_file: bool
) -> None:
    try:
        parts = exset.split(samples, [1 / count] * count, seed=seed, by="file" if by_file else None)
    except ValueError as error:
        assert "empty" in str(error)
        return
    assert len(parts) == count
    assert Counter(pair for part in parts for pair in part) == Counter(samples)
    if by_file and not samples.kind.is_single:
        paths = [{path for path, _ in part} for part in parts]
        assert sum(map(len, paths)) == len(set().union(*paths))
    assert parts == exset.split(
        samples, [1 / count] * count, seed=seed, by="file" if by_file else None
    )


@given(example_sets(max_examples=8), st.integers(1, 4), st.none() | st.integers(0, 9))
def test_examples_are_split_too(examples: exset.ExampleSet, count: int, seed: int | None) -> None:
    if len(examples) < count:
        with pytest.raises(ValueError, match=r"empty|too few"):
            exset.split(examples, [1 / count] * count, seed=seed)
        return
    parts = exset.split(examples, [1 / count] * count, seed=seed)
    assert max(map(len, parts)) - min(map(len, parts)) <= 1
    if seed is None:
        assert parts[0].concat(*parts[1:]) == examples
    with pytest.raises(ValueError, match="no field 'file'"):
        exset.split(examples, [1.0], by="file")


@pytest.mark.parametrize(
    ("sizes", "ends"),
    [
        ([0.9, 0.1], [9, 10]),
        ([0.25, None], [2, 10]),
        ([3, 4], [3, 7]),
        ([3, None, 4], [3, 6, 10]),
        ([1.0], [10]),
        ([1 / 3] * 3, [3, 7, 10]),
        ([0.15, 0.1, 0.75], [1, 2, 10]),
    ],
)
def test_sizes(sizes: list[float | None], ends: list[int]) -> None:
    assert bounds(10, sizes) == ends


@pytest.mark.parametrize(
    ("sizes", "words"),
    [
        ([], "no sizes"),
        ([11], "need more items"),
        ([0.9, 0.2], "need more items"),
        ([None, None], "only one"),
        ([1.5], "not be more than 1"),
        ([0], "more than 0"),
        ([float("nan")], "more than 0"),
    ],
)
def test_invalid_sizes(sizes: list[float | None], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        bounds(10, sizes)


def seen_by_ranks(names: list[str], counts: list[int], ranks: int, keep: bool) -> list[int]:
    """The order of the files, computed step by step as in LBANN (rules A39-A41)."""
    read: list[list[int]] = [[] for _ in range(ranks)]
    for record in range(len(names)):
        read[record % ranks].append(record)
    gathered = [record for each in read for record in each if counts[record]]
    if not keep:
        return gathered
    piles: list[list[int]] = [[] for _ in range(ranks)]
    pile, last = 0, None
    for record in gathered:
        if last is not None and names[record] != last:
            pile = (pile + 1) % ranks
        last = names[record]
        piles[pile].append(record)
    return [record for each in piles for record in each]


@given(sample_lists(max_files=12), st.integers(1, 6), st.booleans())
def test_the_order_of_ranks(samples: SampleList, ranks: int, keep: bool) -> None:
    names = [file.name for file in samples.files]
    counts = samples.included.tolist()
    found = rank_order(samples, ranks, keep).tolist()
    if samples.kind.is_single and keep:
        assert found == list(range(len(names)))
    else:
        assert found == seen_by_ranks(names, counts, ranks, keep)


def test_when_keep_order_restores_the_order() -> None:
    """As measured with LBANN, a sample a file (rule A41)."""
    right: dict[int, list[int]] = {2: [], 3: [], 4: []}
    for ranks in right:
        for files in (*range(2, 13), 16):
            rows = [(f"f{file}", ["s"]) for file in range(files)]
            samples = SampleList.of("CONDUIT_HDF5_INCLUSION", ".", rows)
            if rank_order(samples, ranks, True).tolist() == list(range(files)):
                right[ranks].append(files)
    assert right == {2: [2, 3, 4], 3: [2, 3, 8, 9], 4: [2, 3, 4, 16]}
    five = SampleList.of("CONDUIT_HDF5_INCLUSION", ".", [(f"f{i}", ["s"]) for i in range(5)])
    assert rank_order(five, 2, True).tolist() == [0, 4, 3, 2, 1]
    with pytest.raises(ValueError, match="ranks must be at least 1"):
        rank_order(five, 0)


def test_the_order_that_lbann_wrote(corpus: Path) -> None:
    edge = corpus / "lbann/edge"
    samples = exset.load(edge / "lists/r02_ranks2_keep_order.txt", model=SampleList, ids="text")
    seen = samples.select_files(rank_order(samples, 2, True))
    written = (edge / "written/r02_ranks2_keep_order.txt").read_bytes()
    assert exset.dumps(seen, format="sample_list") == written


@given(sample_lists(), st.integers(0, 9))
def test_shuffled_lists_have_the_same_samples(samples: SampleList, seed: int) -> None:
    mixed = shuffled(samples, seed)
    assert mixed == shuffled(samples, seed)
    if samples.kind.is_exclusion:
        assert Counter(map(repr, mixed.files)) == Counter(map(repr, samples.files))
    else:
        paths = [Counter(path for path, _ in each) for each in (mixed, samples)]
        assert paths[0] == paths[1]
        # The numbers of a SINGLE-SAMPLE list's files are those of their places.
        numbered = samples.kind.is_single and samples.has_integer_ids
        assert numbered or Counter(mixed) == Counter(samples)
        if mixed != samples.select_files(samples.included > 0):
            assert len(samples) > 1
    if len(samples) > 1 and not samples.kind.is_single and not samples.kind.is_exclusion:
        with pytest.raises(LimitError):
            shuffled(samples, seed, Limits(max_expand=1))


@given(inclusion_lists(), st.data())
def test_merged_parts_are_the_whole_list(samples: SampleList, data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 3))
    pairs = set(samples)
    try:
        parts = exset.split(samples, [1 / count] * count, seed=1)
    except ValueError:
        return
    whole = merged(parts, Findings())
    assert set(whole) == pairs
    assert len(pairs) <= len(whole) <= len(samples)


def test_merged_directories_and_exclusions() -> None:
    one = SampleList.of("CONDUIT_HDF5_INCLUSION", "/d/a", [("x.h5", ["s"], 2)])
    two = SampleList.of("MULTI-SAMPLE_INCLUSION_V2", "/d/b/", [("y.h5", ["s"])])
    both = merged([one, two], Findings())
    assert both.directory == b"/d"
    assert list(both) == [("/d/a/x.h5", "s"), ("/d/b/y.h5", "s")]
    findings = Findings()
    again = SampleList.of("CONDUIT_HDF5_INCLUSION", "/d/a", [("x.h5", ["s", "t"], 1)])
    assert merged([one, again], findings).files[0].excluded == 1
    assert [finding.code for finding in findings] == ["list-merged"]
    out = [
        SampleList.of("CONDUIT_HDF5_EXCLUSION", ".", [("x.h5", ids, 4 - len(ids))])
        for ids in (["a", "b"], ["b"])
    ]
    assert merged(out, Findings()).files[0].ids == ["b"]
    with pytest.raises(FormatError, match="lbann-kind"):
        merged([one.with_columns(directory=b"."), out[0]], Findings())
    with pytest.raises(FormatError, match="lbann-directory"):
        merged([one, one.with_columns(directory=b"rel")], Findings())


@given(sample_lists())
def test_statistics(samples: SampleList) -> None:
    found = exset.stats(samples)
    row = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert row["samples"] == len(samples)
    assert {"samples", "files", "folders"} <= {label for label, _ in found.rows()}


@given(example_sets())
def test_statistics_of_examples(examples: exset.ExampleSet) -> None:
    found = exset.stats(examples)
    row = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert row["spreads"]["events"]["count"] == len(examples)
    assert found.rows()
    with pytest.raises(TypeError, match="expected a model"):
        exset.stats("x.ex")


def test_split_and_stats_as_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [(f"f{i}.h5", [f"s{k}" for k in range(10)]) for i in range(10)]
    exset.save(SampleList.of("CONDUIT_HDF5_INCLUSION", "d", rows), "all.sample_list")
    done = run("split", "all.sample_list", "a.sample_list=90%", "b.sample_list=rest", "--seed", "1")
    assert done.exit_code == 0, done.output
    parts = [exset.load(f"{name}.sample_list", model=SampleList) for name in "ab"]
    assert [len(part) for part in parts] == [90, 10]
    assert not set(parts[0]) & set(parts[1])
    assert sum(parts[0].excluded.tolist()) >= 10
    done = run("split", "all.sample_list", "--trainers", "3", "--by", "file", "-o", ".")
    assert done.exit_code == 0, done.output
    assert len(exset.load("t2_all.sample_list")) in (30, 40)
    exset.save(exset.load("exset::xor.ex"), "xor.ex")
    assert run("split", "xor.ex", "a.bex=.5", "b.ex=2").exit_code == 0
    assert len(exset.load("a.bex")) == 2
    for arguments in (
        ("all.sample_list",),
        ("all.sample_list", "x"),
        ("all.sample_list", "x=1", "x=2"),
        ("all.sample_list", "all.sample_list=1"),
        ("all.sample_list", "x=1", "-o", "."),
        ("all.sample_list", "x=1000"),
        ("all.sample_list", "x=1", "--by", "nothing"),
        ("xor.ex", "x=1", "--by", "file"),
        ("-", "--trainers", "2"),
    ):
        assert run("split", *arguments).exit_code == 2, arguments
    assert run("split", "xor.ex", "x.sample_list=1").exit_code == 1
    output = run("stats", "all.sample_list", "xor.ex").stdout
    assert "10 samples (median)" in output and "0 to 1" in output
    row = json.loads(run("stats", "--json", "all.sample_list").stdout)
    assert row["summary"]["samples"] == 100 and row["format"] == "sample_list"


def test_lists_as_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [(f"f{i}", [1, 2, 3, 9]) for i in range(3)]
    exset.save(SampleList.of("MULTI-SAMPLE_INCLUSION_V2", "d", rows), "all.sample_list")
    for arguments in (
        ("edit", "all.sample_list", "--shuffle", "--seed", "4", "-o", "new.sample_list"),
        ("list", "merge", "all.sample_list", "all.sample_list", "-o", "new.sample_list"),
        ("list", "order", "all.sample_list", "--ranks", "2", "-o", "new.sample_list"),
    ):
        done = run(*arguments)
        assert done.exit_code == 0, done.output
        made = exset.load("new.sample_list", model=SampleList)
        assert Counter(made) == Counter(exset.load("all.sample_list", model=SampleList))
    assert "2 ranks" in done.stderr and "not in that of all.sample_list" in done.stderr
    same = run("list", "order", "--ranks", "1", "all.sample_list", "-o", "new.sample_list")
    assert "in the order of all.sample_list" in same.stderr and "another" not in same.stderr
    assert "1 ... 3 9" in run("list", "order", "--ranks", "1", "all.sample_list").stdout
    expanded = run("convert", "all.sample_list", "-o", "-", "--to", "sample_list", "--expand")
    assert "f0 4 1 2 3 9\n" in expanded.stdout
    assert "exset validate" in run("cat", "--ids", "text", "all.sample_list").stderr
    assert np.array_equal(exset.load("all.sample_list", model=SampleList).named, [4, 4, 4])


def test_a_list_is_streamed() -> None:
    name = "exset::flowers.sample_list"
    with exset.stream(name) as samples:
        whole = exset.load(name, model=SampleList)
        assert samples.header.directory == whole.directory
        assert [*samples] == [*whole]
