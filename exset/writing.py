"""`writer`: write a file in chunks."""

import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import IO

from exset import api
from exset.core.callers import public
from exset.core.errors import ChangedFindings, Finding, Findings, FormatError, warn
from exset.core.protocols import OptionValue
from exset.families.format import Format
from exset.families.incremental import IncrementalWriter, Units
from exset.io import files
from exset.io.files import FilePath

_SPOOLED = 1 << 20  # bytes that stay in memory until the number of units is known


@contextmanager
def writer(
    path: FilePath,
    *,
    format: str | None = None,
    header: object = None,
    name: str | None = None,
    findings: Findings | None = None,
    **options: OptionValue,
) -> Iterator["Writer"]:
    """Write units, such as examples, one after another: a context that yields a `Writer`.

    The file is complete when the context ends. After an error, an old file is unchanged. A pipe, or
    standard output, gets each unit at once.

    A binary file is an exception, because it begins with the number of its units. If such a file is
    compressed or sent to a pipe, exset writes it only at the end. Until then, exset keeps its data
    in memory, or in a temporary file if they are large.

    `header`: the file's header, such as a `SetHeader`; by default the header of the first model.
    The other arguments, the errors, and the bytes of the file are those of `save`.
    """
    path = os.fsdecode(path)
    fmt = api.target_format(path, format)
    found = Findings() if findings is None else findings
    position = _Position(fmt.family.noun if name is None else name, f"{fmt.family.unit}s")
    chunks = fmt.write_incrementally(path, ChangedFindings(found, position.of_file), **options)
    with files.writing(path) as file, ExitStack() as stack:
        spool: IO[bytes] | None = None
        # Standard output that appends to a file can be sought in, but not changed.
        if path == "-" or not file.seekable():
            from tempfile import SpooledTemporaryFile

            spool = stack.enter_context(SpooledTemporaryFile(max_size=_SPOOLED))
        made = Writer(file, spool, chunks, fmt.family.unit_functions(), position)
        if header is not None:
            made.begin(header)
            made.put(b"")
        yield made
        made.end()
    if findings is None:
        warn(found)


@contextmanager
def part_writer(
    path: str, fmt: Format, *, findings: Findings, **options: OptionValue
) -> Iterator["Writer"]:
    """Yield a writer for a part of a file; `Writer.append` later adds the part to the whole file.

    It writes neither the beginning nor the end of a file. In places of findings, the first unit of
    this part has the number 0. Raises the errors of `writer`.
    """
    position = _Position(fmt.family.noun, f"{fmt.family.unit}s")
    chunks = fmt.write_incrementally(path, ChangedFindings(findings, position.of_file), **options)
    with files.writing(path) as file:
        yield _UnitWriter(file, None, chunks, fmt.family.unit_functions(), position)


@dataclass(repr=False, eq=False)
class Writer:
    """Writes units one after another. `count`: the number of units so far."""

    _file: IO[bytes]
    _spool: IO[bytes] | None
    """Holds the data that cannot be written before the number of units is known."""
    _chunks: IncrementalWriter
    _units: Units
    _position: "_Position"
    count: int = field(default=0, init=False)
    _has_begun: bool = field(default=False, init=False)
    _header: object = field(default=None, init=False)
    _beginning: bytes = field(default=b"", init=False)
    size: int = field(default=0, init=False)
    """The number of bytes so far, before compression."""

    def __post_init__(self) -> None:
        self._out = self._file

    @public
    def write(self, units: object) -> None:
        """Write a unit. Or write all units of a model, which is much faster.

        Raises FormatError for a unit that the format cannot store; then nothing of this unit is
        written. Raises ValueError for a unit that does not fit the header, TypeError for other
        objects, and OSError.
        """
        model = self._units.model(units, self._header)
        if not self._has_begun:
            self.begin(self._units.header(model))
        self._position.first = self.count
        with self._position.in_file():
            data = self._chunks.units(model)
        self.put(data)
        self.count += len(model)

    def append(self, blocks: Iterable[bytes], count: int) -> None:
        """Write the bytes of `count` units, which a `part_writer` has made."""
        for block in blocks:
            self.put(block)
        self.count += count

    def add_losses(self, losses: Findings, findings: Findings) -> None:
        """Add a `part_writer`'s findings about the next units, with places in the whole file."""
        self._position.first = self.count
        ChangedFindings(findings, self._position.of_file).add_all(losses)

    def begin(self, header: object) -> None:
        """Prepare the beginning of the file; the next `put` writes it."""
        with self._position.in_file():
            self._beginning = self._chunks.begin(header, 0)
        self._has_begun, self._header = True, header
        if self._spool is not None and self._chunks.is_counted:
            self._out = self._spool

    def end(self) -> None:
        """Write the end of the file. If the format stores the number of units, write it, too."""
        if not self._has_begun:
            self.begin(self._units.no_header())
        self.put(self._chunks.end(self.size + len(self._beginning)))
        if not self._chunks.is_counted:
            return
        head = self._chunks.begin(self._header, self.count)
        if self._out is self._file:
            self._file.seek(0)
        self._file.write(head)
        if self._out is not self._file:
            import shutil

            self._out.seek(len(head))
            shutil.copyfileobj(self._out, self._file)

    def put(self, data: bytes) -> None:
        """Write the next bytes of the file."""
        data, self._beginning = self._beginning + data, b""
        try:
            self._out.write(data)
            self._out.flush()
        except OSError as error:
            if self._out is not self._spool:
                raise
            from tempfile import gettempdir  # this folder is full, not the target's folder

            raise OSError(error.errno, error.strerror, gettempdir()) from None
        self.size += len(data)


class _UnitWriter(Writer):
    """Writes units without the beginning and the end of a file."""

    def begin(self, header: object) -> None:
        """Prepare to write units of a file that has this header."""
        super().begin(header)
        self._beginning = b""


@dataclass
class _Position:
    """Where a writer is in a file: the file's name, and the number of the next unit.

    path: the word for the units in places, such as `examples`. first: the number of the next unit.
    """

    name: str
    path: str
    first: int = 0

    def of_file(self, finding: Finding) -> Finding:
        """Convert the place of a finding from a chunk to the whole file."""
        if (place := finding.place) is None:
            return finding
        place = replace(place.moved(0, self.path, self.first), source=self.name)
        return replace(finding, place=place)

    @contextmanager
    def in_file(self) -> Iterator[None]:
        """In this context, convert the places of FormatErrors from a chunk to the whole file."""
        try:
            yield
        except FormatError as error:
            raise error.changed(self.of_file) from None
