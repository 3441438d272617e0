"""Parse and write example files of MikeNet, as version 8 reads them."""

import re
from itertools import chain
from types import MappingProxyType
from typing import Final, Literal

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from exset.core.errors import Findings, LimitError
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits, limit_hint
from exset.core.source import Source
from exset.grammars.columns.arrays import Flags, Floats, Longs, as_doubles, as_singles, row_indices
from exset.grammars.columns.strings import Strings
from exset.grammars.siblings.events import event_columns
from exset.grammars.siblings.findings import MIKENET
from exset.grammars.siblings.patterns import Patterns
from exset.grammars.siblings.sparse import check_size
from exset.grammars.tables.columns import Numbers, TableColumn, text_or_bytes
from exset.grammars.tables.table import Table
from exset.parsers.engine.errors import Unexpected
from exset.parsers.engine.numbers import float32s
from exset.parsers.engine.recovery import Records
from exset.parsers.siblings.decimals import decimal_rows, decimals
from exset.parsers.siblings.words import Words, grammar

GRAMMAR: Final = grammar(
    "mikenet",
    {"END": "`;`", "TAG": "`TAG`", "PROB": "`PROB`", "CLAMP": "`CLAMP`", "TARGET": "`TARGET`"},
    {"FULL": "`FULL`", "SPARSE": "`SPARSE`", "COMMA": "`,`"},
    {"TIME": "a time", "NUMBER": "a number", "OTHER": "a number", "GROUP": "a group"},
    steps=("example",),
)
_EXAMPLES: Final = Records((0,), end=b";")
LAST: Final = 1 << 20
"""The tick after the last one: `ALL` ends there."""
_SPAN: Final = 2 * LAST  # more than the ticks of an example
_SIDES: Final = (("inputs", b"CLAMP", "Input"), ("targets", b"TARGET", "Output"))
_ENDS: Final[tuple[Literal["left", "right"], ...]] = ("left", "right")
_NUMBER: Final = re.compile(
    rb"[-+]?(?:0[xX][0-9a-fA-F]++|(?:\d++\.?\d*+|\.\d++)(?:[eE][-+]?\d++)?|(?i:inf(?:inity)?|nan))"
)
_TIME: Final = re.compile(r"([0-9]{1,9})[0-9]*+(?:-(?:([0-9]{1,9})|ALL))?")
_NOTHING: Final = (b"NaN", b"d")
_ABSENT: Final = MappingProxyType({"nan": b"d"})
_MARK: Final = -505
_TAG: Final = re.compile(rb"\S(?:[^\n]*\S)?")
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
    words = Words.of(GRAMMAR, source, engine, MIKENET, findings, _hint, _EXAMPLES)
    numbers, ends = _numbers(words), words.where("END")
    ranges = _Ranges(words, numbers)
    owners = np.searchsorted(ends, ranges.verbs) * _SPAN
    first, end = owners + ranges.first, owners + ranges.end
    cuts = np.concatenate([first[ranges.used], end[ranges.used & (ranges.end < LAST)]])
    cuts = np.unique(np.append(np.arange(ends.size) * _SPAN, cuts))
    example, tick = np.divmod(cuts, _SPAN)
    columns = event_columns(np.bincount(example, minlength=ends.size))
    columns |= _words_of(words, numbers, ends, example)
    until = np.append(tick, 0)[1:]  # 0 after the last event of an example
    if until.any():
        lengths = (until - tick).astype(np.float32)
        columns["max_time"] = columns["min_time"] = Numbers.of(lengths, until > 0)
    keys, sizes = ranges.sizes()
    size = cuts.size * sum(4 * width + 1 for width in sizes)
    check_size(size, "the arrays of all events and units", source, limits)
    rows = np.searchsorted(cuts, first)
    counts = np.where(ranges.used, np.searchsorted(cuts, end) - rows, 0)
    if counts.sum() > limits.max_expand:
        message = f"the times in the file cover more than {limits.max_expand:,} events"
        raise LimitError(message, source=source, hint=limit_hint("max_expand"))
    found: dict[tuple[int, int, int], tuple[str, Numbers]] = {}
    for key, width in zip(keys, sizes, strict=True):
        mine = np.flatnonzero(ranges.keys == key)
        of_row = np.full(cuts.size, -1, np.int64)  # a later line replaces an earlier one
        of_row[row_indices(rows[mine], counts[mine])] = np.repeat(mine, counts[mine])
        if (present := of_row >= 0).any():
            side, group = divmod(key, len(ranges.titles))
            title = f"{_SIDES[side][0]}.{ranges.titles[group]}"
            values = Numbers.of(ranges.values(of_row, width), present)
            found[side, int(present.argmax()), key] = title, values
    columns |= dict(found[order] for order in sorted(found))
    return Table(columns, cuts.size, {})


