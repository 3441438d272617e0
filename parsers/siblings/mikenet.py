"""Parse example files of MikeNet, as version 8 reads them."""

import re
from typing import Final

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from exset.core.errors import Findings, LimitError
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits, limit_hint
from exset.core.source import Source
from exset.core.text import counted
from exset.grammars.columns.arrays import Floats, Longs, row_indices
from exset.grammars.columns.strings import Strings
from exset.grammars.siblings.events import event_columns
from exset.grammars.siblings.findings import MIKENET
from exset.grammars.siblings.sparse import check_size
from exset.grammars.tables.columns import Numbers, TableColumn, text_or_bytes
from exset.grammars.tables.table import Table
from exset.parsers.engine.errors import Unexpected
from exset.parsers.engine.numbers import float32s
from exset.parsers.siblings.words import Words, grammar

GRAMMAR: Final = grammar(
    "mikenet",
    {"END": "`;`", "TAG": "`TAG`", "PROB": "`PROB`", "CLAMP": "`CLAMP`", "TARGET": "`TARGET`"},
    {"SOFT": "`SOFTCLAMP`", "FULL": "`FULL`", "SPARSE": "`SPARSE`", "COMMA": "`,`"},
    {"TIME": "a time", "NUMBER": "a number", "OTHER": "a number", "GROUP": "a group"},
)
LAST: Final = 1 << 20
"""The tick after the last one: `ALL` ends there."""
_SPAN: Final = 2 * LAST  # more than the ticks of an example
_SIDES: Final = ("inputs", "targets")
_NUMBER: Final = re.compile(
    rb"[-+]?(?:0[xX][0-9a-fA-F]++|(?:\d++\.?\d*+|\.\d++)(?:[eE][-+]?\d++)?|(?i:inf(?:inity)?|nan))"
)
_TIME: Final = re.compile(r"([0-9]{1,9})[0-9]*+(?:-(?:([0-9]{1,9})|ALL))?")
_NOTHING: Final = (b"NaN", b"d")
_MARK: Final = -505
_OLD: Final = re.compile(rb"\[|tag:|[A-Za-z]\w*\s+\[")


def parse(
    source: Source,
    *,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
) -> Table:
    """Return a table of events: `example`, `event`, `name`, `frequency`, inputs and targets.

    `inputs.GROUP` and `targets.GROUP` are arrays, float32 [units]; an event that has no values for
    the group has none in this column. An event is a span of ticks in which no value changes.
    `max_time` and `min_time` are the number of these ticks; the last event of an example has none.
    Raises FormatError for a text that MikeNet cannot read, LimitError for sparse values that need
    too many bytes.
    """
    words = Words.of(GRAMMAR, source, engine, MIKENET, findings, _hint)
    hint = "write CLAMP instead, or leave the values out"
    words.refuse("mikenet-dialect", words.where("SOFT"), "exset does not support soft clamps", hint)
    ends, last = words.where("END"), len(words) - 1
    ranges = _Ranges(words, _numbers(words))
    hint = "end the example with a space and `;`"
    unended = [last] if last >= 0 and ends[-1:].tolist() != [last] else []
    words.refuse("mikenet-values", unended, "the last example has no `;`", hint)
    owners = np.searchsorted(ends, ranges.verbs) * _SPAN
    first, end = owners + ranges.first, owners + ranges.end
    cuts = np.concatenate([first[ranges.used], end[ranges.used & (ranges.end < LAST)]])
    cuts = np.unique(np.append(np.arange(ends.size) * _SPAN, cuts))
    example, tick = np.divmod(cuts, _SPAN)
    columns = event_columns(np.bincount(example, minlength=ends.size))
    columns |= _words_of(words, ranges.numbers, ends, example)
    until = np.append(tick, 0)[1:]  # 0 after the last event of an example
    if until.any():
        lengths = (until - tick).astype(np.float32)
        columns["max_time"] = columns["min_time"] = Numbers.of(lengths, until > 0)
    sizes = ranges.sizes()
    size = cuts.size * sum(4 * width + 1 for width in sizes.values())
    check_size(size, "the arrays of all events and units", source, limits)
    rows = np.searchsorted(cuts, first)
    counts = np.where(ranges.used, np.searchsorted(cuts, end) - rows, 0)
    if counts.sum() > limits.max_expand:
        message = f"the times in the file cover more than {limits.max_expand:,} events"
        raise LimitError(message, source=source, hint=limit_hint("max_expand"))
    found: dict[tuple[int, int, int], tuple[str, Numbers]] = {}
    for key, width in sizes.items():
        mine = np.flatnonzero(ranges.keys == key)
        of_row = np.full(cuts.size, -1, np.int64)  # a later line replaces an earlier one
        of_row[row_indices(rows[mine], counts[mine])] = np.repeat(mine, counts[mine])
        if (present := of_row >= 0).any():
            side, group = divmod(key, len(ranges.titles))
            title = f"{_SIDES[side]}.{ranges.titles[group]}"
            values = Numbers.of(ranges.values(of_row, width), present)
            found[side, int(present.argmax()), key] = title, values
    columns |= dict(found[order] for order in sorted(found))
    return Table(columns, cuts.size, {})


