"""Files that are written part by part."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import IO, TYPE_CHECKING, cast

from exset import api
from exset.core.errors import Finding, Findings, FormatError, warn
from exset.core.protocols import Option
from exset.families.incremental import Pieces
from exset.io import files
from exset.io.files import FilePath

if TYPE_CHECKING:
    from tempfile import SpooledTemporaryFile

    from exset.grammars.lens.build import Example
    from exset.grammars.lens.examples import ExampleSet, SetHeader
    from exset.grammars.lens.views import ExampleView

_SPOOLED = 1 << 20  # bytes that are kept in memory until the number of examples is known


@contextmanager
def writer(
    path: FilePath,
    *,
    format: str | None = None,
    header: "SetHeader | None" = None,
    name: str | None = None,
    findings: Findings | None = None,
    **options: Option,
) -> Iterator["Writer"]:
    """Write examples one after the other: a context that gives a `Writer`.

    A file is whole when the context ends, and untouched if it ends in an error. A pipe, or standard
    output, gets each example at once. But a binary file begins with the number of its examples: for
    a pipe, or compressed, it is kept until the end, in a temporary file if it is long. The header
    is that of the first set that is written, unless it is given. Other arguments and errors are
    those of `save`; what is written are the bytes that `save` writes of all examples together.
    """
    path = os.fsdecode(path)
    known = api.target_format(path, format)
    heard = Findings() if findings is None else findings
    told = _Told(known.family.noun if name is None else name, f"{known.family.unit}s", heard)
    pieces = known.in_pieces(path, told, **options)
    with files.writing(path) as file, ExitStack() as stack:
        # A standard output that appends to a file can be sought in, but not patched.
        spool = None if path != "-" and file.seekable() else stack.enter_context(_spool())
        made = Writer(file, spool, pieces, told)
        if header is not None:
            made.begin(header)
            made.put(b"")
        yield made
        made.end()
    if findings is None:
        warn(heard, 4)


class Writer:
    """Writes examples one after the other. `count`: how many it has written."""

    def __init__(
        self, file: IO[bytes], spool: IO[bytes] | None, pieces: Pieces, told: "_Told"
    ) -> None:
        """Write to a file; what must wait for the number of examples goes to the spool."""
        self.count = 0
        self._file = file
        self._out = file
        self._spool = spool
        self._pieces = pieces
        self._told = told
        self._header: SetHeader | None = None
        self._begun = b""
        self._size = 0

    def write(self, examples: "ExampleView | ExampleSet | Example") -> None:
        """Write an example, or all of a set, which is much faster, under the header of the whole.

        Raises FormatError for what the format cannot hold, after which nothing of it is written;
        ValueError where the header does not allow it; OSError.
        """
        model = _set_of(examples, self._header)
        if self._header is None:
            self.begin(model.header)
        self._told.first = self.count
        try:
            data = self._pieces.units(model)
        except FormatError as error:
            raise type(error).of(self._told.named(error.finding)) from None
        self.put(data)
        self.count += len(model)

    def begin(self, header: "SetHeader") -> None:
        """Have written what stands before the examples, with what is written next."""
        try:
            head = self._pieces.begin(header, 0)
        except FormatError as error:
            raise type(error).of(self._told.named(error.finding)) from None
        self._header = header
        if self._spool is not None and self._pieces.is_counted:
            self._out = self._spool
        self._begun = head

    def end(self) -> None:
        """Write what stands at the end, and where it is due the number of examples."""
        from exset.grammars.lens.examples import SetHeader

        if self._header is None:
            self.begin(SetHeader())
            assert self._header is not None
        self.put(self._pieces.end(self._size + len(self._begun)))
        if not self._pieces.is_counted:
            return
        head = self._pieces.begin(self._header, self.count)
        if self._out is self._file:
            self._file.seek(0)
            self._file.write(head)
        else:
            self._out.seek(len(head))
            self._file.write(head)
            import shutil

            shutil.copyfileobj(self._out, self._file)

    def put(self, data: bytes) -> None:
        """Write what stands next in the file."""
        data, self._begun = self._begun + data, b""
        try:
            self._out.write(data)
            self._out.flush()
        except OSError as error:
            if self._out is not self._spool:
                raise
            from tempfile import gettempdir  # it is not the target that has no room

            raise OSError(error.errno, error.strerror, gettempdir()) from None
        self._size += len(data)


class _Told(Findings):
    """Passes findings on under the name of the file that is written, elements counted through."""

    def __init__(self, name: str, path: str, findings: Findings) -> None:
        super().__init__()
        self.first = 0
        self._name = name
        self._path = path
        self._findings = findings

    def add(self, finding: Finding, times: int = 1) -> None:
        self._findings.add(self.named(finding), times)

    def named(self, finding: Finding) -> Finding:
        """A finding about what is written at a time as one about the whole."""
        if (place := finding.place) is None:
            return finding
        place = replace(place.moved(0, self._path, self.first), source=self._name)
        return replace(finding, place=place)


def _spool() -> "SpooledTemporaryFile[bytes]":
    from tempfile import SpooledTemporaryFile

    return SpooledTemporaryFile(max_size=_SPOOLED)


def _set_of(
    examples: "ExampleView | ExampleSet | Example", header: "SetHeader | None"
) -> "ExampleSet":
    """What is to be written, as a set."""
    from exset.grammars.lens.examples import ExampleSet

    if isinstance(examples, ExampleSet):
        return examples
    from exset.grammars.lens.build import Example
    from exset.grammars.lens.views import ExampleView

    if isinstance(examples, ExampleView):
        return cast(ExampleSet, examples.columns).select([examples.index])
    if isinstance(examples, Example):
        return ExampleSet.from_examples([examples], header)
    found = type(examples).__name__
    raise TypeError(f"an example, or an ExampleSet, is to be written, not {found}")
