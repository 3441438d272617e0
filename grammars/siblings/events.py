"""Examples of one or more events: the columns `example` and `event` of a table."""

from typing import Final

import numpy as np

from exset.grammars.columns.arrays import Longs
from exset.grammars.tables.columns import Numbers, TableColumn

EVENTS: Final = ("example", "event")


def event_columns(lengths: Longs) -> dict[str, TableColumn]:
    """Return the columns `example` and `event`, both counted from 0, for a table with one row
    for each event.

    lengths: the number of events of each example.
    """
    example = np.repeat(np.arange(lengths.size), lengths)
    starts = np.cumsum(lengths) - lengths
    numbers = example, np.arange(example.size) - starts[example]
    return dict(zip(EVENTS, map(Numbers.of, numbers), strict=True))
