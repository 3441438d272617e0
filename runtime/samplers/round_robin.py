"""The kernels that deal the slots of classes out to batches, the classes taking turns."""

import numpy as np
from numpy.typing import NDArray

from exset.core.kernels import kernel


@kernel
def deal_all(
    slots: NDArray[np.int64],
    placed: NDArray[np.int64],
    wide: int,
    classes: NDArray[np.int64],
    numbers: NDArray[np.int64],
) -> None:
    """Fill in the class of each slot of all batches, and which of its class's slots it is.

    slots: how many each class gives at most; placed: how many in distinct batches, which come
    first.
    """
    distinct = placed.sum()
    deal(placed, wide, classes[:distinct])
    take_turns(slots - placed, classes[distinct:])
    seen = np.zeros(len(slots), np.int64)
    for place in range(len(classes)):
        numbers[place] = seen[classes[place]]
        seen[classes[place]] += 1


@kernel
def deal(counts: NDArray[np.int64], wide: int, classes: NDArray[np.int64]) -> None:
    """Fill `classes` with the class of each slot, batch after batch of `wide` distinct classes.

    counts: how many slots each class gives; as many in all as there are places, and none more than
    there are batches. One slot from each class in turn, without those that have no more, is BA-LR's
    order; but a class that has as many slots left as there are batches has its place in every one
    of them before all others. So there is always a way to go on.
    """
    many = len(counts)
    batches = len(classes) // wide
    left = counts.copy()
    following, previous = np.empty(many, np.int64), np.empty(many, np.int64)
    turn = _ring(left, following, previous)
    heads = np.full(batches + 1, -1, np.int64)
    after, before = np.empty(many, np.int64), np.empty(many, np.int64)
    for index in range(many):
        _enlist(index, left[index], heads, after, before)
    urgent = np.zeros(many, np.bool_)
    waiting = np.empty(wide, np.int64)
    latest = np.full(many, -1, np.int64)
    pressing = 0
    at = 0
    for batch in range(batches):
        index = heads[batches - batch]
        while index >= 0:
            urgent[index] = True
            pressing = _insert(index, waiting, pressing)
            index = after[index]
        end = at + wide
        free = wide - pressing
        while at < end and (free > 0 or urgent[turn]):
            index = turn
            turn = following[index]
            classes[at] = index
            latest[index] = batch
            at += 1
            if urgent[index]:
                continue
            free -= 1
            _delist(index, left[index], heads, after, before)
            left[index] -= 1
            _enlist(index, left[index], heads, after, before)
            if left[index] == 0:
                following[previous[index]], previous[turn] = turn, previous[index]
        # The urgent classes that were not reached, as they would come.
        place = 0
        while place < pressing and waiting[place] < turn:
            place += 1
        for _ in range(pressing if at < end else 0):
            index = waiting[place % pressing]
            place += 1
            if latest[index] < batch:
                classes[at] = index
                at += 1


@kernel
def take_turns(counts: NDArray[np.int64], classes: NDArray[np.int64]) -> None:
    """Fill `classes` with the class of each slot: one of each class in turn, while it has any."""
    left = counts.copy()
    active = np.flatnonzero(left)
    many = len(active)
    at = 0
    while at < len(classes):
        kept = 0
        for place in range(many):
            index = active[place]
            if at == len(classes):
                return
            classes[at] = index
            at += 1
            left[index] -= 1
            if left[index]:
                active[kept] = index
                kept += 1
        many = kept


@kernel
def _ring(
    left: NDArray[np.int64], following: NDArray[np.int64], previous: NDArray[np.int64]
) -> int:
    """Link the classes that have slots in a ring; return the first."""
    first = last = -1
    for index in range(len(left)):
        if left[index]:
            if last < 0:
                first = index
            else:
                following[last], previous[index] = index, last
            last = index
    following[last], previous[first] = first, last
    return first


@kernel
def _enlist(
    index: int,
    number: int,
    heads: NDArray[np.int64],
    after: NDArray[np.int64],
    before: NDArray[np.int64],
) -> None:
    """Put a class at the head of the list of that number."""
    head = heads[number]
    after[index], before[index] = head, -1
    if head >= 0:
        before[head] = index
    heads[number] = index


@kernel
def _delist(
    index: int,
    number: int,
    heads: NDArray[np.int64],
    after: NDArray[np.int64],
    before: NDArray[np.int64],
) -> None:
    """Take a class off the list of that number."""
    if before[index] >= 0:
        after[before[index]] = after[index]
    else:
        heads[number] = after[index]
    if after[index] >= 0:
        before[after[index]] = before[index]


@kernel
def _insert(index: int, ordered: NDArray[np.int64], size: int) -> int:
    """Insert a number among so many ordered ones; return how many they are then."""
    place = size
    while place > 0 and ordered[place - 1] > index:
        ordered[place] = ordered[place - 1]
        place -= 1
    ordered[place] = index
    return size + 1
