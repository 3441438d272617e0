"""Reorder sample lists: in the order in which LBANN's ranks load them, or at random."""

import numpy as np

from exset.core.errors import LimitError
from exset.core.limits import DEFAULT, Limits
from exset.grammars.columns.arrays import Longs
from exset.grammars.lbann.sample_list import SampleList, duplicate_files, file_of


def rank_order(samples: SampleList, ranks: int, keep_order: bool = False) -> Longs:
    """Return the order in which LBANN loads the files of a list on `ranks` (a number) ranks: int64
    [files].

    Rank r reads the files r, r + ranks and so on. Then LBANN concatenates the files of rank 0, of
    rank 1, and so on. keep_order: use LBANN's --keep_sample_order. For a SINGLE-SAMPLE list, this
    restores the order of the list. For other lists, LBANN assigns the concatenated files to the
    ranks one by one, and concatenates again; this restores the order only for some numbers of
    files. Files without samples are dropped. Raises ValueError for less than one rank.
    """
    if ranks < 1:
        raise ValueError(f"ranks must be at least 1, not {ranks}")
    count = len(samples.name)
    if samples.kind.is_single and keep_order:
        return np.arange(count)
    each = [np.arange(rank, count, ranks) for rank in range(min(ranks, count))]
    gathered: Longs = np.concatenate([*each, np.arange(0)])
    gathered = gathered[samples.included[gathered] > 0]
    if not keep_order:
        return gathered
    names = duplicate_files(samples)[gathered]
    changes = np.cumsum(names[1:] != names[:-1])
    rank_of = np.concatenate([np.zeros(min(gathered.size, 1), np.int64), changes]) % ranks
    order: Longs = gathered[np.argsort(rank_of, kind="stable")]
    return order


def shuffled(samples: SampleList, seed: int, limits: Limits = DEFAULT) -> SampleList:
    """Shuffle the files of a list, and the samples in each file (PCG64).

    The samples of a file stay together, because a list names them file by file. The samples of an
    exclusion list keep their order. Raises LimitError for more than `max_expand` samples.
    """
    random = np.random.default_rng(seed)
    files = random.permutation(len(samples.name))
    if samples.kind.is_exclusion or samples.kind.is_single:
        return samples.select_files(files)
    if len(samples) > limits.max_expand:
        raise LimitError(f"exset cannot shuffle more than {limits.max_expand:,} samples")
    place = np.empty(files.size, np.int64)
    place[files] = np.arange(files.size)
    order = np.lexsort((random.random(len(samples)), place[file_of(samples)]))
    return samples.select(order)
