"""Measure aeon's loader against other loaders, and for numbers and blobs alone.

Each picture is decoded, cropped to a part of its area, resized to 224x224, and flipped at random.
Peers that are not installed are left out; without OpenCV and simplejpeg all pictures are.
"""

import base64
import os
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.inputs import Inputs
from benchmarks.manifests import path_of
from benchmarks.measure import Spread, race
from benchmarks.picture_peers import SHARE, Peer, Task, bare, installed, torchvision
from benchmarks.rows import Cases, Figures
from exset import DataLoader, Findings

AEON = {1: 686.0, 2: 1413.0}
"""Pictures/s of aeon's last version by threads, measured once on another machine."""

_PICTURES, _SIZE = 500, (500, 375)
_LARGE, _LARGE_SIZE = 60, (2000, 1500)
_SMOOTH = 7
_SIDE = 224
_BATCH, _LARGE_BATCH = 50, 20
_BLOBS, _BLOB, _BLOB_BATCH = 20_000, 16_384, 100


def cases(inputs: Inputs, runs: int) -> Cases:
    """Yield pictures on one thread and on two, large pictures, and numbers and blobs in memory."""
    for name, peer in installed().items():
        for threads in (1, 2):
            case = partial(_pictures, inputs, threads, name, peer, runs)
            yield f"pictures, threads: {threads}, {name}", case
    if installed():
        for threads in (1, 2):
            yield (
                f"pictures of 2000x1500, scaled decoding, threads: {threads}",
                partial(_large, inputs, threads, runs),
            )
    yield "labels", partial(_labels, inputs, runs)
    yield "blobs of 16 KiB in a cache", partial(_blobs, inputs, runs)


def config_of(inputs: Inputs, paths: list[str], batch: int = _BATCH) -> dict[str, object]:
    """Return the configuration for pictures; batch: the most in a batch."""
    manifest = os.path.join(inputs.folder, f"pictures{len(paths)}.tsv")
    with open(manifest, "w", encoding="ascii") as file:
        file.write("@FILE\n" + "".join(f"{path}\n" for path in paths))
    image = {"type": "image", "height": _SIDE, "width": _SIDE}
    augmentation: dict[str, object] = {"type": "image", "flip_enable": True, "center": False}
    augmentation |= {"do_area_scale": True, "scale": SHARE, "interpolation_method": "AREA"}
    config = {"manifest_filename": manifest, "batch_size": min(batch, len(paths))}
    return config | {"random_seed": 1, "etl": [image], "augmentation": [augmentation]}


def _pictures(
    inputs: Inputs, threads: int, name: str, peer: Callable[[Task], Peer], runs: int
) -> Figures:
    paths = pictures_of(inputs)
    with DataLoader(config_of(inputs, paths), threads=threads) as loader:
        other = peer(Task(paths, _SIDE, loader.batch_size, threads))
        figures = _figures(partial(_epoch, loader), other, name, len(paths), runs)
    figures["aeon, records/s"] = AEON[threads]
    if peer is torchvision:
        figures["by processor time"] = None  # its workers are other processes
    return figures


def _large(inputs: Inputs, threads: int, runs: int) -> Figures:
    paths = pictures_of(inputs, _LARGE, _LARGE_SIZE)
    config = config_of(inputs, paths, _LARGE_BATCH)
    with DataLoader(config, threads=threads, scaled_decoding=True) as loader:
        peer = bare(Task(paths, _SIDE, loader.batch_size, threads))
        return _figures(partial(_epoch, loader), peer, "simplejpeg + cv2", len(paths), runs)


def labels_of(inputs: Inputs) -> dict[str, object]:
    """Return the configuration for the labels of a manifest."""
    path = path_of(inputs)
    with open(path, encoding="ascii") as file:
        labels = [line.rpartition("\t")[2] for line in file.read().splitlines()[1:]]
    manifest = f"{path}.labels"
    with open(manifest, "w", encoding="ascii") as file:
        file.write("@ASCII_INT\n" + "".join(f"{label}\n" for label in labels))
    label = {"type": "label", "binary": True}
    size = min(1000, len(labels))
    return {"manifest_filename": manifest, "batch_size": size, "etl": [label]}


