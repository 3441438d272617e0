"""Reports about a model: numbers for programs, and rows of text for people."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exset.core.html import table

Row = tuple[str, str]


@dataclass(frozen=True)
class Report:
    """A report about a model: numbers with names, and rows of (label, text)."""

    numbers: dict[str, object] = field(default_factory=dict)
    lines: list[Row] = field(default_factory=list)

    def add(self, **numbers: object) -> None:
        """Add numbers by name: values that JSON can store."""
        self.numbers.update(numbers)

    def row(self, label: str, *parts: str) -> None:
        """Add a row with the parts that are not empty. If all parts are empty, add no row."""
        if text := ", ".join(filter(None, parts)):
            self.lines.append((label, text))

    def texts(self, label: str, lines: Sequence[str], most: int) -> None:
        """Add a row for each of the first `most` lines. If there are more, add a row that counts
        the others.
        """
        for number, text in enumerate(lines[:most]):
            self.row("" if number else label, text)
        if len(lines) > most:
            self.row("", f"and {len(lines) - most:,} more")

    def to_dict(self) -> dict[str, object]:
        """Return the numbers for JSON."""
        return dict(self.numbers)

    def rows(self) -> list[Row]:
        """Return the rows as (label, text), for people."""
        return list(self.lines)

    def _repr_html_(self) -> str:
        return table("statistics", ("", ""), self.lines, len(self.lines), most=len(self.lines))


def some(count: int, what: str) -> str:
    """Return a count with a word, such as `2 shared`, as a part of a row. For 0, return ""."""
    return f"{count:,} {what}" if count else ""


@dataclass
class Extremes:
    """The smallest and the largest of numbers that come in chunks."""

    low: int | None = None
    high: int | None = None

    def add(self, values: NDArray[Any]) -> None:
        """Add the next numbers."""
        if values.size:
            low, high = limits_of(values)
            self.low = low if self.low is None else min(low, self.low)
            self.high = high if self.high is None else max(high, self.high)

    def merge(self, other: "Extremes") -> None:
        """Add the numbers that were added to `other`."""
        for end in (other.low, other.high):
            if end is not None:
                self.low = end if self.low is None else min(end, self.low)
                self.high = end if self.high is None else max(end, self.high)

    def bounds(self) -> tuple[int, int]:
        """Return the smallest and the largest number. Return (0, 0) if there are no numbers."""
        return self.low or 0, self.high or 0


def limits_of(values: NDArray[Any]) -> tuple[int, int]:
    """Return the smallest and the largest number. Return (0, 0) if there are no numbers."""
    return (int(values.min()), int(values.max())) if values.size else (0, 0)


def finite(value: float) -> float | None:
    """Return a number for JSON. Return None for NaN and infinity, which JSON cannot store."""
    return value if math.isfinite(value) else None


def most_frequent(counts: Mapping[str, int], most: int) -> str:
    """Return the first `most` counts as text, such as `2 .jpg, 1 .png`."""
    return ", ".join(f"{count:,} {name}" for name, count in [*counts.items()][:most])


def memory_of(part: object) -> int:
    """Return the number of bytes of all arrays in a dataclass or a dictionary.

    In an array that repeats one value without more memory, such as a constant column, the value
    counts once.
    """
    if isinstance(part, np.ndarray):
        sizes = zip(part.shape, part.strides, strict=True)
        own = math.prod(count if step else min(count, 1) for count, step in sizes)
        return int(part.itemsize * own)
    if is_dataclass(part):
        return sum(memory_of(getattr(part, each.name)) for each in fields(part))
    if isinstance(part, Mapping):
        return sum(map(memory_of, part.values()))
    return 0
