"""Read a file with a layout: `read` chooses the driver; `interpret` is the fast one."""

from exset.codecs.engine.diagnosis import Diagnosis
from exset.codecs.engine.execution import Execution, TooLarge
from exset.codecs.engine.fields import Fields
from exset.codecs.engine.gather import KERNELS, Mover
from exset.codecs.engine.layout import Layout
from exset.codecs.engine.lazy_fields import Gatherer, Lazy, LazyFields
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.source import Source


def read(
    layout: Layout, source: Source, *, limits: Limits = DEFAULT, engine: Engine = "auto"
) -> Fields:
    """Read the columns of a file; bytes after its end are ignored.

    engine: `reference` is Construct; `auto` and `table` are the interpreter, which `auto` runs as
    plain Python on small files. Raises FormatError at the primitive that cannot be read, and
    LimitError for a string longer than `limits.max_name`; both drivers raise the same errors.
    """
    if engine != "reference":
        try:
            compiled = KERNELS.should_compile(len(source.view), engine)
            return interpret(layout, source, limits, compiled=compiled)
        except TooLarge:
            pass
    from exset.codecs.engine import reference_reader

    return reference_reader.read(layout, source, limits)


def interpret(layout: Layout, source: Source, limits: Limits, *, compiled: bool) -> Fields:
    """Do what `reference_reader.read` does with the interpreter; columns are gathered on access.

    Raises TooLarge where an expression needs more than 64 bits.
    """
    execution = Execution(layout.program, source.view, limits.max_name, compiled)
    failed = execution.run()
    run = Gatherer(layout, source, execution, Mover(compiled))
    columns, starts, bounds = Lazy(run.column), Lazy(run.starts), Lazy(run.bounds)
    fields = LazyFields(layout, columns, starts, bounds, execution.end, run)
    if failed is not None:
        Diagnosis(fields, source, limits, execution).raise_for(failed)
    return fields
