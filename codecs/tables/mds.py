"""Read and write MDS shards: the bytes of each column of each sample."""

from collections.abc import Sequence
from typing import Final, cast

import numpy as np
from numpy.typing import NDArray

from exset.codecs.engine import Values, read, write
from exset.codecs.tables.mds_layout import HEAD, samples, shard
from exset.core.errors import FormatError
from exset.core.kernels import Engine
from exset.core.limits import Limits
from exset.core.source import Source
from exset.grammars.columns.arrays import Longs, compact
from exset.grammars.columns.strings import Strings

_COUNT: Final = 8  # bytes of the number of samples, which the samples do not begin with
MOST: Final = 2**32 - 1
"""The largest size of a shard in bytes: its offsets have 32 bits."""


def read_shard(
    source: Source, sizes: Sequence[int | None], *, limits: Limits, engine: Engine
) -> list[Strings]:
    """Return the data of each column, as strings of bytes.

    sizes: for each column, the number of bytes of a value, None if values have different sizes.
    Raises FormatError for a truncated shard, and for samples that are not at the offsets in the
    shard.
    """
    fields = read(shard(tuple(sizes)), source, limits=limits, engine=engine)
    rows = fields.starts["rows"]
    ends = cast(NDArray[np.uint32], fields["ends"]).astype(np.int64)
    after = np.append(rows[1:], fields.end)
    if (wrong := after != ends).any():
        row = int(wrong.argmax())
        place = fields.place(source, "ends", row)
        message = f"the shard says that sample {row} ends at byte {ends[row]}, not {after[row]}"
        hint = "the file is damaged, or index.json has other columns than the shard"
        raise FormatError(message, place=place, hint=hint, code="mds-shard")
    return [fields.strings(f"rows.data_{i}") for i in range(len(sizes))]


def head_of(lengths: Longs, config: bytes) -> bytes:
    """Return the beginning of a shard, which precedes its samples.

    lengths: the number of bytes of each sample. config: a JSON value, which readers skip.
    """
    begin = 4 * (2 + lengths.size) + len(config)
    fields: dict[str, Values] = {
        "samples": np.array([lengths.size], np.uint32),
        "begin": np.array([begin], np.uint32),
        "ends": (begin + np.cumsum(lengths)).astype(np.uint32),
        "config": Strings.of([config]),
    }
    return write(HEAD, fields)


def samples_of(columns: Sequence[Strings], sizes: Sequence[int | None]) -> memoryview:
    """Return the bytes that store the samples in a shard.

    columns: the encoded values of each column. sizes: as in `read_shard`.
    """
    fields: dict[str, Values] = {"count": np.array([len(columns[0])], np.uint64)}
    for i, (column, size) in enumerate(zip(columns, sizes, strict=True)):
        if size is None:
            fields[f"rows.size_{i}"] = column.lengths.astype(np.uint32)
        fields[f"rows.data_{i}"] = column
    return memoryview(write(samples(tuple(sizes)), fields))[_COUNT:]


def row_sizes(columns: Sequence[Strings], sizes: Sequence[int | None]) -> Longs:
    """Return the number of bytes of each sample in a shard: int64 [n].

    columns: the encoded values of each column. sizes: the fixed size of the values of each column,
    None if it varies.
    """
    total = np.zeros(len(columns[0]), np.int64)
    for column, size in zip(columns, sizes, strict=True):
        total += column.lengths + (4 if size is None else 0)
    return cast(Longs, compact(total))
