"""Write a picture into its slot, with the type, order of channels and position of the output.

A slot is the part of a batch's array for one record.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from exset.core.errors import FormatError
from exset.grammars.aeon.config.settings import Settings
from exset.runtime.aeon.provision.crop import Size
from exset.runtime.aeon.provision.decode import Pixels
from exset.runtime.aeon.provision.etl import Slot
from exset.runtime.aeon.provision.opencv import opencv

Table: TypeAlias = NDArray[Any]
"""The output value for each channel and each value of a byte, [channels, 256]."""

DTYPES: Final = {
    **{f"{name}_t": name for name in ("int8", "uint8", "int16", "uint16", "int32", "uint32")},
    "char": "int8",
    "float": "float32",
    "double": "float64",
}
"""The NumPy dtype of each C++ type of outputs."""


@dataclass(frozen=True)
class Layout:
    """How the pictures of an etl object are stored in the arrays of a batch.

    rgb: whether red comes first. keeps_aspect: whether pictures may be smaller than the slot.
    """

    size: Size
    channels: int
    channel_major: bool
    rgb: bool
    keeps_aspect: bool
    compat: bool

    @property
    def writes_bytes(self) -> bool:
        """Whether pictures are written as bytes even into slots of wider numbers, as in aeon."""
        return self.compat and self.keeps_aspect

    @classmethod
    def of(cls, settings: Settings, keeps_aspect: bool, compat: bool) -> "Layout":
        """Make the layout of the pictures of an etl object.

        keeps_aspect: whether pictures keep their aspect ratio; if so, they may be smaller than the
        output. compat: whether to copy aeon's mistakes.
        """
        return cls(
            Size(settings.number("width"), settings.number("height")),
            settings.number("channels"),
            bool(settings["channel_major"]),
            "bgr_to_rgb" in settings.members and bool(settings["bgr_to_rgb"]),
            keeps_aspect,
            compat,
        )

    def write(self, pixels: Pixels, slot: Slot, table: Table | None = None) -> None:
        """Write a picture into the upper left corner of a slot that is filled with 0.

        table: the output value for each byte of the picture. Raises FormatError for a picture that
        is too large. With `compat`, exset copies two mistakes of aeon: it writes bytes into slots
        of wider numbers, and it writes smaller pictures to the start of the slot's memory.
        """
        height, width = pixels.shape[:2]
        shape = (height, width) if self.channel_major else (height, width, self.channels)
        if self.writes_bytes and slot.dtype.itemsize > 1:
            slot = slot.reshape(-1).view(np.uint8)[: slot.size].reshape(slot.shape)
        elif self.compat and not self.keeps_aspect and (width, height) != self.size:
            count = pixels.size
            if count <= slot.size:
                packed = (self.channels, *shape) if self.channel_major else shape
                slot = slot.reshape(-1)[:count].reshape(packed)
        planes = slot if self.channel_major else np.moveaxis(slot, -1, 0)
        if height > planes.shape[1] or width > planes.shape[2]:
            message = f"the picture has {width}x{height} pixels after its changes, but the output"
            raise FormatError(f"{message} has {self.size.width}x{self.size.height}")
        if (most := _most(slot.dtype, pixels.dtype)) is not None:
            pixels = np.minimum(pixels, most)
        channels = pixels[:, :, None] if pixels.ndim == 2 else pixels
        part = planes[:, :height, :width]
        is_plain = table is None and part.dtype == pixels.dtype and part[0].flags.c_contiguous
        if is_plain and pixels.shape == (height, width, self.channels):  # OpenCV is faster
            opencv().split(pixels, [*part[::-1]] if self.rgb else [*part])
            return
        for number in range(self.channels):
            channel = self.channels - 1 - number if self.rgb else number
            values = channels[:, :, channel]
            part[number] = values if table is None else table[number][values]


@cache
def _most(stored: np.dtype[Any], read: np.dtype[Any]) -> int | None:
    """Return the highest integer that the dtype `stored` can hold.

    Return None if `stored` can hold all values of the dtype `read`.
    """
    if stored.kind not in "iu" or np.iinfo(read).max <= np.iinfo(stored).max:
        return None
    return int(np.iinfo(stored).max)


def standardized(means: Sequence[float], deviations: Sequence[float], dtype: str) -> Table:
    """Return a table with the output value for each channel and each byte, by `mean` and `stddev`.

    aeon rounds each step of the formula to `dtype`.
    """
    values = _rounded(np.arange(256) * (1 / 255), dtype)
    rows = []
    for mean, deviation in zip(_rounded(np.array(means), dtype), deviations, strict=True):
        row = _rounded(values - mean, dtype)
        rows.append(_rounded(row * (1 / deviation), dtype) if deviation else row)
    return np.stack(rows).astype(dtype)


def _rounded(values: NDArray[np.floating], dtype: str) -> NDArray[np.float64]:
    """Round binary64 numbers to values that a dtype can hold."""
    rounded = np.rint(values).clip(0, 255) if dtype == "uint8" else values
    return rounded.astype(dtype).astype(np.float64)
