"""Other ways to decode pictures, to crop a part of their area, to resize and to flip it.

Each peer is a function that provides all pictures once, in batches of [n, 3, side, side] bytes.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

SHARE: Final = 0.3, 0.75
"""The part of the area that is cropped; the highest is that of a square in a picture of 4:3."""

Peer: TypeAlias = Callable[[], None]


@dataclass(frozen=True)
class Task:
    """The pictures to provide. side: of the output, in pixels; batch: the pictures of a batch."""

    paths: list[str]
    side: int
    batch: int
    threads: int


def bare(task: Task) -> Peer:
    """Return a loop over simplejpeg and OpenCV, in threads if there are more than one."""
    return partial(_loop, task)


def _loop(task: Task) -> None:
    cv2: Any = import_module("cv2")
    decode: Callable[..., NDArray[np.uint8]] = import_module("simplejpeg").decode_jpeg
    paths, side = task.paths, task.side
    draw = np.random.default_rng(1)
    shares, flips = draw.uniform(*SHARE, len(paths)), draw.integers(0, 2, len(paths))
    places = draw.uniform(0, 1, (len(paths), 2))

    def provide(number: int, found: NDArray[np.uint8]) -> None:
        with open(paths[number], "rb") as file:
            pixels = decode(file.read(), "BGR")
        height, width = pixels.shape[:2]
        length = min(round(float(np.sqrt(shares[number] * height * width))), height, width)
        x, y = (places[number] * (width - length, height - length)).astype(int)
        part = pixels[y : y + length, x : x + length]
        pixels = cv2.resize(part, (side, side), interpolation=cv2.INTER_AREA)
        if flips[number]:
            pixels = cv2.flip(pixels, 1)
        for channel in range(3):
            cv2.extractChannel(pixels, channel, found[channel])

    with ThreadPoolExecutor(task.threads) as pool:
        for begin in range(0, len(paths), task.batch):
            rows = range(begin, min(begin + task.batch, len(paths)))
            batch = np.empty((len(rows), 3, side, side), np.uint8)
            each = map if task.threads == 1 else pool.map
            for _ in each(provide, rows, batch):
                pass


class _Pictures:
    """A dataset of torch: pictures that torchvision decodes and changes."""

    def __init__(self, task: Task) -> None:
        v2: Any = import_module("torchvision.transforms.v2")
        crop = v2.RandomResizedCrop(task.side, scale=SHARE, ratio=(1, 1), antialias=True)
        self._change = v2.Compose([crop, v2.RandomHorizontalFlip()])
        self._paths = task.paths

    def __len__(self) -> int:
        return len(self._paths)

    def __getitem__(self, index: int) -> object:
        io: Any = import_module("torchvision.io")
        return self._change(io.decode_jpeg(io.read_file(self._paths[index]), io.ImageReadMode.RGB))


def torchvision(task: Task) -> Peer:
    """Return torch's DataLoader over pictures of torchvision, with one worker for each thread."""
    data: Any = import_module("torch.utils.data")
    torch: Any = import_module("torch")
    torch.set_num_threads(1)
    loader = data.DataLoader(
        _Pictures(task), task.batch, num_workers=task.threads, persistent_workers=True
    )

    def provide() -> None:
        for _ in loader:
            pass

    return provide


def dali(task: Task) -> Peer:
    """Return a pipeline of NVIDIA DALI on the processor."""
    library: Any = import_module("nvidia.dali")
    fn, types = library.fn, library.types

    def define() -> object:
        data, _ = fn.readers.file(files=task.paths)
        pixels = fn.decoders.image_random_crop(
            data, device="cpu", random_area=SHARE, random_aspect_ratio=(1, 1), output_type=types.BGR
        )
        pixels = fn.resize(pixels, resize_x=task.side, resize_y=task.side)
        mirror = fn.random.coin_flip()
        return fn.crop_mirror_normalize(
            pixels, dtype=types.UINT8, output_layout="CHW", mirror=mirror
        )

    options = {"batch_size": task.batch, "num_threads": task.threads, "device_id": None}
    pipeline = library.pipeline_def(define)(**options)
    pipeline.build()

    def provide() -> None:
        for _ in range(0, len(task.paths), task.batch):
            pipeline.run()

    return provide


def installed() -> dict[str, Callable[[Task], Peer]]:
    """Return the peers that are installed, by name; without the first one none is measured."""
    found: dict[str, Callable[[Task], Peer]] = {}
    if find_spec("cv2") and find_spec("simplejpeg"):
        found["simplejpeg + cv2"] = bare
        if find_spec("torchvision"):
            found["torch + torchvision"] = torchvision
        if find_spec("nvidia") and find_spec("nvidia.dali"):
            found["DALI, CPU"] = dali
    return found
