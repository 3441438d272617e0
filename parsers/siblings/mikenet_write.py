"""Write example files of MikeNet 8."""

from types import MappingProxyType
from typing import Any, Final

import numpy as np

from exset.core.errors import Findings
from exset.grammars.columns.arrays import Longs, as_singles
from exset.grammars.columns.strings import Strings
from exset.grammars.siblings.patterns import Patterns
from exset.grammars.siblings.sparse import is_single
from exset.grammars.tables.columns import Numbers
from exset.grammars.tables.losses import Losses
from exset.grammars.tables.table import Table
from exset.parsers.siblings.decimals import decimal_rows
from exset.parsers.siblings.mikenet import LAST

_WORDS: Final = MappingProxyType({"nan": b"d"})
_TIMES: Final = ("max_time", "min_time")
_SIDES: Final = MappingProxyType({"inputs": b"CLAMP", "targets": b"TARGET"})


def render(table: Table, /, *, findings: Findings | None = None, lossy: bool = False) -> bytes:
    """Return the examples in a table, whose rows are events.

    `max_time` is the number of ticks of an event; without it the last event lasts to the end. A
    column without a group belongs to the group `Input` or `Output`. Raises FormatError for columns
    and values that the format cannot store.
    """
    losses = Losses(lossy, Findings() if findings is None else findings)
    patterns = Patterns.of(table, losses, "MikeNet")
    starts, is_new = _examples(patterns)
    first, end = _ticks(patterns, is_new)
    head = [b"" for _ in range(table.rows)]
    kept = ["example", "event", *_TIMES]
    names = patterns.others.get("name")
    if isinstance(names, Strings):
        kept.append("name")
        for row, name in enumerate(Strings.unchecked(**vars(names))):
            if name is not None and is_new[row]:
                if b"\n" in name or name.strip() != name or not name:
                    losses.report("name", "MikeNet cannot store the name as a tag", row)
                else:
                    head[row] += b"TAG %b\n" % name
    chances = patterns.others.get("frequency")
    if isinstance(chances, Numbers) and is_single(chances, "iuf"):
        kept.append("frequency")
        texts = decimal_rows(as_singles(chances.values).reshape(-1, 1))
        for row in np.flatnonzero(is_new & (chances.values != 1) & chances.present).tolist():
            head[row] += b"PROB %b\n" % texts[row]
    lines = [[text] if text else [] for text in head]
    for groups, side in ((patterns.inputs, "inputs"), (patterns.targets, "targets")):
        # The order in which groups are read: that of their first events.
        some = [group for group in groups if group.present.any()]
        for group in sorted(some, key=lambda group: int(group.present.argmax())):
            title = group.name or {"inputs": "Input", "targets": "Output"}[side]
            raw = title.encode("utf-8", "surrogateescape")
            if not raw.strip() or len(raw.split()) > 1 or raw != raw.strip():
                losses.report(group.column, "MikeNet has no groups with blanks in their names")
                continue
            texts = decimal_rows(as_singles(group.values), _WORDS)
            for row in np.flatnonzero(group.present).tolist():
                time = _time(first[row], end[row])
                lines[row].append(b"%b %b %b FULL %b\n" % (_SIDES[side], raw, time, texts[row]))
    patterns.drop_others(kept)
    for row in [*(starts[1:] - 1).tolist(), table.rows - 1] if table.rows else []:
        lines[row].append(b";\n")
    return b"".join(part for line in lines for part in line)


def _time(first: int, end: int) -> bytes:
    if (first, end) == (0, LAST):
        return b"ALL"
    if end == first + 1:
        return b"%d" % first
    return b"%d-ALL" % first if end == LAST else b"%d-%d" % (first, end - 1)


def _examples(patterns: Patterns) -> tuple[Longs, Any]:
    """Return the index of the first row of each example, and for each row whether it is one."""
    column = patterns.others.get("example")
    is_new = np.ones(patterns.rows, np.bool_)
    if isinstance(column, Numbers) and not column.shape and column.present.all():
        is_new[1:] = column.values[1:] != column.values[:-1]
    event = patterns.others.get("event")  # an event that comes again begins another example
    if isinstance(event, Numbers) and not event.shape and event.present.all():
        is_new[1:] |= event.values[1:] <= event.values[:-1]
    return np.flatnonzero(is_new), is_new


def _ticks(patterns: Patterns, is_new: Any) -> tuple[list[int], list[int]]:
    """Return the first tick (time step) of each event, and the tick after its last.

    is_new: which rows are the first of their example.
    """
    column = patterns.others.get("max_time")
    lengths = [0] * patterns.rows
    if isinstance(column, Numbers) and is_single(column, "iuf"):
        for row in np.flatnonzero(column.present).tolist():
            value = float(column.values[row])
            if not (1 <= value < LAST and value.is_integer()):
                patterns.losses.report("max_time", "MikeNet counts whole ticks from 1", row)
            else:
                lengths[row] = int(value)
    first, end, at = list[int](), list[int](), 0
    for row, (new, length) in enumerate(zip(is_new.tolist(), lengths, strict=True)):
        at = 0 if new else at
        is_last = row + 1 == patterns.rows or bool(is_new[row + 1])
        if not length and not is_last:
            patterns.refuse("max_time", "MikeNet needs the number of ticks of an event", row)
        first.append(at)
        end.append(min(at + length, LAST) if length else LAST)
        at = end[-1]
    return first, end
