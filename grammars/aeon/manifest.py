"""aeon's manifests as columns: records of fields, each column of a type.

The words are those of aeon's user guide: a manifest has records, a record has elements, and the
header names the type of each. A field is the text that an element is made from.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Self, SupportsIndex, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

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
from exset.grammars.columns.html import SHOWN, table, text
from exset.grammars.columns.inputs import check_kind, raw, shown
from exset.grammars.columns.rows import Table
from exset.grammars.columns.strings import Strings

Field: TypeAlias = bytes | str | int | float


@dataclass(frozen=True, eq=False, repr=False)
class Manifest(Table):
    """A manifest.

    dialect; types: of the elements of each record. width: how many fields a record has, as many as
    there are types; in the dialect `seed` there may be more, which aeon drops.

    fields: Strings [records * width], record after record, as they are in the file. lines: int32
    [records], the line that each record was read from, or 0; equality does not look at it.

    The length is the number of records. Raises ValueError that names the column.
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
            raise ValueError(f"width: there are {len(self.types)} types, not {self.width}")
        check_column("lines", self.lines, np.int32)
        if len(self.fields) != self.lines.size * self.width:
            raise ValueError(
                f"fields: {self.lines.size} records of {self.width} are wanted,"
                f" not {len(self.fields)}"
            )
        if self.lines.size and not self.types:
            raise ValueError("types: records have one field at least")
        if not self.fields.present.all():
            raise ValueError("fields: each must be given, it may be empty")
        self._freeze()

    @classmethod
    def of(
        cls,
        types: Iterable[ElementType | str],
        records: Iterable[Sequence[Field]],
        *,
        dialect: Dialect | str = Dialect.HEAD,
    ) -> Self:
        """A manifest of these records; text becomes UTF-8, numbers what reads back the same.

        Raises ValueError for a type or a dialect that there is not, and for a record that has not
        as many fields as there are types.
        """
        kinds = tuple(ElementType(each) for each in types)
        rows: list[bytes] = []
        count = 0
        for count, record in enumerate(records, 1):
            if len(record) != len(kinds):
                raise ValueError(
                    f"records[{count - 1}]: {len(kinds)} fields are wanted, not {len(record)}"
                )
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

    def __getitem__(self, index: SupportsIndex) -> tuple[bytes, ...]:
        begin = range(len(self))[index] * self.width
        return tuple(field or b"" for field in self.fields[begin : begin + self.width])

    def __iter__(self) -> Iterator[tuple[bytes, ...]]:
        each = iter(self.fields)
        return zip(*[(field or b"" for field in each)] * self.width, strict=True)

    def __repr__(self) -> str:
        types = " ".join(self.types) or "no types"
        return f"Manifest({counted(len(self), 'record')}, {types}, {self.dialect})"

    def _repr_html_(self) -> str:
        wide = min(self.width, SHOWN + 1)  # one that is too many says that there are more
        heads = [*self.types, *[""] * wide][:wide]
        rows = (
            [text(self.fields[begin + i]) for i in range(wide)]
            for begin in range(0, len(self.fields), self.width or 1)
        )
        return table(repr(self), heads, rows, len(self))

    def column(self, index: SupportsIndex) -> Strings:
        """The fields of a column, by its number. Raises IndexError."""
        first = range(self.width)[index]
        return self.fields.take(np.arange(first, len(self.fields), self.width))

    def columns(self, kind: ElementType) -> tuple[int, ...]:
        """The numbers of the columns of a type."""
        return tuple(i for i, each in enumerate(self.types) if each is kind)

    def spans(self, column: int) -> tuple[Longs, Longs]:
        """Where the fields of a column begin and end in the bytes of all: int64 [records] each."""
        offsets = self.fields.offsets
        stop = len(self) * self.width
        begin, end = column, column + 1
        return offsets[begin : stop : self.width], offsets[end : stop + 1 : self.width]

    def select(self, which: ArrayLike | slice) -> Self:
        """Some of the records: indices in any order, a mask, or a slice. Raises as they do."""
        rows = chosen_rows(which, len(self))
        width = self.width
        fields = (rows[:, None] * width + np.arange(width)).reshape(-1)
        return self.with_columns(fields=self.fields.take(fields), lines=take(self.lines, rows))

    def concat(self, *others: Self) -> Self:
        """The records of this manifest, then those of others.

        Raises ValueError where dialect, types or width differ.
        """
        for other in others:
            check_kind("concat", other, Manifest, "a Manifest")
            for name in ("dialect", "types", "width"):
                if vars(self)[name] != vars(other)[name]:
                    raise ValueError(f"concat: the manifests differ in {name}")
        parts = [self, *others]
        return self.with_columns(
            fields=Strings.concat([part.fields for part in parts]),
            lines=concat([part.lines for part in parts]),
        )

    def to_dialect(self, dialect: Dialect | str) -> Self:
        """The same records for another version of aeon; what it cannot hold, `render` refuses."""
        return self.with_columns(dialect=Dialect(dialect))

    def narrowed(self) -> Self:
        """The manifest without the fields that aeon drops, for which the header has no type."""
        width = len(self.types)
        if width == self.width:
            return self
        kept = np.arange(len(self))[:, None] * self.width + np.arange(width)
        return self.with_columns(width=width, fields=self.fields.take(kept.reshape(-1)))


def joined(root: bytes, path: bytes) -> bytes:
    """Where aeon looks for a file: an absolute path as it is, any other after the root."""
    if not root or path.startswith(b"/"):
        return path
    if not path:
        return root
    return root + path if root.endswith(b"/") else root + b"/" + path


def _field(where: str, given: object) -> bytes:
    if isinstance(given, bool) or not isinstance(given, bytes | str | int | float | np.number):
        raise ValueError(f"{where}: text, bytes or a number are wanted, not {shown(given)}")
    if isinstance(given, bytes | str):
        return raw(where, given) or b""
    if isinstance(given, np.number):
        given = given.item()
    return str(given).encode("ascii")
