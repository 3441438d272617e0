"""Limits: bounds on what a reader accepts from a file."""

from dataclasses import dataclass, fields, replace
from typing import Final

MOST_COMPRESSED: Final = 1000
"""The most bytes of an array for each of its bytes in the file, above `max_array`."""


@dataclass(frozen=True)
class Limits:
    """The limits of every reader: whole numbers from 0. Raises ValueError for other values."""

    max_depth: int = 32
    """Depth of nested delimiters."""
    max_expand: int = 10**8
    """Items to which ranges such as `0-99` expand."""
    max_events: int = 1 << 20
    """Events of a set, in addition to one for each byte of the file."""
    max_name: int = 1 << 20
    """Bytes of a name or another text."""
    max_bytes: int = 1 << 36
    """Bytes of a file, compressed and decompressed."""
    max_ratio: int = 200
    """Decompressed bytes for each compressed byte, checked above 64 MiB."""
    max_text: int = 1 << 22
    """Bytes of a YAML or JSON file."""
    max_nodes: int = 1 << 18
    """Values of a JSON file, nodes of a schema (aliases count each time)."""
    max_objects: int = 1 << 20
    """Objects of an HDF5 file, files that a brace pattern names."""
    max_array: int = 1 << 26
    """Bytes of an HDF5 dataset or a picture, if they are over 1,000x its bytes in the file."""
    max_batch: int = 1 << 32
    """Bytes of a batch, and of files that are read at once."""

    def __post_init__(self) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 0:
                raise ValueError(f"{item.name} must be a whole number from 0, not {value!r}")

    def most_bytes(self, stored: int) -> int:
        """Return how many bytes an array may have at most if its file stores `stored` bytes."""
        return max(self.max_array, MOST_COMPRESSED * stored)

    def with_(self, **values: int | str) -> "Limits":
        """Return a copy with other values for these limits: numbers or decimal strings.

        Raises ValueError for an unknown limit, and for a value that is not a whole number from 0.
        """
        names = [item.name for item in fields(self)]
        changes: dict[str, int] = {}
        for name, value in values.items():
            if name not in names:
                raise ValueError(f"unknown limit {name!r}; the limits are {', '.join(names)}")
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
