"""Decode all pictures and videos that a configuration reads, as the loader does."""

from collections.abc import Iterable
from typing import Final

import numpy as np

from exset.core.errors import FormatError
from exset.core.protocols import CheckOptions
from exset.grammars.aeon.config.model import LoaderConfig
from exset.runtime.aeon.config_column import Column
from exset.runtime.aeon.provision.etl import Context
from exset.runtime.aeon.provision.layout import DTYPES
from exset.runtime.aeon.provision.record import Record
from exset.runtime.aeon.provision.registry import etl_class
from exset.runtime.aeon.provision.streams import Keyed

_TYPES: Final = ("image", "pixelmask", "video")


def check_decoding(config: LoaderConfig, columns: Iterable[Column], options: CheckOptions) -> None:
    """Add a finding for each picture and video that the loader cannot provide.

    options: those of the configuration. Raises LimitError, and ImportError without OpenCV.
    """
    context = Context(config, base=options.base, access=options.access, limits=options.limits)
    draws = Keyed(config.settings.number("random_seed"))
    for column in columns:
        if column.etl.type not in _TYPES:
            continue
        try:
            etl = etl_class(column.etl.type)(column.etl, column.number, context)
        except FormatError as error:
            column.findings.add(error.finding)
            continue
        slots = [np.zeros(each.shape, DTYPES[each.dtype]) for each in etl.outputs]
        for row, _, data in column.contents("max_array"):
            record = Record(row, 0, draws.streams(row, 0))
            try:
                if data:
                    etl.provide(data, record, slots)
            except FormatError as error:
                column.report("aeon-element", row, why=error.message)
