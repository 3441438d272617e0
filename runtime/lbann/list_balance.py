"""Order the files of a sample list so that each rank of LBANN reads about as much."""

import os

import numpy as np

from exset.grammars.columns.arrays import Longs
from exset.grammars.lbann.sample_list import SampleList


def balanced_order(weights: Longs, ranks: int) -> Longs:
    """Return an order of files in which each rank reads about as much: int64 [files].

    weights: int64 [files], the amount that LBANN reads for each file, in any unit. Rank r of LBANN
    reads the files r, r + ranks, ... of the list, so the numbers of files that two ranks read
    differ by one at most. The heaviest files come first: of each round of `ranks` files, the
    heaviest goes to the rank that has the least so far. Files of one weight keep their order.
    Raises ValueError for less than one rank.
    """
    if ranks < 1:
        raise ValueError(f"ranks must be at least 1, not {ranks}")
    heaviest = np.argsort(-weights, kind="stable")
    loads = np.zeros(ranks, np.int64)
    rounds = []
    for at in range(0, heaviest.size, ranks):
        files = heaviest[at : at + ranks]
        lightest = np.argsort(loads, kind="stable")[: files.size]
        loads[lightest] += weights[files]
        chosen = np.full(ranks, -1)
        chosen[lightest] = files
        rounds.append(chosen)
    if not rounds:
        return np.arange(0)
    # Ranks with a file in the last round, which may be incomplete, must come first.
    first = np.argsort(rounds[-1] < 0, kind="stable")
    order: Longs = np.stack(rounds)[:, first].reshape(-1)
    return order[order >= 0]


def loads_of(weights: Longs, ranks: int) -> Longs:
    """Return the total weight of the files that each rank of LBANN reads: int64 [ranks].

    weights: int64 [files], in the order of the list.
    """
    return np.array([weights[rank::ranks].sum() for rank in range(ranks)], np.int64)


def sample_counts(samples: SampleList) -> Longs:
    """Return the number of samples of each file: int64 [files]."""
    return samples.included.astype(np.int64)


def file_sizes(samples: SampleList, base: str = "") -> Longs:
    """Return the size of each file in bytes: int64 [files]. Raises OSError for a missing file.

    base: the folder in which a relative base directory starts, by default the current folder.
    """
    sizes = (os.stat(os.path.join(base, file.path)).st_size for file in samples.files)
    return np.fromiter(sizes, np.int64, len(samples.files))
