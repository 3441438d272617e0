"""Hypothesis strategies for tables of patterns and of features."""

from typing import Any

import numpy as np
from hypothesis import strategies as st

from exset.grammars.siblings.layers import as_patterns
from exset.grammars.tables.columns import Lists, Numbers, TableColumn, Text
from exset.grammars.tables.table import Table

_REALS = st.floats(allow_nan=False) | st.sampled_from((0.0, -0.0, 1.0, 0.5))
_MOST = (1 << 31) - 2


@st.composite
def features(draw: st.DrawFn, *, max_rows: int = 5) -> Table:
    """Draw a table of features by index; a row has one label, several labels or none."""
    rows = draw(st.integers(0, max_rows))
    units = st.sets(st.integers(0, 9) | st.integers(0, _MOST), max_size=4).map(sorted)
    index = [draw(units) for _ in range(rows)]
    target: Numbers | Lists = Numbers.of(np.array([draw(_REALS) for _ in range(rows)], float))
    if rows and draw(st.booleans()):
        labels = [draw(st.lists(_REALS, min_size=not has, max_size=3)) for has in index]
        labels[0] = [0.5, 2.0, *labels[0]]
        target = _lists(labels, np.float64)
    table = Table({"target": target}, rows, {})
    if rows and draw(st.booleans()):
        ids = np.array([draw(st.integers(-(2**63), 2**63 - 1)) for _ in range(rows)], np.int64)
        present = np.array([True, *(draw(st.booleans()) for _ in range(rows - 1))])
        table = table.with_columns(qid=Numbers.of(ids, present))
    values = [[draw(_REALS) for _ in each] for each in index]
    return table.with_columns(index=_lists(index, np.int64), value=_lists(values, np.float64))


def _lists(rows: list[list[float]] | list[list[int]], dtype: type) -> Lists:
    lengths = np.array([len(row) for row in rows], np.int64)
    return Lists.of(Numbers.of(np.array([each for row in rows for each in row], dtype)), lengths)


_SINGLES = st.floats(width=32, allow_nan=False) | st.sampled_from((0.0, -0.0, 1.0, 0.5))
_CLASSES = st.sampled_from(("cat", "17", "\xe9", "a.b", "-"))


@st.composite
def patterns(draw: st.DrawFn, *, max_rows: int = 4) -> Table:
    """Draw a table of patterns with inputs, targets and classes. Sizes may be equal or vary."""
    rows = draw(st.integers(1, max_rows))
    columns: dict[str, TableColumn] = {}
    for name, sizes, least in (("inputs", "input_sizes", 1), ("targets", "target_sizes", 0)):
        units = draw(st.integers(least, 3))
        dimensions = draw(st.sampled_from((0, 0, 1, 2))) if units else 0
        if dimensions:
            most = [[draw(st.integers(1, 3)) for _ in range(dimensions)] for _ in range(rows)]
            columns[sizes] = Numbers.of(np.array(most, np.int64))
            lengths = units * np.array(most, np.int64).prod(axis=1)
            values = np.array([draw(_SINGLES) for _ in range(int(lengths.sum()))], np.float32)
            columns[name] = Lists.of(Numbers.of(values), lengths)
        elif units:
            values = np.array([draw(_SINGLES) for _ in range(rows * units)], np.float32)
            columns[name] = Numbers.of(values.reshape(rows, units))
    if draw(st.booleans()):
        columns["name"] = Text.of(draw(_CLASSES) for _ in range(rows))
    order = ("inputs", "input_sizes", "targets", "target_sizes", "name")
    metadata: dict[str, Any] = {}
    if draw(st.booleans()):
        metadata = {
            "snns": {"remap": "Threshold", "parameters": [0.5, draw(_SINGLES.filter(np.isfinite))]}
        }
    return Table({name: columns[name] for name in order if name in columns}, rows, metadata)


@st.composite
def streams(draw: st.DrawFn, *, max_rows: int = 4) -> Table:
    """Draw a table of sequences of samples, in dense and in sparse streams."""
    rows = draw(st.integers(1, max_rows))
    example = np.cumsum([0, *(draw(st.integers(0, 1)) for _ in range(rows - 1))])
    values = np.array([draw(_SINGLES) for _ in range(rows * 2)], np.float32).reshape(rows, 2)
    columns: dict[str, TableColumn] = {
        "example": Numbers.of(example.astype(np.int64)),
        "features": Numbers.of(values),
    }
    if draw(st.booleans()):
        index = [draw(st.lists(st.integers(0, _MOST), max_size=3)) for _ in range(rows)]
        index[0].append(7)
        reals = [[draw(_SINGLES) for _ in each] for each in index]
        columns["labels.index"] = _lists(index, np.int64)
        columns["labels.value"] = _lists(reals, np.float32)
    return Table(columns, rows, {})


