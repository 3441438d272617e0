"""Measure `to_arrays` of example sets, against plain copies and against a slow model in Python."""

from collections.abc import Callable
from functools import partial

import numpy as np

import exset
from benchmarks.inputs import Inputs
from benchmarks.measure import race, seconds
from benchmarks.rows import Cases, Figures
from exset.grammars.lens.examples import ExampleSet

_PART = 1 / 200
"""The fraction of a set that the slow model reads; the times are scaled up."""


def fillings(inputs: Inputs, runs: int) -> Cases:
    """Yield `to_arrays` of 50,000 dense and of 200,000 sparse events, with their layouts."""
    for kind in ("dense", "sparse"):
        yield kind, partial(_filling, inputs, kind, runs)


def _filling(inputs: Inputs, kind: str, runs: int) -> Figures:
    examples, some = inputs.model(kind), inputs.model(kind, _PART)
    arrays = exset.to_arrays(examples)
    size = arrays.inputs.nbytes + arrays.targets.nbytes
    layouts = arrays.input_layout.units, arrays.target_layout.units
    del arrays
    fill = partial(exset.to_arrays, examples, *layouts)
    result, fresh = race(fill, _copy(size), runs), race(fill, _fresh_copy(size), runs)
    slow = seconds(partial(_slowly, some, *layouts)) * len(examples) / len(some)
    return {
        "MB": size / 1e6,
        "GB/s": size / 1e9 / result.subject.median,
        "np.copyto, GB/s": size / 1e9 / result.peer.median,
        "of its speed": result.ratio,
        "of a copy into new memory": fresh.ratio,
        "times as fast as the slow model": slow / result.subject.median,
    }


def _copy(size: int) -> Callable[[], object]:
    """Return a function that copies the same number of bytes into existing memory."""
    source, target = np.ones(size, np.uint8), np.ones(size, np.uint8)
    return partial(np.copyto, target, source)


def _fresh_copy(size: int) -> Callable[[], object]:
    """Return a function that copies the same number of bytes into new memory, as arrays need."""
    source = np.ones(size, np.uint8)
    return lambda: np.copyto(np.empty(size, np.uint8), source)


def _slowly(examples: ExampleSet, inputs: int, targets: int) -> list[list[float]]:
    """Return the rows in plain Python, for ranges without groups."""
    rows = []
    for example in examples:
        for event in example.events:
            for side, units in (("input", inputs), ("target", targets)):
                row = [event.effective(f"default_{side}")] * units
                for each in getattr(event, f"{side}s") or ():
                    if each.kind == "dense":
                        row[each.first : each.first + len(each.values)] = each.values.tolist()
                        continue
                    first = 0
                    for unit in each.units.tolist():
                        if unit >= 0:
                            row[unit] = each.value
                            first = unit
                        else:
                            row[first : 1 - unit] = [each.value] * (1 - unit - first)
                rows.append(row)
    return rows
