"""Apply the transforms of fields: coerce, normalise, repack.

Each row is a sample, with its values in file order. The arithmetic is as in LBANN. Conversions are
C++ casts. x * scale + bias is computed in double and rounded once to the type of the field. Repack
moves channels from the last axis to the first. (data_reader_HDF5.cpp: coerce, do_normalize;
repack_HWC_to_CHW_layout.cpp)
"""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

from exset.runtime.lbann.transforms import FieldTransform

Values: TypeAlias = NDArray[Any]


def apply_transform(values: Values, transform: FieldTransform) -> Values:
    """Return the values of samples after all steps of a transform.

    values: shape (samples, values of a sample). They must be floats if the transform needs floats.
    Raises ValueError for floats that do not fit the integer type.
    """
    if transform.coerce is not None:
        values = coerce(values, transform.coerce)
    if transform.scale is not None:
        values = normalise(values, transform.scale, transform.bias)
    if transform.repack and transform.channels is not None:
        values = repack(values, transform.channels)
    return values


def coerce(values: Values, dtype: DTypeLike) -> Values:
    """Return values in another type. Floats are truncated to integers.

    Integers wrap around, and floats beyond float32 become infinite. Raises ValueError for NaN and
    floats beyond the integer type, because their conversion depends on the processor.
    """
    target = np.dtype(dtype)
    if target.kind == "i" and values.dtype.kind == "f":
        limit = float(2 ** (8 * target.itemsize - 1))
        whole = np.trunc(values.astype(np.float64))
        if not np.all((whole >= -limit) & (whole < limit)):
            raise ValueError(f"a value is outside the range of {target}")
    with np.errstate(over="ignore", invalid="ignore"):
        return values.astype(target)


def wraps_around(values: Values, dtype: DTypeLike) -> bool:
    """Return whether `dtype` is an integer type and at least one of the integers `values` is out of
    its range.

    Such an integer would wrap around.
    """
    target = np.dtype(dtype)
    if target.kind != "i" or values.dtype.kind not in "iu" or not values.size:
        return False
    bounds = np.iinfo(target)
    return int(values.min()) < bounds.min or int(values.max()) > bounds.max


def normalise(values: Values, scale: tuple[float, ...], bias: tuple[float, ...]) -> Values:
    """Return x * scale + bias for all values x, computed in double.

    scale, bias: one number, or one for each channel. Channels are the last axis. If the number of
    values is not a multiple of the number of channels, the remaining values stay unchanged.
    """
    size = len(scale)
    even = values.shape[1] // size * size
    with np.errstate(over="ignore", invalid="ignore"):
        wide = values[:, :even].astype(np.float64).reshape(len(values), -1, size)
        wide *= np.array(scale, np.float64)
        wide += np.array(bias, np.float64)
        done = wide.reshape(len(values), -1).astype(values.dtype)
    return np.concatenate([done, values[:, even:]], axis=1) if even < values.shape[1] else done


def repack(values: Values, channels: int) -> Values:
    """Return values with channels first instead of last."""
    count = values.shape[1]
    channels_last = values.reshape(len(values), count // channels, channels)
    return np.ascontiguousarray(channels_last.transpose(0, 2, 1)).reshape(len(values), count)
