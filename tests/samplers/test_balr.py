"""BA-LR's samplers: its documentation, recorded sequences, its errors, and the improvements."""

import json
import pickle
from collections import Counter
from collections.abc import Hashable
from copy import deepcopy
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import exset
from exset.runtime import samplers
from exset.runtime.samplers import registry
from exset.runtime.samplers.base import NxMSampler
from exset.runtime.samplers.layout import lay_out
from exset.runtime.samplers.nxm import ExhaustiveNxMSampler, RandomNxMSampler
from exset.runtime.samplers.planned import PlannedNxMSampler
from exset.runtime.samplers.registry import build_sampler, sampler_class

LABELS = [0, 0, 0, 0, 0, 1, 1, 1, 2, 2]  # of BA-LR's documentation
CLASSES = {"random": RandomNxMSampler, "exhaustive": ExhaustiveNxMSampler}
ALL = [RandomNxMSampler, ExhaustiveNxMSampler, PlannedNxMSampler]


@pytest.mark.parametrize("compat", [None, "balr"])
def test_the_page_random(compat: Any) -> None:
    for seed in range(30):
        sampler = RandomNxMSampler(
            LABELS, 2, 2, shuffle=False, drop_last=True, seed=seed, compat=compat
        )
        drawn = list(sampler)
        assert len(sampler) == len(drawn) == 4
        assert set(drawn[:2]) < set(range(5)) and set(drawn[2:]) < {5, 6, 7}
        assert len(set(drawn)) == 4
        sampler = RandomNxMSampler(LABELS, 2, 2, shuffle=False, seed=seed, compat=compat)
        drawn = list(sampler)
        assert len(sampler) == len(drawn) == 8
        assert [LABELS[item] for item in drawn] == [0, 0, 1, 1, 2, 2, 0, 0]
        assert {8, 9} == set(drawn[4:6])
        if not compat:  # the first class gives items that it has not given yet
            assert len(set(drawn)) == 8


@pytest.mark.parametrize("compat", [None, "balr"])
def test_the_page_exhaustive(compat: Any) -> None:
    sampler = ExhaustiveNxMSampler(LABELS, 2, 2, shuffle=False, compat=compat)
    assert list(sampler) == [0, 1, 5, 6, 8, 9, 2, 3, 7, 5, 4, 0]
    assert list(sampler.batches()) == [[0, 1, 5, 6], [8, 9, 2, 3], [7, 5, 4, 0]]
    assert (len(sampler), len(sampler.batches())) == (12, 3)
    for rank, batches in enumerate([[0, 1, 5, 6, 7, 5, 4, 0], [8, 9, 2, 3, 0, 1, 5, 6]]):
        sampler = ExhaustiveNxMSampler(
            LABELS, 2, 2, shuffle=False, num_replicas=2, rank=rank, compat=compat
        )
        assert list(sampler) == batches and len(sampler) == 8


# BA-LR's streams are those of NumPy's generator, which were the same from 2.3 to 2.5.5, at least:
# where this fails, NumPy has changed them, and compat="balr" is no longer BA-LR on the older one.
def test_the_streams_that_are_published() -> None:
    sampler = RandomNxMSampler(LABELS, 2, 2, num_replicas=1, rank=0, compat="balr")
    assert list(sampler) == [1, 3, 5, 6, 9, 8, 2, 0]
    sampler.set_epoch(1)
    assert list(sampler) == [4, 0, 5, 6, 8, 9, 1, 0]


def test_vectors(corpus: Path) -> None:
    vectors = json.loads((corpus / "samplers" / "vectors.json").read_text())
    assert len(vectors) > 200
    same = 0
    for case in vectors:
        for labels in (case["labels"], np.array(case["labels"])):
            for rank, expected in enumerate(case["ranks"]):
                made = {
                    compat: CLASSES[case["sampler"]](
                        labels,
                        case["n_classes"],
                        case["m_samples"],
                        shuffle=case["shuffle"],
                        drop_last=case["drop_last"],
                        num_replicas=case["num_replicas"],
                        rank=rank,
                        seed=case["seed"],
                        compat=compat,
                    )
                    for compat in (None, "balr")
                }
                theirs, ours = made["balr"], made[None]
                theirs.set_epoch(case["epoch"])
                assert list(theirs) == expected["indices"], case["id"]
                assert len(theirs) == expected["len"] == len(ours)
                if case["sampler"] == "exhaustive" and not case["shuffle"] and theirs.num_batches:
                    plan = theirs.plan()
                    whole = len(expected["indices"]) == expected["len"]
                    if whole and plan.distinct_batches == plan.batches:
                        same += 1
                        assert list(ours) == expected["indices"], case["id"]
    assert same > 50, "where BA-LR's batches are distinct, ours are the same"


