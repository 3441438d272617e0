"""Copies to a device in a stream: on a model of CuPy, whose copies take their time."""

import gc
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike

from exset.runtime.arrays import Device, to_host
from exset.runtime.training.batches import Batches
from exset.runtime.training.dataset import Values
from tests.training import cupy_model
from tests.training.squares import Squares


@pytest.fixture(autouse=True)
def cupy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", cupy_model.module())
    monkeypatch.setattr(cupy_model, "free", [])
    monkeypatch.setattr(cupy_model, "USERS", [cupy_model.Stream() for _ in range(2)])


def arrived(batch: dict[str, Values]) -> bool:
    number, square = to_host(batch["number"]), to_host(batch["square"])
    return bool((square == np.outer(number, number)).all() and number[-1] > 0)


@pytest.mark.parametrize("prefetch", [0, 1, 4])
def test_batches_arrive(prefetch: int) -> None:
    batches = Batches(Squares(40), range(40), 3, "cuda", prefetch)
    kept = [batch for batch in batches if arrived(batch)]
    assert len(kept) == 14, "each is there when it is received"
    for number, batch in enumerate(kept):
        wanted = np.arange(number * 3, min(number * 3 + 3, 40))
        assert isinstance(batch["number"], cupy_model.ndarray)
        assert to_host(batch["number"]).tolist() == wanted.tolist()
        assert to_host(batch["square"]).tolist() == np.outer(wanted, wanted).tolist()
        assert batch["square"].dtype == np.dtype(np.float32), "in the order of bytes here"
        assert type(batch["name"]) is np.ndarray


@pytest.mark.parametrize("prefetch", [0, 1, 4])
def test_a_batch_is_not_written_while_it_is_used(prefetch: int) -> None:
    """The user's kernels are yet to run when the next copies are under way into its memory."""
    seen: list[list[int]] = []

    def kernel(memory: Any) -> Callable[[], None]:
        return lambda: seen.append(memory.view(np.int64).tolist())

    batches: Any = Batches(Squares(60), range(60), 2, "cuda", prefetch)
    for batch in batches:
        cupy_model.USERS[0].work.append(kernel(batch["number"].memory))
        del batch
    cupy_model.USERS[0].wait()
    assert seen == [[each, each + 1] for each in range(0, 60, 2)]
    assert len(cupy_model.free) < 20, "the memory was used again"


@pytest.mark.parametrize("prefetch", [0, 3])
def test_what_is_left_under_way_is_copied_first(prefetch: int) -> None:
    iteration = iter(Batches(Squares(60), range(60), 2, "cuda", prefetch))
    batch = next(iteration)
    iteration.close()
    del iteration
    gc.collect()
    assert to_host(batch["number"]).tolist() == [0, 1]


def test_arrays_that_are_there_and_empty_ones() -> None:
    there: Any = cupy_model.ndarray((2,), np.int64)

    class Some(Squares):
        def batch(self, indices: ArrayLike) -> dict[str, Values]:
            made: Any = {"there": there, "none": np.empty((0, 3), np.float32)}
            return {**made, "one": np.array(4.5)}

    (batch,) = Batches(Some(1), range(1), 1, "cuda")
    assert batch["there"] is there
    assert to_host(batch["none"]).shape == (0, 3) and to_host(batch["one"]) == 4.5


class TorchDevice:
    """What exset needs of a `torch.device`."""

    def __init__(self, type: str, index: int | None) -> None:
        self.type, self.index = type, index

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"


@pytest.mark.parametrize("prefetch", [0, 2])
@pytest.mark.parametrize(
    "device, number",
    [("cuda", 0), ("cuda:0", 0), ("cuda:1", 1), (TorchDevice("cuda", 1), 1)],
    ids=str,
)
def test_the_device_with_a_number(device: Device, number: int, prefetch: int) -> None:
    """Its arrays and its stream are used, and the current device of the caller stays current."""
    batches: Any = Batches(Squares(40), range(40), 3, device, prefetch)
    for batch in batches:
        assert cupy_model.current() == 0
        assert batch["number"].device == batch["square"].device == number
        assert arrived(batch) or batch["number"].shape == (1,)
    assert cupy_model.USERS[number].work and not cupy_model.USERS[1 - number].work
    with cupy_model.Device(1):  # "cuda" is the device that is current when an iteration begins
        batch = next(iter(batches))
    assert batch["number"].device == (1 if device == "cuda" else number)


def test_devices_that_are_not_there() -> None:
    for device in ("cuda:2", TorchDevice("cuda", 7)):
        with pytest.raises(ValueError, match=r"unknown device 'cuda:.': CuPy has 2 devices"):
            Batches(Squares(4), range(4), 2, device)
    for wrong in ("cuda:", "cuda:-1", "cuda:one", "gpu", TorchDevice("mps", None)):
        with pytest.raises(ValueError, match=f"unknown device '{wrong}': use 'cpu', 'cuda'"):
            Batches(Squares(4), range(4), 2, wrong)
    for host in ("cpu:0", TorchDevice("cpu", None)):
        (batch,) = Batches(Squares(2), range(2), 2, host)
        assert type(batch["number"]) is np.ndarray
