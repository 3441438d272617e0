"""Divide the work of a command on a large file into parts, if its format can be read in parts."""

import os
import stat
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from typing import Final, cast

from exset import formats
from exset.cli.each_file import FileResult
from exset.cli.inputs import CommonOptions
from exset.core.errors import Findings, FormatError
from exset.core.parts import FilePart, PartState, changed
from exset.core.protocols import Model
from exset.families.format import Format
from exset.families.incremental import PartsOf
from exset.streaming import SMALL, OpenFile, OpenFolder

_LARGE: Final = 2 * SMALL
"""A file of at least this many bytes is divided, if its format allows it."""


@dataclass(frozen=True, kw_only=True)
class PartResult(FileResult):
    """The result of a command for a file, or for a part of a file.

    state: what `joined_findings` needs to know about a part; None for a whole file. source_format:
    the name of the file's format; only for a part. common: the value of `ModelCheck.common` for the
    part.
    """

    state: PartState | None = None
    source_format: str = ""
    common: tuple[str, ...] = ()


@dataclass
class PartModels:
    """The models of a part of a file. Iterate over them once: `state` is known only then."""

    format: Format
    size: int
    """The number of bytes of the whole file."""
    models: Generator[Model, None, PartState]
    state: PartState | None = None

    def __iter__(self) -> Iterator[Model]:
        self.state = yield from self.models


def count_of(
    path: str, common: CommonOptions, accepts: Callable[[Format], bool] = lambda _: True
) -> int:
    """Return into how many parts to divide a file or a folder. Return 1 if it is small.

    accepts: a function that returns whether the command can divide files of a format.
    """
    with suppress(OSError, ValueError, FormatError):
        if path == "-":
            return 1
        status = os.stat(path)
        if not stat.S_ISDIR(status.st_mode) and status.st_size < _LARGE:
            return 1
        with common.opened(path) as file:
            parts = _parts_of(file.format)
            if parts is not None and accepts(file.format) and _size(file) >= _LARGE:
                return parts.count(file.blocks if isinstance(file, OpenFile) else file.folder)
    return 1


@contextmanager
def read_part(part: FilePart, common: CommonOptions, findings: Findings) -> Iterator[PartModels]:
    """Open a file to read the models of one part; yield these models.

    The places of findings count from the start of the part. Raises FormatError if the file changed
    after it was divided, and OSError if the file cannot be read.
    """
    with common.opened(part.path) as file:
        if (parts := _parts_of(file.format)) is None:
            raise changed(part.path)
        source = file.blocks if isinstance(file, OpenFile) else file.folder
        models = parts.read(source, part, findings, common.limits, "auto")
        yield PartModels(file.format, _size(file), models)


def joined_findings(results: Sequence[PartResult], common: CommonOptions) -> Findings | None:
    """Join the findings in the results of a file's parts.

    Return None if the file must be read as a whole, for example because it may have an error.
    """
    if len({each.common for each in results}) > 1:
        return None
    parts = _parts_of(formats.get(results[0].source_format))
    states = [(each.state, each.findings) for each in results if each.state is not None]
    return None if parts is None else parts.joined(states, common.limits)


def _parts_of(fmt: Format) -> PartsOf | None:
    return None if fmt.parts is None else cast(PartsOf, import_module(fmt.parts))


def _size(file: OpenFile | OpenFolder) -> int:
    return file.size if isinstance(file, OpenFolder) else file.blocks.size or 0
