"""Datasets in torch's loaders: one read a batch, workers of both kinds, text and ragged fields."""

import pickle
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import h5py
import numpy as np
import pytest

import exset
from exset import Dataset, Example, ExampleSet, Manifest, Schema
from exset.grammars.aeon.block import Block

pytestmark = pytest.mark.usefixtures("torch")


@pytest.fixture
def manifest(tmp_path: Path) -> Manifest:
    for i in range(6):
        (tmp_path / f"{i}.bin").write_bytes(bytes(range(i)))
    return Manifest.of(["FILE", "ASCII_INT"], [(f"{i}.bin", i) for i in range(6)])


@pytest.fixture
def hdf5(tmp_path: Path) -> Dataset:
    """Six samples in two files: a field of four numbers, and a text."""
    for file in range(2):
        with h5py.File(tmp_path / f"{file}.h5", "w") as out:
            for i in range(3):
                out[f"{i}/x"] = np.full((2, 2), 3.0 * file + i)
                out[f"{i}/name"] = f"s{3 * file + i}"
    schema = Schema.of({"x": {}, "name": {}})
    pairs = [(str(tmp_path / f"{file}.h5"), f"{i}") for file in range(2) for i in range(3)]
    return exset.SampleReader(pairs, schema, schema, findings=exset.Findings())


class Counting(Dataset):
    """Counts the batches that are read."""

    def __init__(self) -> None:
        self.read: list[list[int]] = []

    @property
    def fields(self) -> tuple[str, ...]:
        return ("x",)

    def __len__(self) -> int:
        return 10

    def batch(self, indices: Any) -> dict[str, Any]:
        self.read.append(list(indices))
        return {"x": np.asarray(indices, np.float32)}


def test_a_list_of_indices_is_one_read(torch: ModuleType) -> None:
    from torch.utils.data import DataLoader
    from torch.utils.data import Dataset as Torch

    counting = Counting()
    data = counting.to_torch()
    assert isinstance(data, Torch) and len(data) == 10
    assert [batch["x"].tolist() for batch in DataLoader(data, batch_size=4)] == [
        *([0, 1, 2, 3], [4, 5, 6, 7], [8, 9]),
    ]
    assert counting.read == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    whole = DataLoader(data, batch_size=None, sampler=[[1, 2], [3]])
    assert [batch["x"].tolist() for batch in whole] == [[1, 2], [3]]
    assert data[-1]["x"] == 9 and data[torch.tensor(3)]["x"] == 3 and data[np.int64(3)]["x"] == 3
    with pytest.raises(IndexError):
        data[10]
    with pytest.raises(TypeError):
        data[1.5]
    assert sum(1 for _ in data) == 10  # as a sequence it ends


def test_the_loader_takes_batches_as_they_are(torch: ModuleType) -> None:
    """They equal what torch stacks itself, and nothing is split and stacked again."""
    from torch.utils.data import ConcatDataset, DataLoader, Subset, default_collate

    events = exset.dataset("exset::pulse.ex").to_torch()
    samples = events.__getitems__([7, 0, 11])
    batch = default_collate(samples)
    assert type(batch) is dict and batch["inputs"] is samples.columns["inputs"]
    assert "_samples" not in vars(samples), "no list of samples was made"
    stacked = default_collate([dict(sample) for sample in samples])
    assert list(batch) == list(stacked) == list(samples[0])
    for name, column in stacked.items():
        assert batch[name].dtype == column.dtype
        np.testing.assert_array_equal(batch[name].numpy(), column.numpy())
    assert len(samples) == 3 and len(samples[1:]) == 2
    assert repr(samples[-1]) == repr(samples[1:][1]) == repr(events[11])
    with pytest.raises(IndexError):
        samples[3]
    whole = next(iter(DataLoader(events, batch_size=12)))
    for other in (ConcatDataset([events, events]), Subset(events, range(12)), list(events)):
        found = next(iter(DataLoader(other, batch_size=12)))
        for name, column in whole.items():
            assert found[name].dtype == column.dtype
            np.testing.assert_array_equal(found[name].numpy(), column.numpy())


def test_tensors_share_memory(torch: ModuleType) -> None:
    kept = []

    class Keeping(Counting):
        def batch(self, indices: Any) -> dict[str, Any]:
            kept.append(super().batch(indices))
            return kept[-1]

    sample = Keeping().to_torch()[[3, 4]]
    sample["x"][1] = 9
    assert kept[0]["x"].tolist() == [3, 9]
    assert torch.from_dlpack(kept[0]["x"]).tolist() == [3, 9]


