"""The dialects of aeon's manifests, and the types of elements."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, NoReturn


class Dialect(StrEnum):
    """The version of aeon that a manifest is for."""

    HEAD = "head"
    """Since June 2017: a header is required, and each record has one field for each type."""
    SEED = "seed"
    """Spring 2017: without a header all columns have the type FILE."""
    CSV = "csv"
    """Before spring 2017: commas, no header, and all columns have the type FILE."""

    @classmethod
    def _missing_(cls, value: object) -> NoReturn:
        raise ValueError(f"unknown dialect {value!r}: the dialects are {', '.join(cls)}")

    @property
    def separator(self) -> bytes:
        """The byte between two fields."""
        return b"," if self is Dialect.CSV else b"\t"

    @property
    def comments(self) -> bytes:
        """The bytes that start a comment at the start of a line. No record can start with these
        bytes.
        """
        return b"#" if self is Dialect.CSV else b"#@"


class ElementType(StrEnum):
    """The type of the elements in a column. It says how aeon makes an element from a field."""

    FILE = "FILE"
    """A path: the element is the contents of the file."""
    BINARY = "BINARY"
    """Base64."""
    STRING = "STRING"
    """The element is the field itself."""
    ASCII_INT = "ASCII_INT"
    """A number that aeon stores as a signed integer of four bytes."""
    ASCII_FLOAT = "ASCII_FLOAT"
    """A number that aeon stores as a binary32, four bytes."""

    @classmethod
    def _missing_(cls, value: object) -> NoReturn:
        raise ValueError(f"unknown type {value!r}: the types are {', '.join(cls)}")


NUMBER_DTYPES: Final[Mapping[ElementType, str]] = {
    ElementType.ASCII_INT: "<i4",
    ElementType.ASCII_FLOAT: "<f4",
}
"""The dtypes of elements that are numbers, by element type."""

LINE_END: Final = b"\n"
"""The byte that ends a record."""
