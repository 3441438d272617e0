"""The etl types `localization` and `localization_rcnn`: training targets for anchors."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from exset.grammars.aeon.config.settings import Settings
from exset.runtime.aeon.provision import crop
from exset.runtime.aeon.provision.anchors import Anchors
from exset.runtime.aeon.provision.augment import Augmentation, Parameters
from exset.runtime.aeon.provision.boxes import transformed
from exset.runtime.aeon.provision.crop import Single, Size
from exset.runtime.aeon.provision.draws import Draws
from exset.runtime.aeon.provision.etl import Context, Etl, Slot
from exset.runtime.aeon.provision.objects import Boxes, class_indices, read_objects
from exset.runtime.aeon.provision.record import Record
from exset.runtime.aeon.provision.ssd import write_objects

Labels = NDArray[np.int64]
"""The label of each anchor: 1 for an object, 0 for background, -1 for neither."""

_ONE = np.float32(1)


class LocalizationRcnn(Etl):
    """Provides the boxes of objects, and for each anchor whether it has an object and the offset of
    the object's box.
    """

    def __init__(self, settings: Settings, number: int, context: Context) -> None:
        super().__init__(settings, number, context)
        self._augmentation = Augmentation.of(context.augmentation("image"), context.compat)
        self._classes = class_indices(settings)
        self._size = Size(settings.number("width"), settings.number("height"))
        self._names = tuple(each.name.rpartition(".")[2] for each in self.outputs)

    @cached_property
    def _anchors(self) -> Anchors:
        return Anchors(self.settings)

    def provide(self, element: bytes, record: Record, slots: Sequence[Slot]) -> None:
        """Write the ten arrays that the network needs into the slots.

        element: the annotation with the objects.
        """
        objects = read_objects(element, self._classes, self.context.limits)
        compat = self.context.compat
        # aeon forgets to set the size of the picture.
        source = Size(0, 0) if compat and record.picture is None else objects.size
        with np.errstate(divide="ignore", invalid="ignore"):
            drawn = record.parameters(self._augmentation, source, self._size)
            scale, output = self._scaled(drawn)
            factor = scale if self.context.is_seed else None
            boxes, chosen = transformed(objects.boxes, drawn, self._augmentation, scale=factor)
        inside = self._anchors.inside(output)
        labels, nearest = self._labels(inside.boxes, boxes)
        sampled = self._sampled(labels, record.draws(f"anchors.{self.number}"))
        named = dict(zip(self._names, slots, strict=True))
        write_objects(named, output, boxes, objects, np.flatnonzero(chosen))
        named["image_scale"][:] = scale
        is_object = labels[sampled] == 1
        self._write_labels(named, inside.indices[sampled], is_object)
        if len(boxes):
            targets = named["bbtargets"].reshape(4, -1)
            found = _targets(inside.boxes[sampled], boxes[nearest[sampled]])
            targets[:, inside.indices[sampled]] = found

    def _scaled(self, drawn: Parameters) -> tuple[Single, Size]:
        """Return the factor by which a picture's crop box is scaled, and the size of the scaled
        box.
        """
        factor = Single(self._augmentation.fixed_scaling_factor)
        if factor <= 0:
            factor = crop.fitting_scale(crop.extent_of(drawn.crop.size), self._size)
        return factor, crop.scaled(drawn.crop.size, factor)

    def _labels(self, anchors: Boxes, boxes: Boxes) -> tuple[Labels, NDArray[np.int64]]:
        """Return two arrays: the label of each anchor, and the index of the box that overlaps each
        anchor most.
        """
        labels = np.full(len(anchors), -1)
        if not len(boxes) or not len(anchors):
            return labels, np.zeros(len(anchors), np.int64)
        overlaps = _overlaps(anchors, boxes)
        nearest = overlaps.argmax(axis=1)
        best, best_of_box = overlaps.max(axis=1), overlaps.max(axis=0)
        labels[best < Single(self.settings.real("negative_overlap"))] = 0
        equal = overlaps == best_of_box
        if not self.context.compat:
            equal &= best_of_box > 0  # else a box that overlaps nothing makes every anchor its own
        labels[equal.any(axis=1)] = 1
        labels[best >= Single(self.settings.real("positive_overlap"))] = 1
        return labels, nearest

    def _sampled(self, labels: Labels, draws: Draws) -> NDArray[np.int64]:
        """Return the indices of the anchors that are used for training, chosen at random."""
        most = self.settings.number("rois_per_image")
        fraction = Single(self.settings.real("foreground_fraction"))
        objects, background = np.flatnonzero(labels >= 1), np.flatnonzero(labels == 0)
        draws.shuffle(objects)
        draws.shuffle(background)
        objects = objects[: int(fraction * Single(most))]
        return np.concatenate([objects, background[: most - len(objects)]])

    def _write_labels(
        self, slots: dict[str, Slot], sampled: NDArray[np.int64], is_object: NDArray[np.bool_]
    ) -> None:
        """Write the labels of anchors into their slots.

        sampled: the indices of the anchors used for training. is_object: for each of these
        anchors, whether it has an object.
        """
        flat = slots["labels_flat"].reshape(2, -1)
        flat[0] = 1
        objects = sampled[is_object]
        flat[0, objects], flat[1, objects] = 0, 1
        slots["labels_mask"].reshape(2, -1)[:, sampled] = 1
        slots["bbtargets_mask"].reshape(4, -1)[:, objects] = 1


def _overlaps(anchors: Boxes, boxes: Boxes) -> NDArray[np.float32]:
    """Return the intersection over union of each anchor with each box, [anchors, boxes]."""
    low = np.maximum(anchors[:, None, :2], boxes[None, :, :2])
    high = np.minimum(anchors[:, None, 2:], boxes[None, :, 2:])
    common = (high - low + _ONE).clip(min=0).prod(axis=2)
    areas = [(each[:, 2:] - each[:, :2] + _ONE).prod(axis=1) for each in (anchors, boxes)]
    with np.errstate(divide="ignore", invalid="ignore"):  # boxes may be empty
        overlaps: NDArray[np.float32] = common / (areas[0][:, None] + areas[1] - common)
    return overlaps


def _targets(anchors: Boxes, boxes: Boxes) -> NDArray[np.float32]:
    """Return the offset of each box from the anchor in the same row: [4, anchors] of dx, dy, dw,
    dh.
    """
    half = np.float32(0.5)
    size, goal = (each[:, 2:] - each[:, :2] + _ONE for each in (anchors, boxes))
    centre, aim = anchors[:, :2] + half * size, boxes[:, :2] + half * goal
    # The binary32 of a binary64 logarithm is that of C's logf; numpy.log's can differ.
    with np.errstate(divide="ignore", invalid="ignore"):
        logarithms = np.log((goal / size).astype(np.float64)).astype(np.float32)
    targets: NDArray[np.float32] = np.concatenate([(aim - centre) / size, logarithms], axis=1).T
    return targets
