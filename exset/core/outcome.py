"""The outcome of work on one file: a value, or an error that does not stop the other files."""

import errno
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Generic, TypeVar, cast

from exset.core.errors import FormatError

Item = TypeVar("Item", bound=str | os.PathLike[str])
Value = TypeVar("Value")


def part_of(item: str | os.PathLike[str]) -> str | None:
    """Return which part of a file a unit of work is, such as `2/8`; None for a whole file."""
    part: str | None = None if isinstance(item, str) else getattr(item, "part", None)
    return part


def output_of(item: str | os.PathLike[str]) -> str | None:
    """Return the attribute `target` of a unit of work: the file that it writes. None: no file."""
    target: str | None = None if isinstance(item, str) else getattr(item, "target", None)
    return target


@dataclass(frozen=True)
class Outcome(Generic[Item, Value]):
    """The outcome of work on one file: a value or an error."""

    item: Item
    value: Value | None = None
    error: FormatError | OSError | None = None

    def result(self) -> Value:
        """Return the value, or raise the error."""
        if self.error is not None:
            raise self.error
        return cast(Value, self.value)


def outcome_of(item: Item, result: Callable[[], Value]) -> Outcome[Item, Value]:
    """Call `result`, and return its value as an outcome.

    If it raises FormatError, OSError or MemoryError, the outcome is this error. `item`: the file
    that `result` works on.
    """
    try:
        try:
            return Outcome(item, result())
        except MemoryError:
            why = os.strerror(errno.ENOMEM)
            raise OSError(errno.ENOMEM, why, os.fsdecode(item)) from None
    except (FormatError, OSError) as error:
        return Outcome(item, error=error)


def died(item: Item) -> Outcome[Item, Value]:
    """Return the outcome for a file whose worker process died: an error that says so."""

    def fail() -> Value:
        why = "the worker process of this file died"
        raise ChildProcessError(errno.ECHILD, why, os.fsdecode(item))

    return outcome_of(item, fail)


@dataclass(frozen=True)
class Batch(Generic[Value]):
    """What a worker returns for a batch: a value or an error for each file, and the seconds."""

    results: list[tuple[Value | None, FormatError | OSError | None]]
    seconds: float


def run_batch(work: Callable[[Item], Value], items: list[Item]) -> Batch[Value]:
    """Do the work on a batch of files, one after another, in this process.

    Tracebacks and contexts are removed from errors, because some libraries (Dask) would pickle
    them.
    """
    begun = perf_counter()
    done = [outcome_of(item, partial(work, item)) for item in items]
    for each in done:
        if (error := each.error) is not None:
            error.__traceback__ = error.__context__ = error.__cause__ = None
    return Batch([(each.value, each.error) for each in done], perf_counter() - begun)