def _labels(inputs: Inputs, runs: int) -> Figures:
    with DataLoader(labels_of(inputs), findings=Findings()) as loader:
        numbers = np.zeros((len(loader), 1), np.uint32)
        peer = partial(_slices, numbers, loader.batch_size)
        return _figures(partial(_epoch, loader), peer, "slices of an array", len(numbers), runs)


def _blobs(inputs: Inputs, runs: int) -> Figures:
    """Blobs of a cache that is larger than the tables of the loader, against reading its blocks."""
    count = max(int(_BLOBS * inputs.part), 2)
    manifest, caches = (os.path.join(inputs.folder, name) for name in ("blobs.tsv", "caches"))
    os.makedirs(caches, exist_ok=True)
    draw = np.random.default_rng(5)
    with open(manifest, "w", encoding="ascii") as file:
        file.write("@BINARY\n")
        for _ in range(count):
            file.write(base64.b64encode(draw.bytes(_BLOB)).decode() + "\n")
    blob = {"type": "blob", "output_type": "uint8_t", "output_count": _BLOB}
    config = {"manifest_filename": manifest, "batch_size": min(_BLOB_BATCH, count)}
    config |= {"cache_directory": caches, "block_size": 1000, "etl": [blob]}
    with DataLoader(config, findings=Findings()) as loader:
        blocks = sorted(Path(caches).glob("*/*.cpio"))
        peer = partial(_read, blocks)
        return _figures(partial(_epoch, loader), peer, "file.read() of its blocks", count, runs)


def _read(paths: list[Path]) -> None:
    for path in paths:
        path.read_bytes()


def _epoch(loader: DataLoader) -> None:
    for _ in loader:
        pass


def _slices(numbers: NDArray[np.uint32], size: int) -> None:
    for begin in range(0, len(numbers), size):
        numbers[begin : begin + size].copy()


def pictures_of(inputs: Inputs, most: int = _PICTURES, size: tuple[int, int] = _SIZE) -> list[str]:
    """Return the paths of JPEGs of smooth noise: 0.32 bytes a pixel, as photographs often have."""
    cv2: Any = import_module("cv2")
    draw = np.random.default_rng(3)
    (width, height), paths = size, []
    for number in range(max(int(most * inputs.part), 4)):
        paths.append(os.path.join(inputs.folder, f"picture{width}-{number}.jpg"))
        if not os.path.exists(paths[-1]):
            rough = draw.integers(0, 256, (height // _SMOOTH, width // _SMOOTH, 3), np.uint8)
            quality = [cv2.IMWRITE_JPEG_QUALITY, 90]
            cv2.imwrite(paths[-1], cv2.resize(rough, size), quality)
    return paths


class _Timed:
    """A function, and the processor time of its calls in this process, in seconds."""

    def __init__(self, act: Callable[[], object]) -> None:
        self._act = act
        self.seconds: list[float] = []

    def __call__(self) -> None:
        begun = process_time()
        self._act()
        self.seconds.append(process_time() - begun)


def _figures(
    subject: Callable[[], object], peer: Callable[[], object], name: str, count: int, runs: int
) -> Figures:
    """Return the figures; other processes disturb those of the processor time least."""
    ours, theirs = _Timed(subject), _Timed(peer)
    result = race(ours, theirs, runs)
    turns = [*zip(theirs.seconds, ours.seconds, strict=True)][1:]
    return {
        "records": float(count),
        "records/s": result.subject.rate(count),
        "peer": name,
        "peer, records/s": result.peer.rate(count),
        "times as fast": result.ratio,
        "by processor time": Spread.of([their / our for their, our in turns if our]),
        "aeon, records/s": None,
    }
