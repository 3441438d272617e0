"""What `dataset` takes, and what all datasets have in common."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import exset
from exset import Dataset, ExampleSet, FormatError, Manifest, Schema
from exset.grammars.aeon.block import Block
from exset.runtime.aeon.cache import Cache
from exset.runtime.arrays import Device, namespace, to_host
from tests.training.backends import BACKENDS
from tests.training.dataset_laws import check
from tests.training.squares import Squares

DEVICES: list[Device] = ["cpu", "portable"]
if len(BACKENDS) > 1:
    DEVICES.append("cuda")


def test_the_family_says_the_class(tmp_path: Path) -> None:
    exset.save(Block.of([[b"a"]]), tmp_path / "block_0.cpio")
    made: dict[type[Dataset], list[Any]] = {
        exset.ExampleDataset: ["exset::xor.ex", exset.load("exset::xor.ex")],
        exset.ManifestDataset: ["exset::captions.tsv", Manifest.of(["STRING"], [["a"]])],
        exset.CacheDataset: [
            *(tmp_path / "block_0.cpio", Block.of([[b"a"]])),
            *(tmp_path, Cache(str(tmp_path))),
        ],
    }
    for kind, several in made.items():
        for given in several:
            dataset = exset.dataset(given, findings=exset.Findings())
            assert type(dataset) is kind and isinstance(dataset, Dataset)
            assert check(dataset)


def test_what_has_no_samples(tmp_path: Path) -> None:
    (tmp_path / "data.yaml").write_text("x:\n")
    for given in (Schema.of({"x": {}}), tmp_path / "data.yaml"):
        with pytest.raises(TypeError, match="a schema names no samples"):
            exset.dataset(given)
    with pytest.raises(TypeError, match="expected a model, not int"):
        exset.dataset(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="padding"):
        exset.dataset("exset::captions.tsv", padding=True)
    with pytest.raises(FileNotFoundError):
        exset.dataset(tmp_path / "none.ex")
    (tmp_path / "bad.ex").write_text("name: {")
    with pytest.raises(FormatError):
        exset.dataset(tmp_path / "bad.ex")


def test_findings_of_a_file_are_told(tmp_path: Path) -> None:
    path = tmp_path / "trap.ex"
    path.write_text("[max:] I: 1 0 T: 1;")
    with pytest.warns(exset.FormatWarning, match="max") as told:
        exset.dataset(path)
    assert told[0].filename == __file__
    with pytest.raises(FormatError):
        exset.dataset(path, strict=True)


def test_a_format_that_is_said(tmp_path: Path) -> None:
    path = tmp_path / "named_otherwise.tsv"
    path.write_text("I: 1 0 T: 1;")
    assert type(exset.dataset(path, format="manifest")) is exset.ManifestDataset
    assert type(exset.dataset(path, format="ex")) is exset.ExampleDataset
    exset.save(Block.of([[b"one"], [b"two"]]), path, format="block")
    assert len(exset.dataset(path, format="block")) == 2
    with pytest.raises(ValueError, match="nothing"):
        exset.dataset(path, format="nothing")


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    "path, by", [("exset::groups.ex", "event"), ("exset::pulse.ex", "example")]
)
def test_all_samples_on_a_device(device: Device, path: str, by: str) -> None:
    dataset = exset.dataset(path, by=by)
    wanted, arrays = dataset.batch(range(len(dataset))), dataset.to_arrays(device)
    assert list(arrays) == list(wanted) == list(dataset.fields)
    for name, array in arrays.items():
        assert type(array) is type(namespace(device).zeros(1))
        np.testing.assert_array_equal(to_host(array), wanted[name])
    with pytest.raises(ValueError, match="unknown device"):
        dataset.to_arrays("gpu")


def test_arrays_on_a_device_with_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """All arrays are made while it is the current device, and only then."""
    current: list[int] = []
    made: list[list[int]] = []
    portable = namespace("portable")
    asarray = portable.asarray

    @contextmanager
    def device(number: int) -> Iterator[None]:
        current.append(number)
        yield
        current.pop()

    def recorded(*values: object, **options: object) -> object:
        made.append([*current])
        return asarray(*values, **options)

    runtime = SimpleNamespace(getDeviceCount=lambda: 4)
    cuda = SimpleNamespace(Device=device, runtime=runtime)
    monkeypatch.setattr(portable, "cuda", cuda, raising=False)
    monkeypatch.setattr(portable, "asarray", recorded)
    examples = exset.load("exset::pulse.ex", model=ExampleSet)
    acts: list[Callable[[Device], object]] = [
        lambda device: exset.to_arrays(examples, device=device),
        lambda device: exset.to_csr(examples, device=device),
        exset.dataset(examples).to_arrays,
        exset.dataset(examples, by="example").to_arrays,
        exset.dataset("exset::captions.tsv", padded=True).to_arrays,
        Squares(3).to_arrays,
    ]
    for act in acts:
        made.clear()
        act("portable:3")
        assert made and all(each == [3] for each in made) and not current
        with pytest.raises(ValueError, match="unknown device 'portable:4': CuPy has 4 devices"):
            act("portable:4")


def test_arrays_are_shared() -> None:
    for dataset in (exset.dataset("exset::pulse.ex"), exset.dataset("exset::captions.tsv")):
        for array in dataset.batch([0, 1]).values():
            shared = np.from_dlpack(array)
            shared[0] = 1
            assert np.asarray(array).reshape(-1)[0] == 1


def test_real_caches_and_manifests(corpus: Path) -> None:
    """Records are what iteration gives, however they are asked for."""
    seen = 0
    for folder in sorted((corpus / "aeon").rglob("aeon_cache_*")):
        try:
            wanted = [
                [bytes(each) for each in record] for block in Cache(str(folder)) for record in block
            ]
        except FormatError:
            continue
        dataset = exset.dataset(folder, findings=exset.Findings())
        assert len(dataset) == len(wanted)
        order = np.random.default_rng(1).permutation(len(wanted))[:200]
        batch = dataset.batch(order)
        for column in range(len(dataset.ragged)):
            values, offsets = batch[f"{column}.values"], batch[f"{column}.offsets"]
            parts = np.split(values, offsets[1:-1]) if order.size else []
            assert [part.tobytes() for part in parts] == [wanted[row][column] for row in order]
        seen += 1
    assert seen > 10
    sets = 0
    for path in sorted((corpus / "lens").rglob("*.ex"))[:40]:
        try:
            examples = exset.load(path, model=ExampleSet, findings=exset.Findings())
            arrays = exset.to_arrays(examples, findings=exset.Findings())
        except FormatError:
            continue
        dataset = exset.ExampleDataset(examples, findings=exset.Findings())
        rows = np.random.default_rng(2).integers(0, max(len(dataset), 1), 50)[: len(dataset) * 50]
        for name, array in dataset.batch(rows).items():
            np.testing.assert_array_equal(array, getattr(arrays, name)[rows])
        sets += 1
    assert sets > 10
