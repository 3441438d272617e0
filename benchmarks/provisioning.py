"""Measure aeon's loader against bare loops of simplejpeg and OpenCV, and for numbers alone.

Each picture is decoded, cropped to a part of its area, resized to 224x224, and flipped at random.
Rows of pictures are left out where OpenCV or simplejpeg is not installed.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.inputs import Inputs
from benchmarks.manifests import path_of
from benchmarks.measure import race
from benchmarks.rows import Cases, Figures
from exset import DataLoader, Findings

_PICTURES = 500
_WIDTH, _HEIGHT, _SIDE = 500, 375, 224
_BATCH = 50
_SHARE = 0.3, 0.9
"""The part of the area that is cropped."""


def cases(inputs: Inputs, runs: int) -> Cases:
    """Yield pictures on one thread and on two, and the labels of a manifest."""
    if find_spec("cv2") and find_spec("simplejpeg"):
        for threads in (1, 2):
            yield f"pictures, threads: {threads}", partial(_pictures, inputs, threads, runs)
    yield "labels", partial(_labels, inputs, runs)


def _pictures(inputs: Inputs, threads: int, runs: int) -> Figures:
    paths = _paths(inputs)
    manifest = os.path.join(inputs.folder, "pictures.tsv")
    with open(manifest, "w", encoding="ascii") as file:
        file.write("@FILE\n" + "".join(f"{path}\n" for path in paths))
    image = {"type": "image", "height": _SIDE, "width": _SIDE}
    augmentation: dict[str, object] = {"type": "image", "flip_enable": True, "center": False}
    augmentation |= {"do_area_scale": True, "scale": _SHARE, "interpolation_method": "AREA"}
    config = {"manifest_filename": manifest, "batch_size": min(_BATCH, len(paths))}
    config |= {"random_seed": 1, "etl": [image], "augmentation": [augmentation]}
    with DataLoader(config, threads=threads) as loader:
        peer = partial(_loop, paths, threads)
        return _figures(partial(_epoch, loader), peer, "simplejpeg + cv2", len(paths), runs)


def _labels(inputs: Inputs, runs: int) -> Figures:
    path = path_of(inputs)
    with open(path, encoding="ascii") as file:
        labels = [line.rpartition("\t")[2] for line in file.read().splitlines()[1:]]
    manifest = f"{path}.labels"
    with open(manifest, "w", encoding="ascii") as file:
        file.write("@ASCII_INT\n" + "".join(f"{label}\n" for label in labels))
    label = {"type": "label", "binary": True}
    config = {"manifest_filename": manifest, "batch_size": min(1000, len(labels)), "etl": [label]}
    numbers = np.array(labels).astype(np.uint32)[:, None]
    with DataLoader(config, findings=Findings()) as loader:
        peer = partial(_slices, numbers, loader.batch_size)
        return _figures(partial(_epoch, loader), peer, "slices of an array", len(labels), runs)


def _epoch(loader: DataLoader) -> None:
    for _ in loader:
        pass


def _slices(numbers: NDArray[np.uint32], size: int) -> None:
    for begin in range(0, len(numbers), size):
        numbers[begin : begin + size].copy()


def _paths(inputs: Inputs) -> list[str]:
    """Return the paths of JPEGs of smooth noise, which take about as long as photographs."""
    cv2: Any = import_module("cv2")
    draw = np.random.default_rng(3)
    paths = []
    for number in range(max(int(_PICTURES * inputs.part), 4)):
        paths.append(os.path.join(inputs.folder, f"picture{number}.jpg"))
        if not os.path.exists(paths[-1]):
            rough = draw.integers(0, 256, (_HEIGHT // 5, _WIDTH // 5, 3), np.uint8)
            cv2.imwrite(paths[-1], cv2.resize(rough, (_WIDTH, _HEIGHT)))
    return paths


def _loop(paths: list[str], threads: int) -> None:
    """Provide the pictures without a loader, batch by batch."""
    cv2: Any = import_module("cv2")
    decode: Callable[..., NDArray[np.uint8]] = import_module("simplejpeg").decode_jpeg
    draw = np.random.default_rng(1)
    shares, flips = draw.uniform(*_SHARE, len(paths)), draw.integers(0, 2, len(paths))
    places = draw.uniform(0, 1, (len(paths), 2))

    def provide(number: int, found: NDArray[np.uint8]) -> None:
        with open(paths[number], "rb") as file:
            pixels = decode(file.read(), "BGR")
        height, width = pixels.shape[:2]
        side = min(round(float(np.sqrt(shares[number] * height * width))), height, width)
        x, y = (places[number] * (width - side, height - side)).astype(int)
        part = pixels[y : y + side, x : x + side]
        pixels = cv2.resize(part, (_SIDE, _SIDE), interpolation=cv2.INTER_AREA)
        if flips[number]:
            pixels = cv2.flip(pixels, 1)
        for channel in range(3):
            cv2.extractChannel(pixels, channel, found[channel])

    with ThreadPoolExecutor(threads) as pool:
        for begin in range(0, len(paths), _BATCH):
            rows = range(begin, min(begin + _BATCH, len(paths)))
            batch = np.empty((len(rows), 3, _SIDE, _SIDE), np.uint8)
            each = map if threads == 1 else pool.map
            for _ in each(provide, rows, batch):
                pass


def _figures(
    subject: Callable[[], object], peer: Callable[[], object], name: str, count: int, runs: int
) -> Figures:
    result = race(subject, peer, runs)
    return {
        "records": float(count),
        "records/s": result.subject.rate(count),
        "peer": name,
        "peer, records/s": result.peer.rate(count),
        "times as fast": result.ratio,
    }
