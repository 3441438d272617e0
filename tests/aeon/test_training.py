"""A small network of convolutions learns from pictures, whatever exset reads them from."""

from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, Final, TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray

import exset
from exset.runtime.aeon.provision.opencv import opencv

pytest.importorskip("cv2")
pytest.importorskip("simplejpeg")

TRAINING, TESTING = 96, 48
SIDE: Final = 24
CLASSES: Final = 3
EPOCHS: Final = 8

Batches: TypeAlias = Iterator[tuple[NDArray[Any], NDArray[Any]]]
"""Pictures, [n, 3, height, width] of 0 to 255, with their classes, [n]."""


def stripes(random: np.random.Generator, kind: int) -> NDArray[np.uint8]:
    """A picture of upright or level stripes, or of both, with noise; colours say nothing."""
    y, x = np.mgrid[:30, :30] // random.integers(2, 5) % 2
    wave = (x, y, x ^ y)[kind][:, :, None] * random.integers(80, 160, 3)
    noisy = wave + random.integers(0, 90, (30, 30, 3))
    found: NDArray[np.uint8] = noisy.clip(0, 255).astype(np.uint8)
    return found


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with pictures, a manifest to learn from and one to test with."""
    folder = tmp_path_factory.mktemp("pictures")
    random = np.random.default_rng(1)
    for name, count in (("train", TRAINING), ("test", TESTING)):
        lines = ["@FILE\tASCII_INT"]
        for number in range(count):
            data = opencv().imencode(".jpg", stripes(random, number % CLASSES))[1].tobytes()
            (folder / f"{name}{number}.jpg").write_bytes(data)
            lines.append(f"{name}{number}.jpg\t{number % CLASSES}")
        (folder / f"{name}.tsv").write_text("\n".join(lines) + "\n")
    return folder


def loader(manifest: Path, size: int, augmentation: dict[str, Any], **more: Any) -> Any:
    image = {"type": "image", "height": SIDE, "width": SIDE}
    config = {
        "manifest_filename": str(manifest),
        "manifest_root": str(manifest.parent),
        "batch_size": size,
        "random_seed": 1,
        "shuffle_enable": True,
        "etl": [image, {"type": "label", "binary": True}],
        "augmentation": [{"type": "image"} | augmentation],
    }
    return exset.DataLoader(config | more, version="head")


def provided(batches: Any) -> Batches:
    for (_, images), (_, labels) in batches:
        yield images, labels[:, 0].astype(np.int64)


def of_manifest(folder: Path, work: Path) -> Callable[[int], Batches]:
    """Crops and flips of the files."""
    made = loader(folder / "train.tsv", 16, CHANGED)
    return lambda epoch: provided(made)


def of_cache(folder: Path, work: Path) -> Callable[[int], Batches]:
    """The same of a cache, which a first loader makes; the files are gone."""
    copy = work / "train.tsv"
    for path in (folder / "train.tsv", *folder.glob("train*.jpg")):
        (work / path.name).write_bytes(path.read_bytes())
    (work / "caches").mkdir()
    for _ in range(2):
        made = loader(copy, 16, CHANGED, cache_directory=str(work / "caches"))
        for path in work.glob("*.jpg"):
            path.unlink()
    return lambda epoch: provided(made)


def of_shard(folder: Path, work: Path) -> Callable[[int], Batches]:
    """Whole pictures of an archive, as webdataset reads it."""
    reader = pytest.importorskip("webdataset").tariterators
    archive = work / "train.tar"
    options: dict[str, Any] = {"base": str(folder), "contents": True}
    exset.convert(folder / "train.tsv", archive, names=["image", "label"], **options)
    with open(archive, "rb") as file:
        samples = [*reader.group_by_keys(reader.tar_file_expander([{"url": "", "stream": file}]))]
    images = np.stack([picture(sample["image.jpg"]).transpose(2, 0, 1) for sample in samples])
    labels = np.array([int(sample["label.cls"]) for sample in samples])

    def batches(epoch: int) -> Batches:
        order = np.random.default_rng(epoch).permutation(len(samples))
        for rows in np.split(order, len(samples) // 16):
            yield images[rows], labels[rows]

    return batches


def picture(data: bytes) -> NDArray[np.uint8]:
    cv2 = opencv()
    found: NDArray[np.uint8] = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
    return found[:SIDE, :SIDE]


CHANGED: Final = {"center": False, "scale": [0.8, 0.8], "flip_enable": True}


@pytest.mark.parametrize("source", [of_manifest, of_cache, of_shard])
def test_a_network_learns(
    source: Callable[[Path, Path], Callable[[int], Batches]],
    pictures: Path,
    tmp_path: Path,
    torch: ModuleType,
) -> None:
    network = small_network(torch)
    optimiser = torch.optim.Adam(network.parameters(), lr=0.003)
    batches, losses = source(pictures, tmp_path), []
    for epoch in range(EPOCHS):
        losses.append(0.0)
        for images, labels in batches(epoch):
            optimiser.zero_grad()
            loss = torch.nn.functional.cross_entropy(
                scores(torch, network, images), torch.from_numpy(labels)
            )
            loss.backward()
            optimiser.step()
            losses[-1] += loss.item()
    assert losses[-1] < losses[0] / 3
    [(images, labels)] = provided(loader(pictures / "test.tsv", TESTING, {"scale": [0.8, 0.8]}))
    network.eval()
    right = scores(torch, network, images).argmax(1).numpy() == labels
    assert right.mean() > 0.75  # by chance 0.33


def small_network(torch: ModuleType) -> Any:
    """AlexNet with few layers: convolutions with pooling, then dropout and full layers."""
    torch.manual_seed(0)
    layers = torch.nn
    return layers.Sequential(
        layers.Conv2d(3, 12, 5, stride=2, padding=2),
        layers.ReLU(),
        layers.MaxPool2d(3, 2),
        layers.Conv2d(12, 24, 3, padding=1),
        layers.ReLU(),
        layers.MaxPool2d(2, 2),
        layers.Flatten(),
        layers.Dropout(0.2),
        layers.LazyLinear(24),
        layers.ReLU(),
        layers.Linear(24, CLASSES),
    )


def scores(torch: ModuleType, network: Any, images: NDArray[np.uint8]) -> Any:
    return network(torch.from_numpy(images).float() / 128 - 1)
