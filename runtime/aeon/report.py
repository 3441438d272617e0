"""What manifests, blocks and configurations hold: `exset info` and `exset stats`, and names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

import numpy as np

from exset.core.text import size
from exset.grammars.aeon.block import Block
from exset.grammars.aeon.config.model import LoaderConfig
from exset.grammars.aeon.config.schema_types import TITLES
from exset.grammars.aeon.manifest import Manifest
from exset.grammars.aeon.manifest_types import ElementType
from exset.io.content_types import suffix_of
from exset.runtime.reports.report import Report, limits_of, memory_of, most_frequent, some
from exset.runtime.reports.statistics import Spread

CLASSES = 10_000
"""A column with more different fields than this is not one of classes."""
SAMPLED = 1000
"""How many elements of a block `exset info` looks into."""
COLUMNS = 100
"""How many columns of a block `exset stats` looks at."""
SHOWN = 8
"""How many classes, or kinds of content, are shown to people."""


def manifest(model: Manifest, detailed: bool = False) -> Report:
    """Report the numbers of a manifest, without a look at its files.

    detailed: whether to add classes, errors and spreads of each column.
    """
    from exset.runtime.aeon.selection import cache_name, uid

    types = [kind.value for kind in model.types]
    distinct = [len(set(model.column(column))) for column in range(model.width)]
    empty = int(np.count_nonzero(model.fields.lengths == 0))
    key, memory = uid(model), memory_of(model)
    made = Report()
    made.add(dialect=model.dialect.value, records=len(model), types=types, fields=model.width)
    made.add(distinct=distinct, empty=empty, bytes=int(model.fields.data.size))
    made.add(uid=key, memory=memory)
    made.row("dialect", model.dialect.value)
    made.row("records", f"{len(model):,}")
    for column, count in enumerate(distinct):
        kind = types[column] if column < len(types) else "dropped"
        made.row(f"column {column}", kind, f"{count:,} different")
    made.row("fields", size(model.fields.data.size), f"{empty:,} of them empty")
    made.row("cache", cache_name(key))
    made.row("memory", size(memory))
    if detailed:
        made.add(columns=[_column(made, model, column) for column in range(len(types))])
    return made


def _column(made: Report, model: Manifest, index: int) -> dict[str, object]:
    from exset.runtime.aeon.elements import elements

    found, kind = elements(model, index), model.types[index]
    is_number = kind in (ElementType.ASCII_INT, ElementType.ASCII_FLOAT)
    spread = Spread.of(found.numbers if is_number else found.strings.lengths)
    counts: Counter[bytes | None] = Counter()
    if kind not in (ElementType.FILE, ElementType.BINARY):
        counts.update(model.column(index))
    if len(counts) > CLASSES:
        counts.clear()
    classes = {
        (field or b"").decode("utf-8", "surrogateescape"): count
        for field, count in counts.most_common()
    }
    what = "" if is_number else " bytes"
    if spread.count:
        between = f"{spread.low:g} to {spread.high:g}{what}"
        made.row(f"in column {index}", between, f"mean {spread.mean:.4g}")
    made.row("", some(len(found.errors), "fields that aeon cannot read"))
    more = len(classes) - SHOWN
    shown = [f"{name} {count:,}" for name, count in [*classes.items()][:SHOWN]]
    made.row("", *shown, f"and {more:,} more" if more > 0 else "")
    return {
        "kind": kind.value,
        "errors": len(found.errors),
        "spread": spread.to_dict(),
        "classes": classes,
    }


def record_names(model: Manifest) -> Iterator[bytes]:
    """Yield the first field of each record."""
    return (name or b"" for name in (model.column(0) if len(model) else ()))


def block(model: Block, detailed: bool = False) -> Report:
    """Report the numbers of a block or an archive.

    detailed: whether to add the sizes and kinds of the elements of each column.
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
    """Count the suffixes that the contents of elements suggest, the most frequent first."""
    return dict(Counter(map(suffix_of, data)).most_common())


def element_names(model: Block) -> Iterator[bytes]:
    """Yield the name of the first element of each record; empty if the width is not known."""
    rows, width = len(model), model.width
    names = model.elements.name.tolist()[: rows * (width or 0) : width or 1]
    return (name or b"" for name in names or [b""] * rows)


def config(model: LoaderConfig, detailed: bool = False) -> Report:
    """Report what a configuration says; there are no details to add."""
    etl = tuple(element.type for element in model.etl)
    changes = tuple(name for element in model.augmentation[:1] for name in element.given)
    manifest, mode = str(model["manifest_filename"]), str(model["iteration_mode"])
    made = Report()
    made.add(dialect=model.dialect, manifest_filename=manifest)
    made.add(batch_size=model.batch_size, block_size=model.block_size)
    made.add(iteration_mode=mode, etl=etl, augmentation=changes)
    made.add(outputs=[output.to_dict() for output in model.outputs])
    made.row("for", TITLES[model.dialect])
    made.row("manifest", manifest)
    batches, blocks = f"batches of {model.batch_size:,}", f"blocks of {model.block_size:,} records"
    made.row("sizes", batches, blocks, mode)
    made.row("etl", *etl or ["none"])
    made.row("augmentation", *changes)
    for output in model.outputs:
        shape = " x ".join(map(str, output.shape))
        made.row("output", f"{output.name}: {output.dtype}", f"N x {shape}")
    return made
