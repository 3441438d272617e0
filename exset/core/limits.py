"""How much a reader takes from a file before it refuses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace


@dataclass(frozen=True)
class Limits:
    """The bounds that every reader keeps: whole numbers, none negative (ValueError otherwise)."""

    max_depth: int = 32
    """Nesting of delimiters."""
    max_expand: int = 10**8
    """Items that spans such as `0-99` may expand to."""
    max_events: int = 1 << 20
    """Events of a set, beyond one for each byte of the file."""
    max_name: int = 1 << 20
    """Bytes of a name or of another text."""
    max_bytes: int = 1 << 36
    """Bytes of a file, and bytes that it decompresses to."""
    max_ratio: int = 200
    """Decompressed bytes for each compressed byte, counted above 64 MiB only."""
    max_text: int = 1 << 22
    """Bytes of a YAML or JSON file."""
    max_nodes: int = 1 << 20
    """Values of a JSON file, nodes of a schema with those that aliases repeat, objects of HDF5."""
    max_array: int = 1 << 32
    """Bytes of an array that claims a thousand times what its file holds of it, and of a batch."""

    def __post_init__(self) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 0:
                raise ValueError(f"{item.name} must be a whole number from 0, not {value!r}")

    @classmethod
    def parse(cls, values: Mapping[str, str]) -> Limits:
        """Return the defaults with some values replaced, given as text; ValueError as `with_`."""
        return cls().with_(**values)

    def with_(self, **values: int | str) -> Limits:
        """Return a copy with some limits replaced, by numbers or by their decimal text.

        ValueError for a name that is no limit and for a value that is no whole number from 0.
        """
        known = [item.name for item in fields(self)]
        changes: dict[str, int] = {}
        for name, value in values.items():
            if name not in known:
                raise ValueError(f"no limit is called {name!r}; there are {', '.join(known)}")
            try:
                changes[name] = int(value) if isinstance(value, str) else value
            except ValueError:
                raise ValueError(f"{name} must be a whole number from 0, not {value!r}") from None
        return replace(self, **changes)


DEFAULT = Limits()
"""The limits that readers use unless told otherwise."""


def remedy(name: str) -> str:
    """Return the hint for a file that goes beyond a limit."""
    return f"if the file is to be trusted, say --limit {name}=N, or limits=... in Python"