def _hint(unexpected: Unexpected) -> str:
    if _OLD.match(unexpected.after):
        return "this is the syntax before MikeNet 8: write CLAMP Input ALL FULL and the numbers"
    return "write TAG, PROB, CLAMP or TARGET with group, time and values, then a space and `;`"


def _numbers(words: Words) -> Floats:
    """Return the number of each token as sscanf reads it; NaN if it reads no number."""
    found = np.zeros(len(words), np.float32)
    tokens, others = words.where("NUMBER"), words.where("OTHER")
    found[tokens] = words.float32s(tokens)
    raws = [words.raw(token) for token in others.tolist()]
    matches = [None if raw in _NOTHING else _NUMBER.match(raw) for raw in raws]
    found[others] = float32s([match[0] if match else b"nan" for match in matches])
    found[found == _MARK] = np.nan
    has_tail = [match is not None and match[0] != match.string for match in matches]
    tails = others[np.array(has_tail, np.bool_)]
    words.report("mikenet-tail", tails, lambda token: {"number": float(found[token])})
    return found


class _Ranges:
    """The ranges of a file, in its order: each gives values to a group during a span of ticks.

    Each array has an element for each range. keys: its side and group, as one number: side *
    (number of groups) + group. first, end: its first tick, and the tick after its last. counts:
    its number of values, unless it is `sparse`. A sparse range has the value `on` in the units
    that it names, and `off` in all others. marks: these units, each as range * LAST + unit,
    ascending.
    """

    def __init__(self, words: Words, numbers: Floats) -> None:
        """Find the ranges. Raises FormatError if a sparse range names a unit that cannot exist."""
        self.words, self.numbers = words, numbers
        self.verbs = verbs = words.where("CLAMP", "TARGET")
        stops = words.where("CLAMP", "TARGET", "END", "TAG", "PROB")
        stops = np.append(stops, len(words))[np.searchsorted(stops, verbs, "right")]
        self.counts = stops - verbs - 4
        self.titles, self.groups = words.distinct(verbs + 1)
        self.keys = words.is_a("TARGET", among=verbs) * len(self.titles) + self.groups
        times, time_of = words.distinct(verbs + 2)
        ticks = np.array([_ticks(time) for time in times], np.int64).reshape(-1, 2)
        self.first, self.end = ticks[time_of].T
        self.used = self.first < self.end
        words.report("mikenet-time", verbs[~self.used] + 2)
        self.sparse = words.is_a("SPARSE", among=verbs + 3)
        self.on, self.off = np.ones(verbs.size, np.float32), np.zeros(verbs.size, np.float32)
        self.marks = self._marks() if self.sparse.any() else verbs[:0]

    def _marks(self) -> Longs:
        """Return the units that sparse ranges name, each as range * LAST + unit, ascending.

        Also set `on` to the value that each range gives to these units, and `off` to the value
        that it gives to the others.
        """
        words, numbers, verbs = self.words, self.numbers, self.verbs
        for name, level in (("ON", self.on), ("OFF", self.off)):
            tokens = words.where(name)
            level[np.searchsorted(verbs, tokens) - 1] = numbers[tokens + 1]
        units = words.where("NUMBER", "OTHER")
        units = units[~words.is_a("ON", "OFF", "PROB", among=units - 1)]
        owners = np.searchsorted(verbs, units) - 1
        units, owners = units[self.sparse[owners]], owners[self.sparse[owners]]
        is_unit = (numbers[units] >= 0) & (numbers[units] < LAST)
        message = f"{{raw}} is not a unit from 0 to {LAST - 1:,}"
        hint = "write the numbers of units, from 0"
        words.refuse("mikenet-values", units[~is_unit], message, hint)
        return np.unique(owners * LAST + numbers[units].astype(np.int64))

    def sizes(self) -> dict[int, int]:
        """Return the number of units for each key, in the order of the file.

        Raises FormatError if ranges of a group have different numbers of values, or if a sparse
        range names a unit beyond this number.
        """
        words, dense = self.words, np.flatnonzero(~self.sparse)
        sizes = np.full(len(self.titles), -1, np.int64)
        sizes[self.groups[dense[::-1]]] = self.counts[dense[::-1]]
        expected = sizes[self.groups]
        for each in dense[self.counts[dense] != expected[dense]][:1].tolist():
            size = counted(int(expected[each]), "value")
            message = f"the group {{raw}} has {self.counts[each]} values here, but {size} elsewhere"
            hint = "write one number for each unit of the group"
            words.refuse("mikenet-values", self.verbs[each] + 1, message, hint)
        owners, marks = np.divmod(self.marks, LAST)
        widths = np.zeros(self.verbs.size, np.int64)
        np.maximum.at(widths, owners, marks + 1)
        for each in np.flatnonzero((widths > expected) & (expected >= 0))[:1].tolist():
            units = f"the {expected[each]} units of its group"
            message = f"unit {widths[each] - 1} is outside of {units}"
            hint = "count units from 0: otherwise MikeNet writes beyond the memory of the group"
            words.refuse("mikenet-values", self.verbs[each] + 1, message, hint)
        widths = np.where(expected >= 0, expected, widths)
        found = dict.fromkeys(self.keys.tolist(), 0)
        for key in found:
            found[key] = int(widths[self.keys == key].max())
        return found

    def values(self, of_row: Longs, width: int) -> Floats:
        """Return the values of events, [rows, width]. of_row: the range of each row, -1 if none."""
        rows = np.flatnonzero((of_row >= 0) & ~self.sparse[of_row])
        found = np.zeros((0, width), np.float32)
        if rows.size:
            found = sliding_window_view(self.numbers, width)[self.verbs[of_row[rows]] + 4]
        if rows.size == of_row.size:
            return found
        values = np.zeros((of_row.size, width), np.float32)
        values[rows] = found
        rows = np.flatnonzero((of_row >= 0) & self.sparse[of_row])
        ranges = of_row[rows]
        values[rows] = self.off[ranges, np.newaxis]
        bounds = np.searchsorted(self.marks, np.arange(self.verbs.size + 1) * LAST)
        counts = np.diff(bounds)[ranges]
        units = self.marks[row_indices(bounds[ranges], counts)] % LAST
        values[np.repeat(rows, counts), units] = np.repeat(self.on[ranges], counts)
        return values


