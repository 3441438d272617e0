"""Hypothesis strategies for tables: columns of all types, missing values, unusual values."""

from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as of_numpy

from exset.grammars.columns.arrays import constant
from exset.grammars.columns.strings import Strings
from exset.grammars.tables.columns import Lists, Numbers, Records, TableColumn, Text
from exset.grammars.tables.table import Table

_DTYPES = (
    *("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"),
    *("float16", "float32", "float64"),
)
_NAMES = st.text(st.characters(codec="utf-8", exclude_characters=".\0/:"), min_size=1, max_size=6)


@st.composite
def tables(draw: st.DrawFn, *, nested: bool = True, max_rows: int = 5) -> Table:
    """Draw a table. `nested`: whether a column's values may be lists, also lists of records."""
    rows = draw(st.integers(0, max_rows))
    names = draw(st.lists(_NAMES, max_size=4, unique=True))
    dotted = [draw(st.sampled_from((name, f"{name}.x"))) for name in names]
    columns = {name: draw(columns_of(rows, nested=nested)) for name in dotted}
    if not columns:
        rows = 0
    metadata = draw(st.fixed_dictionaries({}, optional={"kind": st.text(max_size=5)}))
    return Table(columns, rows, metadata)


def arrays(max_rows: int = 5) -> st.SearchStrategy[Table]:
    """Return a strategy for tables of one column of numbers without missing values."""
    shapes = of_numpy.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=max_rows)
    drawn = of_numpy.arrays(st.sampled_from(_DTYPES).map(np.dtype), shapes)
    return drawn.map(lambda array: Table.of({"array": array}))


@st.composite
def texts(draw: st.DrawFn, max_rows: int = 5) -> Table:
    """Draw a table that CSV can store: integers, reals and text, without metadata."""
    rows = draw(st.integers(1, max_rows))
    names = draw(st.lists(_NAMES, min_size=1, max_size=4, unique=True))
    some: st.SearchStrategy[str | None] = st.text(max_size=5)
    if len(names) > 1:
        some = some | st.none()
    makers = st.sampled_from((st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False), some))
    columns = {name: draw(st.lists(draw(makers), min_size=rows, max_size=rows)) for name in names}
    return Table.of(columns)


@st.composite
def columns_of(draw: st.DrawFn, rows: int, *, nested: bool = True, depth: int = 2) -> TableColumn:
    """Draw a column of `rows` rows.

    nested: whether its values may be lists or records. depth: how deeply these may be nested.
    """
    kinds = [
        "numbers",
        "numbers",
        "text",
        "bytes",
        *(["lists", "records"] if nested and depth else []),
    ]
    kind = draw(st.sampled_from(kinds))
    present = constant(True, rows, np.bool_)
    if draw(st.booleans()):
        present = np.array(draw(st.lists(st.booleans(), min_size=rows, max_size=rows)), np.bool_)
    if kind == "numbers":
        shape = (rows, *draw(st.sampled_from(((), (), (2,), (1, 3)))))
        dtype = np.dtype(draw(st.sampled_from(_DTYPES)))
        return Numbers.of(draw(of_numpy.arrays(dtype, shape)), present)
    if kind == "text":
        return Text.of(_some(draw, st.text(max_size=5), present))
    if kind == "bytes":
        return Strings.of(_some(draw, st.binary(max_size=5), present))
    if kind == "records":
        names = draw(st.lists(_NAMES, min_size=1, max_size=3, unique=True))
        inner = {name: draw(columns_of(rows, nested=nested, depth=depth - 1)) for name in names}
        return Records(inner, present)
    lengths = np.array([draw(st.integers(0, 3)) if has else 0 for has in present], np.int64)
    items = draw(columns_of(int(lengths.sum()), nested=nested, depth=depth - 1))
    return Lists.of(items, lengths, present)


def _some(draw: st.DrawFn, items: st.SearchStrategy[Any], present: Any) -> list[Any]:
    return [draw(items) if has else None for has in present.tolist()]
