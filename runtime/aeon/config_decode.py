"""Decode the elements of all records that a configuration reads, as the loader does."""

from collections.abc import Sequence

from exset.core.errors import FormatError, LimitError
from exset.core.limits import Limits
from exset.core.protocols import CheckOptions
from exset.grammars.aeon.config.model import LoaderConfig
from exset.runtime.aeon.config_column import Column
from exset.runtime.aeon.provision.elements import ManifestElements
from exset.runtime.aeon.provision.etl import Context, Etl, Slot
from exset.runtime.aeon.provision.provider import new_arrays
from exset.runtime.aeon.provision.record import Record
from exset.runtime.aeon.provision.registry import etl_class
from exset.runtime.aeon.provision.streams import Keyed


def check_decoding(config: LoaderConfig, columns: Sequence[Column], options: CheckOptions) -> None:
    """Add a finding for each element that the loader cannot decode and that has no finding yet.

    The loader augments the elements as in the first epoch. options: how to check the configuration.
    Raises LimitError for a file that is too large, and ImportError without OpenCV.
    """
    context = Context(config, base=options.base, access=options.access, limits=options.limits)
    decoders = [(each, etl) for each in columns if (etl := _etl(each, context)) is not None]
    if not decoders:
        return
    first, draws = columns[0], Keyed(config.settings.number("random_seed"))
    elements = ManifestElements(
        first.manifest, first.options.base, options.access, options.limits.max_batch
    )
    slots = [_slots(etl, options.limits) for _, etl in decoders]
    for row in range(len(first.manifest)):
        record = Record(row, 0, draws.streams(row, 0))
        for (column, etl), arrays in zip(decoders, slots, strict=True):
            if row in column.failed:
                continue
            try:
                element = elements.element(row, column.number)
            except LimitError:
                raise
            except FormatError:  # the check of the manifest reports it
                continue
            try:
                if element:
                    etl.provide(element, record, arrays)
            except FormatError as error:
                column.report("aeon-element", row, why=error.message)


def _slots(etl: Etl, limits: Limits) -> list[Slot]:
    """Return new arrays that hold one record. Raises LimitError."""
    return [each[0, ...] for each in new_arrays(etl.outputs, 1, limits).values()]


def _etl(column: Column, context: Context) -> Etl | None:
    """Return the object that decodes a column's elements.

    If the loader rejects the column's settings, add a finding and return None.
    """
    try:
        return etl_class(column.etl.type)(column.etl, column.number, context)
    except FormatError as error:
        column.findings.add(error.finding)
        return None