@st.composite
def timed_patterns(draw: st.DrawFn, *, max_examples: int = 3) -> Table:
    """Draw a table of examples, which have one or more events with inputs and targets by group."""
    sizes = [draw(st.integers(1, 3)) for _ in range(draw(st.integers(1, max_examples)))]
    rows = sum(sizes)
    example = np.repeat(np.arange(len(sizes)), sizes)
    event = np.concatenate([np.arange(size) for size in sizes])
    columns: dict[str, TableColumn] = {
        "example": Numbers.of(example),
        "event": Numbers.of(event),
        "name": Text.of([draw(st.sampled_from(("a b", "17", "x;y"))) for _ in sizes]).take(example),
    }
    is_last = event == np.array(sizes)[example] - 1
    lengths = np.array([draw(st.integers(1, 5)) for _ in range(rows)], np.float32)
    if not is_last.all():
        columns["max_time"] = columns["min_time"] = Numbers.of(lengths, ~is_last)
    reals = st.floats(width=32).filter(lambda number: number != -505)
    values = np.array([draw(reals) for _ in range(rows * 2)], np.float32)
    values[np.isnan(values)] = np.nan
    columns["inputs.Input"] = Numbers.of(values.reshape(rows, 2))
    columns["targets.Out"] = Numbers.of(np.arange(rows, dtype=np.float32).reshape(rows, 1))
    return Table(columns, rows, {})


@st.composite
def layers(draw: st.DrawFn, *, max_rows: int = 4) -> Table:
    """Draw a table of layers, with words and numbers of all types. Some have several dimensions."""
    rows = draw(st.integers(1, max_rows))
    columns: dict[str, TableColumn] = {}
    if draw(st.booleans()):
        columns[draw(st.sampled_from(("Name", "Group")))] = Text.of(
            draw(_WORDS) for _ in range(rows)
        )
    for name in ("Input", "Output", "Hidden"):
        shape = draw(st.sampled_from(((1,), (3,), (2, 2), (1, 2, 1))))
        size = rows * int(np.prod(shape))
        values = np.array([draw(_SINGLES) for _ in range(size)], np.float32)
        present = np.array([draw(st.booleans()) for _ in range(rows)])
        columns[name] = Numbers.of(values.reshape(rows, *shape), present)
    least, most = -(1 << 53), 1 << 53
    drawn = [draw(st.integers(least, most)) for _ in range(rows)]
    columns["count"] = Numbers.of(np.array(drawn, np.int64))
    columns["byte"] = Numbers.of(np.array(drawn, np.int64).astype(np.uint8))
    columns["flag"] = Numbers.of(np.array(drawn) > 0)
    columns["real"] = Numbers.of(np.array([draw(_REALS) for _ in range(rows)], float))
    return as_patterns(Table(columns, rows, {}))


_WORDS = st.sampled_from(("cat", "", "\xe9", "a\tb", 'a"b', "_D:", "a\nb", "1"))


@st.composite
def archives(draw: st.DrawFn, *, max_rows: int = 4) -> Table:
    """Draw a table of keys with matrices, or with vectors. The values are reals or integers."""
    rows = draw(st.integers(1, max_rows))
    keys = st.text(st.characters(codec="utf-8", exclude_categories=("Z", "C")), min_size=1)
    name = Text.of(
        draw(keys.filter(lambda key: len(key.encode().split()) == 1)) for _ in range(rows)
    )
    dtype = draw(st.sampled_from((np.float32, np.float64, np.int32)))
    some: st.SearchStrategy[Any] = (
        _SINGLES if dtype != np.int32 else st.integers(-(2**31), 2**31 - 1)
    )
    width, lengths = (
        draw(st.integers(1, 3)),
        np.array([draw(st.integers(1, 3)) for _ in range(rows)]),
    )
    is_matrix = dtype != np.int32 and draw(st.booleans())
    count = int(lengths.sum()) if is_matrix else rows
    values = np.array([draw(some) for _ in range(count * width)], dtype).reshape(count, width)
    columns: dict[str, TableColumn] = {"name": name}
    if is_matrix:
        example = np.repeat(np.arange(rows), lengths)
        event = np.concatenate([np.arange(length) for length in lengths])
        columns = {"example": Numbers.of(example), "event": Numbers.of(event)}
        columns["name"] = name.take(example)
    return Table({**columns, "features": Numbers.of(values)}, count, {})


@st.composite
def utterances(draw: st.DrawFn, *, max_rows: int = 4) -> Table:
    """Draw a table of utterances with speakers and sounds, in the order of a data directory."""
    drawn = draw(st.sets(st.tuples(st.integers(0, 2), st.integers(0, 9)), min_size=1))
    rows = sorted(drawn)[:max_rows]
    count = len(rows)
    columns: dict[str, TableColumn] = {
        "name": Text.of(f"s{speaker}-{number}" for speaker, number in rows),
        "speaker": Text.of(f"s{speaker}" for speaker, _ in rows),
    }
    if draw(st.booleans()):
        words = st.sampled_from(("one", "two words", "\xe9t\xe9", "a, b"))
        columns["text"] = Text.of(draw(words) for _ in range(count))
    columns["audio"] = Text.of(f"/x/{number}.wav" for _, number in rows)
    if draw(st.booleans()):
        seconds = [draw(st.integers(0, 999)) + 0.5 for _ in range(count)]
        columns["duration"] = Numbers.of(np.array(seconds))
    return Table(columns, count, {})
