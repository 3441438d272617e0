"""Compile the user's own Construct declaration to a program that reads files as columns."""

import os
from collections.abc import Iterator, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, BinaryIO

from exset.codecs.custom.columns import Columns
from exset.codecs.custom.reading import read, read_at
from exset.codecs.custom.shape import Shape
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.source import Source
from exset.grammars.tables.table import Table
from exset.io import files

if TYPE_CHECKING:
    from construct import Construct


class Layout:
    """A Construct declaration of your own, which exset runs as a program.

    declaration: the Construct object. Raises TypeError for an object that the engine cannot run.
    The message names the field, and says what to write instead.
    """

    def __init__(self, declaration: "Construct") -> None:
        self.shape = Shape.of(declaration)

    def __repr__(self) -> str:
        return f"Layout({', '.join(self.shape.tables)})"

    @cached_property
    def labels(self) -> Mapping[str, Mapping[int, str]]:
        """The names of the numbers of each Enum and FlagsEnum, by the path of the field."""
        return MappingProxyType(self.shape.tree.labels)

    def read(
        self,
        data: bytes,
        *,
        name: str = "<data>",
        limits: Limits = DEFAULT,
        engine: Engine = "auto",
    ) -> Columns:
        """Return the columns of a file whose bytes are `data`. Bytes after `Columns.end` are
        ignored.

        `name`: the file name for messages. `engine`: with "reference", Construct itself reads the
        data. Raises FormatError for data that do not fit the layout.
        """
        return read(self.shape, Source(name, data), limits, engine)

    def load(
        self, path: str | os.PathLike[str], *, limits: Limits = DEFAULT, engine: Engine = "auto"
    ) -> Columns:
        """Return the columns of a file, which may be compressed.

        Raises FormatError for data that do not fit the layout, and OSError if the file cannot be
        read.
        """
        return read(self.shape, files.read(path, limits=limits), limits, engine)

    def read_at(
        self,
        file: BinaryIO,
        offset: int,
        *,
        name: str = "<data>",
        limits: Limits = DEFAULT,
        engine: Engine = "auto",
    ) -> Columns:
        """Return the columns of the part of an open file that begins at `offset`.

        The layout describes this part alone, and offsets in the columns count from its beginning.
        exset reads little more of the file than the part, unless a field ends with the data.
        `name`: the file name for messages. Raises FormatError for data that do not fit the layout,
        and OSError if the file cannot be read.
        """
        return read_at(self.shape, file, name, offset, limits, engine)

    def write(self, columns: Mapping[str, Table], *, engine: Engine = "auto") -> bytes:
        """Return the bytes of a file with the given tables: the inverse of `read`.

        The tables need not have the counts that Construct computes, because exset computes them,
        too. A column or table that may be absent in the layout may be left out, and so may `parent`
        in a table below a table of one row. Raises FormatError for a value that the layout forbids,
        and ValueError for tables that do not fit the layout.
        """
        from exset.codecs.custom.writing import write

        return write(self.shape, columns, engine)

    def stream(
        self, path: str | os.PathLike[str], *, limits: Limits = DEFAULT, engine: Engine = "auto"
    ) -> Iterator[Columns]:
        """Yield the columns of a large file in chunks, each with the next records of the file.

        The layout must end in an array of records. Each chunk also has the fields before this
        array. exset reads the file of any other layout as a whole. Raises FormatError for data that
        do not fit the layout, and OSError if the file cannot be read.
        """
        from exset.codecs.custom.streaming import stream

        return stream(self.shape, path, limits, engine)

    def explain(self) -> str:
        """Return a text that lists the tables and columns that `read` returns."""
        lines = []
        for name, columns in self.shape.tables.items():
            above = self.shape.above.get(name)
            lines.append(name if above is None else f"{name}, in {above}")
            for column, path in columns.items():
                leaf = self.shape.engine.leaves[path]
                is_text = path in self.shape.tree.encodings and self.shape.tree.encodings[path].name
                kind = str(leaf.native) if leaf.is_number else "text" if is_text else "bytes"
                many = "several" if self.shape.is_list(path) else "one"
                many += " or none" if path in self.shape.program.owners else ""
                lines.append(f"    {column}: {kind}, {many}")
        return "\n".join(lines)


def compile_layout(declaration: "Construct") -> Layout:
    """Compile a Construct declaration to a program that reads and writes columns.

    Raises TypeError for an object that the engine cannot run. The message names the field, and says
    what to write instead. docs/engine.md lists such objects.
    """
    return Layout(declaration)
