"""Write LBANN sample lists as text that LBANN reads back as the same list."""

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Final

import numpy as np

from exset.core.errors import Findings
from exset.grammars.columns.arrays import Longs
from exset.grammars.columns.ragged import Strings
from exset.grammars.columns.spans import Spans
from exset.grammars.lbann.sample_list import Counts, SampleList
from exset.parsers.lbann.list_header import count_names

_FILES: Final = 1 << 12
"""The files that are written at a time."""


def render(samples: SampleList, *, findings: Findings | None = None, expand: bool = False) -> bytes:
    """Return the text of a list; see `rendered`."""
    return b"".join(rendered([samples], expand=expand))


def rendered(models: Iterable[SampleList], *, expand: bool = False) -> Iterator[bytes]:
    """Yield the text of a list that comes in chunks. The header has the totals of all chunks.

    models: the chunks, which are read twice. expand: write each number of a range, instead of
    `first ... last`.
    """
    totals, header = {"included": 0, "excluded": 0, "files": 0}, b""
    for samples in models:
        header = header or _header(samples)
        for name, number in {**samples.computed._asdict(), "files": len(samples.name)}.items():
            totals[name] += number
        kind = samples.kind
    totals["excluded"] %= 2**64
    numbers = " ".join(str(totals[name]) for name in count_names(kind)).encode("ascii")
    yield b"%b\n%b\n%b\n" % (kind.value.encode("ascii"), numbers, header)
    for samples in models:
        counts = [samples.included]
        if samples.kind.has_excluded:
            counts.append(samples.excluded)
        for begin in range(0, len(samples.name), _FILES):
            records = _records(samples, counts, slice(begin, begin + _FILES), expand)
            yield b"\n".join([*records, b""])


def _header(samples: SampleList) -> bytes:
    """Return the text of the header from its third line on."""
    if samples.label_file is None:
        return samples.directory
    return samples.directory + b"\n" + (samples.label_file or b" ")  # LBANN refuses an empty line


def _records(
    samples: SampleList, counts: list[Counts], files: slice, expand: bool
) -> Iterator[bytes]:
    """Yield the lines of some files. `files`: which files, as a slice.

    counts: the columns of numbers that follow the file's name in a line, for all files.
    """
    names = samples.name[files]
    if samples.kind.is_single:
        yield from (name or b"" for name in names)
        return
    offsets = samples.id_offsets[files.start : files.stop + 1]
    ids = samples.ids.take(np.arange(offsets[0], offsets[-1]))
    id_offsets = offsets - offsets[0]
    columns = [count[files].tolist() for count in counts]
    if isinstance(ids, Strings):
        texts = _texts(ids, id_offsets)
    else:
        texts = _numbers(ids, id_offsets, expand)
    for row, (name, text) in enumerate(zip(names, texts, strict=True)):
        record = [name or b"", *(b"%d" % column[row] for column in columns)]
        if text:
            record.append(text)
        yield b" ".join(record)


def _texts(ids: Strings, id_offsets: Longs) -> Iterator[bytes]:
    """Yield the ids of each file as one text, separated by spaces."""
    words = np.insert(ids.data, ids.offsets[1:-1], 0x20).tobytes()
    begins = ids.offsets[id_offsets] + id_offsets
    for begin, end in zip(begins[:-1].tolist(), begins[1:].tolist(), strict=True):
        yield words[begin : max(end - 1, begin)]


def _numbers(ids: Spans, id_offsets: Longs, expand: bool) -> Iterator[bytes]:
    """Yield the ids of each file as one text: as ranges or, with `expand`, as single numbers."""
    ends = id_offsets.tolist()
    for begin, end in pairwise(ends):
        spans = ids.take(np.arange(begin, end))
        if expand:
            yield b" ".join(b"%d" % number for number in spans.numbers().tolist())
            continue
        pairs = zip(spans.first.tolist(), spans.last.tolist(), strict=True)
        yield b" ".join(
            b"%d" % first if first == last else b"%d ... %d" % (first, last)
            for first, last in pairs
        )
