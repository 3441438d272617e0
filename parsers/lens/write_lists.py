"""Lists of ranges as Lens text: `I: 0 1 (g 2) 0.5`, `t: 1 3-5 {g 2} *`."""

import numpy as np

from exset.grammars.lens.examples import ExampleSet
from exset.parsers.lens.write_fields import tight
from exset.parsers.lens.write_plan import NOTHING, Role
from exset.parsers.lens.write_strings import quoted_group
from exset.parsers.shared import numerals


class ListWriter:
    """The range lists of a set, which text can say, as text.

    What does not depend on the event that a list goes to is made text at once, column by column.
    """

    def __init__(self, examples: ExampleSet, compact: bool) -> None:
        ranges = examples.ranges
        self._compact = compact
        self._lists: list[int] = examples.lists.tolist()
        self._is_dense: list[bool] = (ranges.values.lengths > 0).tolist()
        self._group: list[int] = ranges.group.tolist()
        self._first: list[int] = ranges.first.tolist()
        self._values = numerals.reals(ranges.value)
        self._value_bits: list[int] = ranges.value.view(np.uint32).tolist()
        dense, sparse = numerals.real_rows(ranges.values), numerals.unit_rows(ranges.units)
        self._items = [
            values or (b" *" if units == b"-1" else units)
            for values, units in zip(dense, sparse, strict=True)
        ]
        self._names = [quoted_group(raw or b"") for raw in examples.groups]

    def statement(self, role: Role, number: int, active: int | None) -> bytes:
        """A list as inputs, targets or both; a value whose bits are `active` goes unsaid."""
        if number == NOTHING:
            return role.value.encode() + b":"
        begin, end = self._lists[number], self._lists[number + 1]
        is_sparse = begin < end and not self._is_dense[begin]
        letter = role.value.lower() if is_sparse else role.value
        words = [letter.encode() + b":"]
        for index in range(begin, end):
            bracket, items = self._bracket(index, active), self._items[index]
            is_plain = bracket == (b"()" if self._is_dense[index] else b"{}")
            if index > begin or not is_plain or not items:
                words.append(bracket if self._compact else b" " + bracket)
            words.append(items[1:] if self._compact else items)
        return tight([word for word in words if word]) if self._compact else b"".join(words)

    def _bracket(self, index: int, active: int | None) -> bytes:
        """What opens a range: its group, and its first unit or its value unless they go unsaid."""
        words = []
        if self._group[index] >= 0:
            words.append(self._names[self._group[index]])
        if self._is_dense[index]:
            if self._first[index]:
                words.append(b"%d" % self._first[index])
            return b"(%s)" % b" ".join(words)
        if self._value_bits[index] != active:
            words.append(self._values[index])
        return b"{%s}" % b" ".join(words)
