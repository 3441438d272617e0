"""`stream`: read the units of a file in chunks.

This takes little memory, however large the file is. The file may still grow. From a pipe, a unit,
such as an example, is yielded as soon as it is complete.
"""

import io
import os
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

from exset import formats, samples
from exset.core import errors
from exset.core.callers import public
from exset.core.errors import Findings, warn
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.protocols import Model, OptionValue
from exset.core.source import Source
from exset.families.format import Format
from exset.io import files
from exset.io.blocks import Blocks
from exset.io.braces import folder_at
from exset.io.files import FilePath
from exset.io.folders import Folder

_BLOCK = 1 << 20
SMALL = 1 << 24
"""The size up to which a file is read as a whole, even if it could be read in chunks."""
_SMALL_BLOCK = 1 << 14  # if only the first units are needed
_MAGIC = 4  # bytes of a pipe that `recognise` waits for


@public
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
    """Read units, such as examples, one after another, from a file, a pipe or standard input.

    Arguments, errors and findings are those of `load`; units before an error are yielded first. The
    first `next` opens the file. Only a chunk of the file is in memory, or a single unit if it is
    larger than a chunk.

    From a pipe, a unit is yielded as soon as it is complete; in a text file, this is at the end of
    its line. The first bytes of a pipe decide the format. With `loop`, the file is read again and
    again, until it has no units; its findings are reported once. Raises ValueError for a loop over
    standard input.
    """
    path, engine = os.fsdecode(path), formats.engine(engine)
    if format is not None:
        formats.get(format)
    if loop and path == "-":
        raise ValueError("standard input cannot be read again: name a file or a pipe")
    found = errors.collect_findings(strict, findings)
    models = chunks(path, format=format, loop=loop, limits=limits, findings=found, engine=engine)
    return Stream(models, found if findings is None else None)


class Stream(Iterator[Any]):
    """The units of a file, one after another. As a context manager, it closes the file at the end.

    A unit of an example set is an `ExampleView`, which keeps its chunk of the file in memory.
    """

    def __init__(self, models: Generator[Model, None, None], unreported: Findings | None) -> None:
        """Make a stream of the units of `models`, which has a model for each chunk.

        At the end of the stream, one FormatWarning reports the findings in `unreported`.
        """
        self._models = models
        self._model: Model | None = None
        self._units: Iterator[object] = iter(())
        self._unreported = unreported

    def __iter__(self) -> Self:
        return self

    @public
    def __next__(self) -> Any:
        while (unit := next(self._units, None)) is None:
            if not self._advance():
                self._warn()
                raise StopIteration
        return unit

    @property
    def header(self) -> Any:
        """The header of the file, such as a `SetHeader`; reads the first chunk if necessary."""
        if self._model is None and not self._advance():
            raise ValueError("the stream was closed before its header was read")
        assert self._model is not None
        return formats.family_of(self._model).unit_functions().header(self._model)

    def close(self) -> None:
        """Close the file, and issue the warning about the findings so far."""
        self._stop()
        self._warn()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        self._stop()
        if kind is None:
            self._warn()

    def _stop(self) -> None:
        self._models.close()
        self._units = iter(())

    def _warn(self) -> None:
        """Issue the warning, but only once. It shows the line that called exset."""
        if self._unreported is not None:
            findings, self._unreported = self._unreported, None
            warn(findings)

    def _advance(self) -> bool:
        model = next(self._models, None)
        if model is None:
            return False
        self._model = model
        self._units = iter(formats.family_of(model).unit_functions().of(model))
        return True


def chunks(
    path: FilePath,
    *,
    format: str | None = None,
    loop: bool = False,
    limits: Limits = DEFAULT,
    findings: Findings,
    engine: Engine = "auto",
) -> Generator[Model, None, None]:
    """Read as `stream` does, but yield a model for each chunk. An empty file gives one model.

    This is faster, as a model has about a megabyte of the file.
    """
    while True:
        count = 0
        with opened(path, format=format, limits=limits) as file:
            for model in file.stream(findings, engine=engine):
                count += len(model)
                yield model
        if not (loop and count):
            return
        if not file.is_pipe:  # the same file would have the same findings
            findings = Findings(strict=findings.strict)


