"""By default pictures, masks and boxes of a record change together, and every slot is defined."""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from exset import Findings, FormatError, LoaderConfig
from exset.runtime.aeon.provision.etl import Context, Etl
from exset.runtime.aeon.provision.layout import DTYPES
from exset.runtime.aeon.provision.opencv import opencv
from exset.runtime.aeon.provision.record import Record
from exset.runtime.aeon.provision.registry import etl_class
from exset.runtime.aeon.provision.streams import Keyed
from tests.aeon.configs import config

pytest.importorskip("cv2")

WIDTH, HEIGHT = 60, 44
BOX = {"xmin": 20, "ymin": 12, "xmax": 35, "ymax": 27}
SIZE = {"height": 40, "width": 40}
IMAGE = {"type": "image"} | SIZE
MASK = {"type": "pixelmask", "channels": 1} | SIZE
BOXES = {"type": "boundingbox", "max_bbox_count": 2, "class_names": ["a"]} | SIZE


def picture(scale: int = 1, channels: int = 3) -> bytes:
    """A black picture with a white box."""
    pixels = np.zeros((HEIGHT, WIDTH), np.uint8)
    pixels[BOX["ymin"] : BOX["ymax"] + 1, BOX["xmin"] : BOX["xmax"] + 1] = 255
    pixels = pixels.repeat(scale, 0).repeat(scale, 1)
    if channels == 3:
        pixels = np.stack([pixels] * 3, -1)
    encoded: bytes = opencv().imencode(".png", pixels)[1].tobytes()
    return encoded


def annotation() -> bytes:
    size = {"width": WIDTH, "height": HEIGHT, "depth": 3}
    return json.dumps({"object": [{"name": "a", "bndbox": BOX}], "size": size}).encode()


def objects(*etl: dict[str, Any], **augmentation: Any) -> list[Etl]:
    members = {"type": "image", "interpolation_method": "NEAREST"} | augmentation
    given = config(*etl, augmentation=[members])
    found = LoaderConfig.from_dict(given, dialect="head", findings=Findings())
    context = Context(found)
    return [etl_class(each.type)(each, i, context) for i, each in enumerate(found.etl)]


def provided(etl: Sequence[Etl], elements: Sequence[bytes], epoch: int = 0) -> list[NDArray[Any]]:
    """The first array of each etl object, for one record."""
    record = Record(0, epoch, Keyed(1).streams(0, epoch))
    found = []
    for each, element in zip(etl, elements, strict=True):
        slots = [np.zeros(output.shape, DTYPES[output.dtype]) for output in each.outputs]
        each.provide(element, record, slots)
        found.append(slots[0])
    return found


CROPPED = {"center": False, "scale": [0.5, 1], "flip_enable": True}
WHOLE = {"crop_enable": False, "flip_enable": True, "fixed_aspect_ratio": True}


@pytest.mark.parametrize(
    "augmentation",
    [
        CROPPED,
        CROPPED | {"do_area_scale": True, "horizontal_distortion": [0.7, 1.4]},
        CROPPED | {"resize_short_size": 41},
        CROPPED | {"resize_short_size": 80, "do_area_scale": True},
        WHOLE,
        WHOLE | {"padding": 9},
        WHOLE | {"padding": 5, "resize_short_size": 30},
        CROPPED | {"angle": [-40, 40]},
    ],
    ids=str,
)
def test_pictures_masks_and_boxes_agree(augmentation: dict[str, Any]) -> None:
    etl = objects(IMAGE, MASK, BOXES, **augmentation)
    seen = 0
    for epoch in range(25):
        image, mask, boxes = provided(etl, [picture(), picture(), annotation()], epoch)
        assert (image[0] == mask[0]).all()
        rows, columns = mask[0].nonzero()
        if not len(rows):
            continue
        seen += 1
        found = np.array([columns.min(), rows.min(), columns.max(), rows.max()])
        apart = found - boxes[0]
        if "angle" in augmentation:  # the box is around the rotated one
            assert (apart[:2] > -3).all() and (apart[2:] < 3).all()
        else:
            assert np.abs(apart).max() < 2.5
    assert seen > 15


def test_a_picture_of_another_size_shows_the_same_part() -> None:
    wide = IMAGE | {"name": "other", "height": 80, "width": 80}
    etl = objects(IMAGE, wide, **CROPPED)
    for epoch in range(10):
        first, second = provided(etl, [picture(), picture(2)], epoch)
        shrunk = second[:, ::2, ::2]
        assert (first != shrunk).mean() < 0.06


def test_smaller_pictures_are_in_the_corner() -> None:
    for kind in ("uint8_t", "float"):
        [found] = provided(objects(IMAGE | {"output_type": kind}, **WHOLE), [picture()])
        assert found.shape == (3, 40, 40) and found.max() == 255
        assert not found[:, 29:].any() and found[:, :29].any()
    [found] = provided(objects(IMAGE, crop_enable=False), [picture()])
    assert not found[:, 29:].any() and found[:, :29].any()


