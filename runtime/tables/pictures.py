"""Pictures of tables: heat maps, grids, similarity, clusters, components and class balance."""

from collections.abc import Mapping
from math import prod
from typing import Final

import numpy as np

from exset.core.text import safe
from exset.grammars.tables.columns import Numbers, Text
from exset.grammars.tables.table import Table
from exset.runtime.pictures import patterns
from exset.runtime.pictures.counting import class_balance
from exset.runtime.pictures.kinds import (
    Bars,
    Grid,
    HeatMap,
    Panel,
    shortened,
)
from exset.runtime.pictures.of_patterns import PatternPictures
from exset.runtime.pictures.options import PictureOptions
from exset.runtime.pictures.patterns import Patterns
from exset.runtime.tables.edits import values_of

_CELLS = 10_000_000
"""The most numbers of a picture."""
_CLASSES = ("label", "labels", "class", "target", "y")
"""The names of columns that usually have classes."""
_NAMES = ("name", "id", "key", "__key__", "path")
"""The names of columns that usually name a row."""


def units(table: Table, options: PictureOptions) -> HeatMap:
    """Return the numbers of a table as a heat map, with one row for each row of the table."""
    found = _patterns(table, options, patterns.SIMILAR)
    sizes = {name: prod(column.shape) for name, column in _numbers(table, options).items()}
    return HeatMap(
        panels=[Panel(found.of, found.values, found.valid, sizes)],
        labels=found.names,
        heads=np.arange(len(found.names)),
        axis="row",
        missing="no value",
        note=found.note.replace("pattern", "row"),
    )


def grid(table: Table, options: PictureOptions) -> Grid:
    """Return rows as small pictures; by default with the shape of the column, or a square."""
    found = _patterns(table, options, patterns.SIMILAR)
    shapes = {column.shape for column in _numbers(table, options).values()}
    shape = options.grid or (shapes.pop() if len(shapes) == 1 else ())
    if len(shape) != 2:
        shape = patterns.square(found)
    return patterns.grid(found, (shape[0], shape[1]))


def classes(table: Table, options: PictureOptions) -> Bars:
    """Return the number of rows of each class."""
    column = options.column or _class_column(table)
    chosen = table if options.which is None else table.select(options.which)
    values = values_of(chosen, column)
    each = values.tolist() if isinstance(values, np.ndarray) else values
    return class_balance(each, f"values of {shortened(column)}", "rows")


def _class_column(table: Table) -> str:
    """Return the column that probably has the classes. Raises ValueError if none has."""
    single = [
        name
        for name, column in table.columns.items()
        if isinstance(column, Text)
        or (isinstance(column, Numbers) and not column.shape and column.values.dtype.kind in "biu")
    ]
    usual = [name for name in single if name.rpartition(".")[2].lower() in _CLASSES]
    if not single:
        there = ", ".join(map(safe, table.names)) or "none"
        raise ValueError(f"the table has no column of classes: its columns are {there}")
    return (usual or single[-1:])[0]


def _numbers(table: Table, options: PictureOptions) -> Mapping[str, Numbers]:
    """Return the columns that have several numbers in each row, or else those that have one.

    Raises ValueError if there are no such columns.
    """
    if options.column is not None and options.column not in table.columns:
        there = ", ".join(map(safe, table.names)) or "none"
        raise ValueError(f"the table has no column {options.column!r}: its columns are {there}")
    found = {
        name: column
        for name, column in table.columns.items()
        if isinstance(column, Numbers) and column.values.dtype.kind in "biuf"
        if options.column in (None, name)
    }
    lists = {name: column for name, column in found.items() if prod(column.shape) > 1}
    if not found:
        raise ValueError("there is nothing to draw: no column has equally many numbers in each row")
    return lists or found


def _patterns(table: Table, options: PictureOptions, most: int) -> Patterns:
    chosen = table if options.which is None else table.select(options.which)
    sizes = [prod(column.shape) for column in _numbers(table, options).values()]
    room = min(most, max(1, _CELLS // max(sum(sizes), 1)))
    first = chosen[:room]
    columns = _numbers(first, options)
    if not len(first):
        raise ValueError("there is nothing to draw: no rows")
    rows = len(first)
    values = [each.values.reshape(rows, -1).astype(np.float64) for each in columns.values()]
    joined = np.concatenate(values, axis=1)
    present = [
        np.repeat(each.present[:, None], size, axis=1)
        for each, size in zip(columns.values(), sizes, strict=True)
    ]
    valid = np.concatenate(present, axis=1) & ~np.isnan(joined)
    of = shortened(options.column) if options.column else "numbers"
    return Patterns(joined, valid, _row_names(first, options), of, len(chosen))


def _row_names(table: Table, options: PictureOptions) -> list[str]:
    """Return the name of each row: its value in the column that has names, or its index."""
    named = next((table.columns[name] for name in _NAMES if name in table.columns), None)
    if isinstance(named, Text):
        return [shortened(name or "") for name in named]
    indices = np.arange(len(table)) if options.which is None else options.which[: len(table)]
    return [str(number) for number in indices.tolist()]


of_patterns: Final = PatternPictures(_patterns)
"""Draws the rows of a table."""
similarity, dendrogram = of_patterns.similarity, of_patterns.dendrogram
components = of_patterns.components
