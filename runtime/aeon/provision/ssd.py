"""The etl type `localization_ssd`: the boxes of a picture, in coordinates from 0 to 1."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from exset.core.errors import FormatError
from exset.grammars.aeon.config.settings import Settings
from exset.runtime.aeon.provision.augment import Augmentation
from exset.runtime.aeon.provision.boxes import corners, emitted, transformed
from exset.runtime.aeon.provision.crop import Size
from exset.runtime.aeon.provision.etl import Context, Etl, Slot
from exset.runtime.aeon.provision.objects import Boxes, Objects, class_indices, read_objects
from exset.runtime.aeon.provision.patches import ObjectAugmentation
from exset.runtime.aeon.provision.record import Record

_NAMES: Final = ("image_shape", "gt_boxes", "gt_box_count", "gt_class_count", "difficult_flag")


class LocalizationSsd(Etl):
    """Provides boxes for a single-shot detector.

    If it is a record's first etl object that has pictures or boxes, it also draws the patches of
    the record's picture.
    """

    def __init__(self, settings: Settings, number: int, context: Context) -> None:
        super().__init__(settings, number, context)
        members = context.augmentation("image")
        self._augmentation = Augmentation.of(members, context.compat)
        self._objects = ObjectAugmentation.of(members, self._augmentation)
        self._constraint = str(members["emit_constraint_type"])
        self._least = members.real("emit_constraint_min_overlap")
        self._classes = class_indices(settings)
        if not self._classes:
            message, hint = f"etl[{number}].class_names is empty", "list the names of all classes"
            raise FormatError(message, hint=hint, code="aeon-loader")
        self._size = Size(settings.number("width"), settings.number("height"))

    def provide(self, element: bytes, record: Record, slots: Sequence[Slot]) -> None:
        """Write the boxes of the annotation `element`, with their classes and flags, into the
        slots.

        Boxes that are no longer in the changed picture are left out.
        """
        objects = read_objects(element, self._classes, self.context.limits)
        if record.picture is None:
            draws = record.draws("picture")
            record.picture = self._objects.drawn(draws, objects, self._size)
        drawn = record.parameters(self._augmentation, objects.size, self._size)
        kept = emitted(objects.boxes, drawn, self._constraint, self._least)
        boxes, chosen = transformed(objects.boxes[kept], drawn, self._augmentation)
        boxes[:, 2:] += np.float32(1)
        boxes /= corners(*self._size)
        rows = np.flatnonzero(kept)[chosen]
        write_objects(dict(zip(_NAMES, slots, strict=True)), self._size, boxes, objects, rows)


def write_objects(
    slots: dict[str, Slot], output: Size, boxes: Boxes, objects: Objects, rows: Any
) -> None:
    """Write the boxes of a picture into `slots`, with their number, their classes and their flags.

    output: the size of the picture. rows: for each box, the index of its object in `objects`.
    """
    count = min(len(boxes), len(slots["gt_boxes"]))
    slots["image_shape"][:, 0] = output
    slots["gt_boxes"][:count] = boxes[:count]
    slots["gt_box_count"][:] = count
    slots["gt_class_count"][:count, 0] = objects.classes[rows[:count]]
    slots["difficult_flag"][:count, 0] = objects.difficult[rows[:count]]