@dataclass
class OpenFile:
    """A file that is open for reading, and its format. few: only the first units are needed."""

    path: str
    blocks: Blocks
    format: Format
    limits: Limits
    few: bool
    """Whether only the first units are needed."""
    size: int = 0
    """The number of bytes of the file, known after all are read."""

    @property
    def name(self) -> str:
        """The name in messages."""
        return self.blocks.name

    @property
    def is_pipe(self) -> bool:
        """Whether data may arrive later. A second reading may then give other data."""
        return self.blocks.is_pipe

    def models(
        self, findings: Findings, *, engine: Engine = "auto", **options: OptionValue
    ) -> Iterator[Model]:
        """Yield a model for each chunk, or one model if the file is small or cannot be chunked.

        Arguments and errors are those of `Format.read`. In a large file, only the first error is
        found.
        """
        if self.format.streamer is None or self.is_small():
            yield self.model(findings, engine=engine, **options)
            return
        yield from self.stream(findings, engine=engine, **options)
        self.size = self.blocks.count if self.blocks.size is None else self.blocks.size

    def stream(
        self, findings: Findings, *, engine: Engine = "auto", **options: OptionValue
    ) -> Iterator[Model]:
        """Yield a model for each chunk, as `Format.stream` does."""
        return self.format.stream(
            self.blocks, limits=self.limits, findings=findings, engine=engine, **options
        )

    def model(
        self, findings: Findings, *, engine: Engine = "auto", **options: OptionValue
    ) -> Model:
        """Read the whole file, as `Format.read` does."""
        source = self.source()
        self.size = len(source.view)
        return self.format.read(
            source, limits=self.limits, findings=findings, engine=engine, **options
        )

    def is_small(self) -> bool:
        """Return whether to read the file as a whole, even if it could be read in chunks."""
        if self.few:
            return False
        if self.blocks.needed is None:
            return len(self.blocks.head(SMALL + 1)) <= SMALL
        return self.blocks.needed <= SMALL

    def source(self) -> Source:
        """Return the whole file as a source. If it may be mapped, open it again by its path."""
        has_path = self.path != "-" and not self.path.startswith(samples.PREFIX)
        if has_path and self.blocks.size is not None:
            return files.read(self.path, limits=self.limits, maps=formats.maps)
        whole = io.BytesIO()
        for block in self.blocks:
            whole.write(block)
        path = files.local_path(self.path, self.blocks.name) if has_path else ""
        return Source(self.blocks.name, whole.getvalue(), path=path)


@dataclass
class OpenFolder:
    """A folder that is read as one input, and its format. It has the methods of `OpenFile`."""

    folder: Folder
    format: Format
    limits: Limits
    is_pipe = False

    @property
    def name(self) -> str:
        """The name in messages."""
        return self.folder.name

    @property
    def size(self) -> int:
        """The number of bytes of all files."""
        return self.folder.size

    def is_small(self) -> bool:
        """Return whether to read the folder as a whole, even if it could be read in chunks."""
        return self.size <= SMALL

    def models(
        self, findings: Findings, *, engine: Engine = "auto", **options: OptionValue
    ) -> Iterator[Model]:
        """Yield a model for each chunk, or one model if the format cannot be read in chunks."""
        if self.format.streamer is None:
            return iter([self.model(findings, engine=engine, **options)])
        return self.stream(findings, engine=engine, **options)

    def stream(
        self, findings: Findings, *, engine: Engine = "auto", **options: OptionValue
    ) -> Iterator[Model]:
        """Yield a model for each chunk, as `Format.stream` does."""
        return self.format.stream(
            self.folder, limits=self.limits, findings=findings, engine=engine, **options
        )

    def model(
        self, findings: Findings, *, engine: Engine = "auto", **options: OptionValue
    ) -> Model:
        """Read the whole folder, as `Format.read` does."""
        return self.format.read(
            self.folder, limits=self.limits, findings=findings, engine=engine, **options
        )


