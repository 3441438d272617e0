"""Make the input files: three kinds of text, and the same sets as binary files."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import exset
from exset.grammars.lens.examples import ExampleSet

SIZES = {"dense": 50_000, "sparse": 200_000, "mixed": 100_000}
"""The kinds, each with the number of examples in its file."""

ROOT = Path(__file__).parent.parent
"""The folder from which processes import exset and the benchmarks."""

_SEED = 20


def lines(kind: str, count: int) -> Iterator[str]:
    """Yield the examples of a file as text."""
    return {"dense": _dense, "sparse": _sparse, "mixed": _mixed}[kind](count)


def _dense(count: int) -> Iterator[str]:
    """Yield named examples of 100 inputs and 20 targets, numbers of 4 digits."""
    words = [f"0.{number:04}" for number in range(10_000)]
    draw = np.random.default_rng(_SEED)
    for number in range(count):
        values = [words[i] for i in draw.integers(0, 10_000, 120).tolist()]
        yield f"name:{{example {number}}} I: {' '.join(values[:100])} T: {' '.join(values[100:])};"


def _sparse(count: int) -> Iterator[str]:
    """Yield examples with a few active units, and a span of them."""
    draw = np.random.default_rng(_SEED)
    for a, b, c, d in draw.integers(0, 80, (count, 4)).tolist():
        yield f"i: {a} {b} {c}-{c + 3} t: {d};"


def _mixed(count: int) -> Iterator[str]:
    """Yield events with lists, times, groups and shared targets, in all kinds of syntax."""
    draw = np.random.default_rng(_SEED)
    for number, (a, b, c) in enumerate(draw.integers(1, 50, (count, 3)).tolist()):
        yield (
            f"name:{{word {number}}} 3 [0 max:{a}.5 min:1] [1-2 max:2] [0] I: 0.{a} {b} 0"
            f" [1-2] I: {c} 0.25 0 [2] T: 1 0.{c};",
            f"freq:{a} I: {{onset}} {b} {{vowel}} {c} {{coda 0.5}} 3 {a}-{a + 4}"
            f" T: (phoneme 3) 1 0 0.{b} 1 (stress) 1;",
            f"name:{number} B: 0.{a} 0.{b} {c};",
            f"b: {a} {a + b}-{a + b + c};",
            f"name:{{both of {number}}} 2 [*] I: {a} 0.{b} 1 [1] t: *;",
            f"proc:{{set answer {a}}} I: (onset) 0.{a} 0.{b} {{vowel 0}} * T: {{-}} * ;",
        )[number % 6]


@dataclass
class Inputs:
    """The files, each made on first use; part: the fraction of the full size."""

    folder: str
    part: float
    _models: dict[tuple[str, float], ExampleSet] = field(default_factory=dict)

    def path(self, kind: str, suffix: str, part: float = 1) -> str:
        """Return the path of a file of a kind, with a fraction of its examples."""
        path = os.path.join(self.folder, f"{kind}-{self._count(kind, part)}{suffix}")
        if not os.path.exists(path):
            if suffix == ".ex":
                text = "\n".join(lines(kind, self._count(kind, part)))
                with open(path, "w", encoding="ascii") as file:
                    file.write(f"max: 4 defT: 0.5\n;\n{text}\n")
            else:
                exset.save(self.model(kind, part), path)
        return path

    def model(self, kind: str, part: float = 1) -> ExampleSet:
        """Return the content of the file."""
        if (kind, part) not in self._models:
            self._models[kind, part] = exset.load(self.path(kind, ".ex", part), model=ExampleSet)
        return self._models[kind, part]

    def _count(self, kind: str, part: float) -> int:
        return max(int(SIZES[kind] * self.part * part), 6)