def test_streams_of_no_replica_are_not_seeded_by_balr() -> None:
    labels = np.arange(400) % 40
    for cls in CLASSES.values():
        theirs = cls(labels, 4, 2, compat="balr")
        assert list(theirs) != list(theirs)
        ours = cls(labels, 4, 2)
        first = list(ours)
        assert list(ours) == first == list(cls(labels, 4, 2, num_replicas=1, rank=0))
        ours.set_epoch(1)
        assert list(ours) != first
        assert list(ours) != list(cls(labels, 4, 2, seed=1235)), "no epoch is another seed's"


def test_balr_hangs_and_we_do_not() -> None:
    """Of 3 batches for 8 replicas BA-LR gives the last two none, though it promises one."""
    for rank in range(8):
        arguments: Any = {"shuffle": False, "num_replicas": 8, "rank": rank}
        theirs = ExhaustiveNxMSampler(LABELS, 2, 2, compat="balr", **arguments)
        ours = ExhaustiveNxMSampler(LABELS, 2, 2, **arguments)
        assert len(theirs) == len(ours) == len(list(ours)) == 4
        assert len(list(theirs)) == (4 if rank < 6 else 0)


@pytest.mark.parametrize("cls", ALL)
def test_errors(cls: Any) -> None:
    with pytest.raises(ValueError, match=r"^Not enough classes \(3\) in dataset to sample"):
        cls(LABELS, 4, 2, batch_size=1)
    with pytest.raises(ValueError, match=r"^Not enough classes \(0\)"):
        cls([], 1, 1)
    with pytest.raises(ValueError, match=r"^Invalid batch_size \(5\) for sampler\. batch_"):
        cls(LABELS, 2, 2, batch_size=5)
    for rank in (2, -2):
        with pytest.raises(ValueError, match=rf"^Invalid rank {rank}, rank should be in"):
            cls(LABELS, 2, 2, num_replicas=2, rank=rank)
    with pytest.raises(ValueError, match="num_replicas must be at least 1"):
        cls(LABELS, 2, 2, num_replicas=0, rank=0)
    with pytest.raises(ValueError, match="M_samples_per_class"):
        cls(LABELS, 2, 1 << 32)
    for wide, samples in ((0, 1), (1, 0), (-1, 2)):
        with pytest.raises(ValueError, match="must be at least 1"):
            cls(LABELS, wide, samples)
    with pytest.raises(ValueError, match="item 1 is NaN"):
        cls([1.0, float("nan")], 1, 1)
    with pytest.raises(ValueError, match="item 2 is NaN"):
        cls(np.array([1.0, 2.0, np.nan]), 1, 1)
    with pytest.raises(ValueError, match="one dimension"):
        cls(np.zeros((2, 2)), 1, 1)
    with pytest.raises(TypeError):
        cls([[1], [2]], 1, 1)
    assert cls(LABELS, 2, 2, num_replicas=5).num_replicas == 1, "without a rank there is one"
    with pytest.raises(ValueError, match="compat"):
        RandomNxMSampler(LABELS, 2, 2, compat="torch")  # type: ignore[arg-type]


def test_replicas_that_are_to_be_counted_need_a_process_group() -> None:
    with pytest.raises(RuntimeError, match="process group"):
        RandomNxMSampler(LABELS, 2, 2, rank=0)


