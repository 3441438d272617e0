"""Divide the samples of a list into files with about the same number of samples or bytes."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any

import numpy as np

from exset.core.errors import FormatError, Place
from exset.core.jobs import Jobs
from exset.core.limits import DEFAULT, Limits
from exset.grammars.columns.arrays import Longs
from exset.io.access import DEFAULT_ACCESS, Access
from exset.runtime.hdf5.file import File
from exset.runtime.hdf5.objects import is_group
from exset.runtime.lbann.hdf5_files import run_on_files


def even_cuts(weights: Longs, files: int) -> list[int]:
    """Return the index of the first sample of each new file, and the number of samples: files + 1
    numbers.

    weights: int64 [samples], the size of each sample. Each cut is as near as possible to the place
    that gives all files the same size. So a file differs from the mean by the size of one sample at
    most. Each file has a sample, so there must be at least `files` samples.
    """
    count = weights.size
    if not weights.any():
        weights = np.ones(count, np.int64)
    ends = np.cumsum(weights)
    numbers = np.arange(1, files)
    cuts = np.searchsorted(ends - weights / 2, numbers * float(ends[-1]) / files)
    cuts = np.maximum.accumulate(np.maximum(cuts, numbers) - numbers) + numbers
    cuts = np.minimum(cuts, count - files + numbers)
    return [0, *cuts.tolist(), count]


def loads_of(weights: Longs, cuts: Sequence[int]) -> Longs:
    """Return the size of each new file: int64 [files].

    weights: the size of each sample. cuts: the result of `even_cuts`.
    """
    return np.add.reduceat(weights, cuts[:-1])


@dataclass(frozen=True)
class _Some(os.PathLike[str]):
    """Some samples of one file, which are adjacent in a list."""

    path: str
    samples: tuple[str, ...]

    def __fspath__(self) -> str:
        return self.path


def sample_sizes(
    pairs: Sequence[tuple[str, str]],
    *,
    access: Access = DEFAULT_ACCESS,
    limits: Limits = DEFAULT,
    jobs: Jobs = 1,
) -> Longs:
    """Return the number of bytes of the values of each sample in its file: int64 [samples].

    pairs: for each sample, the path of the file, and the path of the sample in the file. Raises
    OSError, and FormatError for a sample that does not exist or has links.
    """
    runs = groupby(pairs, lambda pair: pair[0])
    items = [_Some(path, tuple(sample for _, sample in some)) for path, some in runs]
    work = partial(_sizes, access=access, limits=limits)
    sizes = [size for each in run_on_files(work, items, jobs=jobs) for size in each.result()]
    return np.array(sizes, np.int64)


def group_of(file: File, sample: str) -> Any:
    """Return the group of a sample. Raises FormatError for a sample that does not exist."""
    group = file.find(sample.strip("/"))
    if group is None or not is_group(group):
        hint = "exset validate --files finds all samples that do not exist"
        message, place = "the file has no such group", Place(file.path, field=sample)
        raise FormatError(message, place=place, hint=hint, code="hdf5-no-sample")
    return group


def _sizes(item: _Some, access: Access, limits: Limits) -> list[int]:
    with File(item.path, access, limits) as file:
        return [
            sum(
                each.get_storage_size() for _, each in file.datasets(group_of(file, sample), sample)
            )
            for sample in item.samples
        ]
