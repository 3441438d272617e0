"""ExampleSet: the model of Lens example files, text and binary.

It has all values of a file. It also knows which range lists are shared by several events, or by
inputs and targets. It does not know how the file was written. See the Lens manual, "Example Files".
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, NoReturn, Self

import numpy as np
from numpy.typing import ArrayLike

from exset.core.html import table
from exset.core.text import counted
from exset.grammars.columns import arrays
from exset.grammars.columns.arrays import Longs
from exset.grammars.columns.inputs import check_kind
from exset.grammars.columns.ragged import Reals, Strings
from exset.grammars.columns.sequence import NamedSequence
from exset.grammars.lens.columns import (
    REAL_FIELDS,
    TIME_FIELDS,
    UNIT_FIELDS,
    Events,
    ExampleColumns,
    Ranges,
    SetHeader,
)
from exset.grammars.lens.normal_form import normal_form
from exset.grammars.lens.views import ExampleView, printable

if TYPE_CHECKING:
    from exset.grammars.lens import build

__all__ = [
    "REAL_FIELDS",
    "TIME_FIELDS",
    "UNIT_FIELDS",
    "Events",
    "ExampleSet",
    "Ranges",
    "SetHeader",
]


class ExampleSet(ExampleColumns, NamedSequence[ExampleView, "ExampleSet"]):
    """A set of examples, stored as read-only columns.

    `examples[0]` and `examples["cat"]` are views of an example, `examples[:10]` is a set.

    The constructor checks the columns and keeps them as they are. Sets from readers, `normalized`,
    `from_examples` and `from_arrays` are in the normal form of `normal_form`. Equality is by value,
    bitwise for floats. Raises ValueError for wrong columns; the message names the column.
    """

    @classmethod
    def empty(cls, header: SetHeader) -> Self:
        """Return a set with the given header and no examples."""
        return cls.unchecked(
            header=header,
            name=Strings.empty(0),
            proc=Strings.empty(0),
            frequency=np.empty(0, np.float32),
            event_offsets=arrays.offsets_of(np.empty(0, np.int64)),
            events=Events.empty(0),
            lists=arrays.offsets_of(np.empty(0, np.int64)),
            ranges=Ranges.empty(0),
            groups=Strings.empty(0),
        )

    @classmethod
    def from_examples(
        cls, examples: "Iterable[build.Example]", header: SetHeader | None = None
    ) -> Self:
        """Make a set of examples. `exset.grammars.lens.build` has the class `Example`.

        If an example uses the same object twice as inputs or targets, they share one list. Raises
        ValueError for a wrong object; the message says where the object is.
        """
        from exset.grammars.lens import build

        return cls.unchecked(**vars(build.from_examples(examples, header))).normalized()

    @classmethod
    def from_arrays(
        cls,
        inputs: ArrayLike | None,
        targets: ArrayLike | None,
        *,
        names: Iterable[bytes | str | None] | None = None,
        frequency: ArrayLike | None = None,
        header: SetHeader | None = None,
        input_group: str | bytes | None = None,
        target_group: str | bytes | None = None,
    ) -> Self:
        """Make a set from dense arrays [example, unit] or [example, event, unit].

        inputs, targets: an array, or None. names, frequency: one for each example. input_group,
        target_group: the group to which the units belong, None for the whole network. A masked
        value of a NumPy masked array becomes NaN, which is Lens's value for "not known". Raises
        ValueError for arrays of different lengths, and for arrays that do not have such a shape or
        are not numbers.
        """
        from exset.grammars.lens import build

        sides = {"inputs": (inputs, input_group), "targets": (targets, target_group)}
        columns = build.from_arrays(sides, names, frequency, header)
        return cls.unchecked(**vars(columns)).normalized()

    def normalized(self) -> Self:
        """Return the same set in normal form.

        The set itself may be in any form: lists may be in any order, unused, empty, or used by two
        examples, and groups may be unused, repeated, or have an empty name.
        """
        return normal_form(self)

    def with_columns(self, **columns: object) -> Self:
        """Return the set with some columns replaced. The new set is checked and in normal form.

        `name=["a", None, "c"]` names the examples, and `frequency=[1, 2, 1]` gives frequencies.
        Raises ValueError, which names the column, for wrong values, and TypeError for an unknown
        name.
        """
        return super().with_columns(**columns).normalized()

    def __iter__(self) -> Iterator[ExampleView]:
        return map(self._unit, range(len(self)))

    def _unit(self, row: int) -> ExampleView:
        return ExampleView(self, row)

    def _some(self, rows: slice) -> "ExampleSet":
        return self.select(rows)

    def unit_names(self) -> Iterator[bytes]:
        """Yield the name of each example. Yield b"" for an example without a name."""
        return (name or b"" for name in self.name)

    def __array__(self, dtype: object = None, copy: bool | None = None) -> NoReturn:
        """Raise TypeError, because NumPy does not know the layout of the network."""
        raise TypeError("an ExampleSet is not an array: use exset.to_arrays(examples).inputs")

    def __repr__(self) -> str:
        counts = f"{counted(len(self), 'example')}, {counted(self.num_events, 'event')}"
        groups = [printable(self.groups.text(i) or "") for i in range(min(6, len(self.groups)))]
        if len(self.groups) > 6:
            groups[5:] = ["..."]
        return f"ExampleSet({counts}{', groups: ' if groups else ''}{', '.join(groups)})"

    def _repr_html_(self) -> str:
        rows = (
            (
                each.index,
                each.name or "",
                f"{each.frequency:g}",
                len(each.events),
                *each.events[0].sides(),
            )
            for each in self
        )
        heads = ("", "name", "frequency", "events", "inputs of the first", "targets of the first")
        return table(repr(self), heads, rows, len(self))

    def select(self, which: ArrayLike | slice) -> Self:
        """Return the examples that a slice, a mask, or indices (in any order, repeated or negative)
        choose.

        Raises IndexError for an index out of bounds, and ValueError for a mask of another length.
        """
        chosen = arrays.chosen_rows(which, len(self))
        starts = self.event_offsets[:-1][chosen]
        lengths = arrays.compact(self.event_offsets[1:][chosen] - starts)
        events = self.events.take(arrays.row_indices(starts, lengths))
        # Take the lists from the first used one to the last; the normal form drops unused ones.
        used = np.concatenate([events.inputs, events.targets])
        end = int(used.max(initial=-1)) + 1
        begin = int(used.min(initial=end, where=used >= 0))
        window = np.arange(self.lists[begin], self.lists[end])
        return normal_form(
            self.with_unchecked(
                name=self.name.take(chosen),
                proc=self.proc.take(chosen),
                frequency=arrays.take(self.frequency, chosen),
                event_offsets=arrays.offsets_of(lengths),
                events=_renumbered(events, -begin),
                lists=self.lists[begin : end + 1] - self.lists[begin],
                ranges=self.ranges.take(window),
            )
        )

    def with_header(self, header: SetHeader) -> Self:
        """Return the same examples in a set with another header.

        Events keep the values that they inherited from the old header. Raises ValueError as
        `concat` does.
        """
        return self if self.header == header else self.empty(header).concat(self)

    def concat(self, *others: "ExampleSet") -> Self:
        """Return a set with this set's header and examples, followed by the examples of the others.

        If the headers differ, events of the other sets store the values that they inherited. Raises
        ValueError if this is impossible: if the sets differ in proc, or if an inherited time is
        NaN.
        """
        return normal_form(self.joined([self, *(_under(self.header, other) for other in others)]))

    @classmethod
    def joined(cls, sets: "Sequence[ExampleSet]") -> Self:
        """Join one or more sets that have the same header.

        The sets must be in normal form. The result is also in normal form.
        """
        before = accumulate((each.lists.size - 1 for each in sets), initial=0)
        events = [
            _renumbered(each.events, lists) for each, lists in zip(sets, before, strict=False)
        ]
        ranges, groups = _numbered_together(sets)
        return cls.unchecked(
            header=sets[0].header,
            name=Strings.concat([each.name for each in sets]),
            proc=Strings.concat([each.proc for each in sets]),
            frequency=arrays.concat([each.frequency for each in sets]),
            event_offsets=arrays.concat_offsets([each.event_offsets for each in sets]),
            events=Events.concat(events),
            lists=arrays.concat_offsets([each.lists for each in sets]),
            ranges=Ranges.concat(ranges),
            groups=groups,
        )


def _renumbered(events: Events, by: int) -> Events:
    return events.with_unchecked(
        inputs=_shifted(events.inputs, by), targets=_shifted(events.targets, by)
    )


def _shifted(numbers: Longs, by: int) -> Longs:
    """Return numbers of lists, increased by `by`. The number -1, which means no list, stays."""
    if by == 0 or (arrays.is_constant(numbers) and not (numbers[:1] >= 0).any()):
        return numbers
    return np.where(numbers < 0, numbers, numbers + by)


def _numbered_together(sets: Sequence[ExampleSet]) -> tuple[list[Ranges], Strings]:
    """Return the ranges of each set, and the names of the groups of all sets.

    The ranges refer to these names by index.
    """
    numbers: dict[bytes | None, int] = {}
    ranges = []
    for each in sets:
        new = [numbers.setdefault(name, len(numbers)) for name in each.groups]
        if new == list(range(len(new))):
            ranges.append(each.ranges)
        else:
            group = arrays.compact(np.array([*new, -1], np.int32)[each.ranges.group])
            ranges.append(each.ranges.with_unchecked(group=group))
    return ranges, Strings.of(numbers)


def _under(header: SetHeader, other: ExampleSet) -> ExampleSet:
    """Return the examples of `other` in a set with the header `header`.

    Events keep the values that they inherited. Raises ValueError if this is impossible, as
    `ExampleSet.concat` does.
    """
    check_kind("concat", other, ExampleSet, "an ExampleSet")
    if other.header == header:
        return other
    if other.header.proc != header.proc:
        raise ValueError("concat: the sets differ in proc")
    changed = {}
    for field in REAL_FIELDS:
        if other.header.real(field).tobytes() == header.real(field).tobytes():
            continue
        values = other.effective(field)
        if field in TIME_FIELDS and np.isnan(values).any():
            raise ValueError(f"concat: {field} is NaN in one set: an event cannot store NaN")
        changed[field] = Reals(values, arrays.constant(True, other.num_events, np.bool_))
    return other.with_unchecked(header=header, events=other.events.with_unchecked(**changed))
