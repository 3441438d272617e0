"""Read the objects of an annotation as columns: boxes, classes and flags."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from exset.core.errors import FormatError
from exset.core.limits import Limits
from exset.core.source import Source
from exset.core.text import safe
from exset.grammars.aeon.config.settings import Settings
from exset.runtime.aeon import annotations
from exset.runtime.aeon.provision.crop import Size

Boxes = NDArray[np.float32]
"""Boxes, float32 [boxes, 4]: xmin, ymin, xmax, ymax. A box includes the pixels at its edges."""


@dataclass(frozen=True)
class Objects:
    """The objects of a picture.

    size: the size of the picture. boxes: float32 [objects, 4]. classes: int32 [objects], indices in
    class_names. difficult: int32 [objects], 0 or 1.
    """

    size: Size
    boxes: Boxes
    classes: NDArray[np.int32]
    difficult: NDArray[np.int32]


def class_indices(settings: Settings) -> dict[str, int]:
    """Return the index of each class of an etl object.

    A name that is repeated has its last index.
    """
    names = settings["class_names"]
    return {str(name): i for i, name in enumerate(names)} if isinstance(names, tuple) else {}


def read_objects(element: bytes, classes: Mapping[str, int], limits: Limits) -> Objects:
    """Read an annotation.

    Raises FormatError if a member that aeon needs is missing, and LimitError.
    """
    tree = annotations.read(Source("annotation", element), limits)
    if (why := annotations.problem(tree)) is not None or not isinstance(tree, dict):
        raise FormatError(f"aeon cannot use the annotation: {why}")
    boxes, (width, height) = list(annotations.boxes(tree)), annotations.size(tree)
    for each in boxes:
        if each.name not in classes:
            hint = "class_names has the names of all classes"
            raise FormatError(f"the class {safe(each.name)!r} is unknown", hint=hint)
    edges = np.array([each[1:] for each in boxes], np.float64).reshape(-1, 4)
    return Objects(
        Size(int(width), int(height)),
        edges.astype(np.float32),
        np.array([classes[each.name] for each in boxes], np.int32),
        np.array([each.get("difficult", False) for each in tree["object"]], np.int32),
    )
