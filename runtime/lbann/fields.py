"""The arithmetic of fields: coerce, normalise, repack.

Rows are samples, columns the values of one sample in the order of the file. As LBANN does it:
conversions as C++ casts, x * scale + bias in double and rounded once to the field's type, channels
the fastest to change before they are moved to the front (data_reader_HDF5.cpp: coerce,
do_normalize; repack_HWC_to_CHW_layout.cpp).
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

from exset.runtime.lbann.transforms import Recipe

Values: TypeAlias = NDArray[Any]


def prepared(values: Values, recipe: Recipe) -> Values:
    """Return the values of some samples with everything done to them that the recipe says.

    values: shape (samples, values of one), floats where the recipe wants reals; what is coerced
    to integers must fit, or ValueError.
    """
    if recipe.coerce is not None:
        values = coerced(values, recipe.coerce)
    if recipe.scale is not None:
        values = normalised(values, recipe.scale, recipe.bias)
    if recipe.repack and recipe.channels is not None:
        values = repacked(values, recipe.channels)
    return values


def coerced(values: Values, dtype: DTypeLike) -> Values:
    """Return values in another type; reals are cut to integers.

    Reals beyond the integers of the type and NaN are a ValueError: what they become depends on the
    processor. Integers wrap round, reals beyond float32 become infinite.
    """
    wanted = np.dtype(dtype)
    if wanted.kind == "i" and values.dtype.kind == "f":
        limit = float(2 ** (8 * wanted.itemsize - 1))
        whole = np.trunc(values.astype(np.float64))
        if not np.all((whole >= -limit) & (whole < limit)):
            raise ValueError(f"a number that no {wanted} can hold")
    with np.errstate(over="ignore", invalid="ignore"):
        return values.astype(wanted)


def narrows(values: Values, dtype: DTypeLike) -> bool:
    """Tell whether some integers wrap round when they become integers of another type."""
    wanted = np.dtype(dtype)
    if wanted.kind != "i" or values.dtype.kind not in "iu" or not values.size:
        return False
    bounds = np.iinfo(wanted)
    return int(values.min()) < bounds.min or int(values.max()) > bounds.max


def normalised(values: Values, scale: tuple[float, ...], bias: tuple[float, ...]) -> Values:
    """Return x * scale + bias, computed in double; with several scales the last axis has channels.

    Values left over where the channels do not come out even stay as they are.
    """
    size = len(scale)
    even = values.shape[1] // size * size
    with np.errstate(over="ignore", invalid="ignore"):
        wide = values[:, :even].astype(np.float64).reshape(len(values), -1, size)
        wide *= np.array(scale, np.float64)
        wide += np.array(bias, np.float64)
        done = wide.reshape(len(values), -1).astype(values.dtype)
    return np.concatenate([done, values[:, even:]], axis=1) if even < values.shape[1] else done


def repacked(values: Values, channels: int) -> Values:
    """Return values with the channels first that had them last."""
    count = values.shape[1]
    apart = values.reshape(len(values), count // channels, channels)
    return np.ascontiguousarray(apart.transpose(0, 2, 1)).reshape(len(values), count)
