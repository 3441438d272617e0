"""Move and cut the boxes of objects when their picture is changed. All reals are binary32."""

import math
from typing import Final, SupportsFloat

import numpy as np
from numpy.typing import NDArray

from exset.runtime.aeon.provision import crop
from exset.runtime.aeon.provision.augment import Augmentation, Parameters
from exset.runtime.aeon.provision.crop import Box, Size
from exset.runtime.aeon.provision.objects import Boxes

Chosen = NDArray[np.bool_]
"""Whether each box is still in the changed picture, bool [boxes]."""

_ONE: Final = np.float32(1)


def transformed(
    boxes: Boxes, drawn: Parameters, settings: Augmentation, *, scale: np.float32 | None = None
) -> tuple[Boxes, Chosen]:
    """Change boxes in the same way as their picture, and drop boxes that are outside the result.

    Return the changed boxes, and which of `boxes` they are. scale: the factor for both axes in aeon
    of April 2017; by default the output's size divided by the size of the crop box. Boxes follow
    every change of the picture. With `compat`, as in aeon, they do not follow the rotation of the
    picture, the resize of its shorter side, and its padding.
    """
    if not settings.compat:
        boxes = _follow(boxes, drawn)
    elif drawn.expansion is not None:
        boxes = boxes + corners(drawn.expansion.x, drawn.expansion.y)
    frame = drawn.crop if settings.compat else drawn.window
    chosen = _touching(boxes, frame, settings.is_seed)
    boxes = _clipped(boxes[chosen], frame, settings.is_seed)
    if drawn.flip:
        flipped = boxes.copy()
        flipped[:, 0] = frame.width - boxes[:, 2] - _ONE
        flipped[:, 2] = frame.width - boxes[:, 0] - _ONE
        boxes = flipped
    factors = _factors(drawn, frame) if scale is None else corners(scale, scale)
    if settings.is_seed:
        return boxes * factors, chosen
    boxes[:, 2:] += _ONE
    boxes *= factors
    boxes[:, 2:] -= _ONE
    return boxes, chosen


def emitted(boxes: Boxes, drawn: Parameters, constraint: str, least: float) -> Chosen:
    """Return for each box whether it meets a constraint: "center", "min_overlap" or "none".

    least: for "min_overlap", the smallest share of a box's area that must be in the crop box.
    """
    frame = drawn.crop
    if drawn.expansion is not None:
        boxes = boxes + corners(drawn.expansion.x, drawn.expansion.y)
    corner, size = np.array(frame[:2], np.float32), np.array(frame[2:], np.float32)
    low, high = boxes[:, :2] - corner, boxes[:, 2:] - corner
    if constraint.lower() == "center":
        centre = (low + high) / 2
        return _all((centre >= 0) & (centre <= size - _ONE))
    if constraint.lower() == "min_overlap":
        covered = (np.minimum(high + _ONE, size) - np.maximum(low, 0)).clip(min=0).prod(axis=1)
        area = (high + _ONE - low).prod(axis=1)
        enough: Chosen = covered >= np.float32(least) * area
        return enough
    return np.ones(len(boxes), np.bool_)


def _follow(boxes: Boxes, drawn: Parameters) -> Boxes:
    """Change boxes as their picture is changed before it is cropped."""
    if drawn.angle:
        boxes = _rotated(boxes, drawn.source, drawn.angle)
    size = drawn.source
    if drawn.expansion is not None:
        boxes, size = boxes + corners(drawn.expansion.x, drawn.expansion.y), drawn.expansion.size
    if drawn.short:
        after = crop.short_sized(size, drawn.short)
        factors = corners(after.width / size.width, after.height / size.height)
        last = np.array([0, 0, 1, 1], np.float32)
        boxes = (boxes + last) * factors - last
    return boxes


def _rotated(boxes: Boxes, size: Size, degrees: int) -> Boxes:
    """Rotate boxes with their picture. Return the smallest upright boxes around the rotated boxes.

    size: of the picture. Boxes are cut at the picture's edges, except boxes that are outside the
    picture.
    """
    angle = math.radians(degrees)
    middle = np.array([size.width // 2, size.height // 2], np.float32)
    edges = boxes[:, [[0, 1], [2, 1], [2, 3], [0, 3]]] - middle
    turn = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    turned = edges @ turn.astype(np.float32) + middle
    last = np.array([size.width - 1, size.height - 1], np.float32)
    found = np.concatenate([turned.min(axis=1), turned.max(axis=1)], axis=1)
    # A box that is outside stays there, and is dropped later.
    inside = _all(np.greater_equal(found[:, 2:], 0) & np.less_equal(found[:, :2], last))
    found[inside] = found[inside].clip(0, np.tile(last, 2))
    return found


def _touching(boxes: Boxes, frame: Box, is_seed: bool) -> Chosen:
    x, y, width, height = frame
    low = np.array([x, y])
    is_after = np.greater(boxes[:, 2:], low) if is_seed else np.greater_equal(boxes[:, 2:], low)
    return _all(is_after & np.less(boxes[:, :2], np.array([x + width, y + height])))


def _all(values: NDArray[np.bool_]) -> Chosen:
    chosen: Chosen = np.logical_and(values[:, 0], values[:, 1])
    return chosen


def _clipped(boxes: Boxes, frame: Box, is_seed: bool) -> Boxes:
    """Return boxes with coordinates relative to `frame`, cut at the edges of `frame`.

    With `is_seed`, their right and lower edges may be one pixel outside `frame`.
    """
    last = 0 if is_seed else 1
    highest = corners(frame.width - last, frame.height - last)
    clipped: Boxes = (boxes - corners(frame.x, frame.y)).clip(np.float32(0), highest)
    return clipped


def _factors(drawn: Parameters, frame: Box) -> NDArray[np.float32]:
    width, height = np.float32(drawn.output.width), np.float32(drawn.output.height)
    return corners(width / np.float32(frame.width), height / np.float32(frame.height))


def corners(x: SupportsFloat, y: SupportsFloat) -> NDArray[np.float32]:
    """Return the array [x, y, x, y], which can be added to boxes, or multiplied with them."""
    return np.array([float(x), float(y), float(x), float(y)], np.float32)
