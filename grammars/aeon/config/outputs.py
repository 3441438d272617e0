"""The arrays that aeon makes for a configuration: names, shapes, types and axes."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from exset.grammars.aeon.config.numbers import integer, spans_of, total_anchors
from exset.grammars.aeon.config.schema_types import Dialect
from exset.grammars.aeon.config.settings import Settings


@dataclass(frozen=True)
class Output:
    """An array of a record. dtype: the name of a C++ type. axes: the name of each axis."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    axes: tuple[str, ...]

    def to_dict(self) -> dict[str, object]:
        """Return the array's description for JSON."""
        shape, axes = list(self.shape), list(self.axes)
        return {"name": self.name, "shape": shape, "type": self.dtype, "axes": axes}


Shapes: TypeAlias = Iterator[tuple[str, tuple[int, ...], str, tuple[str, ...]]]
"""Names, shapes, C++ types and axes of the arrays of an etl object; no axes: they are numbered."""


def outputs_of(
    dialect: Dialect, etl: Iterable[Settings], *, meant: bool = False
) -> tuple[Output, ...]:
    """Return the arrays of a record for the given etl objects, in aeon's order.

    With the dialect `seed`, the order is by name. meant: as in `element_outputs`.
    """
    found = [output for element in etl for output in element_outputs(element, meant=meant)]
    if dialect == "seed":
        unique = {output.name: output for output in reversed(found)}
        return tuple(unique[name] for name in sorted(unique, key=lambda name: name.encode()))
    return tuple(found)


def element_outputs(element: Settings, *, meant: bool = False) -> Iterator[Output]:
    """Yield the arrays of one etl object.

    meant: if aeon makes an array of a wrong size by mistake, yield the intended array instead.
    """
    prefix = f"{element['name']}." if element["name"] else ""
    shapes = _SHAPES[element.type]
    if meant:
        shapes = _MEANT.get(element.type, shapes)
    for name, shape, dtype, axes in shapes(element):
        yield Output(prefix + name, shape, dtype, axes or tuple(map(str, range(len(shape)))))


def _array(element: Settings, *shape: int) -> Shapes:
    """Yield the only array of an etl object. Its name is the type of the object.

    shape: the shape for one record.
    """
    yield element.type, shape, str(element["output_type"]), ()


def _image(element: Settings) -> Shapes:
    axes = ["height", "width"]
    axes.insert(0 if element["channel_major"] else 2, "channels")
    shape = tuple(element.number(name) for name in axes)
    yield element.type, shape, str(element["output_type"]), tuple(axes)


def _char_map(element: Settings) -> Shapes:
    dtype, axes = str(element["output_type"]), ("character", "sequence")
    yield "char_map", (1, element.number("max_length")), dtype, axes
    if element["emit_length"]:
        yield "length" if element.dialect == "seed" else "char_map_length", (1,), "uint32_t", ()


def _video(element: Settings) -> Shapes:
    [frame] = element.objects("frame")
    size = frame.number("height"), frame.number("width")
    shape = (frame.number("channels"), element.number("max_frame_count"), *size)
    yield "video", shape, str(frame["output_type"]), ("channels", "frames", "height", "width")


def _localization(element: Settings) -> Shapes:
    anchors = total_anchors(element)
    fours, twos = integer(4 * anchors, "size"), integer(2 * anchors, "size")
    yield "bbtargets", (fours,), "float", ()
    yield "bbtargets_mask", (fours,), "float", ()
    yield "labels_flat", (1, twos), "int32_t", ()
    yield "labels_mask", (twos, 1), "int32_t", ()
    *boxes, difficult = _boxes(element)
    yield from boxes
    yield "image_scale", (1, 1), "float", ()
    yield difficult


def _boxes(element: Settings) -> Shapes:
    most = element.number("max_gt_boxes")
    yield "image_shape", (2, 1), "int32_t", ()
    yield "gt_boxes", (most, 4), "float", ()
    yield "gt_box_count", (1, 1), "int32_t", ()
    yield "gt_class_count", (most, 1), "int32_t", ()
    yield "difficult_flag", (most, 1), "int32_t", ()


def _audio(element: Settings) -> Shapes:
    spans = spans_of(element)
    frequencies = {
        "specgram": spans.length // 2 + 1,
        "mfsc": element.number("num_filters"),
        "mfcc": element.number("num_cepstra"),
        "samples": 1,
    }[str(element["feature_type"])]
    steps = integer(spans.duration - spans.length, "uint32") // spans.stride + 1
    shape = (1, frequencies, integer(steps, "uint32"))
    yield "audio", shape, str(element["output_type"]), ("channels", "frequency", "time")
    if "emit_length" in element.members and element["emit_length"]:
        yield "audio_length", (1,), "uint32_t", ()


_SHAPES: Final[dict[str, Callable[[Settings], Shapes]]] = {
    "image": _image,
    "label": lambda element: _array(element, 1),
    "blob": lambda element: _array(element, element.number("output_count")),
    "char_map": _char_map,
    # aeon allocates four labels for any max_classes, and four times the room for boxes.
    "label_map": lambda element: _array(element, 4),
    "boundingbox": lambda element: _array(element, element.number("max_bbox_count"), 16),
    "pixelmask": _image,
    "video": _video,
    "localization": _localization,
    "localization_rcnn": _localization,
    "localization_ssd": _boxes,
    "audio": _audio,
}

_MEANT: Final[dict[str, Callable[[Settings], Shapes]]] = {
    "label_map": lambda element: _array(element, element.number("max_classes")),
    "boundingbox": lambda element: _array(element, element.number("max_bbox_count"), 4),
}
"""The types for which aeon allocates other sizes than it meant."""


def declare_outputs(name: str, shapes: Callable[[Settings], Shapes]) -> None:
    """Declare the arrays of a new type of etl objects, which aeon does not have.

    name: the new type. shapes: a function that gets an etl object of this type and returns its
    arrays.
    """
    _SHAPES[name] = shapes
