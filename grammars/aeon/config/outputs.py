"""The arrays that aeon makes of a configuration: names, shapes, types and axes."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, NamedTuple, TypeAlias

from exset.grammars.aeon.config.numbers import float32, truncated, wrapped
from exset.grammars.aeon.config.schema_types import Dialect
from exset.grammars.aeon.config.settings import Settings

_SIZE: Final = 64
_UINT: Final = 32
_DURATION: Final = re.compile(
    r"[ \t\n\v\f\r]*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)(.*)", re.DOTALL
)


@dataclass(frozen=True)
class Output:
    """One array of a record. dtype: the name of the C++ type; axes: a name for each axis."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    axes: tuple[str, ...]

    def to_dict(self) -> dict[str, object]:
        """Return it for JSON."""
        shape, axes = list(self.shape), list(self.axes)
        return {"name": self.name, "shape": shape, "type": self.dtype, "axes": axes}


Shapes: TypeAlias = Iterator[tuple[str, tuple[int, ...], str, tuple[str, ...]]]


def outputs_of(dialect: Dialect, etl: Iterable[Settings]) -> tuple[Output, ...]:
    """Return the arrays of a record, in aeon's order; the older aeon sorts them by name."""
    found = [output for element in etl for output in element_outputs(element)]
    if dialect == "seed":
        first: dict[str, Output] = {}
        for output in found:
            first.setdefault(output.name, output)
        return tuple(first[name] for name in sorted(first, key=lambda name: name.encode()))
    return tuple(found)


def element_outputs(element: Settings) -> Iterator[Output]:
    """Yield the arrays of one etl object."""
    prefix = f"{element['name']}." if element["name"] else ""
    for name, shape, dtype, axes in _SHAPES[element.type](element):
        yield Output(prefix + name, shape, dtype, axes or tuple(map(str, range(len(shape)))))


def _image(element: Settings, name: str = "image") -> Shapes:
    height, width = element.number("height"), element.number("width")
    channels, dtype = element.number("channels"), str(element["output_type"])
    if element["channel_major"]:
        yield name, (channels, height, width), dtype, ("channels", "height", "width")
    else:
        yield name, (height, width, channels), dtype, ("height", "width", "channels")


def _pixelmask(element: Settings) -> Shapes:
    return _image(element, "pixelmask")


def _label(element: Settings) -> Shapes:
    yield "label", (1,), str(element["output_type"]), ()


def _blob(element: Settings) -> Shapes:
    yield "blob", (element.number("output_count"),), str(element["output_type"]), ()


def _char_map(element: Settings) -> Shapes:
    dtype, axes = str(element["output_type"]), ("character", "sequence")
    yield "char_map", (1, element.number("max_length")), dtype, axes
    if element["emit_length"]:
        yield "length" if element.dialect == "seed" else "char_map_length", (1,), "uint32_t", ()


def _label_map(element: Settings) -> Shapes:
    yield "label_map", (4,), str(element["output_type"]), ()  # four, however many labels there are


def _boundingbox(element: Settings) -> Shapes:
    # Four numbers a box, and room for four times as many.
    shape = (element.number("max_bbox_count"), 16)
    yield "boundingbox", shape, str(element["output_type"]), ()


def _video(element: Settings) -> Shapes:
    [frame] = element.objects("frame")
    size = frame.number("height"), frame.number("width")
    shape = (frame.number("channels"), element.number("max_frame_count"), *size)
    yield "video", shape, str(frame["output_type"]), ("channels", "frames", "height", "width")


def _localization(element: Settings) -> Shapes:
    anchors = total_anchors(element)
    fours, twos = wrapped(4 * anchors, _SIZE, signed=False), wrapped(2 * anchors, _SIZE, False)
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
    wide = {
        "specgram": spans.length // 2 + 1,
        "mfsc": element.number("num_filters"),
        "mfcc": element.number("num_cepstra"),
        "samples": 1,
    }[str(element["feature_type"])]
    steps = wrapped(spans.duration - spans.length, _UINT, signed=False) // spans.stride + 1
    shape = (1, wide, wrapped(steps, _UINT, signed=False))
    yield "audio", shape, str(element["output_type"]), ("channels", "frequency", "time")
    if "emit_length" in element.members and element["emit_length"]:
        yield "audio_length", (1,), "uint32_t", ()


_SHAPES: Final[Mapping[str, Callable[[Settings], Shapes]]] = MappingProxyType(
    {
        "image": _image,
        "label": _label,
        "blob": _blob,
        "char_map": _char_map,
        "label_map": _label_map,
        "boundingbox": _boundingbox,
        "pixelmask": _pixelmask,
        "video": _video,
        "localization": _localization,
        "localization_rcnn": _localization,
        "localization_ssd": _boxes,
        "audio": _audio,
    }
)


def total_anchors(element: Settings) -> int:
    """Return how many anchors an image has, in binary32 and in 64 bits as aeon counts."""
    scale, count = element.real("scaling_factor"), 1
    for name in ("ratios", "scales"):
        values = element[name]
        count *= len(values) if isinstance(values, tuple) else 0
    for name in ("height", "width"):
        cells = float32(float32(float(element.number(name))) * scale)
        count *= truncated(float(math.floor(cells)) if math.isfinite(cells) else cells, "int32")
    return wrapped(count, _SIZE, signed=False)


class NoLength(ValueError):
    """A member that is to be a length of time and is none: its name."""


class Spans(NamedTuple):
    """The lengths of a sound, a frame, and the way from frame to frame, in samples."""

    duration: int
    length: int
    stride: int


def spans_of(element: Settings) -> Spans:
    """Return the lengths that an audio object gives; NoLength that says which is none."""
    rate = element.number("sample_freq_hz")
    found = []
    for name in ("max_duration", "frame_length", "frame_stride"):
        samples = _samples(str(element[name]), rate)
        if samples is None:
            raise NoLength(name)
        found.append(samples)
    return Spans(*found)


def _samples(text: str, rate: int) -> int | None:
    """Return how many samples `4 seconds` are, in binary32 as aeon counts; None for no length."""
    match = _DURATION.match(text)
    if match is None or math.isinf(value := float32(float(match[1]))):
        return None
    unit, per_second = match[2], float32(float(rate))
    if "samples" in unit:
        samples = value
    elif "milliseconds" in unit:
        samples = float32(float32(value * per_second) / 1000)
    elif "seconds" in unit:
        samples = float32(value * per_second)
    else:
        return None
    return truncated(samples, "uint32") if math.isfinite(samples) else None
