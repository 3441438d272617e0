"""Read a file, or a part of it, as the columns of a layout."""

import os
from typing import BinaryIO, Final

from exset.codecs.custom.columns import Columns
from exset.codecs.custom.shape import Shape
from exset.codecs.engine.chunked import Shift
from exset.codecs.engine.execution import TooLarge
from exset.codecs.engine.failures import TruncatedError
from exset.codecs.engine.gather import KERNELS
from exset.codecs.engine.reader import LazyFields, interpret
from exset.core.errors import FormatError
from exset.core.kernels import Engine
from exset.core.limits import Limits
from exset.core.source import Source
from exset.grammars.columns.strings import Strings

_WINDOW: Final = 1 << 12
"""How many bytes of a part are read at first."""


def read(shape: Shape, source: Source, limits: Limits, engine: Engine) -> Columns:
    """Return the columns of a file: see `Layout.read`."""
    if engine != "reference":
        compiled = KERNELS.use_compiled(len(source.view), engine)
        try:
            fields = interpret(shape.engine, source, limits, compiled=compiled)
            return columns_of(shape, fields, source, limits, compiled=compiled)
        except TooLarge:
            pass
    from exset.codecs.custom.reference import Parsed

    try:
        parsed = Parsed(shape, source)
    except FormatError:
        if engine == "reference":
            read(shape, source, limits, "table")  # raises the error in plain words
        raise
    if engine == "reference" and parsed.stopped is not None:
        parsed.stopped = read(shape, source, limits, "table").stopped or parsed.stopped
    return Columns(shape, parsed.end, parsed, parsed.texts)


def read_at(
    shape: Shape, file: BinaryIO, name: str, offset: int, limits: Limits, engine: Engine
) -> Columns:
    """Return the columns of the part of a file from an offset on: see `Layout.read_at`."""
    left = max(file.seek(0, os.SEEK_END) - offset, 0)
    size = left if shape.is_open else min(left, _WINDOW)
    while True:
        file.seek(offset)
        try:
            return read(shape, Source(name, file.read(size)), limits, engine)
        except FormatError as error:
            needed = error.needed if isinstance(error, TruncatedError) else left + 1
            if size == left or needed > left:
                raise error.changed(Shift("", offset, 0).finding) from None
            size = min(left, max(2 * size, needed))


def columns_of(
    shape: Shape, fields: LazyFields, source: Source, limits: Limits, *, compiled: bool
) -> Columns:
    """Make the columns from the fields that the engine read.

    compiled: whether to use compiled kernels. Raises FormatError for a text that cannot be decoded.
    There is one exception: an array without a count ends before its first invalid record, so such a
    text ends the array.
    """
    texts: dict[str, Strings] = {}
    rest = shape.program.rest
    for path, encoding in shape.tree.encodings.items():
        texts[path], wrong = encoding.decode(fields.strings(path))
        if wrong is None:
            continue
        offset = int(fields.starts[path][wrong])
        place = fields.place_at(source, path, offset)
        error = FormatError(f"{path.rpartition('.')[2]} is not {encoding.name}", place=place)
        if rest is None or (not path.startswith(f"{rest.path}.") and path != rest.path):
            raise error
        begins = fields.starts[rest.path]
        whole = int(begins.searchsorted(offset, "right")) - 1
        shorter = interpret(shape.engine, source, limits, compiled=compiled, rest=whole)
        object.__setattr__(shorter, "stopped", error)
        return columns_of(shape, shorter, source, limits, compiled=compiled)
    return Columns(shape, fields.end, fields, texts)
