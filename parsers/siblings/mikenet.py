"""Parse example files of MikeNet, as version 8 reads them."""

import re
from bisect import bisect_left
from itertools import pairwise
from types import MappingProxyType
from typing import Final, NamedTuple

import numpy as np

from exset.core.errors import Findings, LimitError
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits, limit_hint
from exset.core.source import Source
from exset.core.text import counted
from exset.grammars.columns.arrays import Floats, Longs
from exset.grammars.columns.strings import Strings
from exset.grammars.siblings.findings import MIKENET
from exset.grammars.tables.columns import Numbers, TableColumn, text_or_bytes
from exset.grammars.tables.table import Table
from exset.parsers.engine.errors import Unexpected, shown
from exset.parsers.engine.grammar import Grammar
from exset.parsers.engine.numbers import float32s
from exset.parsers.siblings.words import Words

GRAMMAR: Final = Grammar(
    file="mikenet.lark",
    start="mikenet",
    steps=(),
    words=MappingProxyType(
        {
            **{"END": "`;`", "TAG": "`TAG`", "PROB": "`PROB`", "CLAMP": "`CLAMP`"},
            **{"TARGET": "`TARGET`", "SOFT": "`SOFTCLAMP`", "FULL": "`FULL`", "COMMA": "`,`"},
            **{"SPARSE": "`SPARSE`", "TIME": "a time", "NUMBER": "a number", "GROUP": "a group"},
        }
    ),
)
LAST: Final = 1 << 20
"""The tick after the last one: `ALL` ends there."""
_NUMBER: Final = re.compile(
    rb"[-+]?(?:0[xX][0-9a-fA-F]++|(?:\d++\.?\d*+|\.\d++)(?:[eE][-+]?\d++)?|(?i:inf(?:inity)?|nan))"
)
_TIME: Final = re.compile(rb"(\d{1,9})\d*+(?:-(?:(\d{1,9})|ALL))?")
_NOTHING: Final = (b"NaN", b"d")
_MARK: Final = -505
_OLD: Final = re.compile(rb"\[|tag:|[A-Za-z]\w*\s+\[")


class _Range(NamedTuple):
    """A line of a file: values of a group for the ticks (time steps) `first` to `end` - 1.

    side: inputs or targets. token: where the line begins. values: of all units or, if `units` is
    given, of these units. others: the value of all other units.
    """

    side: str
    group: str
    first: int
    end: int
    token: int
    values: Floats
    units: Longs | None
    others: float


def parse(
    source: Source,
    *,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
) -> Table:
    """Return a table of events: `example`, `event`, `name`, `frequency`, inputs and targets.

    `inputs.GROUP` and `targets.GROUP` are arrays, float32 [units], absent in an event that has no
    values for the group. An event is a span of ticks in which no value changes. `max_time` and
    `min_time` are the number of these ticks, absent for the last event of an example. Raises
    FormatError for a text that MikeNet cannot read, LimitError for sparse values that need too
    many bytes.
    """
    words = Words.of(GRAMMAR, source, engine, MIKENET, findings, _hint)
    for token in words.where("SOFT")[:1].tolist():
        message = "exset has no soft clamps"
        raise words.error(token, "mikenet-dialect", message, "clamp the units, or leave them out")
    ends = words.where("END")
    values = _numbers(words)
    ranges = _ranges(words, values)
    owners = np.searchsorted(ends, np.array([each.token for each in ranges], np.int64))
    _end_check(words, ends)
    of_example: list[list[_Range]] = [[] for _ in range(ends.size)]
    for owner, each in zip(owners.tolist(), ranges, strict=True):
        of_example[owner].append(each)
    events = [(number, *span) for number, each in enumerate(of_example) for span in _events(each)]
    sizes = _sizes(words, ranges)
    size = len(events) * sum(4 * width + 1 for width in sizes.values())
    if size > max(limits.max_array, 1000 * len(source.data)):
        message = f"dense events of the groups have {size:,} bytes"
        raise LimitError(message, source=source, hint=limit_hint("max_array"))
    columns = _words_of(words, values, ends, np.array([event[0] for event in events], np.int64))
    lengths = np.array([end - first for _, first, end in events], np.float32)
    is_last = np.array([end == LAST for *_, end in events], np.bool_)
    columns["max_time"] = columns["min_time"] = Numbers.of(lengths, ~is_last)
    if is_last.all():
        del columns["max_time"], columns["min_time"]
    columns |= _sides(of_example, events, sizes, limits, source)
    return Table(columns, len(events), {})


