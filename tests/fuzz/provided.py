"""Targets of the fuzzer: elements that aeon's loader decodes and augments.

Any bytes give an error or arrays, the same ones each time. OpenCV decodes, and may crash.
"""

import json
import re
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from functools import cached_property
from importlib.util import find_spec
from typing import Any, Final
from zlib import compress, crc32

import numpy as np

from exset import Findings, LoaderConfig
from exset.runtime.aeon.provision.draws import Draws
from exset.runtime.aeon.provision.etl import Context, Etl
from exset.runtime.aeon.provision.opencv import opencv
from exset.runtime.aeon.provision.provider import new_arrays
from exset.runtime.aeon.provision.record import Record
from exset.runtime.aeon.provision.registry import etl_class
from exset.testing.contract import LIMITS, Broken
from exset.testing.media import avi, wave
from exset.testing.targets import RarerCheck, Target
from tests.fuzz.disk import attempt

_LIMITS: Final = LIMITS.with_(max_array=1 << 22)
_PNG: Final = b"\x89PNG\r\n\x1a\n"
_SIZE: Final[dict[str, Any]] = {"height": 6, "width": 8}
_CLASSES: Final[dict[str, Any]] = {**_SIZE, "class_names": ["cat", "dog"]}
_SOUND: Final[dict[str, Any]] = {
    "type": "audio", "max_duration": "24 samples", "frame_length": "8 samples",
    "frame_stride": "4 samples",
}  # fmt: skip
_MOVED: Final[dict[str, Any]] = {
    "type": "image", "center": False, "flip_enable": True, "angle": [-40, 40], "scale": [0.3, 1],
}  # fmt: skip
_RECOLOURED: Final[dict[str, Any]] = {
    "type": "image", "do_area_scale": True, "scale": [0.1, 1], "hue": [-30, 30],
    "contrast": [0.5, 2], "brightness": [0.5, 2], "saturation": [0, 2], "lighting": [0, 0.1],
    "horizontal_distortion": [0.5, 2], "mean": [0.4, 0.5, 0.6], "stddev": [0.2, 0.3, 0.4],
}  # fmt: skip
_WHOLE: Final[dict[str, Any]] = {"type": "image", "crop_enable": False}
_SAMPLED: Final[dict[str, Any]] = {
    **_WHOLE, "expand_probability": 0.5, "expand_ratio": [1, 3],
    "emit_constraint_type": "min_overlap", "emit_constraint_min_overlap": 0.3,
    "batch_samplers": [
        {"max_sample": 2, "max_trials": 5, "sampler": {"scale": [0.3, 1]},
         "sample_constraint": {"min_jaccard_overlap": 0.1}},
    ],
}  # fmt: skip


def _etl(
    settings: Mapping[str, Any],
    augmentation: Mapping[str, Any] | None = None,
    *,
    compat: bool = False,
    scaled: bool = False,
) -> Etl:
    given = {"manifest_filename": "a.tsv", "batch_size": 1, "etl": [settings]}
    if augmentation:
        given["augmentation"] = [augmentation]
    is_seed = settings["type"] in ("audio", "localization")
    dialect = "seed" if is_seed else "head"
    config = LoaderConfig.from_dict(given, dialect=dialect, findings=Findings())
    context = Context(config, compat=compat, limits=_LIMITS, scaled_decoding=scaled)
    return etl_class(config.etl[0].type)(config.etl[0], 0, context)


class ProvidedTarget(Target):
    """Elements of some etl objects; a case is provided by one of them, or by all."""

    is_deadly = True

    @property
    def rarer(self) -> Mapping[RarerCheck, int]:
        """One case in five is provided twice."""
        return {"engines": 5}

    @property
    @abstractmethod
    def etl(self) -> tuple[Etl, ...]:
        """The etl objects."""

    def check(self, data: bytes, number: int | None = None) -> bool:
        """Provide an element with an etl object, some of them twice.

        An element without bytes is not provided, as in the loader.
        """
        times = 1 + self.has("engines", number)
        some = self.etl if number is None else [self.etl[number % len(self.etl)]]
        return bool(data) and all([_is_provided(each, data, number or 0, times) for each in some])


