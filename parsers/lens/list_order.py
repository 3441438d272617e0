"""Sort the lists of a Lens text into the order of the normal form, if the text has another order.

These kernels follow the rules of the actions in `exset.parsers.lens.actions`.
"""

import numpy as np

from exset.core.kernels import entry_kernel, inline_kernel
from exset.parsers.lens import steps as c
from exset.parsers.lens.steps import Columns, Ints, set_pair


def room_for(columns: Columns) -> tuple[Columns, Ints]:
    """Return what `arrange` fills: empty columns, and an array with -1 as the new number of each
    list.
    """
    fields = ("lists", "group", "first", "value", "value_ends", "unit_ends", "values", "units")
    new = {field: np.empty_like(getattr(columns, field)) for field in fields}
    numbers = np.full(columns.state[c.NUM_LISTS], -1, np.int64)
    return columns._replace(uses=columns.uses.copy(), **new), numbers


@entry_kernel
def arrange(old: Columns, new: Columns, numbers: Ints) -> None:
    """Copy the lists of each example in the order of the normal form.

    This order is: lists of inputs, then lists of targets, both sorted by first event. old: the
    columns to read. new: the columns to fill. numbers: the new number of each list, -1 before the
    call.
    """
    lists = ranges = 0
    new.lists[0] = new.value_ends[0] = new.unit_ends[0] = 0
    for example in range(len(old.event_offsets) - 1):
        low, high = old.event_offsets[example], old.event_offsets[example + 1]
        for side in range(2):
            for event in range(low, high):
                number = old.uses[side, event]
                if number < 0:
                    continue
                if numbers[number] < 0:
                    for index in range(old.lists[number], old.lists[number + 1]):
                        copy_range(old, index, new, ranges)
                        ranges += 1
                    numbers[number] = lists
                    lists += 1
                    new.lists[lists] = ranges
                new.uses[side, event] = numbers[number]


@inline_kernel
def copy_range(old: Columns, index: int, new: Columns, at: int) -> None:
    """Copy range `index` of the columns `old`, with its values and units, to range `at` of
    `new`.
    """
    if len(new.group):
        set_pair(new.group, at, old.group[index, 0], old.group[index, 1])
    if len(new.first):
        new.first[at] = old.first[index]
    new.value[at] = old.value[index]
    end = new.value_ends[at]
    for place in range(old.value_ends[index], old.value_ends[index + 1]):
        new.values[end] = old.values[place]
        end += 1
    new.value_ends[at + 1] = end
    end = new.unit_ends[at]
    for place in range(old.unit_ends[index], old.unit_ends[index + 1]):
        new.units[end] = old.units[place]
        end += 1
    new.unit_ends[at + 1] = end