@pytest.mark.parametrize("workers", ["fork", "spawn"])
@pytest.mark.filterwarnings("ignore:This process.*multi-threaded:DeprecationWarning")
def test_workers_open_files_themselves(
    workers: str, hdf5: Dataset, manifest: Manifest, tmp_path: Path
) -> None:
    """The parent has read from all of them before."""
    from torch.utils.data import DataLoader

    exset.save(Block.of([[bytes(4), b"\7\0\0\0"]] * 6), tmp_path / "block_0.cpio")
    examples = exset.load("exset::pulse.ex", model=ExampleSet)
    datasets = [
        hdf5,
        exset.dataset(tmp_path / "block_0.cpio", types="FILE,ASCII_INT"),
        exset.dataset(manifest, base=str(tmp_path), padded=True),
        exset.dataset(examples),
    ]
    mixed = Mixed(datasets)
    wanted = [mixed.batch([i, i + 1]) for i in range(0, 6, 2)]
    loader = DataLoader(
        mixed.to_torch(),
        batch_size=None,
        sampler=[[0, 1], [2, 3], [4, 5]],
        num_workers=2,
        multiprocessing_context=workers,
    )
    for found, batch in zip(loader, wanted, strict=True):
        assert list(found) == list(batch)
        for name, array in batch.items():
            assert found[name] == array.tolist() if array.dtype == object else True
            if array.dtype != object:
                np.testing.assert_array_equal(found[name].numpy(), array)


class Mixed(Dataset):
    """Several datasets in one, so that one loader, which is slow to start, tries them all."""

    def __init__(self, datasets: Sequence[Dataset]) -> None:
        self.datasets = datasets

    @property
    def fields(self) -> tuple[str, ...]:
        pairs = enumerate(self.datasets)
        return tuple(f"{number}/{name}" for number, each in pairs for name in each.fields)

    def __len__(self) -> int:
        return 6

    def batch(self, indices: Any) -> dict[str, Any]:
        pairs = enumerate(self.datasets)
        return {f"{n}/{k}": v for n, each in pairs for k, v in each.batch(indices).items()}


def test_text_stays_text(hdf5: Dataset) -> None:
    from torch.utils.data import DataLoader

    data = hdf5.to_torch()
    assert data[4]["name"] == "s4" and data[4]["x"].tolist() == [4] * 4
    assert data[[4, 0]]["name"] == ["s4", "s0"]
    batch = next(iter(DataLoader(data, batch_size=3)))
    assert batch["name"] == ["s0", "s1", "s2"]
    assert batch["x"].shape == (3, 4)


def test_ragged_fields(torch: ModuleType, manifest: Manifest, tmp_path: Path) -> None:
    from torch.utils.data import DataLoader

    data = exset.dataset(manifest, names=["image", "label"], base=str(tmp_path)).to_torch()
    assert list(data[3]) == ["image", "label"]
    assert data[3]["image"].tolist() == [0, 1, 2] and int(data[3]["label"]) == 3
    assert data[0]["image"].tolist() == []
    whole = data[[3, 0, 2]]
    assert whole["image.values"].tolist() == [0, 1, 2, 0, 1]
    assert whole["image.offsets"].tolist() == [0, 3, 3, 5]
    nested = torch.nested.nested_tensor_from_jagged(whole["image.values"], whole["image.offsets"])
    assert [each.tolist() for each in nested.unbind()] == [[0, 1, 2], [], [0, 1]]
    loader = DataLoader(data, batch_size=2, collate_fn=list)
    assert [len(each["image"]) for batch in loader for each in batch] == [0, 1, 2, 3, 4, 5]
    padded = exset.dataset(manifest, base=str(tmp_path), padded=True).to_torch()
    batch = list(DataLoader(padded, batch_size=3))[1]
    assert batch["0"].shape == (3, 5) and batch["0.mask"].sum(1).tolist() == [3, 4, 5]


def test_a_pickle_is_no_larger_than_the_dataset_s() -> None:
    examples = ExampleSet.from_examples([Example([])] * 0)
    for dataset in (exset.dataset(examples), exset.dataset("exset::xor.ex")):
        data = dataset.to_torch()
        assert len(pickle.dumps(data)) < len(pickle.dumps(dataset)) + 200


def test_without_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match=r"pip install 'exset\[torch\]'"):
        exset.dataset("exset::xor.ex").to_torch()
