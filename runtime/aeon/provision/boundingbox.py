"""The etl type `boundingbox`: the boxes of a picture."""

from collections.abc import Sequence

import numpy as np

from exset.core.errors import FormatError
from exset.grammars.aeon.config.settings import Settings
from exset.runtime.aeon.provision.augment import Augmentation
from exset.runtime.aeon.provision.boxes import transformed
from exset.runtime.aeon.provision.crop import Size
from exset.runtime.aeon.provision.etl import Context, Etl, Slot
from exset.runtime.aeon.provision.objects import class_indices, read_objects
from exset.runtime.aeon.provision.record import Record


class BoundingBox(Etl):
    """Provides boxes, in pixels of the output."""

    def __init__(self, settings: Settings, number: int, context: Context) -> None:
        super().__init__(settings, number, context)
        self._augmentation = Augmentation.of(context.augmentation("image"), context.compat)
        self._classes = class_indices(settings)
        self._size = Size(settings.number("width"), settings.number("height"))
        if context.compat and self._augmentation.angle != (0, 0):
            message, hint = (
                "aeon crashes on boxes of rotated pictures",
                "leave out angle",
            )
            raise FormatError(message, hint=hint, code="aeon-loader")

    def provide(self, element: bytes, record: Record, slots: Sequence[Slot]) -> None:
        """Write the boxes of the annotation `element` into the slot, until the slot is full.

        Boxes that are not in the changed picture are left out.
        """
        objects = read_objects(element, self._classes, self.context.limits)
        drawn = record.parameters(self._augmentation, objects.size, self._size)
        boxes, _ = transformed(objects.boxes, drawn, self._augmentation)
        [slot] = slots
        boxes = boxes[: len(slot)]
        if self.context.compat:  # aeon writes binary32, packed, into any type
            slot.reshape(-1).view(np.uint8)[: boxes.nbytes] = boxes.reshape(-1).view(np.uint8)
        elif slot.dtype.kind == "f":
            slot[: len(boxes)] = boxes
        else:
            limits = np.iinfo(slot.dtype)
            slot[: len(boxes)] = np.rint(boxes.astype(np.float64)).clip(limits.min, limits.max)
