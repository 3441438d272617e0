"""Measure the time for an example in files of several sizes: it should not grow."""

import os
from collections.abc import Callable
from functools import partial

import exset
from benchmarks.inputs import SIZES, Inputs
from benchmarks.measure import Spread, seconds
from benchmarks.rows import Cases, Figures

_PARTS = {"1x": 1 / 16, "4x": 1 / 4, "16x": 1.0}
"""The sizes of files, as fractions of the full size."""


def growths(inputs: Inputs, runs: int) -> Cases:
    """Yield loading and saving of all kinds of files, in both formats."""
    for verb in ("load", "save"):
        for kind in SIZES:
            for suffix in (".ex", ".bex"):
                name = f"{verb} {kind}{suffix}"
                yield name, partial(_growth, inputs, verb, kind, suffix, runs)


def _growth(inputs: Inputs, verb: str, kind: str, suffix: str, runs: int) -> Figures:
    acts = {name: _act(inputs, verb, kind, suffix, part) for name, part in _PARTS.items()}
    for act in acts.values():
        act()
    times: dict[str, list[float]] = {name: [] for name in acts}
    for _ in range(runs):
        for name, act in acts.items():
            times[name].append(seconds(act))
    figures: Figures = {f"{name}, s": Spread.of(taken).median for name, taken in times.items()}
    for name, scale in (("4x", 4), ("16x", 16)):
        each = [many / scale / one for many, one in zip(times[name], times["1x"], strict=True)]
        figures[f"cost of one at {name}"] = Spread.of(each)
    return figures


def _act(inputs: Inputs, verb: str, kind: str, suffix: str, part: float) -> Callable[[], object]:
    if verb == "load":
        return partial(exset.load, inputs.path(kind, suffix, part))
    target = os.path.join(inputs.folder, f"grown{suffix}")
    return partial(exset.save, inputs.model(kind, part), target)
