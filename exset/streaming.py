"""Files that are read and written part by part: streams, writers, conversion.

What is read so takes little memory, however long the file, and need not be all there: a pipe gives
an example as soon as it is complete.
"""

import os
from collections.abc import Generator, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import IO, TYPE_CHECKING, Self, cast

from exset import api, errors, files, formats, samples
from exset.errors import Finding, Findings, FormatError, warn
from exset.files import Blocks, FilePath
from exset.format import Format
from exset.kernels import Engine
from exset.limits import DEFAULT, Limits
from exset.pieces import Pieces
from exset.protocols import Option
from exset.source import Source

if TYPE_CHECKING:
    from tempfile import SpooledTemporaryFile

    from exset.grammars.build import Example
    from exset.grammars.examples import ExampleSet, SetHeader
    from exset.grammars.views import ExampleView

_BLOCK = 1 << 19
_MAGIC = 4  # bytes of a pipe that are waited for to tell its format
_SPOOLED = 1 << 20  # bytes that are kept in memory until the number of examples is known


def stream(
    path: FilePath,
    *,
    format: str | None = None,
    loop: bool = False,
    strict: bool = False,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
) -> "Stream":
    """Read examples one after the other, from a file, a pipe or standard input.

    Arguments, errors and findings are those of `load`; an error comes after the examples before it.
    Memory is taken for a part of the file, or for an example if that is larger. The file is opened
    when the first example is asked for. A pipe gives each example as soon as it is complete, in
    text with the end of its line; its format is told from what it gives first. With `loop` the file
    is opened again at its end, until it has no example; findings are told once. Raises ValueError
    for a loop over standard input.
    """
    path, engine = os.fsdecode(path), formats.engine(engine)
    if format is not None:
        formats.get(format)
    if loop and path == "-":
        raise ValueError("standard input cannot be read again: name a file or a pipe")
    heard = errors.heard(strict, findings)
    parts = sets(path, format=format, loop=loop, limits=limits, findings=heard, engine=engine)
    return Stream(parts, heard if findings is None else None)


class Stream(Iterator["ExampleView"]):
    """The examples of a file, one after the other; a context manager that closes the file.

    An example is a view of the part of the file that was read with it, and keeps that in memory.
    """

    def __init__(
        self, parts: Generator["ExampleSet", None, None], unheard: Findings | None
    ) -> None:
        """Take the parts; one FormatWarning at the end is for findings that nobody hears."""
        self._parts = parts
        self._part: ExampleSet | None = None
        self._views: Iterator[ExampleView] = iter(())
        self._unheard = unheard

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> "ExampleView":
        while (view := next(self._views, None)) is None:
            if not self._advance():
                self._tell()
                raise StopIteration
        return view

    @property
    def header(self) -> "SetHeader":
        """What the set says for all its examples; it is read if it was not yet."""
        if self._part is None and not self._advance():
            raise ValueError("the stream was closed before its header was read")
        return cast("ExampleSet", self._part).header

    def close(self) -> None:
        """Read no more; what was found so far is told."""
        self._stop()
        self._tell()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        self._stop()
        if kind is None:
            self._tell()

    def _stop(self) -> None:
        self._parts.close()
        self._views = iter(())

    def _tell(self) -> None:
        """Issue the warning, as of the caller of the caller, unless it was issued before."""
        if self._unheard is not None:
            unheard, self._unheard = self._unheard, None
            warn(unheard, 4)

    def _advance(self) -> bool:
        part = next(self._parts, None)
        if part is None:
            return False
        self._part = part
        self._views = iter(part.examples)
        return True


