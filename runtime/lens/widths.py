"""Check that dense ranges of the same group of an example set have the same width."""

from dataclasses import dataclass, field

import numpy as np

from exset.core.errors import Finding, Findings
from exset.core.text import counted
from exset.grammars.columns.arrays import Flags, Ints, Longs
from exset.grammars.lens.examples import ExampleSet
from exset.grammars.lens.findings import finding_at
from exset.grammars.lens.views import printable
from exset.runtime.lens.fill import range_place
from exset.runtime.lens.layout_inference import needed_units
from exset.runtime.lens.network_layout import Side
from exset.runtime.lens.runs import Columns, Uses


@dataclass
class Widths:
    """The widths of ranges that were found for each group. The group None is the whole network.

    Only ranges that should have all units of their group count; `covering` finds them. found: for
    each group, {width: the first event that has it}.
    """

    side: Side
    found: dict[str | None, dict[int, str]] = field(default_factory=dict)
    """For each group, its widths, and which example was the first one with each width."""

    def add(self, examples: ExampleSet, findings: Findings, first: int) -> None:
        """Add a chunk of the set. Add a finding if a group has another width than its first width.

        first: the index of the first example of the chunk.
        """
        uses = Uses.of(np, Columns.of(np, examples), getattr(examples.events, self.side))
        which = np.flatnonzero(covering(examples, uses))
        if not which.size:
            return
        group = examples.ranges.group[uses.range[which]].astype(np.int64)
        width = examples.ranges.values.lengths[uses.range[which]]
        others: list[tuple[int, str | None]] = []
        for at in _first_of_each(group, width):
            number = int(group[at])
            name = None if number < 0 else examples.groups.text(number)
            known = self.found.setdefault(name, {})
            if int(width[at]) not in known:
                if known:
                    others.append((at, name))
                known[int(width[at])] = _words(examples, int(uses.row[which[at]]), first)

        def finding(other: tuple[int, str | None]) -> Finding:
            at, name = other
            use, known = which[at], self.found[name]
            usual = next(iter(known))
            values = counted(int(width[at]), self.side[:-1])
            return finding_at(
                "lens-mixed-widths",
                range_place(examples, self.side, int(uses.row[use]), int(uses.range[use]), first),
                unit=known[int(width[at])],
                values=values if name is None else f"{values} of the group '{printable(name)}'",
                other=known[usual],
                usual=f"{usual:,}",
                side=self.side,
            )

        findings.add_each(others, finding)


def covering(examples: ExampleSet, uses: Uses) -> Flags:
    """Return for each use of a range whether the range should have all units of its group: bool
    [uses].

    Such a range has dense values from unit 0, and its event has no other range of the same group.
    """
    length = examples.ranges.values.lengths[uses.range]
    found: Flags = (length > 0) & (needed_units(examples)[uses.range] == length)
    if uses.several:
        group = examples.ranges.group[uses.range].astype(np.int64) + 1
        pairs = uses.row * (len(examples.groups) + 1) + group
        _, which, counts = np.unique(pairs, return_inverse=True, return_counts=True)
        found &= counts[which] == 1
    return found


def _first_of_each(group: Longs, width: Ints | Longs) -> list[int]:
    """Return the first index of each pair of a group and a width, in ascending order."""
    if group.min() == group.max() and width.min() == width.max():
        return [0]
    _, first = np.unique((group + 1) * (int(width.max()) + 1) + width, return_index=True)
    return [*map(int, np.sort(first))]


def _words(examples: ExampleSet, row: int, first: int) -> str:
    """Return the words for the event `row` in a message. first: the number of the first example."""
    example = int(np.searchsorted(examples.event_offsets, row, "right")) - 1
    begin, end = examples.event_offsets[example : example + 2].tolist()
    name = examples.name.text(example)
    unit = f'example "{printable(name)}"' if name else f"examples[{first + example}]"
    return unit if end - begin == 1 else f"{unit}, event {row - begin},"
