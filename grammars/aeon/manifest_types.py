"""The words of aeon's manifests: dialects and types of elements."""

from enum import StrEnum
from types import MappingProxyType
from typing import Final, NoReturn


class Dialect(StrEnum):
    """What version of aeon a manifest is for."""

    HEAD = "head"
    """Since June 2017: a header is required, and every record is as wide."""
    SEED = "seed"
    """Spring 2017: without a header all elements are files."""
    CSV = "csv"
    """The oldest: commas, no header, all elements are files."""

    @classmethod
    def _missing_(cls, value: object) -> NoReturn:
        raise ValueError(f"no dialect is called {value!r}; there are {', '.join(cls)}")

    @property
    def separator(self) -> bytes:
        """The byte between two fields."""
        return b"," if self is Dialect.CSV else b"\t"

    @property
    def comments(self) -> bytes:
        """The bytes that no record can begin with."""
        return b"#" if self is Dialect.CSV else b"#@"


class ElementType(StrEnum):
    """What the fields of a column are."""

    FILE = "FILE"
    """A path: the element is what the file holds."""
    BINARY = "BINARY"
    """Base64."""
    STRING = "STRING"
    """The element is the field itself."""
    ASCII_INT = "ASCII_INT"
    """A number that becomes four bytes, a signed integer."""
    ASCII_FLOAT = "ASCII_FLOAT"
    """A number that becomes four bytes, a binary32."""

    @classmethod
    def _missing_(cls, value: object) -> NoReturn:
        raise ValueError(f"no element is of type {value!r}; there are {', '.join(cls)}")


NUMBER_DTYPES: Final = MappingProxyType(
    {ElementType.ASCII_INT: "<i4", ElementType.ASCII_FLOAT: "<f4"}
)
"""The dtypes of the elements that are numbers, by their types."""

LINE_END: Final = b"\n"
"""What ends a record."""
