"""Kernels that assign the slots of classes to batches. The classes take turns.

A slot is M items of one class, and a batch has N slots. These kernels choose only the class of each
slot, and number the slots of each class from 0. `slots.py` finds the items of the slots.
"""

from typing import NamedTuple

import numpy as np

from exset.core.kernels import entry_kernel, kernel
from exset.grammars.columns.arrays import Longs


class Room(NamedTuple):
    """Memory in which the kernels work: arrays with a number for each class.

    Two arrays are different. `heads` has a number for each count of batches, from 0. `waiting` has
    a number for each slot of a batch.
    """

    left: Longs
    following: Longs
    previous: Longs
    after: Longs
    before: Longs
    urgent: Longs
    latest: Longs
    heads: Longs
    waiting: Longs


def room_for(classes: int, batches: int, width: int) -> Room:
    """Return the memory that the kernels need. width: the number of slots of a batch."""
    sizes = (*[classes] * 7, batches + 1, width)
    return Room._make(np.empty(size, np.int64) for size in sizes)


@entry_kernel
def deal_all(
    slots: Longs,
    placed: Longs,
    width: int,
    room: Room,
    classes: Longs,
    numbers: Longs,
) -> None:
    """Fill `classes` with the class of each slot of all batches, batch by batch.

    slots: the number of slots of each class. placed: how many slots of each class go into batches
    of distinct classes; these batches come first. room: memory for the work. numbers: is filled
    with the number of each slot in its class.
    """
    distinct = 0
    for count in placed:
        distinct += count
    deal(placed, width, room, classes[:distinct])
    left = room.left
    for index in range(len(slots)):
        left[index] = slots[index] - placed[index]
    take_turns(left, room.following, classes[distinct:])
    seen = room.left
    seen[:] = 0
    for place in range(len(classes)):
        numbers[place] = seen[classes[place]]
        seen[classes[place]] += 1


@kernel
def deal(counts: Longs, width: int, room: Room, classes: Longs) -> None:
    """Fill `classes` with the class of each slot, batch by batch. A batch has `width` distinct
    classes.

    counts: the number of slots of each class. Their sum is the length of `classes`, and no count is
    above the number of batches.

    As in BA-LR, classes take turns, one slot each, until they have no more slots. But a class is
    urgent if it has one slot for each remaining batch. From then on, the class gets a slot in each
    of these batches, before classes that are not urgent. So every batch can be completed.
    """
    count = len(counts)
    batches = len(classes) // width
    left, following, previous, after, _, urgent, latest, heads, waiting = room
    for index in range(count):
        left[index] = counts[index]
    turn = _ring(left, following, previous)
    heads[:] = -1
    for index in range(count):
        _enlist(index, room)
    urgent[:] = 0
    latest[:] = -1
    urgent_count = 0
    at = 0
    for batch in range(batches):
        index = heads[batches - batch]
        while index >= 0:
            urgent[index] = 1
            urgent_count = _insert(index, waiting, urgent_count)
            index = after[index]
        end = at + width
        free = width - urgent_count
        while at < end and (free > 0 or urgent[turn]):
            index = turn
            turn = following[index]
            classes[at] = index
            latest[index] = batch
            at += 1
            if urgent[index]:
                continue
            free -= 1
            _delist(index, room)
            left[index] -= 1
            _enlist(index, room)
            if left[index] == 0:
                following[previous[index]], previous[turn] = turn, previous[index]
        # Add the urgent classes whose turn has not come, in the order of turns.
        place = 0
        while place < urgent_count and waiting[place] < turn:
            place += 1
        for _ in range(urgent_count if at < end else 0):
            index = waiting[place % urgent_count]
            place += 1
            if latest[index] < batch:
                classes[at] = index
                at += 1


@kernel
def take_turns(left: Longs, active: Longs, classes: Longs) -> None:
    """Fill `classes` with classes in turn, one slot each, until the array is full.

    Classes without slots left are skipped. left: the number of slots of each class; the kernel
    counts them down. active: memory for the work.
    """
    count = 0
    for index in range(len(left)):
        if left[index]:
            active[count] = index
            count += 1
    at = 0
    while at < len(classes):
        kept = 0
        for place in range(count):
            index = active[place]
            if at == len(classes):
                return
            classes[at] = index
            at += 1
            left[index] -= 1
            if left[index]:
                active[kept] = index
                kept += 1
        count = kept


@kernel
def _ring(left: Longs, following: Longs, previous: Longs) -> int:
    """Link the classes that have slots left into a ring. Return the first class.

    left: the number of slots of each class. following, previous: are filled with each class's
    successor and predecessor.
    """
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
def _enlist(index: int, room: Room) -> None:
    """Add the class `index` to a linked list in `room`.

    Each list has the classes with the same number of slots left.
    """
    number = room.left[index]
    head = room.heads[number]
    room.after[index], room.before[index] = head, -1
    if head >= 0:
        room.before[head] = index
    room.heads[number] = index


@kernel
def _delist(index: int, room: Room) -> None:
    """Remove the class `index` from its linked list in `room`.

    Each list has the classes with the same number of slots left.
    """
    before, after = room.before[index], room.after[index]
    if before >= 0:
        room.after[before] = after
    else:
        room.heads[room.left[index]] = after
    if after >= 0:
        room.before[after] = before


@kernel
def _insert(index: int, ordered: Longs, size: int) -> int:
    """Insert `index` into the first `size` numbers of `ordered`, which ascend.

    Return the new size.
    """
    place = size
    while place > 0 and ordered[place - 1] > index:
        ordered[place] = ordered[place - 1]
        place -= 1
    ordered[place] = index
    return size + 1
