"""Draw batches as pictures for people: the network's input, with boxes, masks and labels."""

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from exset.grammars.aeon.config.model import LoaderConfig
from exset.grammars.aeon.config.outputs import element_outputs
from exset.grammars.aeon.config.settings import Settings
from exset.runtime.aeon.provision.decode import Pixels
from exset.runtime.aeon.provision.opencv import opencv
from exset.runtime.pictures.tiles import BACKGROUND, GAP, sheet

Array = NDArray[Any]
Batch = Mapping[str, Array]

_COLOURS: Final = ((60, 220, 60), (60, 160, 255), (255, 120, 60), (220, 60, 220), (60, 230, 230))
"""The colour of each class in boxes and masks: blue, green, red."""
_CAPTION: Final = 12
"""The height in pixels of the line of text below a picture."""
_SMALLEST: Final = 128
"""The least length in pixels of the longer side; smaller pictures are enlarged to it."""
_CORNERS: Final = 4
_INSIDE: Final = np.array([0, 0, 1, 1])
"""What to add to a box: its last column and row are inside it."""


class Sheet:
    """Draws records of batches.

    For each record, its pictures, spectrograms and first video frames are side by side, with the
    labels below. Masks and boxes are drawn into all pictures of the record.
    """

    def __init__(self, etl: Sequence[Settings], mean: Sequence[float], stddev: Sequence[float]):
        """Prepare for the etl objects of a configuration.

        mean, stddev: values of the augmentation. Their effect on pictures is undone.
        """
        self._etl = etl
        self._mean = np.array(mean, np.float64).reshape(-1, 1, 1)
        self._stddev = np.array(stddev, np.float64).reshape(-1, 1, 1)

    @classmethod
    def of(cls, config: LoaderConfig) -> "Sheet":
        """Return the object that draws the batches of a configuration."""
        given = config.augmentation[0] if config.augmentation else None
        if given is None or "mean" not in given.members:
            return cls(config.etl, (), ())
        return cls(config.etl, given.reals("mean"), given.reals("stddev"))

    def batch(self, batch: Batch, config: LoaderConfig) -> list[Pixels]:
        """Return a picture of each record of a batch. Arrays may have the records on their last
        axis.
        """
        if "batch_major" in config.settings.members and not config["batch_major"]:
            shapes = {each.name: each.shape for each in config.outputs}
            batch = {name: _rows(each.T, shapes[name]) for name, each in batch.items()}
        count = len(next(iter(batch.values()), ()))
        return [self.record(batch, row) for row in range(count)]

    def record(self, batch: Batch, row: int) -> Pixels:
        """Return the picture of a record of a batch, uint8 [height, width, 3]."""
        pictures = []
        for picture in self._pictures(batch, row):
            factor = max(1, _SMALLEST // max(picture.shape[:2]))
            large = picture.repeat(factor, axis=0).repeat(factor, axis=1)
            for mask in self._of_type(("pixelmask",), batch, row):
                if mask.size == picture.size // 3:
                    classes = mask.reshape(picture.shape[:2]).astype(np.int64)
                    _draw_mask(large, classes.repeat(factor, axis=0).repeat(factor, axis=1))
            for boxes, classes in self._boxes(batch, row, picture):
                _draw_boxes(large, (boxes + _INSIDE) * factor - _INSIDE, classes)
            pictures.append(large)
        return _with_caption(_joined(pictures), " ".join(self._labels(batch, row)))

    def _of_type(self, types: Sequence[str], batch: Batch, row: int) -> Iterator[Array]:
        """Yield the first array of each etl object that has one of `types`, for the record `row` of
        the batch.
        """
        for each in self._etl:
            if each.type in types:
                yield batch[next(element_outputs(each)).name][row]

    def _pictures(self, batch: Batch, row: int) -> Iterator[Pixels]:
        for each in self._etl:
            if each.type not in ("image", "video", "audio"):
                continue
            found = batch[next(element_outputs(each)).name][row]
            if each.type == "audio":
                yield _grey(found[0].astype(np.float64))
                continue
            image = each.objects("frame")[0] if each.type == "video" else each
            planes = found[:, 0] if each.type == "video" else found
            if each.type == "image" and not image["channel_major"]:
                planes = np.moveaxis(planes, -1, 0)
            rgb = "bgr_to_rgb" in image.members and bool(image["bgr_to_rgb"])
            yield self._bytes(planes[::-1] if rgb else planes)

    def _bytes(self, planes: Array) -> Pixels:
        """Return the channels of an output as a picture. The effect of `mean` and `stddev` is
        undone.
        """
        values = planes.astype(np.float64)
        if self._mean.size == len(values) and planes.dtype.kind == "f":
            scale = np.where(self._stddev == 0, 1, self._stddev)
            values = (values * scale + self._mean) * 255
        pixels = np.rint(np.nan_to_num(values)).clip(0, 255).astype(np.uint8)
        if len(pixels) == 1:
            pixels = pixels.repeat(3, axis=0)
        return np.ascontiguousarray(np.moveaxis(pixels, 0, -1))

    def _boxes(self, batch: Batch, row: int, picture: Pixels) -> Iterator[tuple[Array, Array]]:
        """Yield (boxes, classes) of the record `row` of a batch.

        The boxes are [n, 4], in pixels of the picture.
        """
        for each in self._etl:
            outputs = [output.name for output in element_outputs(each)]
            names = {name.rpartition(".")[2]: name for name in outputs}
            if each.type == "boundingbox":
                most = each.number("max_bbox_count")
                boxes = batch[names["boundingbox"]][row].reshape(-1)[: most * _CORNERS]
                found = boxes.reshape(-1, _CORNERS).astype(np.float64)
                found = found[found.any(axis=1)]
                yield found, np.zeros(len(found), np.int64)
            elif "gt_boxes" in names:
                count = int(batch[names["gt_box_count"]][row].reshape(-1)[0])
                found = batch[names["gt_boxes"]][row][:count].astype(np.float64)
                if each.type == "localization_ssd":
                    height, width = picture.shape[:2]
                    found = found * (width, height, width, height) - _INSIDE
                yield found, batch[names["gt_class_count"]][row].reshape(-1)[:count]

    def _labels(self, batch: Batch, row: int) -> Iterator[str]:
        for array in self._of_type(("label", "label_map"), batch, row):
            yield " ".join(map(str, array.reshape(-1).tolist()))


def as_png(pixels: Pixels) -> bytes:
    """Return a picture as a PNG file."""
    cv2 = opencv()
    return bytes(cv2.imencode(".png", pixels)[1])


def _rows(values: Array, shape: tuple[int, ...]) -> Array:
    """Return an array of records, reshaped so that each record has the shape `shape`.

    If the records have another size, as may happen in aeon, return the array unchanged.
    """
    return values.reshape(-1, *shape) if prod(shape) == values.shape[1] else values


def _grey(values: Array) -> Pixels:
    pixels = np.rint(values).clip(0, 255).astype(np.uint8)
    return np.repeat(pixels[:, :, None], 3, axis=2)


def _draw_mask(picture: Pixels, mask: Array) -> None:
    """Tint the pixels of each class except 0. The mask has the size of the picture."""
    colours = np.array(_COLOURS, np.uint16)[mask % len(_COLOURS)]
    shown = mask != 0
    picture[shown] = ((picture.astype(np.uint16) + colours) // 2)[shown]


def _draw_boxes(picture: Pixels, boxes: Array, classes: Array) -> None:
    cv2 = opencv()
    for box, code in zip(np.nan_to_num(boxes), classes.tolist(), strict=True):
        left, top, right, bottom = np.rint(box).clip(-(2**15), 2**15).astype(int).tolist()
        colour = _COLOURS[int(code) % len(_COLOURS)]
        cv2.rectangle(picture, (left, top), (right, bottom), colour, 1)


def _joined(pictures: Sequence[Pixels]) -> Pixels:
    """Return pictures side by side."""
    return sheet(pictures, columns=len(pictures)) if pictures else np.zeros((0, 1, 3), np.uint8)


def _with_caption(picture: Pixels, text: str) -> Pixels:
    """Return a picture with a line of text below it."""
    if not text:
        return picture
    cv2 = opencv()
    font, scale = cv2.FONT_HERSHEY_PLAIN, 0.8
    (width, _), _ = cv2.getTextSize(text, font, scale, 1)
    size = picture.shape[0] + _CAPTION, max(picture.shape[1], width + GAP)
    found = np.full((*size, 3), BACKGROUND, np.uint8)
    found[: picture.shape[0], : picture.shape[1]] = picture
    cv2.putText(found, text, (1, size[0] - GAP), font, scale, (255, 255, 255), 1)
    return found
