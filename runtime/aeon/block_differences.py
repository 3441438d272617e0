"""In what two blocks of a cache, or archives, differ: in what they hold, not in its times."""

from __future__ import annotations

import numpy as np

from exset.grammars.aeon.block import Block
from exset.grammars.columns.blobs import Blobs
from exset.runtime.reports.differences import Comparer, Differences

_SHOWN = 16


def differences(one: Block, other: Block, tolerance: float, keep: int, /) -> Differences:
    """Compare elements; their names, too, if both are archives of files. See `exset.diff`."""
    a, b = one.elements, other.elements
    found = Comparer("elements", len(a), len(b), tolerance, keep)
    elements = found.units
    if len(one) != len(other) and one.header is not None and other.header is not None:
        found.differ("records", len(one), len(other))
    if one.header is None and other.header is None:
        found.strings(elements, "name", a.name, b.name)
        found.numbers(elements, "mode", a.mode, b.mode)
    pairs = zip(a.data, b.data, strict=False)
    mask = np.fromiter((x != y for x, y in pairs), np.bool_, elements.one.size)
    found.at(
        elements, mask, ".data", lambda row: _shown(a.data, row), lambda row: _shown(b.data, row)
    )
    return found.done()


def _shown(data: Blobs, row: int) -> str:
    blob = data[row]
    more = "..." if len(blob) > _SHOWN else ""
    return f"{len(blob):,} bytes {bytes(blob[:_SHOWN]).hex()}{more}"
