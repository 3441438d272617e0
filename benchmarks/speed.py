"""Measure loading and saving, against NumPy and `re` with the same number of values."""

import os
from collections.abc import Callable
from functools import partial
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

import exset
from benchmarks import grammars, lists, manifests, peers
from benchmarks.inputs import SIZES, Inputs
from benchmarks.measure import Race, race
from benchmarks.rows import Cases, Figures
from exset.core.threads import ENVIRONMENT
from exset.grammars.lens.examples import ExampleSet


def loads(inputs: Inputs, runs: int) -> Cases:
    """Yield loading, from file to `ExampleSet` with all columns."""
    for kind in SIZES:
        for suffix, peer, name in (
            (".ex", peers.numbers, "re + float"),
            (".bex", peers.words, "fromfile + byteswap"),
        ):
            yield kind + suffix, partial(_load, inputs, kind, suffix, peer, name, runs)


def _load(
    inputs: Inputs,
    kind: str,
    suffix: str,
    peer: Callable[[str], object],
    name: str,
    runs: int,
) -> Figures:
    path = inputs.path(kind, suffix)
    result = race(partial(exset.load, path), partial(peer, path), runs)
    return _figures(result, os.path.getsize(path), name, peers.LENS.get((kind, suffix)))


def threads(inputs: Inputs, runs: int) -> Cases:
    """Yield loading in two threads, with one thread as the peer."""
    for kind in SIZES:
        yield f"{kind}.ex", partial(_load_in_threads, inputs.path(kind, ".ex"), runs)
    yield "manifest", partial(_load_in_threads, manifests.path_of(inputs), runs)
    yield "sample list", partial(_load_in_threads, lists.path_of(inputs, "text"), runs)
    for name, make in grammars.TEXTS.items():
        size = int(grammars.SIZE * inputs.part)
        yield f"own grammar, {name}", partial(_parse_in_threads, make, size, runs)


def _load_in_threads(path: str, runs: int) -> Figures:
    return _threads(partial(exset.load, path), os.path.getsize(path), runs)


def _parse_in_threads(make: Callable[[int], grammars.Text], size: int, runs: int) -> Figures:
    text = make(size)
    data = text.data()
    return _threads(partial(text.grammar.parse, data), len(data), runs)


def _threads(read: Callable[[], object], size: int, runs: int) -> Figures:
    def read_in(count: int) -> None:
        with patch.dict(os.environ, {ENVIRONMENT: str(count)}):
            read()

    result = race(partial(read_in, 2), partial(read_in, 1), runs)
    return _figures(result, size, "one thread", None)


def saves(inputs: Inputs, runs: int) -> Cases:
    """Yield saving, from `ExampleSet` to a complete file on disk."""
    for kind in SIZES:
        for suffix in (".ex", ".bex"):
            yield kind + suffix, partial(_save, inputs, kind, suffix, runs)


def _save(inputs: Inputs, kind: str, suffix: str, runs: int) -> Figures:
    model, size = inputs.model(kind), os.path.getsize(inputs.path(kind, suffix))
    ours, theirs = (os.path.join(inputs.folder, name + suffix) for name in ("ours", "theirs"))
    subject = partial(exset.save, model, ours)
    if suffix == ".ex":
        peer, name = partial(peers.write_numbers, theirs, _numbers(model)), "%g + join"
    else:
        words = np.fromfile(inputs.path(kind, suffix), np.uint32)
        peer, name = partial(peers.write_words, theirs, words), "byteswap + tobytes"
    return _figures(race(subject, peer, runs), size, name, None)


def _numbers(model: ExampleSet) -> NDArray[np.float32]:
    """Return all numbers in the text of the set."""
    ranges = model.ranges
    return np.concatenate([ranges.values.values, ranges.units.values.astype(np.float32)])


def _figures(result: Race, size: int, peer: str, lens: float | None) -> Figures:
    return {
        "MB": size / 1e6,
        "seconds": result.subject,
        "MB/s": result.subject.rate(size / 1e6),
        "peer": peer,
        "times as fast": result.ratio,
        "Lens, MB/s": lens,
    }
