"""Convert the values of a table's column to the fields of a manifest."""

from base64 import b64encode
from typing import Final

import numpy as np
from numpy.typing import NDArray

from exset.grammars.aeon.manifest_types import ElementType
from exset.grammars.columns.arrays import QUIET_NAN, Floats, as_singles
from exset.grammars.columns.strings import Strings
from exset.grammars.tables.columns import Numbers
from exset.parsers.shared.numerals import reals

_WORDS: Final = {b"-": b"nan", b"1e999": b"inf", b"-1e999": b"-inf"}
_PAYLOAD: Final = (1 << 22) - 1
_NORMAL: Final = float(np.finfo(np.float32).tiny)
"""The smallest binary32 number that is not denormal."""


def as_text(column: Numbers | Strings, kind: ElementType) -> Strings:
    """Return the manifest's field for each value of a column.

    Numbers are written in decimal, text as it is, and bytes of BINARY in base64. A float becomes
    the shortest decimal that reads back as the same float. aeon rejects decimals of denormal
    numbers, so exset writes such numbers in hexadecimal, which is exact. NaN keeps its payload. A
    row without a value has no field.
    """
    if isinstance(column, Strings):
        raw = Strings.unchecked(**vars(column))  # fields are bytes, also those of text
        return _base64(raw) if kind is ElementType.BINARY else raw
    values = column.values
    if kind is ElementType.ASCII_INT or values.dtype.kind != "f":
        texts = [b"%d" % number for number in values.astype(np.int64).tolist()]
    elif values.dtype.itemsize <= np.dtype(np.float32).itemsize:
        texts = _floats(as_singles(values))
    else:
        texts = _doubles(values)
    present = column.present.tolist()
    return Strings.of(text if has else None for text, has in zip(texts, present, strict=True))


def _floats(values: Floats) -> list[bytes]:
    texts = [_WORDS.get(text, text) for text in reals(values)]
    for row in np.flatnonzero(_is_denormal(values)).tolist():
        texts[row] = float(values[row]).hex().encode()
    patterns = values.view(np.uint32)
    for row in np.flatnonzero(np.isnan(values) & (patterns != QUIET_NAN)).tolist():
        pattern = int(patterns[row])
        sign, payload = b"-" * (pattern >> 31), pattern & _PAYLOAD
        texts[row] = sign + (b"nan(0x%x)" % payload if payload else b"nan")
    return texts


def _doubles(values: NDArray[np.float64]) -> list[bytes]:
    """Return the texts of binary64 numbers, with all digits.

    aeon rounds such a text to binary32.
    """
    texts = [repr(number).removesuffix(".0").encode() for number in values.tolist()]
    rounded = as_singles(values)
    for row in np.flatnonzero(_is_denormal(values) | _is_denormal(rounded)).tolist():
        texts[row] = float(rounded[row]).hex().encode()
    return texts


def _is_denormal(values: NDArray[np.float32] | NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return for each number whether it is denormal in binary32, perhaps only after rounding."""
    is_small: NDArray[np.bool_] = (np.abs(values) <= _NORMAL) & (values != 0)
    return is_small


def _base64(column: Strings) -> Strings:
    return Strings.of(None if each is None else b64encode(each) for each in column)