def _is_provided(etl: Etl, data: bytes, number: int, times: int) -> bool:
    what = f"{etl.settings.type} {number}"
    found = [attempt(what, _provided, etl, data, number + 1) for _ in range(times)]
    if found[0] != found[-1]:
        raise Broken("whole", f"{what}: provided twice, the arrays differ")
    return found[0] is not None


def _provided(etl: Etl, data: bytes, seed: int) -> list[bytes]:
    slots = [each[0, ...] for each in new_arrays(etl.outputs, 1, _LIMITS).values()]
    etl.provide(data, Record(0, 0, lambda purpose: Draws(seed)), slots)
    return [slot.tobytes() for slot in slots]


class PictureTarget(ProvidedTarget):
    """Pictures and masks."""

    name = "picture"

    @cached_property
    def etl(self) -> tuple[Etl, ...]:
        """Pictures with all kinds of changes, and masks."""
        image = {"type": "image", **_SIZE}
        mask = {"type": "pixelmask", **_SIZE, "channels": 1}
        return (
            _etl(image, _MOVED),
            _etl({**image, "output_type": "float"}, _RECOLOURED),
            _etl({**image, "channels": 1}, {**_WHOLE, "padding": 2, "fixed_aspect_ratio": True}),
            _etl(image, {"type": "image", "resize_short_size": 5}, scaled=True),
            _etl({**image, "bgr_to_rgb": True}, _MOVED, compat=True),
            _etl(mask, _MOVED),
            _etl({**mask, "output_type": "uint16_t"}, compat=True),
        )

    def seeds(self, folders: Iterable[str], draw: int, start: int) -> list[bytes]:
        """Return small pictures of several formats."""
        cv2, random = opencv(), np.random.default_rng(start)
        made = [_with_palette()]
        for suffix, flags in (
            *((".png", []), (".jpg", []), (".bmp", []), (".tiff", []), (".webp", []), (".pnm", [])),
            *(
                (".jpg", [cv2.IMWRITE_JPEG_PROGRESSIVE, 1]),
                (".webp", [cv2.IMWRITE_WEBP_QUALITY, 9]),
            ),
        ):
            for shape in ((9, 7, 3), (5, 11)):
                pixels = random.integers(0, 256, shape).astype(np.uint8)
                made.append(cv2.imencode(suffix, pixels, flags)[1].tobytes())
        deep = random.integers(0, 1 << 16, (4, 6)).astype(np.uint16)
        return [*made, cv2.imencode(".png", deep)[1].tobytes()]

    def words(self) -> list[bytes]:
        """Return the names of parts of pictures."""
        chunks = [b"IHDR", b"PLTE", b"tRNS", b"IDAT", b"IEND", b"eXIf", b"acTL", b"fcTL"]
        return [*chunks, b"Exif\0\0", b"VP8X", b"\xff\xc0", b"\xff\xc2", b"\xff\xda", b"\xff\xdd"]

    def repaired(self, data: bytes) -> bytes:
        """Return a PNG with correct checksums."""
        return _summed(data) if data.startswith(_PNG) else data


def _with_palette() -> bytes:
    """Return a PNG of 2x2 pixels with a palette."""
    header = (2).to_bytes(4) * 2 + b"\x08\x03\0\0\0"
    data = compress(b"\0\0\1\0\2\2")  # two rows, without a filter
    parts = ((b"IHDR", header), (b"PLTE", bytes(range(9))), (b"IDAT", data), (b"IEND", b""))
    chunks = (len(each).to_bytes(4) + name + each + bytes(4) for name, each in parts)
    return _summed(_PNG + b"".join(chunks))


