"""Order the files of a sample list so that all ranks of LBANN read about equally much."""

import os

import numpy as np

from exset.grammars.columns.arrays import Longs
from exset.grammars.lbann.sample_list import SampleList

_ATTEMPTS = 32
"""How often each rank may look for files to exchange, on average."""

_NOT_TAKEN = np.iinfo(np.int64).max
"""A weight that no rank takes in exchange."""


def balanced_order(weights: Longs, ranks: int) -> Longs:
    """Return an order of files in which all ranks read about equally much: int64 [files].

    weights: int64 [files], the amount that LBANN reads for each file, in any unit. Rank r of LBANN
    reads the files r, r + ranks, ... of the list. So the numbers of files that two ranks read
    differ by one at most. Raises ValueError for less than one rank.

    The files are dealt to the ranks in rounds of `ranks` files, the heaviest files first. In each
    round, the heaviest file goes to the rank with the smallest load so far. Then the rank with the
    largest load exchanges files with other ranks, as long as this helps. A better order may exist.
    """
    if ranks < 1:
        raise ValueError(f"ranks must be at least 1, not {ranks}")
    if not weights.size:
        return np.arange(0)
    rounds = dealt(weights, ranks)
    _exchange(rounds, weights)
    holes = np.argsort(rounds < 0, axis=0, kind="stable")
    rounds = np.take_along_axis(rounds, holes, axis=0)
    # Ranks with a file in the last round, which may be incomplete, must come first.
    order: Longs = rounds[:, np.argsort(rounds[-1] < 0, kind="stable")].reshape(-1)
    return order[order >= 0]


def dealt(weights: Longs, ranks: int) -> Longs:
    """Return the file of each rank in each round: int64 [rounds, ranks], -1 for no file.

    weights: as for `balanced_order`. Each round deals the heaviest of the files that are left.
    """
    heaviest = np.argsort(-weights, kind="stable")
    loads = np.zeros(ranks, np.int64)
    rounds = np.full((-(-weights.size // ranks), ranks), -1)
    for rank, row in enumerate(rounds):
        files = heaviest[rank * ranks : (rank + 1) * ranks]
        lightest = np.argsort(loads, kind="stable")[: files.size]
        loads[lightest] += weights[files]
        row[lightest] = files
    return rounds


def _exchange(rounds: Longs, weights: Longs) -> None:
    """Exchange files between the rank with the largest load and other ranks, as long as this makes
    its load smaller.

    rounds: the result of `dealt`, which changes. A place without a file counts as a file of weight
    0, but no rank gets two such places. The number of attempts is limited.
    """
    own = np.where(rounds < 0, 0, weights[rounds])
    loads = own.sum(axis=0)
    most = int(loads.argmax())
    others = iter(loads.argsort(kind="stable").tolist())
    for _ in range(_ATTEMPTS * loads.size):
        if (other := next(others)) == most:  # no rank with less can take anything
            return
        gap = int(loads[most] - loads[other])
        is_short = (rounds[:, most] < 0).any()
        less = np.where(is_short & (rounds[:, other] < 0), _NOT_TAKEN, own[:, other])
        if (pair := _pair(own[:, most], less, gap)) is None:
            continue
        for table in (own, rounds):
            table[pair[0], most], table[pair[1], other] = (
                table[pair[1], other],
                table[pair[0], most],
            )
        loads[[most, other]] = own[:, [most, other]].sum(axis=0)
        most = int(loads.argmax())
        others = iter(loads.argsort(kind="stable").tolist())


def _pair(more: Longs, less: Longs, gap: int) -> tuple[int, int] | None:
    """Return the indices of two weights, one of each rank, to exchange. Return None if no exchange
    helps.

    They are chosen so that both ranks come closest to their mean. gap: the sum of `more` minus the
    sum of `less`.
    """
    order = np.argsort(less, kind="stable")
    at = np.searchsorted(less[order], more - gap // 2)
    found: list[tuple[int, int, int]] = []
    for near in (at - 1, at):
        partners = order[near.clip(0, less.size - 1)]
        moved = more - less[partners]
        off = np.where((moved > 0) & (moved < gap), np.abs(2 * moved - gap), gap)
        best = int(off.argmin())
        found.append((int(off[best]), best, int(partners[best])))
    off_mean, mine, theirs = min(found)
    return (mine, theirs) if off_mean < gap else None


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
