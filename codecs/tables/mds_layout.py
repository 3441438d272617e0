"""The layout of MDS shards, which depends on the columns; the names are from mosaicml-streaming.

Source: mosaicml-streaming, `base/format/mds/writer.py` and `reader.py`.
"""

from collections.abc import Sequence
from functools import lru_cache

import construct as cs
from construct import this

from exset.codecs.engine import Layout

_HEAD = (
    "samples" / cs.Int32ul,
    "begin" / cs.Int32ul,  # the offset of the first sample, then those of the ends
    cs.Check(this.begin >= this.samples * 4 + 8),
    "ends" / cs.Array(this.samples, cs.Int32ul),
    "config" / cs.Bytes(this.begin - this.samples * 4 - 8),
)

HEAD = Layout(cs.Struct(*_HEAD))
"""The layout of the part before the samples."""


@lru_cache(maxsize=16)
def shard(sizes: tuple[int | None, ...]) -> Layout:
    """Return the layout of a shard.

    sizes: for each column, the number of bytes of a value, None if values have different sizes. A
    sample begins with the sizes of its values in the columns with None; then all its data follow.
    """
    rows = "rows" / cs.Array(this.samples, cs.Struct(*_fields(sizes)))
    return Layout(cs.Struct(*_HEAD, rows))


@lru_cache(maxsize=16)
def samples(sizes: tuple[int | None, ...]) -> Layout:
    """Return the layout of samples, preceded by the number of samples. sizes: as in `shard`."""
    rows = "rows" / cs.Array(this.count, cs.Struct(*_fields(sizes)))
    return Layout(cs.Struct("count" / cs.Int64ub, rows))


def _fields(sizes: Sequence[int | None]) -> list[cs.Construct]:
    varying = [f"size_{i}" / cs.Int32ul for i, size in enumerate(sizes) if size is None]
    return varying + [
        f"data_{i}" / cs.Bytes(this[f"size_{i}"] if size is None else size)
        for i, size in enumerate(sizes)
    ]
