"""Hypothesis strategies for Lens example sets in normal form, with rare and unusual content.

Text cannot store some strings (`exset.parsers.lens.write_strings`), a list that is the inputs of
one event and the targets of another, or units in an order that the parser refuses. Binary files
cannot store NUL in strings, empty names or negative frequencies. Source: Lens, util.c: readBlock;
example.c: readEventRanges, readExample, readBinaryExample.
"""

import math
from collections.abc import Mapping
from functools import cache
from itertools import chain
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

from exset.grammars.columns.arrays import offsets_of
from exset.grammars.columns.ragged import Ragged, Reals, Strings
from exset.grammars.lens.build import Dense, Event, Example
from exset.grammars.lens.examples import REAL_FIELDS, Events, ExampleSet, Ranges, SetHeader
from exset.parsers.lens.write_strings import faults

_INT32 = 2**31 - 1
_MAX = np.finfo(np.float32).max

_reals = st.floats(width=32) | st.sampled_from(
    (0.0, -0.0, 1.0, 0.5, math.nan, math.inf, -math.inf, 2.0**-149, -(2.0**-126), float(_MAX))
)
_units = st.integers(0, 12) | st.integers(0, _INT32)
_unusual_names = st.sampled_from(
    [*b"input output nan - 1g 3 * -.5 #x I: ; a\\ -.\\ 1\\".split(), b"a b", b"\xff"]
)
_PLAIN = [b"a", b"b c", b" ", b"\n", b"#", b";", b"-1", b"\xc3\xa9", b"\xf0"]
_ESCAPES = [b"\\\\", b"\\}", b'\\"']


@cache
def strings(
    *, text: bool = True, binary: bool = True, min_size: int = 0, group: bool = False
) -> st.SearchStrategy[bytes]:
    """Return a strategy for strings that the chosen files can store.

    `text`: text files must be able to store them. `binary`: the same for binary files.
    """
    drawn = _nested() | _unusual_names | st.text(max_size=8).map(str.encode) | st.binary(max_size=8)
    if text:
        drawn = drawn.map(lambda raw: raw.lstrip(b"\n"))
        drawn = drawn.filter(lambda raw: not faults(raw, group))
    elif binary:
        drawn = drawn.map(lambda raw: raw.replace(b"\0", b""))
    return drawn.filter(lambda raw: len(raw) >= min_size)


def set_headers(*, text: bool = True, binary: bool = True) -> st.SearchStrategy[SetHeader]:
    """Return a strategy for set headers. Most of them have a field that is not at its default."""
    proc = st.none() | strings(text=text, binary=binary)
    fields = st.dictionaries(st.sampled_from(REAL_FIELDS), _reals, max_size=3)
    return st.builds(lambda proc, fields: SetHeader(proc, **fields), proc, fields)


@st.composite
def example_sets(
    draw: st.DrawFn, *, text: bool = True, binary: bool = True, max_examples: int = 4
) -> ExampleSet:
    """Draw an example set in normal form that the chosen files can store.

    `text`: text files must be able to store it. `binary`: the same for binary files.
    """
    string = strings(text=text, binary=binary)
    names = strings(text=text, binary=binary, min_size=1 if binary else 0)
    group = strings(text=text, binary=binary, min_size=1, group=True)
    groups = draw(st.lists(group, max_size=4))
    if draw(st.integers(0, 19)) == 19:  # more than stock Lens holds
        groups += [b"g%d" % i for i in range(14)]
    header = draw(set_headers(text=text, binary=binary))
    size = (draw(st.integers(0, 8 * max_examples)) + 7) // 8  # few empty sets
    example = _examples(string, names, text, binary, len(groups))
    examples = draw(st.lists(example, min_size=size, max_size=size))
    events = [event for example in examples for event in example.events]
    lists = [ranges for example in examples for ranges in example.lists]
    ranges = list(chain.from_iterable(lists))
    event_offsets = _offsets([len(example.events) for example in examples])
    list_offsets = _offsets([len(example.lists) for example in examples])
    shift = np.repeat(list_offsets[:-1], np.diff(event_offsets))
    inputs = np.array([event.inputs for event in events], np.int64)
    targets = np.array([event.targets for event in events], np.int64)
    return ExampleSet(
        header=header,
        name=Strings.of(example.name for example in examples),
        proc=Strings.of(example.proc for example in examples),
        frequency=np.array([example.frequency for example in examples], np.float32),
        event_offsets=event_offsets,
        events=Events.empty(len(events)).with_unchecked(
            proc=Strings.of(event.proc for event in events),
            inputs=np.where(inputs < 0, -1, inputs + shift),
            targets=np.where(targets < 0, -1, targets + shift),
            **{field: _column(field, events) for field in REAL_FIELDS},
        ),
        lists=_offsets([len(each) for each in lists]),
        ranges=Ranges(
            group=np.array([each.group for each in ranges], np.int32),
            first=np.array([each.first for each in ranges], np.int32),
            value=np.array([each.value for each in ranges], np.float32),
            values=Ragged(
                np.array([value for each in ranges for value in each.values], np.float32),
                _offsets([len(each.values) for each in ranges]),
            ),
            units=Ragged(
                np.array([unit for each in ranges for unit in each.units], np.int32),
                _offsets([len(each.units) for each in ranges]),
            ),
        ),
        groups=Strings.of(groups),
    ).normalized()


class _Range(NamedTuple):
    group: int
    first: int
    value: float
    values: list[float]
    units: list[int]


class _Event(NamedTuple):
    proc: bytes | None
    reals: dict[str, float]
    inputs: int
    targets: int


