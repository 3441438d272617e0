"""Write sample lists as text that LBANN reads back as the same list."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from exset.core.errors import Findings
from exset.grammars.columns.arrays import Longs
from exset.grammars.columns.ragged import Strings
from exset.grammars.columns.spans import Spans
from exset.grammars.lbann.sample_list import SampleList
from exset.parsers.lbann.list_header import count_names


def render(samples: SampleList, *, findings: Findings | None = None, expand: bool = False) -> bytes:
    """Return the text of a list, with the correct totals.

    expand: write each number of a range, not `first ... last`.
    """
    kind = samples.kind
    totals = {**samples.computed._asdict(), "files": len(samples.name)}
    lines = [
        kind.value.encode("ascii"),
        " ".join(str(totals[name]) for name in count_names(kind)).encode("ascii"),
        samples.directory,
    ]
    if samples.label_file is not None:
        lines.append(samples.label_file or b" ")  # LBANN refuses an empty line
    lines += [name or b"" for name in samples.name] if kind.is_single else _records(samples, expand)
    return b"\n".join([*lines, b""])


def _records(samples: SampleList, expand: bool) -> Iterator[bytes]:
    counts = [samples.included.tolist()]
    if samples.kind.has_excluded:
        counts.append(samples.excluded.tolist())
    ids = samples.ids
    if isinstance(ids, Strings):
        texts = _texts(ids, samples.id_offsets)
    else:
        texts = _numbers(ids, samples.id_offsets, expand)
    for row, (name, text) in enumerate(zip(samples.name, texts, strict=True)):
        record = [name or b"", *(b"%d" % count[row] for count in counts)]
        if text:
            record.append(text)
        yield b" ".join(record)


def _texts(ids: Strings, id_offsets: Longs) -> Iterator[bytes]:
    """Yield the ids of each file, separated by blanks."""
    words = np.insert(ids.data, ids.offsets[1:-1], 0x20).tobytes()
    begins = ids.offsets[id_offsets] + id_offsets
    for begin, end in zip(begins[:-1].tolist(), begins[1:].tolist(), strict=True):
        yield words[begin : max(end - 1, begin)]


def _numbers(ids: Spans, id_offsets: Longs, expand: bool) -> Iterator[bytes]:
    """Yield the ids of each file: ranges, or with `expand` every number."""
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
