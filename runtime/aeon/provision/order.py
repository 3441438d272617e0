"""The order of the records in each epoch, and their division between nodes."""

from functools import cached_property
from typing import Protocol

import numpy as np

from exset.grammars.aeon.config.model import LoaderConfig
from exset.grammars.columns.arrays import Longs
from exset.runtime.aeon.libstdcxx import KERNELS, MINSTD, generator, shuffle
from exset.runtime.aeon.selection import BLOCK_SIZE, blocks, node_rows
from exset.runtime.training.generator import number, ordered

_BLOCKS, _RECORDS = range(2)
"""Numbers that make different keys for the orders of blocks and of records."""


class Order(Protocol):
    """The order of the records in each epoch. Records are indices into the selected records."""

    def rows(self, epoch: int) -> Longs:
        """Return the records of an epoch in order."""


class Division:
    """Divides records by the settings of a configuration: blocks, shuffles, nodes."""

    def __init__(self, config: LoaderConfig, records: int, seed: int) -> None:
        """Divide `records` (a number) records as the configuration says. seed: the seed of
        shuffles.
        """
        self.records, self.seed = records, seed
        self.is_seed = config.dialect == "seed"
        self.shuffles_list = bool(config["shuffle_manifest"])
        self.shuffles = bool(config["shuffle_enable"])
        self._block_size = BLOCK_SIZE if self.is_seed else config.block_size
        self._batch_size = config.batch_size
        self._node = 0 if self.is_seed else config.settings.number("node_id")
        self._nodes = 0 if self.is_seed else config.settings.number("node_count")

    @property
    def has_nodes(self) -> bool:
        """Whether the records are divided between nodes."""
        return self._nodes > 1

    @cached_property
    def count(self) -> int:
        """The number of this node's records in an epoch."""
        return len(self.of_node(np.arange(self.records)))

    def blocks(self, records: int) -> list[range]:
        """Return the indices of the records of each block."""
        return blocks(records, self._block_size)

    def of_node(self, rows: Longs) -> Longs:
        """Return the part of `rows` that belongs to this node. rows: the records of all nodes."""
        if not self.has_nodes:
            return rows
        return rows[node_rows(len(rows), self._node, self._nodes, self._batch_size)]


class KeyedOrder:
    """An order that depends only on seed and epoch. Its batches go to the nodes in turn.

    If the manifest or the epochs are shuffled, the order of the blocks changes in each epoch except
    the first. If the epochs are shuffled, the order of records in the blocks changes in each epoch.
    """

    def __init__(self, division: Division) -> None:
        self._division = division
        self._blocks = division.blocks(division.records)
        self._last: tuple[int, Longs] | None = None

    def rows(self, epoch: int) -> Longs:
        """Return the records of an epoch in order. The last result is kept for the next call."""
        if self._last is None or self._last[0] != epoch:
            self._last = epoch, self._made(epoch)
        return self._last[1]

    def _made(self, epoch: int) -> Longs:
        its = self._division
        key = number(its.seed, epoch)
        sequence = np.arange(len(self._blocks))
        if epoch and (its.shuffles or its.shuffles_list):
            sequence = ordered(sequence, number(key, _BLOCKS))
        parts = []
        for block in sequence.tolist():
            part = np.arange(len(self._blocks[block]))
            if its.shuffles:
                part = ordered(part, number(number(key, _RECORDS), block))
            parts.append(self._blocks[block].start + part)
        return its.of_node(np.concatenate(parts))


class AeonOrder:
    """aeon's own order. Each epoch shuffles the order of the previous epoch.

    aeon of April 2017 never shuffles without a cache.
    """

    def __init__(self, division: Division) -> None:
        self._division = division
        self._restart()

    def rows(self, epoch: int) -> Longs:
        """Return the records of an epoch in order.

        If the last call was for a later epoch, the shuffles start again from the first epoch.
        """
        if epoch < self._epoch:
            self._restart()
        while self._epoch < epoch:
            self._epoch += 1
            self._rows = self._pass()
        return self._rows

    def _restart(self) -> None:
        its = self._division
        self._epoch, self._rows = -1, np.arange(0)
        self._list = np.arange(its.records)
        self._blocks = its.blocks(len(its.of_node(self._list)))
        self._sequence = np.arange(len(self._blocks))
        self._of_list, self._of_records = (generator(MINSTD, its.seed) for _ in range(2))
        if its.shuffles_list and not its.is_seed:
            _shuffle(self._of_list, np.arange(its.records))  # as the selection did

    def _pass(self) -> Longs:
        """Return the records of the next epoch in order."""
        its = self._division
        if self._epoch and its.shuffles_list and not its.is_seed:
            _shuffle(self._of_list, self._sequence)
            if its.has_nodes:
                _shuffle(self._of_list, self._list)
                self._sequence = np.arange(len(self._blocks))
        rows, parts = its.of_node(self._list), []
        for block in self._sequence.tolist():
            part = rows[self._blocks[block].start : self._blocks[block].stop]
            if its.shuffles and not its.is_seed:
                order = np.arange(len(part))
                _shuffle(self._of_records, order)
                part = part[order]
            parts.append(part)
        return np.concatenate(parts)


def _shuffle(state: Longs, order: Longs) -> None:
    run = KERNELS.choose(shuffle, KERNELS.use_compiled(len(order)))
    run(state, order)
