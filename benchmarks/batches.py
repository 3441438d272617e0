"""Measure batches: rows of 120 numbers against a plain loop, events against indexed arrays."""

import time
from collections.abc import Callable, Iterable
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from itertools import product

import numpy as np
from numpy.typing import ArrayLike

import exset
from benchmarks.inputs import Inputs
from benchmarks.measure import Race, Spread, race
from benchmarks.rows import Cases, Figures
from exset.grammars.columns.arrays import Longs
from exset.runtime.training.dataset import Dataset, Values

ROWS, WIDE = 50_000, 120

_AHEAD = {"no thread": 0, "2 ahead": 2}

Use = Callable[[dict[str, Values]], object]
Read = Callable[[Longs], dict[str, Values]]


class Rows(Dataset):
    """A dataset of the rows of an array."""

    fields = ("inputs",)

    def __init__(self, rows: int) -> None:
        """Make a number of rows."""
        self.inputs = np.zeros((rows, WIDE), np.float32)

    def __len__(self) -> int:
        return len(self.inputs)

    def batch(self, indices: ArrayLike) -> dict[str, Values]:
        """Return some rows."""
        return {"inputs": self.inputs[np.asarray(indices)]}


def epochs(inputs: Inputs, runs: int) -> Cases:
    """Yield rows of an array, also with a millisecond of device work, and events of sets."""
    rows = Rows(max(int(ROWS * inputs.part), 1000))
    for name, prefetch, size, use in [
        ("256 rows, no thread", 0, 256, len),
        ("256 rows, 2 ahead", 2, 256, len),
        ("4,096 rows and 1 ms of use, 2 ahead", 2, 4096, lambda batch: time.sleep(1e-3)),
    ]:
        yield name, partial(_epoch, rows, rows.batch, size, prefetch, use, runs)
    for kind, (name, prefetch) in product(("dense", "sparse"), _AHEAD.items()):
        yield f"256 {kind} events, {name}", partial(_events, inputs, kind, prefetch, runs)
    if find_spec("torch") is not None:
        yield "256 dense events, torch's loader", partial(_loader, inputs, runs)


def _events(inputs: Inputs, kind: str, prefetch: int, runs: int) -> Figures:
    """Measure the batches of all ten fields of events; the peer indexes inputs and targets."""
    events = exset.dataset(inputs.model(kind))
    arrays = events.to_arrays()

    def indexed(indices: Longs) -> dict[str, Values]:
        return {name: arrays[name][indices] for name in ("inputs", "targets")}

    return _epoch(events, indexed, 256, prefetch, len, runs)


def _loader(inputs: Inputs, runs: int) -> Figures:
    """Measure all fields of events in torch's loader; the peer has tensors of two fields."""
    data = import_module("torch.utils.data")
    from_numpy = import_module("torch").from_numpy
    events = exset.dataset(inputs.model("dense"))
    arrays = events.to_arrays()
    tensors = data.TensorDataset(*(from_numpy(arrays[name]) for name in ("inputs", "targets")))
    ours, theirs = (
        data.DataLoader(each, batch_size=256, shuffle=True) for each in (events.to_torch(), tensors)
    )
    return _figures(race(lambda: _use(ours, len), lambda: _use(theirs, len), runs), len(ours))


def _epoch(dataset: Dataset, read: Read, size: int, prefetch: int, use: Use, runs: int) -> Figures:
    """Measure an epoch of `Batches`; the peer calls `read` for the same indices."""
    order = np.random.default_rng(0).permutation(len(dataset))
    batches = exset.Batches(dataset, order, size, prefetch=prefetch)

    def plain() -> Iterable[dict[str, Values]]:
        return (read(order[at : at + size]) for at in range(0, len(order), size))

    result = race(lambda: _use(batches, use), lambda: _use(plain(), use), runs)
    return _figures(result, len(batches))


def _figures(result: Race, count: int) -> Figures:
    each = Spread.of([seconds / count * 1e6 for seconds in result.subjects])
    return {
        "us a batch": each,
        "plain, us": result.peer.median / count * 1e6,
        "times as long": result.slowness,
    }


def _use(batches: Iterable[dict[str, Values]], use: Use) -> None:
    for batch in batches:
        use(batch)