def _hint(unexpected: Unexpected) -> str:
    if _OLD.match(unexpected.after):
        return "this is the syntax before MikeNet 8: write CLAMP Input ALL FULL and the numbers"
    return "write: TAG, PROB, CLAMP or TARGET with group, time and values, then `;` after a blank"


def _end_check(words: Words, ends: Longs) -> None:
    """Raise FormatError for words after the last `;`; ends: the tokens `;`."""
    if len(words) and (not ends.size or ends[-1] < len(words) - 1):
        hint = "end the example with `;` after a blank"
        raise words.error(len(words) - 1, "mikenet-values", "the last example has no `;`", hint)


def _numbers(words: Words) -> Floats:
    """Return the number of each token as sscanf reads it; NaN if it reads no number."""
    found = np.zeros(len(words), np.float32)
    tokens, others = words.where("NUMBER"), words.where("OTHER")
    found[tokens] = words.float32s(tokens)
    raws = [words.raw(token) for token in others.tolist()]
    matches = [None if raw in _NOTHING else _NUMBER.match(raw) for raw in raws]
    found[others] = float32s([match[0] if match else b"nan" for match in matches])
    found[found == _MARK] = np.nan
    has_tail = [
        match is not None and match.end() < len(raw)
        for match, raw in zip(matches, raws, strict=True)
    ]
    tails = others[np.array(has_tail, np.bool_)]
    words.report("mikenet-tail", tails, lambda token: {"number": float(found[token])})
    return found


def _ranges(words: Words, numbers: Floats) -> list[_Range]:
    """Return the lines of values in all examples, in the order of the file."""
    names = words.grammar.terminals
    verbs = words.where("CLAMP", "TARGET")
    stops = np.sort(words.where("CLAMP", "TARGET", "END", "TAG", "PROB"))
    ends = np.append(stops, len(words))[np.searchsorted(stops, verbs, "right")]
    found = []
    groups, group_of = words.strings(verbs + 1).distinct()
    times, time_of = words.strings(verbs + 2).distinct()
    titles = [(group or b"").decode("utf-8", "surrogateescape") for group in groups]
    ticks = [_ticks(time or b"") for time in times]
    is_empty = np.array([first >= end for first, end in ticks], np.bool_)
    words.report("mikenet-time", verbs[is_empty[time_of]] + 2)
    kinds = words.is_a("CLAMP", among=verbs), words.is_a("SPARSE", among=verbs + 3)
    rows = (verbs, ends, group_of, time_of, *kinds)
    for verb, end, group, time, is_input, is_sparse in zip(
        *(r.tolist() for r in rows), strict=True
    ):
        side, (first, last) = "inputs" if is_input else "targets", ticks[time]
        values, units, others = numbers[verb + 4 : end], None, 0.0
        if is_sparse:
            value, listed, at = np.ones(1, np.float32), list[float](), verb + 4
            while at < end - 1:
                kind = names[words.kinds[at]]
                at += kind in ("ON", "OFF")
                if kind == "ON":
                    value = numbers[at : at + 1]
                elif kind == "OFF":
                    others = float(numbers[at])
                else:
                    listed.append(_unit(words, at, float(numbers[at])))
                at += 1
            values, units = value, np.array(listed, np.int64)
        found.append(_Range(side, titles[group], first, last, verb, values, units, others))
    return found


def _unit(words: Words, token: int, number: float) -> int:
    if not 0 <= number < LAST:
        message = f"{shown(words.raw(token))} is not a unit from 0 to {LAST - 1:,}"
        raise words.error(token, "mikenet-values", message, "write the numbers of units, from 0")
    return int(number)


def _ticks(raw: bytes) -> tuple[int, int]:
    """Parse the time of a line: return its first tick, and the tick after its last."""
    if raw == b"ALL":
        return 0, LAST
    match = _TIME.match(raw)
    first = int(match[1]) if match else LAST
    last = LAST if match and b"-ALL" in match[0] else int(match[2] or first) + 1 if match else 0
    return min(first, LAST), min(last, LAST)


def _cuts(each: _Range) -> set[int]:
    """Return the ticks, except the first of the example, at which the values of a line begin
    or end.
    """
    return {each.first, each.end} - {0, LAST} if each.first < each.end else set()


def _events(ranges: list[_Range]) -> list[tuple[int, int]]:
    """Divide an example into events, spans of ticks in which no value changes; return each."""
    if all(each.first == 0 and each.end == LAST for each in ranges):
        return [(0, LAST)]
    return [*pairwise([0, *sorted({tick for each in ranges for tick in _cuts(each)}), LAST])]


