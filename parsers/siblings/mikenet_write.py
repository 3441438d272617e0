"""Write example files of MikeNet 8."""

import re
from itertools import chain
from types import MappingProxyType
from typing import Final

import numpy as np

from exset.core.errors import Findings
from exset.grammars.columns.arrays import Flags, as_doubles, as_singles
from exset.grammars.siblings.patterns import Patterns
from exset.grammars.tables.table import Table
from exset.parsers.siblings.decimals import decimal_rows, decimals
from exset.parsers.siblings.mikenet import LAST

_WORDS: Final = MappingProxyType({"nan": b"d"})
_SIDES: Final = ((b"CLAMP", "Input"), (b"TARGET", "Output"))
_TAG: Final = re.compile(rb"\S(?:[^\n]*\S)?")


def render(table: Table, /, *, findings: Findings | None = None, lossy: bool = False) -> bytes:
    """Return the examples in a table, whose rows are events.

    `max_time` is the number of ticks of an event; without it the last event lasts to the end. A
    column without a group belongs to the group `Input` or `Output`. Raises FormatError for columns
    and values that the format cannot store.
    """
    patterns = Patterns.of(table, "MikeNet", findings, lossy)
    is_new = patterns.first_rows()
    is_last = np.append(is_new, True)[1:]
    times = _times(patterns, is_new, is_last)
    lines: list[list[bytes]] = [[] for _ in range(table.rows)]
    for row, name in enumerate(patterns.texts("name")):
        if name is None or not is_new[row]:
            continue
        if _TAG.fullmatch(name):
            lines[row].append(b"TAG %b\n" % name)
        else:
            patterns.losses.report("name", "MikeNet cannot store this name as a tag", row)
    if (chances := patterns.numbers("frequency", "iuf")) is not None:
        texts = decimals(as_singles(chances.values))
        for row in np.flatnonzero(is_new & (chances.values != 1) & chances.present).tolist():
            lines[row].append(b"PROB %b\n" % texts[row])
    for groups, (verb, default) in zip((patterns.inputs, patterns.targets), _SIDES, strict=True):
        # The order in which groups are read: that of their first events.
        some = [group for group in groups if group.present.any()]
        for group in sorted(some, key=lambda group: int(group.present.argmax())):
            name = (group.name or default).encode("utf-8", "surrogateescape")
            if not re.fullmatch(rb"\S+", name):
                problem = "the name of a MikeNet group cannot contain spaces"
                patterns.losses.report(group.column, problem)
                continue
            texts = decimal_rows(as_singles(group.values), _WORDS)
            for row in np.flatnonzero(group.present).tolist():
                lines[row].append(b"%b %b %b FULL %b\n" % (verb, name, times[row], texts[row]))
    patterns.drop_others()
    for row in np.flatnonzero(is_last).tolist():
        lines[row].append(b";\n")
    return b"".join(chain.from_iterable(lines))


def _times(patterns: Patterns, is_new: Flags, is_last: Flags) -> list[bytes]:
    """Return the time of each event. is_new, is_last: masks of the rows in which examples begin
    and end.
    """
    lengths = np.zeros(patterns.rows)
    patterns.numbers("min_time", "iuf")  # the same as max_time
    if (column := patterns.numbers("max_time", "iuf")) is not None:
        lengths = as_doubles(column.values)
        with np.errstate(invalid="ignore"):  # for signaling NaNs
            is_wrong = (lengths < 1) | (lengths >= LAST) | (lengths != np.floor(lengths))
        wrong = np.flatnonzero(is_wrong & column.present)
        what = "the number of ticks in MikeNet must be whole, and 1 or more"
        patterns.lose("max_time", what, wrong)
        lengths = np.where(is_wrong, 0, lengths)
    problem = "MikeNet needs the number of ticks of each event"
    patterns.refuse_rows("max_time", problem, np.flatnonzero((lengths == 0) & ~is_last))
    end = np.cumsum(lengths)
    begin = end - lengths
    begin, end = (each - begin[is_new][np.cumsum(is_new) - 1] for each in (begin, end))
    end[lengths == 0] = LAST
    ticks = np.minimum([begin, end], LAST).astype(np.int64).T.tolist()
    return [_time(first, last) for first, last in ticks]


def _time(first: int, end: int) -> bytes:
    if (first, end) == (0, LAST):
        return b"ALL"
    if end == first + 1:
        return b"%d" % first
    return b"%d-ALL" % first if end == LAST else b"%d-%d" % (first, end - 1)
