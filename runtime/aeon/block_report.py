"""Report the contents of blocks, for `exset info` and `exset stats`."""

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

import numpy as np

from exset.core.text import size
from exset.grammars.aeon.block import Block
from exset.io.content_types import suffix_of
from exset.runtime.reports.report import Report, limits_of, most_frequent, some
from exset.runtime.reports.statistics import Spread

SAMPLED = 1000
"""The most elements of a block that `exset info` examines."""
COLUMNS = 100
"""The most columns of a block that `exset stats` examines."""
SHOWN = 8
"""The most kinds of content that are shown to people."""


def report(model: Block, detailed: bool = False) -> Report:
    """Report counts and sizes of a block or an archive.

    detailed: add the sizes and kinds of the elements of each column.
    """
    elements, header = model.elements, model.header
    count, width, is_archive = len(elements), model.width, header is None
    low, high = limits_of(elements.data.lengths)
    contents = _contents(elements.data.take(np.arange(min(SAMPLED, count))))
    times = limits_of(elements.time) if count else None
    same_names = count - len(set(elements.name))
    versions = None if header is None else (header.format_version, header.writer_version)
    made = Report()
    made.add(kind="archive" if is_archive else "aeon", records=len(model), elements=count)
    made.add(width=width, data_type=None if header is None else header.data_type.decode("latin-1"))
    made.add(versions=versions, bytes=elements.data.nbytes, bytes_each=(low, high))
    made.add(contents=contents, times=times, same_names=same_names)
    each = f"{size(low)} to {size(high)} each" if count else ""
    if is_archive:
        made.row("files", f"{count:,}", each)
    else:
        made.row("records", f"{len(model):,}")
        made.row("elements", f"{count:,}", f"{width} a record" if width else "", each)
    made.row("bytes", size(elements.data.nbytes))
    if contents:
        sampled = f"of the first {SAMPLED:,}: " if count > SAMPLED else ""
        made.row("contents", sampled + most_frequent(contents, SHOWN))
    if times is not None:
        first, last = (datetime.fromtimestamp(time, UTC) for time in times)
        until = f" to {last:%Y-%m-%d %H:%M:%S}" if last != first else ""
        made.row("written", f"{first:%Y-%m-%d %H:%M:%S}{until} UTC")
    if versions is not None:
        made.row("header", f"format {versions[0]}", f"writer {versions[1]}")
    made.row("names", some(same_names, "are equal to an earlier one"))
    if detailed:
        made.add(columns=[*_columns(made, model)])
    return made


def _columns(made: Report, model: Block) -> Iterator[dict[str, object]]:
    """Report the columns of a block; an archive is one column."""
    width = model.width if model.header is not None else 1
    for column in range(min(width or 0, COLUMNS)):
        data = model.elements.data.take(np.arange(column, len(model.elements), width or 1))
        spread, contents = Spread.of(data.lengths), _contents(data)
        if not spread.count:
            continue
        low, high, mean = (size(int(x)) for x in (spread.low, spread.high, spread.mean))
        kinds = most_frequent(contents, SHOWN // 2)
        made.row(f"column {column}", f"{low} to {high}", f"mean {mean}; {kinds}")
        yield {"bytes": spread.to_dict(), "contents": contents}


def _contents(data: Iterable[memoryview]) -> dict[str, int]:
    return dict(Counter(map(suffix_of, data)).most_common())