@pytest.mark.parametrize("cls", ALL)
@pytest.mark.parametrize(
    "labels",
    [
        np.array([7, 3, 7, -1, 3, 7]),
        np.array([7, 3, 7, 255, 3, 7], np.uint8),
        np.array([2**63 + 9, 3, 2**63 + 9, 2**64 - 1, 3, 2**63 + 9], np.uint64),
        np.array([0.5, -0.0, 0.5, 1e300, 0.0, 0.5]),
        np.array(["b", "a", "b", "c", "a", "b"]),
        np.array(["b", 1, "b", None, 1, "b"], object),
        ["b", 1, "b", None, 1, "b"],
        [(1, 2), (0,), (1, 2), (), (0,), (1, 2)],
        list("babcab"),
        np.array([7, 0, 3, 0, 7, 0, -1, 0, 3, 0, 7, 0], ">i2")[::2],
        ["a\0", "b", "a\0", "a", "b", "a\0"],
        [2**63, 2**63 + 1, 2**63, -1, 2**63 + 1, 2**63],
    ],
    ids=lambda labels: str(getattr(labels, "dtype", type(labels).__name__)),
)
def test_kinds_of_labels(cls: Any, labels: Any) -> None:
    """Classes are numbered as they appear, and their items are in order."""
    sampler: NxMSampler = cls(labels, 3, 1)
    assert [each.tolist() for each in sampler.labels_to_indices.values()] in (
        [[0, 2, 5], [1, 4], [3]],
        [[0, 2, 5], [1], [3], [4]],
    )
    assert list(sampler.labels_to_indices) == list(dict.fromkeys(labels))
    assert sampler.labels.tolist() == list(labels)
    assert Counter(item for batch in sampler.batches() for item in batch).keys() <= set(range(6))
    if isinstance(labels, np.ndarray):
        assert (sampler.labels == labels).all()


class Column:
    """A column of a data frame: it has a dtype, but not what arrays have else."""

    dtype = np.dtype(np.int64)

    def __array__(self, dtype: Any = None, copy: Any = None) -> NDArray[np.int64]:
        return np.array(LABELS)


