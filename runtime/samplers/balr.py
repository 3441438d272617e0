"""Make the batches of BA-LR's own samplers (inria-defense/balr, nxm_samplers.py), including their
bugs.

The random numbers are from NumPy's Generator. NumPy does not promise to keep its streams (NEP 19).
"""

import numpy as np
from numpy.random import Generator

from exset.grammars.columns.arrays import Longs
from exset.runtime.samplers.grouping import Grouping


def random_stream(
    grouping: Grouping, width: int, samples: int, batches: int, shuffle: bool, draw: Generator
) -> Longs:
    """Return the batches of RandomNxMSampler, int64 [batches, N*M].

    Each class occurs once. To fill the last batch, the first classes occur again. width: N, the
    number of classes of a batch. samples: M, the number of samples of each class. draw: the
    generator of random numbers.
    """
    classes = np.arange(len(grouping))
    if shuffle:
        classes = draw.permutation(classes)
    chosen = np.resize(classes, batches * width)
    rows = np.empty((len(chosen), samples), np.int64)
    for row, index in zip(rows, chosen.tolist(), strict=True):
        members = grouping.members(index)
        row[:] = draw.choice(members, samples, replace=len(members) < samples)
    return rows.reshape(batches, -1)


def exhaustive_stream(
    grouping: Grouping, width: int, samples: int, batches: int, shuffle: bool, draw: Generator
) -> Longs:
    """Return the batches of ExhaustiveNxMSampler, int64 [batches, N*M].

    Classes take turns, until the remaining slots (M samples of one class) do not fill a batch.
    width, samples, draw: as for `random_stream`.
    """
    order = np.arange(len(grouping))
    if shuffle:
        order = draw.permutation(order)
    lists = []
    for index in order.tolist():
        members = grouping.members(index)
        padded = np.resize(members, -(-len(members) // samples) * samples)
        lists.append(draw.permutation(padded) if shuffle else padded)
    slots = np.concatenate(lists).astype(np.int64).reshape(-1, samples)
    counts = np.array([len(each) // samples for each in lists])
    rounds = np.arange(len(slots)) - np.repeat(np.cumsum(counts) - counts, counts)
    in_turn = np.argsort(rounds, kind="stable")
    return slots[in_turn[: batches * width]].reshape(batches, -1)
