"""Make the range lists of events from blocks of dense values. Each block becomes a dense range."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from exset.grammars.columns.arrays import (
    Flags,
    Floats,
    Longs,
    concat_offsets,
    constant,
    offsets_of,
    row_indices,
)
from exset.grammars.columns.ragged import Ragged, Strings
from exset.grammars.lens.columns import Ranges
from exset.runtime.lens.network_layout import Side


@dataclass(frozen=True)
class Block:
    """The values of one group for m events. If `group` is None, they are for the whole network.

    values: float32 [all values]. lengths: the number of values of each event, int64 [m]. An event
    with 0 values has no range for the group.
    """

    group: bytes | None
    values: Floats
    lengths: Longs

    @classmethod
    def of(cls, group: bytes | None, rows: Floats, present: Flags | None = None) -> Self:
        """Return the block of an array, float32 [m, units].

        present: bool [m], which events have values; by default all events.
        """
        lengths = constant(rows.shape[1], len(rows), np.int64)
        if present is not None and not present.all():
            rows, lengths = rows[present], np.where(present, lengths, 0)
        return cls(group, rows.reshape(-1), lengths)


@dataclass(frozen=True)
class EventLists:
    """The range lists of m events.

    inputs, targets: for each event, the index of its list; -1 if it has none: int64 [m]. lists:
    where each list begins in `ranges`: int64 [n + 1] for n lists. groups: the names to which ranges
    refer.
    """

    inputs: Longs
    targets: Longs
    lists: Longs
    ranges: Ranges
    groups: Strings

    @classmethod
    def of_blocks(cls, m: int, inputs: Sequence[Block], targets: Sequence[Block]) -> Self:
        """Make the lists of inputs and of targets for `m` events.

        inputs, targets: a block for each group. The list of an event has a dense range for each
        block in which the event has values.
        """
        blocks = [*inputs, *targets]
        names: dict[bytes, int] = {}
        group = [names.setdefault(each.group, len(names)) if each.group else -1 for each in blocks]
        lengths = np.empty((m, len(blocks)), np.int64)
        for column, block in enumerate(blocks):
            lengths[:, column] = block.lengths
        present = lengths > 0
        counts = [present[:, : len(inputs)].sum(axis=1), present[:, len(inputs) :].sum(axis=1)]
        number = np.arange(m, dtype=np.int64) * 2
        r = int(present.sum())
        return cls(
            inputs=np.where(counts[0] > 0, number, -1),
            targets=np.where(counts[1] > 0, number + 1, -1),
            lists=offsets_of(np.stack(counts, axis=1).reshape(-1)),
            ranges=Ranges(
                group=np.broadcast_to(np.array(group, np.int32), present.shape)[present],
                first=constant(0, r, np.int32),
                value=constant(0, r, np.float32),
                values=Ragged(_interleaved(m, blocks, lengths), offsets_of(lengths[present])),
                units=Ragged.empty(r, np.int32),
            ),
            groups=Strings.of(names),
        )

    def joined(self, other: "EventLists", sides: Collection[Side]) -> "EventLists":
        """Return these lists, but with the lists of `other` for some sides of the same events.

        sides: the sides ("inputs", "targets") that `other` replaces.
        """
        group = other.ranges.group
        group = np.where(group < 0, group, group + np.int32(len(self.groups)))
        before = self.lists.size - 1
        numbers = {"inputs": self.inputs, "targets": self.targets}
        for side, others in (("inputs", other.inputs), ("targets", other.targets)):
            if side in sides:
                numbers[side] = np.where(others < 0, -1, others + before)
        return EventLists(
            **numbers,
            lists=concat_offsets([self.lists, other.lists]),
            ranges=Ranges.concat([self.ranges, other.ranges.with_unchecked(group=group)]),
            groups=Strings.concat([self.groups, other.groups]),
        )


def _interleaved(m: int, blocks: Sequence[Block], lengths: Longs) -> Floats:
    """Return the values of all blocks, event by event: event 0 in each block, then event 1, and so
    on.

    lengths: int64 [m, blocks], how many values each event has in each block.
    """
    if m and (lengths == lengths[0]).all():
        rows = [block.values.reshape(m, -1) for block in blocks if block.values.size]
        return np.concatenate([np.empty((m, 0), np.float32), *rows], axis=1).reshape(-1)
    sizes = offsets_of(np.array([block.values.size for block in blocks], np.int64))
    starts = np.cumsum(lengths, axis=0) - lengths + sizes[:-1]
    values = np.concatenate([np.empty(0, np.float32), *(block.values for block in blocks)])
    return values[row_indices(starts.reshape(-1), lengths.reshape(-1))]