def _hint(unexpected: Unexpected) -> str:
    if unexpected.word.startswith(b"SOFT"):
        return "exset does not support soft clamps: write CLAMP instead, or leave the values out"
    if _OLD.match(unexpected.after):
        return "this is the syntax before MikeNet 8: write CLAMP Input ALL FULL and the numbers"
    return "write TAG, PROB, CLAMP or TARGET with group, time and values, then a space and `;`"


def _numbers(words: Words) -> Floats:
    """Return the number of each token as sscanf reads it; NaN if it reads no number."""
    found = np.zeros(len(words), np.float32)
    tokens, others = words.where("NUMBER"), words.where("OTHER")
    found[tokens] = words.float32s(tokens)
    matches = [None if raw in _NOTHING else _NUMBER.match(raw) for raw in words.raws(others)]
    found[others] = float32s([match[0] if match else b"nan" for match in matches])
    found[found == _MARK] = np.nan
    has_tail = [match is not None and match[0] != match.string for match in matches]
    tails = others[np.array(has_tail, np.bool_)]
    words.report("mikenet-tail", tails, number=found[tails])
    return found


class _Ranges:
    """The ranges of a file, in its order: each gives values to a group during a span of ticks.

    Each array has an element for each range. keys: its side and group, as one number: side *
    (number of groups) + group. first, end: its first tick, and the tick after its last. counts:
    its number of values, unless it is `sparse`. A sparse range has the value `on` in the units
    that it names, and `off` in all others. units: the tokens of these units. owners: the range of
    each of them.
    """

    def __init__(self, words: Words, numbers: Floats) -> None:
        self.words, self.numbers = words, numbers
        self.verbs = verbs = words.where("CLAMP", "TARGET")
        self.counts = words.next(verbs, "CLAMP", "TARGET", "END", "TAG", "PROB") - verbs - 4
        self.titles, self.groups = words.distinct(verbs + 1)
        self.keys = words.is_a("TARGET", among=verbs) * len(self.titles) + self.groups
        times, time_of = words.distinct(verbs + 2)
        ticks = np.array([_ticks(time) for time in times], np.int64).reshape(-1, 2)
        self.first, self.end = ticks[time_of].T
        self.used = self.first < self.end
        words.report("mikenet-time", verbs[~self.used] + 2)
        odd = [time != "ALL" and not _TIME.fullmatch(time) for time in times]
        is_odd = np.array(odd, np.bool_)[time_of] & self.used
        read = np.array([_time(*each).decode() for each in ticks.tolist()])
        words.report("mikenet-tail", verbs[is_odd] + 2, number=read[time_of[is_odd]])
        self.sparse = words.is_a("SPARSE", among=verbs + 3)
        self.on, self.off = np.ones(verbs.size, np.float32), np.zeros(verbs.size, np.float32)
        self.units = self.owners = verbs[:0]
        if self.sparse.any():
            for name, level in (("ON", self.on), ("OFF", self.off)):
                tokens = words.where(name)
                level[np.searchsorted(verbs, tokens) - 1] = numbers[tokens + 1]
            units = words.where("NUMBER", "OTHER")
            units = units[~words.is_a("ON", "OFF", "PROB", among=units - 1)]
            owners = np.searchsorted(verbs, units) - 1
            is_sparse = self.sparse[owners]
            self.units, self.owners = units[is_sparse], owners[is_sparse]

    def sizes(self) -> tuple[list[int], list[int]]:
        """Return the different keys, and the number of units for each of them.

        Raises FormatError if ranges of a group have different numbers of values, or if a sparse
        range names a unit that its group cannot have.
        """
        words, dense = self.words, np.flatnonzero(~self.sparse)
        sizes = np.full(len(self.titles), -1, np.int64)
        sizes[self.groups[dense[::-1]]] = self.counts[dense[::-1]]
        expected = sizes[self.groups]
        wrong = dense[self.counts[dense] != expected[dense]]
        given = {"found": self.counts[wrong], "expected": expected[wrong]}
        words.refuse("mikenet-values", self.verbs[wrong] + 1, **given)
        units, most = self.numbers[self.units], np.where(expected < 0, LAST, expected)[self.owners]
        is_wrong = ~((units >= 0) & (units < most))  # NaN, too
        words.refuse("mikenet-unit", self.units[is_wrong], last=most[is_wrong] - 1)
        widths = np.maximum(expected, 0)
        np.maximum.at(widths, self.owners, units.astype(np.int64) + 1)
        keys, ranks = np.unique(self.keys, return_inverse=True)
        found = np.zeros(keys.size, np.int64)
        np.maximum.at(found, ranks, widths)
        return keys.tolist(), found.tolist()

    def values(self, of_row: Longs, width: int) -> Floats:
        """Return the values of events, [rows, width]. of_row: the range of each row, -1 if none."""
        is_there, is_sparse = of_row >= 0, self.sparse[of_row]
        if (is_there & ~is_sparse).all():
            return sliding_window_view(self.numbers, width)[self.verbs[of_row] + 4]
        values = np.repeat(self.off[of_row], width).reshape(of_row.size, width)
        if (rows := np.flatnonzero(is_there & ~is_sparse)).size:
            values[rows] = sliding_window_view(self.numbers, width)[self.verbs[of_row[rows]] + 4]
        rows = np.flatnonzero(is_there & is_sparse)
        begins, ends = (np.searchsorted(self.owners, of_row[rows], side) for side in _ENDS)
        units = self.units[row_indices(begins, ends - begins)]
        on = np.repeat(self.on[of_row[rows]], ends - begins)
        values[np.repeat(rows, ends - begins), self.numbers[units].astype(np.int64)] = on
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
    for owner, raw in zip(np.searchsorted(ends, tags).tolist(), words.raws(tags), strict=True):
        names[owner] = raw[3:].strip()
    frequency[np.searchsorted(ends, chances)] = numbers[chances + 1]
    words.report("mikenet-probability", chances[:1], number=numbers[chances[:1] + 1])
    if any(name is not None for name in names):
        columns["name"] = text_or_bytes(Strings.of(names)).take(example)
    if (frequency != 1).any():
        columns["frequency"] = Numbers.of(frequency[example])
    return columns


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
    for groups, (_, verb, default) in zip((patterns.inputs, patterns.targets), _SIDES, strict=True):
        # The order in which groups are read: that of their first events.
        some = [group for group in groups if group.present.any()]
        for group in sorted(some, key=lambda group: int(group.present.argmax())):
            name = (group.name or default).encode("utf-8", "surrogateescape")
            if not re.fullmatch(rb"\S+", name):
                problem = "the name of a MikeNet group cannot contain spaces"
                patterns.losses.report(group.column, problem)
                continue
            texts = decimal_rows(as_singles(group.values), _ABSENT)
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
