"""Change the colours of pictures: brightness, saturation, hue, contrast, lighting."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from exset.core.errors import FormatError
from exset.runtime.aeon.provision.augment import Augmentation, Parameters
from exset.runtime.aeon.provision.decode import Pixels
from exset.runtime.aeon.provision.opencv import opencv

_LEVELS: Final = np.arange(256)
_GREY: Final = np.array([0.0820, 0.6094, 0.3086], np.float32)
_COMPONENTS: Final = np.array(
    [
        [0.39731118, 0.70119634, -0.59200296],
        [-0.81698062, -0.02354167, -0.5761844],
        [0.41795513, -0.71257945, -0.56351045],
    ],
    np.float32,
)
"""The principal components of the colours in the pictures of ImageNet."""
_DEVIATIONS: Final = np.array([19.72083305, 37.09388853, 121.78006099], np.float32)
_HUES: Final = 180


def recoloured(pixels: Pixels, drawn: Parameters, settings: Augmentation) -> Pixels:
    """Return a picture after the changes of its colours.

    Raises FormatError if the hue, the saturation or the brightness of a grey picture changes.
    """
    if drawn.brightness != 1 or drawn.saturation != 1:
        pixels = _transformed(_coloured(pixels), drawn.brightness, drawn.saturation)
    if drawn.hue:
        pixels = _coloured(pixels)
        if not (settings.compat and settings.is_seed):  # where aeon forgot it
            pixels = _turned(pixels, drawn.hue, settings.compat)
    if drawn.contrast != 1:
        pixels = _contrasted(pixels, drawn.contrast)
    if drawn.lighting:
        pixels = _lit(pixels, drawn.lighting, settings)
    return pixels


def _coloured(pixels: Pixels) -> Pixels:
    if pixels.ndim == 2:
        message = "brightness, saturation and hue need 3 channels, but the picture has 1"
        raise FormatError(message)
    return pixels


def _transformed(pixels: Pixels, brightness: np.float32, saturation: np.float32) -> Pixels:
    """Change brightness and saturation by a matrix. OpenCV computes this in steps of 1/1024."""
    one = np.float32(1)
    greyed = np.ones((3, 1), np.float32) * ((one - saturation) * _GREY)
    matrix = brightness * (saturation * np.eye(3, dtype=np.float32) + greyed)
    found: Pixels = opencv().transform(pixels, matrix)
    return found


def _turned(pixels: Pixels, hue: int, compat: bool) -> Pixels:
    """Change the hue of all pixels by `hue`, in units of 2 degrees.

    With `compat`, a hue below 0 wraps around as a byte does, as in aeon.
    """
    cv2 = opencv()
    hsv = cv2.cvtColor(pixels, cv2.COLOR_BGR2HSV)
    sums = _LEVELS + hue
    table = np.fmod(sums, _HUES) if compat else sums % _HUES
    hsv[:, :, 0] = cv2.LUT(hsv[:, :, 0], table.astype(np.uint8))
    found: Pixels = cv2.cvtColor(hsv, cv2.COLOR_HSV2BGR)
    return found


def _contrasted(pixels: Pixels, contrast: np.float32) -> Pixels:
    """Return a picture in which each value's distance from the mean of its channel is multiplied by
    `contrast`.
    """
    cv2 = opencv()
    channels = pixels.shape[2] if pixels.ndim == 3 else 1
    means = np.array(cv2.mean(pixels)[:channels])
    scaled = (contrast * _LEVELS.astype(np.float32)).astype(np.float64)
    tables = scaled[:, None] + (1 - float(contrast)) * means
    return _looked_up(pixels, tables)


def _lit(pixels: Pixels, lighting: tuple[np.float32, ...], settings: Augmentation) -> Pixels:
    """Return a picture after its lighting: random amounts of the principal components of colours
    are added, and the picture becomes darker.

    lighting: the drawn amount of each component. With `compat`, the standard deviation of the first
    component is used for all components, as in aeon.
    """
    deviations = _DEVIATIONS[:1] if settings.compat else _DEVIATIONS
    shift = _COMPONENTS @ (deviations * np.array(lighting, np.float32))
    channels = pixels.shape[2] if pixels.ndim == 3 else 1
    factor = 1 / float(np.float32(1) + np.float32(settings.lighting[1]))
    darker = np.rint(_LEVELS.astype(np.float32) * np.float32(factor)).clip(0, 255)
    return _looked_up(pixels, darker[:, None] + shift[:channels].astype(np.float64) * factor)


def _looked_up(pixels: Pixels, tables: NDArray[np.float64]) -> Pixels:
    """Replace each value by its entry in the tables, rounded to a byte. tables: [256, channels]."""
    table = np.rint(tables).clip(0, 255).astype(np.uint8)
    if pixels.ndim == 2:
        table = table[:, 0]
    found: Pixels = opencv().LUT(pixels, table.reshape(1, 256, -1) if pixels.ndim == 3 else table)
    return found
