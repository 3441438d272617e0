"""Read a file as the columns of a layout."""

from exset.codecs.custom.columns import Columns
from exset.codecs.custom.shape import Shape
from exset.codecs.engine.execution import TooLarge
from exset.codecs.engine.gather import KERNELS
from exset.codecs.engine.reader import LazyFields, interpret
from exset.core.errors import FormatError
from exset.core.kernels import Engine
from exset.core.limits import Limits
from exset.core.source import Source
from exset.grammars.columns.strings import Strings


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

    parsed = Parsed(shape, source)
    return Columns(shape, parsed.end, parsed, parsed.texts)


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
