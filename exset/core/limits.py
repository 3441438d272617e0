"""Limits: bounds on what a reader accepts from a file."""

from dataclasses import dataclass, fields, replace
from typing import Final

MOST_COMPRESSED: Final = 1000
"""Above `max_array`, how many bytes an array may have for each of its bytes in the file."""


@dataclass(frozen=True)
class Limits:
    """The limits of every reader: whole numbers, 0 or more. Raises ValueError for other values."""

    max_depth: int = 32
    """How deep delimiters are nested."""
    max_expand: int = 10**8
    """How many items ranges such as `0-99` expand to."""
    max_events: int = 1 << 20
    """How many events a set has, in addition to one event for each byte of the file."""
    max_name: int = 1 << 20
    """How many bytes a name or another text has."""
    max_bytes: int = 1 << 36
    """How many bytes a file has, compressed and decompressed."""
    max_ratio: int = 200
    """How many decompressed bytes each compressed byte gives, checked above 64 MiB."""
    max_text: int = 1 << 22
    """How many bytes a YAML or JSON file has."""
    max_nodes: int = 1 << 18
    """How many values a JSON file has, or nodes a schema (aliases count each time)."""
    max_objects: int = 1 << 20
    """How many objects an HDF5 file has, or how many files a pattern with braces names."""
    max_array: int = 1 << 26
    """How many bytes an HDF5 dataset or a picture has, if over 1,000x its bytes in the file; how
    many bytes the columns of a table have without values, if over 32x those of the file."""
    max_batch: int = 1 << 32
    """How many bytes a batch has, or files that are read at the same time."""

    def __post_init__(self) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 0:
                raise ValueError(f"{item.name} must be a whole number from 0, not {value!r}")

    def most_bytes(self, stored: int) -> int:
        """Return the most bytes that an array of `stored` bytes in its file may have in memory."""
        return max(self.max_array, MOST_COMPRESSED * stored)

    def with_(self, **values: int | str) -> "Limits":
        """Return a copy in which `values` replace limits: each is a number or a decimal string.

        Raises ValueError for an unknown limit, and for a value that is not a whole number from 0
        on.
        """
        names = [item.name for item in fields(self)]
        changes: dict[str, int] = {}
        for name, value in values.items():
            if name not in names:
                raise ValueError(f"unknown limit {name!r}: choose one of {', '.join(names)}")
            try:
                changes[name] = int(value) if isinstance(value, str) else value
            except ValueError:
                raise ValueError(f"{name} must be a whole number from 0, not {value!r}") from None
        return replace(self, **changes)


DEFAULT = Limits()
"""The default limits of all readers."""


def limit_hint(name: str) -> str:
    """Return the hint for a file that exceeds the limit `name`."""
    return f"if you trust the file, raise the limit: <--limit {name}=N or limits=Limits({name}=N)>"
