"""Which driver reads or writes: the table driver, compiled or plain, or the reference driver."""

from collections.abc import Mapping

from exset.codecs.engine import reader
from exset.codecs.engine.columns import KERNELS
from exset.codecs.engine.execution import TooLarge
from exset.codecs.engine.fields import Fields, Values
from exset.codecs.engine.layout import Layout
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.source import Source


def read(
    layout: Layout, source: Source, *, limits: Limits = DEFAULT, engine: Engine = "auto"
) -> Fields:
    """The columns of a file; what follows its last byte is left alone.

    engine: `auto` takes the table driver, by plain Python where there is little to do. Raises
    FormatError at the primitive that cannot be read, LimitError for a string that is longer than
    `limits.max_name`; both drivers the same.
    """
    if engine != "reference":
        try:
            compiled = is_compiled(len(source.view), engine)
            return reader.read(layout, source, limits, compiled=compiled)
        except TooLarge:
            pass
    from exset.codecs.engine import reference

    return reference.read(layout, source, limits=limits)


def write(layout: Layout, fields: Mapping[str, Values], *, engine: Engine = "auto") -> bytes:
    """The file that has these columns: the inverse of `read`. Counts are columns like any other.

    engine: as for `read`. Raises FormatError for a value that the layout forbids, ValueError for
    columns that are not the layout's or do not fit together.
    """
    if engine != "reference":
        from exset.codecs.engine import writer

        try:
            compiled = is_compiled(writer.size_of(fields), engine)
            return writer.write(layout, fields, compiled=compiled)
        except TooLarge:
            pass
    from exset.codecs.engine import reference

    return reference.write(layout, fields)


def is_compiled(size: int, engine: Engine = "auto") -> bool:
    """Whether compiled kernels are used for so many bytes."""
    return KERNELS.should_compile(size, engine)
