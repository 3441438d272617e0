"""Write numbers as the shortest decimals that read back exactly, binary32 or binary64."""

from collections.abc import Mapping
from itertools import pairwise
from types import MappingProxyType
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from exset.grammars.columns.arrays import Longs
from exset.grammars.siblings.sparse import Sparse

BEYOND: Final = MappingProxyType({"inf": b"1e39", "-inf": b"-1e39"})
"""Texts for infinity that programs read as infinite binary32 numbers."""
_NO_WORDS: Final[Mapping[str, bytes]] = MappingProxyType({})


def decimals(values: NDArray[Any], words: Mapping[str, bytes] = _NO_WORDS) -> list[bytes]:
    """Return each number in `values` as text; whole numbers have no point.

    words: what to write instead of the texts `nan`, `inf` and `-inf`.
    """
    flat = np.ascontiguousarray(values).reshape(-1)
    if flat.dtype.kind != "f":
        return [b"%d" % number for number in flat.tolist()]
    # Equal bits, not equal numbers: -0 is not 0.
    distinct, codes = np.unique(flat.view(f"u{flat.dtype.itemsize}"), return_inverse=True)
    texts = [_text(text, words) for text in distinct.view(flat.dtype).astype("U").tolist()]
    return [texts[code] for code in codes.tolist()]


def joined(texts: list[bytes], offsets: Longs, between: bytes = b" ") -> list[bytes]:
    """Join the texts of each row, with `between` between them.

    Row i has texts[offsets[i]:offsets[i + 1]].
    """
    return [between.join(texts[begin:end]) for begin, end in pairwise(offsets.tolist())]


def decimal_rows(values: NDArray[Any], words: Mapping[str, bytes] = _NO_WORDS) -> list[bytes]:
    """Return each row of an array [rows, numbers] as one text; words: as in `decimals`."""
    return joined(decimals(values, words), np.arange(len(values) + 1) * values.shape[1])


def sparse_rows(sparse: Sparse, first: int, words: Mapping[str, bytes] = _NO_WORDS) -> list[bytes]:
    """Return each row as text: pairs `index:value`, with a blank before each.

    first: the index that is written for the first unit. words: as in `decimals`.
    """
    numbers = zip((sparse.index + first).tolist(), decimals(sparse.values, words), strict=True)
    return joined([b" %d:%b" % pair for pair in numbers], sparse.offsets, b"")


def _text(text: str, words: Mapping[str, bytes]) -> bytes:
    """Return the text that exset writes for a number.

    text: the number as NumPy writes it. words: as in `decimals`.

    Equal numbers of 32 and of 64 bits have the same text.
    """
    return words.get(text, repr(float(text)).removesuffix(".0").encode())
