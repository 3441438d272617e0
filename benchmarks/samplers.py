"""Measure samplers: batches of 64 classes by 4 samples, against samplers for torch."""

import itertools
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from importlib import import_module

import numpy as np
from numpy.typing import NDArray

import exset
from benchmarks.inputs import Inputs
from benchmarks.measure import Spread, race, seconds
from benchmarks.rows import Cases, Figures

SIZES = {"1M/10k": (1_000_000, 10_000), "10M/100k": (10_000_000, 100_000)}
"""The numbers of items and classes."""
WIDE, SAMPLES = 64, 4

_SEED = 20
_TRIAL = 100 * WIDE * SAMPLES
"""The number of indices that the slow peer draws; its times are scaled up."""


def drawings(inputs: Inputs, runs: int) -> Cases:
    """Yield grouping labels, a whole epoch at once and one by one, and one batch of an epoch."""
    kinds = {name: (*size, 0.0) for name, size in SIZES.items()}
    kinds["1M/10k, half of it one class"] = (*SIZES["1M/10k"], 0.5)
    for name, (items, classes, part) in kinds.items():
        labels = partial(_labels, int(items * inputs.part), int(classes * inputs.part), part)
        yield f"build {name}", partial(_build, labels, runs)
        yield f"epoch at once {name}", partial(_whole, labels, runs)
        yield f"epoch in batches {name}", partial(_batches, labels, runs)
        yield f"epoch set-up {name}", partial(_first, labels, runs, batches=0)
        yield f"set-up and a batch {name}", partial(_first, labels, runs, batches=1)


@cache
def _labels(items: int, classes: int, part: float) -> NDArray[np.int64]:
    """Return unsorted labels, some of them of one large class."""
    classes = max(classes, 2 * WIDE)
    labels = np.random.default_rng(_SEED).integers(0, classes, max(items, 8 * classes))
    labels[: int(len(labels) * part)] = 0
    return labels


@cache
def _planned(labels: Callable[[], NDArray[np.int64]]) -> exset.PlannedNxMSampler:
    return exset.PlannedNxMSampler(labels(), WIDE, SAMPLES)


def _build(labels: Callable[[], NDArray[np.int64]], runs: int) -> Figures:
    classes = labels()
    ours = partial(exset.PlannedNxMSampler, classes, WIDE, SAMPLES)
    return _figures(ours, _per_class(classes), "MPerClassSampler", len(classes), runs)


def _whole(labels: Callable[[], NDArray[np.int64]], runs: int) -> Figures:
    sampler = _planned(labels)
    numbers = itertools.count()

    def ours() -> NDArray[np.int64]:
        sampler.set_epoch(next(numbers))
        return sampler.batch(slice(None))

    return _figures(ours, _random(labels()), "RandomSampler", sampler.total_size, runs)


def _batches(labels: Callable[[], NDArray[np.int64]], runs: int) -> Figures:
    sampler = _planned(labels)
    classes = labels()
    made = _per_class(classes)
    part = _TRIAL / sampler.total_size
    peer = None if made is None else partial(_consume, made())
    ours = partial(_consume, sampler.batches())
    return _figures(ours, peer, "MPerClassSampler", sampler.total_size, runs, min(part, 1))


def _first(labels: Callable[[], NDArray[np.int64]], runs: int, batches: int) -> Figures:
    sampler = _planned(labels)
    numbers = itertools.count()

    def ours() -> None:
        sampler.set_epoch(number := next(numbers))
        assert sampler._current_epoch().rows
        if batches:
            sampler.batch(number % sampler.num_batches)

    peer = _random(labels(), WIDE * SAMPLES)
    return _figures(ours, peer, "RandomSampler", WIDE * SAMPLES, runs)


def _figures(
    ours: Callable[[], object],
    peer: Callable[[], object] | None,
    name: str,
    indices: int,
    runs: int,
    part: float = 1,
) -> Figures:
    if peer is None:
        ours()
        times = Spread.of([seconds(ours) for _ in range(runs)])
        theirs, ratio = None, None
    else:
        result = race(ours, peer, runs, peer_part=part)
        times, theirs, ratio = result.subject, result.peer.median, result.ratio
    return {
        "ms": times.median * 1e3,
        "ns an index": Spread(*(each / indices * 1e9 for each in vars(times).values())),
        "peer": name if theirs else f"no {name} here",
        "peer, ns an index": theirs and theirs / indices * 1e9,
        "times as fast": ratio,
    }


def _per_class(labels: NDArray[np.int64]) -> Callable[[], Iterable[object]] | None:
    """Return a function that makes pytorch-metric-learning's sampler; None if not installed."""
    try:
        samplers = import_module("pytorch_metric_learning.samplers")
    except ImportError:
        return None
    return partial(
        samplers.MPerClassSampler, labels, SAMPLES, WIDE * SAMPLES, length_before_new_iter=_TRIAL
    )


def _random(labels: NDArray[np.int64], most: int | None = None) -> Callable[[], object] | None:
    """Return a function that draws an epoch, or its start, with torch; None without torch."""
    try:
        data = import_module("torch.utils.data")
    except ImportError:
        return None
    sampler = data.RandomSampler(range(len(labels)))
    return lambda: _consume(itertools.islice(iter(sampler), most))


def _consume(stream: Iterable[object]) -> None:
    each: Iterator[object] = iter(stream)
    for _ in each:
        pass