def test_numbers_and_labels_of_other_libraries() -> None:
    """Not overflowing like NumPy's integers; equal labels are one class, whatever holds them."""
    expected = list(PlannedNxMSampler(LABELS, 2, 2, num_replicas=2, rank=1, seed=5))
    each = (np.int8(2), np.int32(2))
    options: Any = {"num_replicas": np.int64(2), "rank": np.uint8(1), "seed": np.int64(5)}
    sampler = PlannedNxMSampler(Column(), *each, **options)  # type: ignore[arg-type]
    assert list(sampler) == expected
    sampler.set_epoch(np.int64(1))  # type: ignore[arg-type]
    assert list(sampler) != expected and type(sampler.state_dict()["epoch"]) is int
    wide: Any = np.int8(100)
    assert PlannedNxMSampler(np.arange(100), wide, wide).batch_size == 10_000
    for wrong in (1.5, "1"):
        with pytest.raises(TypeError, match="integer"):
            PlannedNxMSampler(LABELS, 2, 2, seed=wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("cls", ALL)
def test_copies_draw_alike(cls: type[NxMSampler]) -> None:
    sampler = cls(LABELS, 2, 2)
    drawn = list(sampler)
    for copy in (pickle.loads(pickle.dumps(sampler)), deepcopy(sampler)):
        assert list(copy) == drawn == [item for batch in copy.batches() for item in batch]


def test_what_can_be_read() -> None:
    sampler = ExhaustiveNxMSampler(LABELS, 2, 2, num_replicas=2, rank=1)
    assert (sampler.num_batches, sampler.total_size, sampler.batch_size) == (3, 12, 4)
    assert (sampler.num_replicas, sampler.rank, sampler.distributed) == (2, 1, True)
    assert (sampler.num_batches_per_replica, sampler.epoch, sampler.seed) == (2, 0, 1234)
    assert str(sampler) == (
        "ExhaustiveNxMSampler: dataset_len=10, num_classes=3, N=2, M=2, batch_size=4,"
        " num_batches=3, total_samples=12, rank=1, num_replicas=2, batches_per_replica=2."
    )
    assert sampler.labels.tolist() == LABELS and sampler.unique_labels.tolist() == [0, 1, 2]


def test_repeats_are_left_to_chance() -> None:
    """Chance decides which of 5 items fill the second slot of 4; no item repeats in a slot."""
    sampler = ExhaustiveNxMSampler(np.arange(10) // 5, 2, 4)
    counts = np.zeros(10)
    for epoch in range(1000):
        sampler.set_epoch(epoch)
        drawn = list(sampler)
        assert all(len(set(slot)) == 4 for slot in np.reshape(drawn, (-1, 4)).tolist())
        counts += np.bincount(drawn, minlength=10) - 1
    chi_square = ((counts - 600) ** 2 / 600).sum()
    assert chi_square < 8 + 5 * 4, "df = 8, five standard deviations"


def test_as_distinct_as_can_be() -> None:
    """The case in which BA-LR's second batch has one class twice, though it need not."""
    labels = [0, 0, 1, 1, 2, 2, 2, 2]
    theirs = ExhaustiveNxMSampler(labels, 2, 2, shuffle=False, compat="balr").plan()
    ours = ExhaustiveNxMSampler(labels, 2, 2, shuffle=False).plan()
    assert (theirs.distinct_batches, ours.distinct_batches, ours.batches) == (1, 2, 2)


def test_large_sets_are_dealt_by_compiled_code_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """Zipf's sizes: BA-LR repeats a class in many batches, where in few it must be so."""
    sizes = (60_000 / np.arange(1, 1001) ** 0.8 / 8).astype(int) + 1
    labels = np.random.default_rng(0).permutation(np.repeat(np.arange(1000), sizes))
    sampler = ExhaustiveNxMSampler(labels, 64, 2)
    compiled, plan = list(sampler), sampler.plan()
    monkeypatch.setattr("exset.core.kernels.Kernels.use_compiled", lambda *_: False)
    assert list(sampler) == compiled
    slots = -(-np.bincount(labels) // 2)
    assert plan.distinct_batches == lay_out(slots, 64, fill=False).distinct
    theirs = ExhaustiveNxMSampler(labels, 64, 2, compat="balr").plan()
    assert theirs.distinct_batches < plan.distinct_batches < plan.batches
    assert theirs.coverage <= plan.coverage


def test_random_draws_small_classes_evenly() -> None:
    sampler = RandomNxMSampler([0, 0, 0, 1], 2, 4, seed=3)
    for epoch in range(50):
        sampler.set_epoch(epoch)
        counts = Counter(sampler)
        assert sorted(counts[item] for item in range(3)) == [1, 1, 2] and counts[3] == 4


def test_names() -> None:
    home = "balr.samplers.nxm_samplers"
    for name in ("random", "RandomNxMSampler", f"{home}.RandomNxMSampler"):
        assert sampler_class(name) is RandomNxMSampler
    assert sampler_class(f"{home}.ExhaustiveNxMSampler") is ExhaustiveNxMSampler
    assert sampler_class("planned") is PlannedNxMSampler is exset.PlannedNxMSampler
    for name in ("os.system", f"{home}.PlannedNxMSampler", "nothing"):
        with pytest.raises(ValueError, match="random, exhaustive, planned"):
            sampler_class(name)
    sampler = build_sampler(f"{home}.ExhaustiveNxMSampler", LABELS, 2, 2, shuffle=False)
    assert list(sampler)[:4] == [0, 1, 5, 6]


def test_samplers_built_by_name_take_all_arguments() -> None:
    """The names of BA-LR's, and those of the classes."""
    theirs = build_sampler(
        sampler_path="random",
        labels=LABELS,
        N_classes_per_batch=2,
        M_samples_per_class=2,
        rank=0,
        num_replicas=1,
        compat="balr",
    )
    assert list(theirs) == [1, 3, 5, 6, 9, 8, 2, 0]
    weights: dict[Hashable, float] = {0: 3.0}
    planned = build_sampler("planned", LABELS, 2, 2, weights=weights)
    assert list(planned) == list(PlannedNxMSampler(LABELS, 2, 2, weights=weights))
    with pytest.raises(ValueError, match=r"^RandomNxMSampler has no argument 'weights'"):
        build_sampler("random", LABELS, 2, 2, weights=weights)
    with pytest.raises(ValueError, match=r"^PlannedNxMSampler has no argument 'compat'"):
        build_sampler("planned", LABELS, 2, 2, compat="balr")


def test_the_package_exports_its_samplers() -> None:
    for name in samplers.__all__:
        assert getattr(samplers, name) is not None
    assert samplers.PlannedNxMSampler is exset.PlannedNxMSampler
    assert samplers.build_sampler is exset.build_sampler


def test_entry_points(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("mine", "exset.runtime.samplers.nxm:RandomNxMSampler", registry.GROUP)
    monkeypatch.setattr(registry, "points", lambda group: [point])
    assert sampler_class("mine") is RandomNxMSampler
    with pytest.raises(ValueError, match="planned, mine"):
        sampler_class("other")
