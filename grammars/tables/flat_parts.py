"""Make tables from flat arrays, at once or in chunks of rows; see `exset.grammars.tables.flat`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

import numpy as np

from exset.grammars.columns.arrays import Longs, constant
from exset.grammars.columns.strings import Strings
from exset.grammars.tables.columns import Lists, Numbers, Records, TableColumn, Text
from exset.grammars.tables.flat import Array, Form
from exset.grammars.tables.table import Table

_DEEPEST: Final = 32


class Parts(Protocol):
    """Flat arrays, each with a name; their elements are read when they are needed."""

    def length(self, name: str) -> int | None:
        """Return the length of an array, None if no array has this name."""

    def part(self, name: str, begin: int, end: int) -> Array:
        """Return the elements `begin` to `end` - 1 of an array."""

    def strings(self, name: str, begin: int, end: int) -> Strings | None:
        """Return rows `begin` to `end` - 1 of a column of text that is stored as one array.

        Return None if it is stored as the arrays `.values` and `.offsets`.
        """


def unflattened(arrays: Parts, stored: Mapping[str, Any]) -> Table:
    """Return the table from which `flattened` made the arrays and the JSON object `stored`.

    Raises ValueError if the arrays do not fit the forms in `stored`.
    """
    check_lengths(arrays, stored)
    return rows_of(arrays, stored, 0, stored["rows"])


def check_lengths(arrays: Parts, stored: Mapping[str, Any]) -> None:
    """Check the lengths of all arrays. Raises ValueError if they do not fit the forms."""
    forms, rows = stored.get("columns"), stored.get("rows")
    if not isinstance(forms, dict) or type(rows) is not int or rows < 0:
        raise ValueError(
            "the metadata of the table must have `columns`, how each column is stored, and `rows`,"
            " the number of rows: write the file again"
        )
    for name, form in forms.items():
        _check(name, form, rows, arrays, 0)


def rows_of(arrays: Parts, stored: Mapping[str, Any], begin: int, end: int) -> Table:
    """Return rows `begin` to `end` - 1 of a table. The lengths of the arrays must have been
    checked.

    Raises ValueError if the arrays do not fit the forms in `stored`.
    """
    metadata = {name: value for name, value in stored.items() if name not in ("columns", "rows")}
    forms = stored["columns"]
    columns = {name: _unflatten(name, form, arrays, begin, end) for name, form in forms.items()}
    return Table(columns, end - begin, metadata)


def _check(name: str, form: Form, rows: int, arrays: Parts, depth: int) -> None:
    """Check that the arrays of a column have the lengths that `rows` rows need; raise
    ValueError if not.

    name: how the names of the column's arrays begin. depth: how many columns contain this column.
    """
    if depth > _DEEPEST:
        raise ValueError(f"{name}: the column is nested too deeply")
    if arrays.length(present := f"{name}.present") is not None:
        _check_length(present, rows, arrays)
    match form:
        case "numbers":
            _check_length(name, rows, arrays)
        case "text" | "bytes":
            if arrays.strings(name, 0, 0) is not None:
                _check_length(name, rows, arrays)
            else:
                _check_length(f"{name}.values", _last(name, rows, arrays), arrays)
        case {"list": item}:
            _check(f"{name}.values", item, _last(name, rows, arrays), arrays, depth + 1)
        case {"record": dict() as forms}:
            if rows and not forms:
                raise ValueError(f"{name}: the record has no fields")
            for key, inner in forms.items():
                _check(f"{name}.{key}", inner, rows, arrays, depth + 1)
        case _:
            raise ValueError(f"{name}: unknown form of a column")


def _check_length(name: str, rows: int, arrays: Parts) -> None:
    if (found := arrays.length(name)) != rows:
        missing = f"the array {name!r} is missing"
        raise ValueError(missing if found is None else f"{name}: {found} rows, not {rows}")


def _last(name: str, rows: int, arrays: Parts) -> int:
    """Return the number of items in all rows of a column: its last offset. Raises ValueError
    for wrong offsets.
    """
    _check_length(f"{name}.offsets", rows + 1, arrays)
    if _offsets(name, 0, 0, arrays)[0]:
        raise ValueError(f"{name}.offsets: the first one is not 0")
    return int(_offsets(name, rows, rows, arrays)[0])


def _offsets(name: str, begin: int, end: int, arrays: Parts) -> Longs:
    """Return the offsets of rows `begin` to `end` - 1 of the column `name`: `end` - `begin` +
    1 numbers.
    """
    offsets = arrays.part(f"{name}.offsets", begin, end + 1)
    if offsets.dtype != np.int64 or offsets.ndim != 1:
        raise ValueError(f"{name}.offsets: expected int64")
    if int(offsets[0]) > int(offsets[-1]) or offsets[0] < 0:
        raise ValueError(f"{name}.offsets: they descend")
    return offsets


def _unflatten(name: str, form: Form, arrays: Parts, begin: int, end: int) -> TableColumn:
    """Return rows `begin` to `end` - 1 of the column `name`, which has the given form, from
    its arrays.

    The lengths of the arrays must have been checked.
    """
    present = constant(True, end - begin, np.bool_)
    if arrays.length(f"{name}.present") is not None:
        present = arrays.part(f"{name}.present", begin, end)
    if form == "numbers":
        return Numbers.of(arrays.part(name, begin, end), present)
    if isinstance(form, dict) and "record" in form:
        fields = {
            key: _unflatten(f"{name}.{key}", inner, arrays, begin, end)
            for key, inner in form["record"].items()
        }
        return Records(fields, present)
    kind = Text if form == "text" else Strings
    if (strings := arrays.strings(name, begin, end)) is not None:
        return kind(strings.data, strings.offsets, present)
    offsets = _offsets(name, begin, end, arrays)
    first, last = int(offsets[0]), int(offsets[-1])
    offsets = offsets - first if first else offsets
    if isinstance(form, dict):
        return Lists(
            _unflatten(f"{name}.values", form["list"], arrays, first, last), offsets, present
        )
    return kind(arrays.part(f"{name}.values", first, last), offsets, present)


@dataclass(frozen=True)
class InMemory:
    """Arrays in memory, as `Parts`. used: the names of the arrays that were read."""

    arrays: Mapping[str, Array]
    used: set[str] = field(default_factory=set)

    def length(self, name: str) -> int | None:
        """Return the length of an array."""
        found = self.arrays.get(name)
        return len(found) if found is not None and found.ndim else None

    def part(self, name: str, begin: int, end: int) -> Array:
        """Return the elements `begin` to `end` - 1 of an array."""
        self.used.add(name)
        return self.arrays[name][begin:end]

    def strings(self, name: str, begin: int, end: int) -> Strings | None:
        """Return None: no array in memory stores text."""
        return None
