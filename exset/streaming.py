"""Files that are read part by part.

What is read so takes little memory, however long the file, and need not be all there: a pipe gives
an example as soon as it is complete.
"""

import os
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Self, cast

from exset import formats, samples
from exset.core import errors
from exset.core.errors import Findings, warn
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.families.format import Format
from exset.io import files
from exset.io.files import Blocks, FilePath

if TYPE_CHECKING:
    from exset.grammars.lens.examples import ExampleSet, SetHeader
    from exset.grammars.lens.views import ExampleView

_BLOCK = 1 << 19
_MAGIC = 4  # bytes of a pipe that are waited for to tell its format


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