class _Example(NamedTuple):
    name: bytes | None
    proc: bytes | None
    frequency: float
    events: list[_Event]
    lists: list[list[_Range]]


def text_example_sets() -> st.SearchStrategy[ExampleSet]:
    """Return a strategy for the example sets that text can store."""
    return example_sets(binary=False)


def binary_example_sets() -> st.SearchStrategy[ExampleSet]:
    """Return a strategy for the example sets that binary files can store."""
    return example_sets(text=False)


@st.composite
def dense_sets(draw: st.DrawFn, *, max_examples: int = 4) -> ExampleSet:
    """Draw an example set, with missing values, that a table of dense values can store exactly.

    The inputs of an event have either all groups, each as one dense range, or no group; so do its
    targets. No list is shared.
    """
    group_names = strings(text=False, min_size=1)
    sizes = st.dictionaries(group_names, st.integers(1, 3), min_size=1, max_size=3)
    whole = st.dictionaries(st.none(), st.integers(1, 3), min_size=1)
    inputs = draw(sizes | whole)
    # Inferred layouts have the groups in the order of first use, of both sides together.
    others = (sizes | whole).filter(lambda groups: not inputs.keys() & groups.keys() - {None})
    layouts = [inputs, draw(others)]
    header = draw(set_headers(text=False))

    def side(groups: Mapping[bytes, int] | Mapping[None, int]) -> list[Dense] | None:
        if draw(st.booleans()):
            return None
        row = (
            (group, draw(st.lists(_reals, min_size=size, max_size=size)))
            for group, size in groups.items()
        )
        return [Dense(values, group=group) for group, values in row]

    examples = []
    for _ in range(draw(st.integers(0, max_examples))):
        events = []
        for _ in range(draw(st.integers(1, 3))):
            reals = draw(st.dictionaries(st.sampled_from(REAL_FIELDS), _reals, max_size=2))
            proc = draw(st.none() | strings(text=False))
            events.append(Event(side(layouts[0]), side(layouts[1]), proc, **reals))
        name, proc = draw(st.none() | strings(text=False)), draw(st.none() | strings(text=False))
        examples.append(Example(events, name, proc, draw(_reals)))
    return ExampleSet.from_examples(examples, header)


@st.composite
def _examples(
    draw: st.DrawFn,
    string: st.SearchStrategy[bytes],
    names: st.SearchStrategy[bytes],
    text: bool,
    binary: bool,
    num_groups: int,
) -> _Example:
    """Draw an example: range lists, and events that refer to these lists by number.

    string, names: strategies for strings. text: whether text files must be able to store the
    example.
    """
    lists = draw(st.lists(st.lists(_ranges(text, num_groups), max_size=3), max_size=4))
    frequency = draw(_reals)
    if binary and frequency < 0:
        frequency = -frequency
    # Each list is for inputs, for targets, or for both; in text, for both of the same event.
    roles = [draw(st.sampled_from(["inputs", "targets", "both"])) for _ in lists]
    for_inputs = st.sampled_from([-1, *(i for i, r in enumerate(roles) if r != "targets")])
    for_targets = [i for i, r in enumerate(roles) if r == "targets" or (r == "both" and not text)]
    events = []
    for _ in range(draw(st.integers(1, 5))):
        inputs, targets = draw(for_inputs), draw(st.sampled_from([-1, *for_targets]))
        if text and inputs >= 0 and roles[inputs] == "both":
            targets = inputs
        reals = draw(st.dictionaries(st.sampled_from(REAL_FIELDS), _reals, max_size=2))
        events.append(_Event(draw(st.none() | string), reals, inputs, targets))
    return _Example(draw(st.none() | names), draw(st.none() | string), frequency, events, lists)


@st.composite
def _ranges(draw: st.DrawFn, text: bool, num_groups: int) -> _Range:
    group = draw(st.integers(-1, num_groups - 1))
    kind = draw(st.sampled_from(["dense", "sparse", "sparse", "empty"]))
    first, value = 0, draw(st.just(1.0) | _reals)
    values: list[float] = []
    units: list[int] = []
    if kind == "dense":
        first = draw(st.just(0) | st.integers(-_INT32 - 1, _INT32))
        values = draw(st.lists(_reals, min_size=1, max_size=5))
    elif kind == "sparse" and text:
        units = draw(_text_units())
    elif kind == "sparse":
        units = draw(st.lists(_units | st.integers(-_INT32 - 1, -1), min_size=1, max_size=6))
    return _Range(group, first, value, values, units)


@st.composite
def _text_units(draw: st.DrawFn) -> list[int]:
    """Draw units that the text parser allows: `*`, or numbers and ranges `n -m` with n <= m."""
    if draw(st.integers(0, 4)) == 4:
        return [-1]
    units: list[int] = []
    for unit, is_end in draw(st.lists(st.tuples(_units, st.booleans()), min_size=1, max_size=6)):
        units.append(-max(unit, units[-1], 1) if is_end and units else unit)
    return units


def _nested() -> st.SearchStrategy[bytes]:
    return st.recursive(
        st.sampled_from(_PLAIN + _ESCAPES),
        lambda inner: st.builds(
            lambda pair, parts: pair[:1] + b"".join(parts) + pair[1:],
            st.sampled_from([b"{}", b"()", b"[]", b'""', b""]),
            st.lists(inner, max_size=3),
        ),
        max_leaves=6,
    )


def _offsets(lengths: list[int]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return offsets_of(np.array(lengths, np.int64))


def _column(field: str, events: list[_Event]) -> Reals:
    values = np.array([event.reals.get(field, 0.0) for event in events], np.float32)
    return Reals(values, np.array([field in event.reals for event in events], np.bool_))
