"""Batches by torch's samplers, and Lens's orders in torch's loaders."""

from types import ModuleType
from typing import Any

import numpy as np
import pytest

import exset
from exset.runtime.training.batches import Batches
from tests.training.squares import Squares, numbers_of


def test_samplers_of_torch(torch: ModuleType) -> None:
    """They give what they give; only one that is set an epoch can give it again."""
    data = torch.utils.data
    known = list(range(10))
    random = data.RandomSampler(known, generator=torch.Generator().manual_seed(3))
    for sampler, size in [
        (data.SequentialSampler(known), 4),
        (random, 4),
        (data.SubsetRandomSampler(known), 4),
        (data.BatchSampler(data.SequentialSampler(known), 4, drop_last=False), None),
    ]:
        batches = Batches(Squares(10), sampler, size)
        found = numbers_of(batches)
        assert [len(batch) for batch in found] == [4, 4, 2] and len(batches) == 3
        assert sorted(each for batch in found for each in batch) == known
        with pytest.raises(TypeError, match=f"^{type(sampler).__name__} cannot"):
            batches.state_dict()
    labels = torch.tensor([3, 1, 2])
    assert numbers_of(Batches(Squares(10), labels, 2)) == [[3, 1], [2]]
    assert numbers_of(Batches(Squares(10), [labels, labels[:1]])) == [[3, 1, 2], [3]]
    assert numbers_of(Batches(Squares(10), list(labels), 2)) == [[3, 1], [2]]


@pytest.mark.parametrize("prefetch", [0, 3])
def test_a_sampler_of_replicas_goes_on(torch: ModuleType, prefetch: int) -> None:
    def make(seed: int) -> Batches:
        sampler = torch.utils.data.DistributedSampler(range(50), 2, 1, seed=seed)
        return Batches(Squares(50), sampler, 4, prefetch=prefetch)

    batches = make(5)
    batches.set_epoch(3)
    wanted = numbers_of(batches)
    iteration = iter(batches)
    assert [next(iteration)["number"].tolist() for _ in range(2)] == wanted[:2]
    state = batches.state_dict()
    assert (state["epoch"], state["batch"]) == (3, 2)  # type: ignore[typeddict-item]
    again, other = make(5), make(6)
    again.load_state_dict(state)
    assert numbers_of(again) == wanted[2:]
    other.load_state_dict(state)
    with pytest.raises(ValueError, match="other indices"):
        list(other)


class Counting:
    """A sampler with a state of its own, which it gives as it is and changes, as some do."""

    def __init__(self) -> None:
        self.state: dict[str, Any] = {"given": 0}

    def __iter__(self) -> Any:
        while self.state["given"] < 20:
            self.state["given"] += 1
            yield self.state["given"]

    def state_dict(self) -> dict[str, Any]:
        return self.state

    def load_state_dict(self, state: Any) -> None:
        self.state = state


@pytest.mark.parametrize("prefetch", [0, 3])
def test_a_state_of_the_samplers_own(prefetch: int) -> None:
    batches = Batches(Squares(99), Counting(), 3, prefetch=prefetch)
    iteration = iter(batches)
    next(iteration), next(iteration)
    state = batches.state_dict()
    assert state == {"epoch": 0, "sampler": {"given": 6}}
    again = Batches(Squares(99), Counting(), 3, prefetch=prefetch)
    again.load_state_dict(state)
    assert numbers_of(again)[0] == [7, 8, 9]
    assert state == {"epoch": 0, "sampler": {"given": 6}}, "it stays what it was"


@pytest.mark.parametrize("workers", [0, 2])
def test_orders_in_loaders(torch: ModuleType, workers: int) -> None:
    """And the state under a loader that fetches ahead."""
    examples = exset.ExampleSet.from_arrays(np.zeros((40, 2, 1)), None)
    rows = torch.arange(80)
    sampler = exset.ExampleSampler(examples, "permuted")
    batches = sampler.batches(3, events=True)
    wanted = list(batches)
    loader = torch.utils.data.DataLoader(rows, batch_sampler=batches, num_workers=workers)
    assert [batch.tolist() for batch in loader] == wanted
    flat = torch.utils.data.DataLoader(
        rows, sampler=sampler, batch_size=3, num_workers=workers, drop_last=True
    )
    assert [batch.tolist() for batch in flat] == list(sampler.batches(3, drop_last=True))
    iteration = iter(loader)
    next(iteration), next(iteration)
    again = exset.ExampleSampler(examples, "permuted").batches(3, events=True)
    again.load_state_dict(batches.state_dict(yielded=2))
    assert list(again) == wanted[2:]
