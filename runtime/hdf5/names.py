"""The paths of datasets for the names of columns: `inputs.onset` becomes `inputs/onset`."""

from collections.abc import Iterable
from typing import Final

from exset.core.text import has_surrogates
from exset.grammars.tables.columns import TableColumn

_DEEPEST: Final = 100


def paths_of(names: Iterable[str]) -> dict[str, str]:
    """Return {name: path} for column names. If HDF5 allows the name, `name_of` converts the path
    back.

    A dot becomes a slash, unless the part of the name before the dot is the name of another
    dataset. A name that HDF5 does not allow gets the path `column_NUMBER`.
    """
    all_names = dict.fromkeys(names)
    return {
        name: _path(name, all_names) if _is_valid(name) else _numbered(number, all_names)
        for number, name in enumerate(all_names)
    }


def name_of(path: str) -> str:
    """Return the name of the column for the dataset at a path."""
    return path.replace("/", ".")


def with_column(
    name: str, column: TableColumn, columns: dict[str, TableColumn]
) -> dict[str, TableColumn]:
    """Return a table's columns with the new column `name` before them.

    If another column has this name, the new column is called `sample.NAME`.
    """
    while name in columns:
        name = f"sample.{name}"
    return {name: column, **columns}


def _path(name: str, names: dict[str, None]) -> str:
    first, *parts = name.split(".")
    path = before = first
    for part in parts:
        path += f"{'.' if before in names else '/'}{part}"
        before += f".{part}"
    return path


def _is_valid(name: str) -> bool:
    """Return whether HDF5 allows each part of a name."""
    if has_surrogates(name):
        return False
    return all(name.split(".")) and not set("/\0") & set(name) and name.count(".") < _DEEPEST


def _numbered(number: int, names: dict[str, None]) -> str:
    path = f"column_{number}"
    while path in names or any(name.startswith(f"{path}.") for name in names):
        path += "_"
    return path
