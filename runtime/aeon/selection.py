"""Which records of a manifest aeon uses, in which order, and what it knows the manifest by."""

import math
from typing import Final

import numpy as np

from exset.grammars.aeon.manifest import Manifest
from exset.grammars.aeon.manifest_types import Dialect
from exset.grammars.columns.arrays import Longs
from exset.runtime.aeon.crc32c import crc32c
from exset.runtime.aeon.libstdcxx import MERSENNE, MINSTD, shuffled, subset

BLOCK_SIZE: Final = 5000
"""aeon's own block size: in the dialect `seed` always, whatever the configuration says."""


def uid(manifest: Manifest) -> str:
    """What aeon knows a manifest by: CRC-32C of all fields, eight hexadecimal digits.

    It does not see where a field ends, types, comments, the root, or what files hold.
    """
    return f"{crc32c(manifest.fields.data):08x}"


def cache_name(uid: str) -> str:
    """The name of the folder that aeon caches a manifest in, below its cache_directory."""
    return f"aeon_cache_{uid}"


def picked(
    manifest: Manifest,
    *,
    subset_fraction: float = 1.0,
    shuffle_manifest: bool = False,
    random_seed: int = 0,
) -> tuple[Manifest, str]:
    """The records that aeon uses, in its order, and its uid for them.

    subset_fraction, shuffle_manifest, random_seed: of its configuration. The dialect of the
    manifest says which aeon it is: `head` shuffles by the seed, after it made the uid; the others
    always in the same way, before. Raises ValueError for a fraction that is not above 0 and up to
    1, and for a shuffle that `head` makes by chance, without a seed.
    """
    is_head = manifest.dialect is Dialect.HEAD
    fraction = float(np.float32(subset_fraction))
    if not 0 < fraction <= 1:
        raise ValueError(f"subset_fraction must be above 0 and at most 1, not {subset_fraction}")
    if fraction < 1:
        needed = int(np.float32(len(manifest)) * np.float32(fraction))
        seed = 0 if is_head else random_seed
        manifest = manifest.select(subset(len(manifest), fraction, needed, seed))
    if not shuffle_manifest:
        return manifest, uid(manifest)
    if not is_head:
        manifest = manifest.select(shuffled(len(manifest), MERSENNE, 0))
        return manifest, uid(manifest)
    if random_seed == 0:
        raise ValueError("random_seed must not be 0, with which aeon shuffles by chance")
    known_by = uid(manifest)
    return manifest.select(shuffled(len(manifest), MINSTD, random_seed)), known_by


def blocks(records: int, block_size: int = BLOCK_SIZE) -> list[range]:
    """The blocks that aeon divides so many records into; the last may be empty.

    They are as equal as can be, and as many as the wanted size fits into the records, in single
    precision. Raises ValueError for a size that is not above 0.
    """
    if block_size <= 0:
        raise ValueError(f"block_size must be at least 1, not {block_size}")
    wide = np.float32(records)
    count = max(_round(float(wide / np.float32(block_size))), 1)
    size = math.ceil(wide / np.float32(count))
    found = []
    for block in range(count):
        start = size * block
        found.append(range(start, min(start + size, records)))
        if start + size > records:
            break
    return found


def node(manifest: Manifest, node_id: int, node_count: int, batch_size: int) -> Manifest:
    """The records that one of several nodes gets: batches in turn, then a run of what is left.

    All nodes get as many; what is left over of the records nobody does. Raises ValueError for a
    node that there is not, and for batches of no record.
    """
    rows = node_rows(len(manifest), node_id, node_count, batch_size)
    return manifest.select(rows)


def node_rows(records: int, node_id: int, node_count: int, batch_size: int) -> Longs:
    """The numbers of the records that a node gets; as `node`."""
    if not 0 <= node_id < node_count:
        raise ValueError(f"node_id must be from 0 to {node_count - 1}, not {node_id}")
    if batch_size <= 0:
        raise ValueError(f"batch_size must be at least 1, not {batch_size}")
    each = records // node_count
    rounds, rest = divmod(each, batch_size)
    batches = (np.arange(rounds) * node_count + node_id) * batch_size
    whole = (batches[:, None] + np.arange(batch_size)).reshape(-1)
    begin = rounds * node_count * batch_size + node_id * rest
    return np.concatenate([whole, np.arange(begin, begin + rest)])


def _round(number: float) -> int:
    """As C's round: halves away from zero."""
    return math.floor(number + 0.5)
