"""Check the annotations of a column: their members, their classes, and that boxes are in the
picture.
"""

from exset.core.errors import FormatError
from exset.core.source import Source
from exset.core.text import counted, safe
from exset.runtime.aeon import annotations
from exset.runtime.aeon.annotations import Box
from exset.runtime.aeon.config_classes import check_classes
from exset.runtime.aeon.config_column import Column


def check_boxes(column: Column) -> None:
    """Add a finding for each annotation that aeon cannot use, that has an empty box, or that has a
    box outside the picture.

    Raises LimitError.
    """
    used: dict[str, list[int]] = {}
    for record, name, data in column.contents():
        if not data:
            continue
        try:
            annotation = annotations.read(Source(name, data), column.options.limits)
        except FormatError as error:
            column.findings.add(error.finding)
            column.failed.add(record)
            continue
        if why := annotations.problem(annotation):
            column.report("aeon-element", record, why=why)
            continue
        assert isinstance(annotation, dict)
        size, boxes = annotations.size(annotation), list(annotations.boxes(annotation))
        column.picture_sizes[record] = (size,)
        for each in boxes:
            used.setdefault(each.name, []).append(record)
        empty = [each for each in boxes if each.is_empty]
        outside = [each for each in boxes if not each.is_empty and not each.is_inside(*size)]
        if empty:
            column.report("aeon-box-empty", record, **_shown(empty))
        if outside:
            words = {"width": f"{size[0]:g}", "height": f"{size[1]:g}"}
            column.report("aeon-box-outside", record, **_shown(outside), **words)
    check_classes(column, used)


def _shown(boxes: list[Box]) -> dict[str, str]:
    """Return the words for boxes in a message: the first box, and the number of the other boxes."""
    first, *others = boxes
    edges = f"({first.xmin:g}, {first.ymin:g}) to ({first.xmax:g}, {first.ymax:g})"
    more = f" (and {counted(len(others), 'other')})" if others else ""
    return {"box": f"{safe(first.name)!r} from {edges}{more}"}
