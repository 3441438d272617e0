"""Sample lists as text: what LBANN reads back as the same list."""

from collections.abc import Iterator

import numpy as np

from exset.errors import Findings
from exset.grammars.samples import SampleList
from exset.grammars.spans import Spans
from exset.parsers.sample_list_header import counted


def render(samples: SampleList, *, findings: Findings | None = None, expand: bool = False) -> bytes:
    """The text of a list; the totals are those that its files add up to.

    expand: whole numbers one by one, not as `first ... last`.
    """
    kind = samples.kind
    totals = {**samples.computed._asdict(), "files": len(samples.name)}
    lines = [
        kind.value.encode("ascii"),
        " ".join(str(totals[name]) for name in counted(kind)).encode("ascii"),
        samples.directory,
    ]
    if samples.label_file is not None:
        lines.append(samples.label_file or b" ")  # a line of no length LBANN refuses
    lines += _names(samples) if kind.is_single else _records(samples, expand)
    return b"\n".join([*lines, b""])


def _names(samples: SampleList) -> Iterator[bytes]:
    return (name or b"" for name in samples.name)


def _records(samples: SampleList, expand: bool) -> Iterator[bytes]:
    counts = [samples.included.tolist()]
    if samples.kind.has_excluded:
        counts.append(samples.excluded.tolist())
    ends = samples.id_offsets.tolist()
    for row, name in enumerate(samples.name):
        record = [name or b"", *(b"%d" % count[row] for count in counts)]
        record += _ids(samples, ends[row], ends[row + 1], expand)
        yield b" ".join(record)


def _ids(samples: SampleList, begin: int, end: int, expand: bool) -> Iterator[bytes]:
    if not isinstance(samples.ids, Spans):
        yield from (each or b"" for each in samples.ids[begin:end])
    elif expand:
        spans = samples.ids.take(np.arange(begin, end))
        yield from (b"%d" % number for number in spans.numbers().tolist())
    else:
        firsts, lasts = samples.ids.first[begin:end], samples.ids.last[begin:end]
        for first, last in zip(firsts.tolist(), lasts.tolist(), strict=True):
            yield b"%d" % first if first == last else b"%d ... %d" % (first, last)
