"""aeon's manifests as columns: the fields of all records, and the type of each element.

In the words of aeon's user guide, a manifest has records, a record has elements, and the header
names the types of the elements. A field is the text in the file from which aeon makes an element.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Self, SupportsIndex, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from exset.core.html import SHOWN, table, text
from exset.core.text import counted
from exset.grammars.aeon.manifest_types import Dialect, ElementType
from exset.grammars.columns.arrays import (
    Ints,
    Longs,
    check_column,
    chosen_rows,
    concat,
    constant,
    take,
)
from exset.grammars.columns.inputs import check_kind, raw, shown
from exset.grammars.columns.rows import FrozenColumns
from exset.grammars.columns.sequence import NamedSequence
from exset.grammars.columns.strings import Strings

Field: TypeAlias = bytes | str | int | float
Record: TypeAlias = tuple[bytes, ...]
"""The fields of a record."""


@dataclass(frozen=True, eq=False, repr=False)
class Manifest(FrozenColumns, NamedSequence[Record, "Manifest"]):
    """The records of a manifest, and the types of their elements.

    types: the type of each element of a record. width: the number of fields of a record, which is
    the number of types. In the dialect `seed` there may be more fields than types; aeon drops these
    fields.

    fields: Strings [records * width], record by record, as they are in the file. lines: int32
    [records], the line of each record in the file, or 0. Manifests that differ only in lines are
    equal.

    The length is the number of records. A record is the tuple of its fields, and its name is its
    first field. Raises ValueError for invalid columns; the message names the column.
    """

    dialect: Dialect
    types: tuple[ElementType, ...]
    width: int
    fields: Strings
    lines: Ints

    def __post_init__(self) -> None:
        check_kind("dialect", self.dialect, Dialect)
        check_kind("fields", self.fields, Strings)
        for i, each in enumerate(self.types):
            check_kind(f"types[{i}]", each, ElementType)
        if self.width < len(self.types):
            raise ValueError(f"width: {self.width} is less than {counted(len(self.types), 'type')}")
        check_column("lines", self.lines, np.int32)
        if len(self.fields) != self.lines.size * self.width:
            raise ValueError(
                f"fields: expected {self.lines.size * self.width}, for"
                f" {counted(self.lines.size, 'record')} of {counted(self.width, 'field')},"
                f" not {len(self.fields)}"
            )
        if self.lines.size and not self.types:
            raise ValueError("types: a record needs at least one field")
        if not self.fields.present.all():
            raise ValueError("fields: each field must have a value, which may be empty")
        self._freeze()

    @classmethod
    def of(
        cls,
        types: Iterable[ElementType | str],
        records: Iterable[Sequence[Field]],
        *,
        dialect: Dialect | str = Dialect.HEAD,
    ) -> Self:
        """Make a manifest from records. Each record is a sequence of fields.

        Text is encoded as UTF-8. Numbers are written so that reading gives the same numbers.

        Raises ValueError for an unknown type or dialect, and for a record without exactly one field
        for each type.
        """
        kinds = tuple(ElementType(each) for each in types)
        rows: list[bytes] = []
        count = 0
        for count, record in enumerate(records, 1):
            if len(record) != len(kinds):
                needed = counted(len(kinds), "field")
                message = f"records[{count - 1}]: expected {needed}, not {len(record)}"
                raise ValueError(message)
            rows += (_field(f"records[{count - 1}][{i}]", field) for i, field in enumerate(record))
        lines = constant(0, count, np.int32)
        return cls(Dialect(dialect), kinds, len(kinds), Strings.of(rows), lines)

    def __len__(self) -> int:
        return self.lines.size

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return self is other or all(
            vars(self)[name] == vars(other)[name]
            for name in ("dialect", "types", "width", "fields")
        )

    def __iter__(self) -> Iterator[Record]:
        each = iter(self.fields)
        return zip(*[(field or b"" for field in each)] * self.width, strict=True)

    def _unit(self, row: int) -> Record:
        begin = row * self.width
        return tuple(field or b"" for field in self.fields[begin : begin + self.width])

    def _some(self, rows: slice) -> "Manifest":
        return self.select(rows)

    def unit_names(self) -> Iterator[bytes]:
        """Yield the first field of each record."""
        return (name or b"" for name in (self.column(0) if len(self) else ()))

    def __repr__(self) -> str:
        types = " ".join(self.types) or "no types"
        return f"Manifest({counted(len(self), 'record')}, {types}, {self.dialect})"

    def _repr_html_(self) -> str:
        wide = min(self.width, SHOWN + 1)  # `table` shows that there are more than SHOWN
        heads = [*self.types, *[""] * wide][:wide]
        rows = (
            [text(self.fields[begin + i]) for i in range(wide)]
            for begin in range(0, len(self.fields), self.width or 1)
        )
        return table(repr(self), heads, rows, len(self))

    def column(self, index: SupportsIndex) -> Strings:
        """Return the fields of the column with this number. Raises IndexError for an unknown
        column.
        """
        first = range(self.width)[index]
        return self.fields.take(np.arange(first, len(self.fields), self.width))

    def columns(self, kind: ElementType) -> tuple[int, ...]:
        """Return the numbers of the columns that have this type."""
        return tuple(i for i, each in enumerate(self.types) if each is kind)

    def spans(self, column: int) -> tuple[Longs, Longs]:
        """Return the starts and the ends of a column's fields in the bytes `fields.data`.

        Both are int64 [records]. column: the number of the column.
        """
        offsets = self.fields.offsets
        stop = len(self) * self.width
        begin, end = column, column + 1
        return offsets[begin : stop : self.width], offsets[end : stop + 1 : self.width]

    def select(self, which: ArrayLike | slice) -> Self:
        """Return the chosen records. which: indices in any order, a mask or a slice.

        Raises IndexError for an index out of bounds.
        """
        rows = chosen_rows(which, len(self))
        width = self.width
        fields = (rows[:, None] * width + np.arange(width)).reshape(-1)
        return self.with_unchecked(fields=self.fields.take(fields), lines=take(self.lines, rows))

    def concat(self, *others: Self) -> Self:
        """Return a manifest with the records of this manifest, followed by the records of the
        others.

        Raises ValueError if dialect, types or width differ.
        """
        for other in others:
            check_kind("concat", other, Manifest, "a Manifest")
            for name in ("dialect", "types", "width"):
                if vars(self)[name] != vars(other)[name]:
                    raise ValueError(f"concat: the manifests differ in {name}")
        parts = [self, *others]
        return self.with_unchecked(
            fields=Strings.concat([part.fields for part in parts]),
            lines=concat([part.lines for part in parts]),
        )

    def narrowed(self) -> Self:
        """Return the manifest without the fields that have no type. aeon drops these fields."""
        width = len(self.types)
        if width == self.width:
            return self
        kept = np.arange(len(self))[:, None] * self.width + np.arange(width)
        return self.with_unchecked(width=width, fields=self.fields.take(kept.reshape(-1)))


def joined(root: bytes, path: bytes) -> bytes:
    """Return the path that aeon opens for a path in a manifest. Relative paths start at `root`."""
    if not root or path.startswith(b"/"):
        return path
    if not path:
        return root
    return root + path if root.endswith(b"/") else root + b"/" + path


def _field(where: str, value: object) -> bytes:
    if isinstance(value, bool) or not isinstance(value, bytes | str | int | float | np.number):
        raise ValueError(f"{where} must be text, bytes or a number, not {shown(value)}")
    if isinstance(value, bytes | str):
        return raw(where, value) or b""
    if isinstance(value, np.number):
        value = value.item()
    return str(value).encode("ascii")