def test_standard_values() -> None:
    """Values from 0 to 1, less the mean, over the deviation; red comes first."""
    image = IMAGE | {"output_type": "double", "bgr_to_rgb": True}
    etl = objects(image, mean=[0.5, 0.25, 0], stddev=[0.5, 1, 0])
    [found] = provided(etl, [picture()])
    assert [np.unique(plane).tolist() for plane in found] == [[-1, 1], [-0.25, 0.75], [0, 1]]


def test_negative_hue_wraps() -> None:
    pixels = np.full((8, 8, 3), (0, 128, 255), np.uint8)
    data = opencv().imencode(".png", pixels)[1].tobytes()
    turned = [
        provided(objects(IMAGE, hue=[hue, hue]), [data])[0][:, 0, 0].tolist()
        for hue in (-30, 150, 0)
    ]
    assert turned[0] == turned[1] != turned[2]


def test_palettes_keep_their_indices() -> None:
    """OpenCV writes no palettes, so the file is made here, as grey levels 0, 85, 170, 255."""
    from struct import pack
    from zlib import compress, crc32

    def chunk(kind: bytes, data: bytes) -> bytes:
        return pack(">I", len(data)) + kind + data + pack(">I", crc32(kind + data))

    rows = b"".join(b"\0" + bytes([x % 3 for x in range(40)]) for _ in range(40))
    colours = bytes([200, 0, 0, 0, 200, 0, 9, 9, 9])
    header = chunk(b"IHDR", pack(">IIBBBBB", 40, 40, 8, 3, 0, 0, 0))
    parts = [header, chunk(b"PLTE", colours), chunk(b"tRNS", b"\0"), chunk(b"IDAT", compress(rows))]
    data = b"\x89PNG\r\n\x1a\n" + b"".join(parts) + chunk(b"IEND", b"")
    [mask] = provided(objects(MASK), [data])
    assert mask[0].tolist() == [[x % 3 for x in range(40)]] * 40
    huge = data.replace(pack(">I", len(compress(rows))) + b"IDAT", b"\xdc\0\0\0IDAT")
    for damaged in (data[:60], data[:20], huge):
        with pytest.raises(FormatError, match="the PNG is truncated or damaged"):
            provided(objects(MASK), [damaged])


def test_outputs_of_the_loader_and_of_the_configuration_agree() -> None:
    """Two types have other arrays than aeon's by default (B5, T3)."""
    label_map = {"type": "label_map", "class_names": ["a"], "max_classes": 3}
    given = config(IMAGE, MASK, BOXES, label_map)
    found = LoaderConfig.from_dict(given, dialect="head", findings=Findings())
    for compat, outputs, shapes in (
        (True, found.outputs, [(2, 16), (4,)]),
        (False, found.meant_outputs, [(2, 4), (3,)]),
    ):
        context = Context(found, compat)
        etl = [etl_class(each.type)(each, i, context) for i, each in enumerate(found.etl)]
        assert [output for each in etl for output in each.outputs] == [*outputs]
        assert [output.shape for output in outputs[2:]] == shapes


PIXELS = np.arange(12 * 9 * 3, dtype=np.uint8).reshape(12, 9, 3)
GOOD = [
    annotation(),
    *(opencv().imencode(name, PIXELS)[1].tobytes() for name in (".png", ".jpg", ".ppm", ".bmp")),
]
KINDS = (
    *(IMAGE, MASK, BOXES),
    *({"type": f"localization_{kind}", "class_names": ["a"]} | SIZE for kind in ("ssd", "rcnn")),
)


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A picture or an annotation with a changed part."""
    data: bytes = draw(st.sampled_from(GOOD))
    start = draw(st.integers(0, len(data)))
    end = draw(st.integers(start, min(start + 8, len(data))))
    return data[:start] + draw(st.binary(max_size=8)) + data[end:]


NUMBERS = st.one_of(st.integers(), st.floats(allow_nan=False), st.just(10**400))


@st.composite
def strange_annotations(draw: st.DrawFn) -> bytes:
    """An annotation with numbers of any size."""
    box = {edge: draw(NUMBERS) for edge in BOX}
    size = {"width": draw(NUMBERS), "height": draw(NUMBERS), "depth": 3}
    return json.dumps({"object": [{"name": "a", "bndbox": box}], "size": size}).encode()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of numbers near the largest ones
@given(st.sampled_from(KINDS), st.one_of(damaged(), strange_annotations(), st.binary(min_size=1)))
def test_any_bytes_give_arrays_or_an_error(kind: dict[str, Any], data: bytes) -> None:
    etl = objects(kind, crop_enable=False, fixed_aspect_ratio=True, resize_short_size=30)
    try:
        provided(etl, [data])
    except FormatError as error:
        assert error.message