def sets(
    path: FilePath,
    *,
    format: str | None = None,
    loop: bool = False,
    limits: Limits = DEFAULT,
    findings: Findings,
    engine: Engine = "auto",
) -> Generator["ExampleSet", None, None]:
    """Read as `stream` does, and yield sets of examples as they are read: one at least each time.

    That is the fast way: a set holds what some hundred kilobytes of a file say.
    """
    while True:
        count = 0
        with opened(path, limits=limits) as blocks:
            known = recognise(blocks, format)
            for part in known.stream(blocks, limits=limits, findings=findings, engine=engine):
                count += len(part)
                yield part
        if not (loop and count):
            return
        if not blocks.is_pipe:  # the same would be told again
            findings = Findings(strict=findings.strict)


@contextmanager
def opened(path: FilePath, *, limits: Limits = DEFAULT) -> Iterator[Blocks]:
    """Open a file, `-` or a bundled sample, to be read in blocks; errors as in `files.blocks`."""
    name = os.fsdecode(path)
    if name.startswith(samples.PREFIX):
        source = samples.read(name)
        yield Blocks(source.name, (source.data,), len(source.data))
        return
    with files.blocks(name, limits=limits, size=_BLOCK) as blocks:
        yield blocks


def recognise(blocks: Blocks, format: str | None = None) -> Format:
    """Return the format to read as: the one said, else the one that the first bytes look like."""
    if format is not None:
        return formats.get(format)
    least = _MAGIC if blocks.is_pipe else None
    return formats.detect(blocks.head(formats.HEAD, least), blocks.name)


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
        from exset.grammars.examples import SetHeader

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
        self._out.write(data)
        self._out.flush()
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
    from exset.grammars.examples import ExampleSet

    if isinstance(examples, ExampleSet):
        return examples
    from exset.grammars.build import Example
    from exset.grammars.views import ExampleView

    if isinstance(examples, ExampleView):
        return cast(ExampleSet, examples.columns).select([examples.index])
    if isinstance(examples, Example):
        return ExampleSet.from_examples([examples], header)
    found = type(examples).__name__
    raise TypeError(f"an example, or an ExampleSet, is to be written, not {found}")


def convert(
    source: FilePath,
    target: FilePath,
    *,
    from_format: str | None = None,
    to: str | None = None,
    strict: bool = False,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    reading: Mapping[str, Option] | None = None,
    engine: Engine = "auto",
    **options: Option,
) -> int:
    """Read one file and write another; return how many units, such as examples, passed through.

    The formats are told as in `load` and `save`, whose options and errors these are; they must be
    of one family. `reading` are options of the reader where the writer has one of that name, such
    as `dialect`; `engine` is what reads. Where both allow it the file passes through part by part,
    so that it may be larger than memory, or come from a pipe and go to one.
    """
    source, target, engine = os.fsdecode(source), os.fsdecode(target), formats.engine(engine)
    if from_format is not None:
        formats.get(from_format)
    wanted = api.target_format(target, to)
    others, options = api.parted(options, wanted)
    reading = {**others, **(reading or {})}
    wanted.chosen(options)
    heard = errors.heard(strict, findings)
    with ExitStack() as stack:
        blocks = stack.enter_context(opened(source, limits=limits))
        known = recognise(blocks, from_format)
        api.convertible(known, wanted, Source(blocks.name, b""))
        if known.streamer is None or wanted.pieces is None:
            whole = Source(blocks.name, b"".join(blocks))
            stack.close()
            model = known.read(whole, limits=limits, findings=heard, engine=engine, **reading)
            to, name = wanted.name, whole.name
            api.save(model, target, format=to, name=name, findings=heard, **options)
            count = len(model)
        else:
            known.chosen(reading, reading=True)
            parts = known.stream(blocks, limits=limits, findings=heard, engine=engine)
            first = next(parts)  # before anything is written
            to, name = wanted.name, blocks.name
            with writer(
                target, format=to, header=None, name=name, findings=heard, **options
            ) as out:
                out.write(first)
                for part in parts:
                    out.write(part)
                stack.close()  # it may be the target
            count = out.count
    if findings is None:
        warn(heard, 3)
    return count