def _summed(data: bytes) -> bytes:
    parts, at = [_PNG], len(_PNG)
    while at + 12 <= len(data):
        end = at + 8 + int.from_bytes(data[at : at + 4])
        if end > len(data):
            break
        parts += [data[at:end], crc32(data[at + 4 : end]).to_bytes(4)]
        at = end + 4
    return b"".join([*parts, data[at:]])


class AnnotationTarget(ProvidedTarget):
    """Annotations of boxes."""

    name = "annotation"

    @cached_property
    def etl(self) -> tuple[Etl, ...]:
        """All etl types with boxes."""
        boxes = {"type": "boundingbox", **_CLASSES, "max_bbox_count": 2}
        ssd, rcnn = ({"type": f"localization_{each}", **_CLASSES} for each in ("ssd", "rcnn"))
        return (
            _etl(boxes, _MOVED),
            _etl({**boxes, "output_type": "int16_t"}, {**_WHOLE, "resize_short_size": 4}),
            _etl(boxes, compat=True),
            _etl({**ssd, "max_gt_boxes": 2}, _SAMPLED),
            _etl(ssd, {**_SAMPLED, "emit_constraint_type": "center"}, compat=True),
            _etl({**rcnn, "scaling_factor": 0.5}, _MOVED),
            _etl({**_CLASSES, "type": "localization", "scaling_factor": 0.5}, compat=True),
        )

    def seeds(self, folders: Iterable[str], draw: int, start: int) -> list[bytes]:
        """Return annotations with no, one and two objects."""
        box = {"xmin": 1, "ymin": 2.5, "xmax": 7, "ymax": 4}
        cat = {"name": "cat", "difficult": True, "bndbox": box}
        dog = {"name": "dog", "truncated": False, "bndbox": {**box, "xmin": 0, "xmax": 3}}
        size = {"width": 8, "height": 6, "depth": 3}
        some = [[], [cat], [cat, dog], [dog, cat, dog]]
        return [json.dumps({"object": each, "size": size}).encode() for each in some]

    def words(self) -> list[bytes]:
        """Return members, and numbers at the edges of binary32."""
        members = re.findall(rb'"\w+"', self.seeds((), 0, 0)[2])
        return [*members, b"1e38", b"-3.5e38", b"1e999", b"2147483648", b"0.5", b"-1", b"true"]


class SoundTarget(ProvidedTarget):
    """Sounds as spectrograms and samples."""

    name = "sound"

    @cached_property
    def etl(self) -> tuple[Etl, ...]:
        """All features, with a time scale."""
        stretched = {"type": "audio", "time_scale_fraction": [0.4, 2]}
        return (
            _etl(_SOUND, stretched),
            _etl({**_SOUND, "feature_type": "mfsc", "num_filters": 4}, compat=True),
            _etl({**_SOUND, "feature_type": "mfcc", "num_filters": 4, "num_cepstra": 3}),
        )

    def seeds(self, folders: Iterable[str], draw: int, start: int) -> list[bytes]:
        """Return files of 8 to 40 samples."""
        random = np.random.default_rng(start)
        return [wave(random.bytes(2 * count)) for count in range(8, 41, 4)]


class FrameTarget(ProvidedTarget):
    """Videos, with all their frames."""

    name = "frames"

    @cached_property
    def etl(self) -> tuple[Etl, ...]:
        """Videos with and without changes."""
        video = {"type": "video", "max_frame_count": 3, "frame": _SIZE}
        return _etl(video), _etl(video, {"type": "image", "frame": _MOVED}, compat=True)

    def seeds(self, folders: Iterable[str], draw: int, start: int) -> list[bytes]:
        """Return videos of one to four frames, one of which is empty."""
        pictures = [each for each in PictureTarget().seeds((), 0, start) if each[:2] == b"\xff\xd8"]
        one, other = pictures[::2]  # those of one size
        some = [[one], [other, one], [one, b"", other]]
        return [avi(each) for each in some]


PROVIDED: Final[tuple[ProvidedTarget, ...]] = (
    (PictureTarget(), AnnotationTarget(), SoundTarget(), FrameTarget()) if find_spec("cv2") else ()
)