@contextmanager
def opened(
    path: FilePath,
    *,
    format: str | None = None,
    limits: Limits = DEFAULT,
    few: bool = False,
    argument: str = "format",
    roots: tuple[str, ...] = (),
) -> Iterator[OpenFile | OpenFolder]:
    """Open a file, `-`, a bundled sample or a folder, and recognise its format.

    `format`: the name of the format. `few`: whether only the first units are needed. `argument`: as
    in `formats.detect`. `roots`: if `path` is a folder, its files must be in these folders. Raises
    the errors of `files.blocks`; a folder of an unknown format also raises them. Raises FormatError
    if the format of a file is unknown.
    """
    name = os.fsdecode(path)
    if (found := folder_of(name, format, limits, roots)) is not None:
        yield OpenFolder(*found, limits)
        return
    with _blocks(name, limits, _SMALL_BLOCK if few else _BLOCK) as blocks:
        if few:
            blocks.needed = 0
        yield OpenFile(name, blocks, recognise(blocks, format, argument), limits, few)


def folder_of(
    name: str,
    format: str | None = None,
    limits: Limits = DEFAULT,
    roots: tuple[str, ...] = (),
) -> tuple[Folder, Format] | None:
    """Return the folder at a path and its format. Return None for a file or an unknown format.

    A pattern such as `a-{000..009}.tar` is a folder, too. `format`: the name of the format.
    `roots`: as in `Folder`. Raises OSError if the path cannot be read.
    """
    if format is not None and not formats.get(format).is_folder:
        return None
    if (folder := folder_at(name, limits, roots)) is None:
        return None
    fmt = formats.detect_folder(folder) if format is None else formats.get(format)
    return None if fmt is None else (folder, fmt)


def reopener(
    path: str, file: OpenFile | OpenFolder, roots: tuple[str, ...], stack: ExitStack
) -> Callable[[], AbstractContextManager[OpenFile | OpenFolder]]:
    """Return a function that opens an open file again by its path, as `opened` does.

    If a file can be read only once, or only slowly, it is first copied to a temporary file. `stack`
    closes this copy. If no copy is needed, `file` is closed at once through `stack`, so that
    another file can replace it.
    """
    if isinstance(file, OpenFolder) or _is_plain(file):
        stack.close()
        return partial(opened, path, format=file.format.name, limits=file.limits, roots=roots)
    kept = stack.enter_context(file.blocks.kept(file.limits))

    @contextmanager
    def again() -> Iterator[OpenFile]:
        yield replace(file, blocks=kept.again(file.limits, _BLOCK))

    return again


def _is_plain(file: OpenFile) -> bool:
    """Return whether a file can be read again from its path, without a copy."""
    if not files.local_path(file.path, file.name) or file.is_pipe:
        return False
    return file.blocks.file is not None or not file.format.rereads


@contextmanager
def _blocks(name: str, limits: Limits, size: int) -> Iterator[Blocks]:
    if name.startswith(samples.PREFIX):
        source = samples.read(name)
        yield Blocks(source.name, (source.data,), len(source.data))
        return
    with files.blocks(name, limits=limits, size=size) as blocks:
        yield blocks


def recognise(blocks: Blocks, format: str | None = None, argument: str = "format") -> Format:
    """Return the format called `format`. If `format` is None, detect the format of the blocks.

    `argument`: the name of `format` in messages, as in `formats.detect`.
    """
    if format is not None:
        return formats.get(format)
    least = _MAGIC if blocks.is_pipe else None
    return formats.detect(blocks.head(formats.HEAD, least), blocks.name, argument)