def _ticks(text: str) -> tuple[int, int]:
    """Return the first tick of a time in the text, and the tick after its last."""
    if text == "ALL":
        return 0, LAST
    match = _TIME.match(text)
    first = int(match[1]) if match else LAST
    last = LAST if match and "-ALL" in match[0] else int(match[2] or first) + 1 if match else 0
    return min(first, LAST), min(last, LAST)


def _words_of(words: Words, numbers: Floats, ends: Longs, example: Longs) -> dict[str, TableColumn]:
    """Return the columns `name` and `frequency` of a table with a row for each event.

    numbers: the value of each token. ends: the token that ends each example. example: the example
    of each row.
    """
    columns = dict[str, TableColumn]()
    names: list[bytes | None] = [None] * ends.size
    frequency = np.ones(ends.size, np.float32)
    tags, chances = words.where("TAG"), words.where("PROB")
    for token, owner in zip(tags.tolist(), np.searchsorted(ends, tags).tolist(), strict=True):
        names[owner] = words.raw(token)[3:].strip()
    frequency[np.searchsorted(ends, chances)] = numbers[chances + 1]
    words.report("mikenet-probability", chances[:1], lambda at: {"number": float(numbers[at + 1])})
    if any(name is not None for name in names):
        columns["name"] = text_or_bytes(Strings.of(names)).take(example)
    if (frequency != 1).any():
        columns["frequency"] = Numbers.of(frequency[example])
    return columns