def _sizes(words: Words, ranges: list[_Range]) -> dict[tuple[str, str], int]:
    """Return the number of units of each group, by side and name.

    Raises FormatError if lines of a group have different numbers of values.
    """
    full: dict[str, int] = {}
    for each in ranges:
        size = each.values.size
        if each.units is None and full.setdefault(each.group, size) != size:
            expected = counted(full[each.group], "value")
            message = f"the group {shown(words.raw(each.token + 1))} has {each.values.size} values"
            hint = "write one number for each unit of the group"
            raise words.error(
                each.token + 1, "mikenet-values", f"{message}, elsewhere {expected}", hint
            )
    sizes = {(each.side, each.group): full.get(each.group, 0) for each in ranges}
    for each in ranges:
        if each.units is None:
            continue
        most = int(each.units.max(initial=-1)) + 1
        if most > full.get(each.group, LAST):
            message = f"the unit {most - 1} is beyond the {full[each.group]} units of its group"
            hint = "correct the unit: MikeNet writes beyond the memory of the group"
            raise words.error(each.token + 1, "mikenet-values", message, hint)
        key = each.side, each.group
        sizes[key] = max(sizes[key], full.get(each.group, most))
    return sizes


def _sides(
    of_example: list[list[_Range]],
    events: list[tuple[int, int, int]],
    sizes: dict[tuple[str, str], int],
    limits: Limits,
    source: Source,
) -> dict[str, TableColumn]:
    """Return the columns of inputs, then those of targets, with a row for each event.

    of_example: the lines of each example. events: the example and the ticks of each event. A later
    line of an example replaces an earlier one. The groups are in the order of their first events.
    A group gets no column if MikeNet ignores all its values.
    """
    rows, left = len(events), limits.max_expand
    order = sorted(sizes, key=lambda key: key[0])
    values = {key: np.zeros((rows, sizes[key]), np.float32) for key in order}
    present = {key: np.zeros(rows, np.bool_) for key in order}
    begin, every = 0, [each for ranges in of_example for each in ranges]
    if all(each.units is None and each.end - each.first == LAST for each in every):
        owners = [row for row, ranges in enumerate(of_example) for _ in ranges]
        mine: dict[tuple[str, str], list[int]] = {key: [] for key in order}
        for at, each in enumerate(every):
            mine[each.side, each.group].append(at)
        for key, some_of in mine.items():
            which = [owners[at] for at in some_of]
            listed = np.concatenate([every[at].values for at in some_of])
            values[key][which], present[key][which] = listed.reshape(len(which), sizes[key]), True
        of_example = []
    for ranges in of_example:
        firsts = [first for first, _ in _events(ranges)]
        for each in ranges:
            if each.first >= each.end:
                continue
            some = slice(
                begin + bisect_left(firsts, each.first), begin + bisect_left(firsts, each.end)
            )
            left -= some.stop - some.start
            if left < 0:
                message = f"the times of values expand to more than {limits.max_expand:,} events"
                raise LimitError(message, source=source, hint=limit_hint("max_expand"))
            found = values[each.side, each.group]
            found[some] = each.values if each.units is None else each.others
            if each.units is not None:
                found[some][:, each.units] = each.values[0]
            present[each.side, each.group][some] = True
        begin += len(firsts)
    return {
        f"{key[0]}.{key[1]}": Numbers.of(values[key], present[key])
        for key in sorted(order, key=lambda key: (key[0], int(present[key].argmax())))
        if present[key].any()
    }


def _words_of(words: Words, numbers: Floats, ends: Longs, example: Longs) -> dict[str, TableColumn]:
    """Return the columns for the keywords of examples, such as `name`, with a row for each event.

    ends: the last token of each example. example: the example of each event.
    """
    begins = np.append(True, example[1:] != example[:-1]) if example.size else example > 0
    event = np.arange(example.size) - np.flatnonzero(begins)[np.cumsum(begins) - 1]
    columns: dict[str, TableColumn] = {
        "example": Numbers.of(example),
        "event": Numbers.of(event.astype(np.int64)),
    }
    names: list[bytes | None] = [None] * ends.size
    frequency = np.ones(ends.size, np.float32)
    tags = words.where("TAG")
    for token, owner in zip(tags.tolist(), np.searchsorted(ends, tags).tolist(), strict=True):
        names[owner] = words.raw(token)[3:].strip()
    chances = words.where("PROB")
    frequency[np.searchsorted(ends, chances)] = numbers[chances + 1]
    words.report("mikenet-probability", chances[:1], lambda at: {"number": float(numbers[at + 1])})
    if any(name is not None for name in names):
        columns["name"] = text_or_bytes(Strings.of(names)).take(example)
    if (frequency != 1).any():
        columns["frequency"] = Numbers.of(frequency[example])
    return columns
