"""Select and order the records of a manifest as aeon does: subset, shuffle, blocks, nodes."""

import math
from typing import Final

import numpy as np

from exset.codecs.shared.crc32c import crc32c
from exset.grammars.aeon.manifest import Manifest
from exset.grammars.aeon.manifest_types import Dialect
from exset.grammars.columns.arrays import Longs
from exset.runtime.aeon.libstdcxx import MERSENNE, MINSTD, shuffled, subset

BLOCK_SIZE: Final = 5000
"""aeon's default block size. In the dialect `seed`, aeon ignores the option, and uses this size."""


def uid(manifest: Manifest, before: str = "0") -> str:
    """Return aeon's checksum of a manifest: CRC-32C of all fields, as 8 hexadecimal digits.

    before: the checksum of the previous records, if `manifest` is a later chunk. The checksum
    ignores types, comments, the root, the contents of files, and where each field ends.
    """
    return f"{crc32c(manifest.fields.data, int(before, 16)):08x}"


def cache_name(uid: str) -> str:
    """Return the name of the folder in which aeon caches a manifest. aeon creates it in
    cache_directory.
    """
    return f"aeon_cache_{uid}"


def select_records(
    manifest: Manifest,
    *,
    subset_fraction: float = 1.0,
    shuffle_manifest: bool = False,
    random_seed: int = 0,
) -> tuple[Manifest, str]:
    """Return the records that aeon uses, in aeon's order, and aeon's checksum of these records.

    The options have aeon's names. The dialect of the manifest decides the version of aeon. `head`
    computes the checksum, then shuffles by the seed. The other versions shuffle without the seed,
    always in the same way, then compute the checksum. Raises ValueError for a fraction that is not
    above 0 and at most 1. Also raises ValueError if `head` must shuffle with seed 0, because aeon
    then shuffles at random.
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
        raise ValueError("random_seed must not be 0: aeon then takes a random seed for its shuffle")
    before = uid(manifest)
    return manifest.select(shuffled(len(manifest), MINSTD, random_seed)), before


def blocks(records: int, block_size: int = BLOCK_SIZE) -> list[range]:
    """Return the records of each block, divided as aeon does. The last block may be empty.

    All blocks but the last have the same size. This size is near `block_size`, and chosen so that
    all blocks are about equal. It is computed in single precision. Raises ValueError for a
    `block_size` below 1.
    """
    if block_size <= 0:
        raise ValueError(f"block_size must be at least 1, not {block_size}")
    total = np.float32(records)
    count = max(math.floor(float(total / np.float32(block_size)) + 0.5), 1)  # as round() in C
    size = math.ceil(total / np.float32(count))
    found = []
    for start in (size * block for block in range(count)):
        found.append(range(start, min(start + size, records)))
        if start + size > records:
            break
    return found


def node_rows(records: int, node_id: int, node_count: int, batch_size: int) -> Longs:
    """Return the indices of the records that the node `node_id` reads.

    The node reads every `node_count`-th batch, then a last, smaller batch. records: the number of
    all records. All nodes read the same number of records; records that remain are not used. Raises
    ValueError for an unknown node, and for a batch size below 1.
    """
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
