"""Datasets of HDF5 samples: sample lists and schemas, in this process and in others."""

import pickle
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import exset
from exset import FormatError, LimitError, SampleList, Schema
from exset.grammars.lbann.list_types import Kind
from exset.runtime.arrays import Device, to_host
from exset.testing.lbann import sample_lists
from tests.training.backends import BACKENDS
from tests.training.dataset_laws import check

DEVICES: list[Device] = ["cpu", "portable"]
if len(BACKENDS) > 1:
    DEVICES.append("cuda")
DATA = Schema.of(
    {
        "image": {
            "metadata": {
                **{"dims": [2, 3], "channels": 2, "ordering": 10},
                **{"layout": "dhwc", "transpose": "chw"},
            }
        },
        "speed": {"metadata": {"ordering": 20}},
        "name": {},
    }
)
EXPERIMENT = Schema.of({"image": {}, "speed": {"metadata": {"pack": "labels"}}, "name": {}})
INCLUSION = "MULTI-SAMPLE_INCLUSION_V2"


@pytest.fixture
def samples(tmp_path: Path) -> SampleList:
    """Three samples of each of two files."""
    for file in range(2):
        with h5py.File(tmp_path / f"{file}.h5", "w") as out:
            for i in range(3):
                number = 10 * file + i
                out[f"{i}/image"] = np.arange(12.0).reshape(2, 3, 2) + number
                out[f"{i}/speed"] = float(number)
                out[f"{i}/name"] = f"sample {number}"
    ids = [("0.h5", [0, 1, 2]), ("1.h5", [0, 1, 2])]
    return SampleList.of(INCLUSION, str(tmp_path), ids)


def opened(samples: SampleList, **options: Any) -> exset.Dataset:
    return exset.dataset(samples, data=DATA, experiment=EXPERIMENT, **options)


@pytest.mark.filterwarnings("ignore::exset.core.errors.FormatWarning")
def test_samples_in_shape(samples: SampleList) -> None:
    dataset = opened(samples)
    assert isinstance(dataset, exset.SampleReader)
    assert dataset.fields == ("image", "name", "labels")
    every = check(dataset, [5, 0, 5, -6])
    assert [row["name"][2] for row in every] == [
        repr([f"sample {number}"]).encode() for number in (0, 1, 2, 10, 11, 12)
    ]
    batch = dataset.batch([4, 0])
    assert batch["image"].shape == (2, 2, 2, 3)
    plain = np.arange(12.0).reshape(2, 3, 2).transpose(2, 0, 1)
    np.testing.assert_array_equal(batch["image"], [plain + 11, plain])
    assert batch["labels"].tolist() == [[11], [0]]
    assert repr(dataset) == "SampleReader(6 samples, image, name, labels)"


@pytest.mark.filterwarnings("ignore::exset.core.errors.FormatWarning")
@pytest.mark.parametrize("device", DEVICES)
def test_all_samples_on_a_device(samples: SampleList, device: Device) -> None:
    dataset = opened(samples)
    expected, arrays = dataset.batch(range(6)), dataset.to_arrays(device)
    assert list(arrays) == list(expected)
    for name, array in arrays.items():
        np.testing.assert_array_equal(to_host(array), expected[name])
    assert isinstance(arrays["name"], np.ndarray) and arrays["name"].dtype == object


def test_warnings_come_with_the_first_batch(samples: SampleList) -> None:
    experiment = Schema.of({"speed": {"metadata": {"bias": 1.0}}})
    with pytest.warns(exset.FormatWarning, match="bias without scale") as caught:
        dataset = exset.dataset(samples, data=DATA, experiment=experiment)
    assert caught[0].filename == __file__
    assert dataset.batch([1])["speed"].tolist() == [[2.0]]
    with pytest.raises(FormatError, match="bias without scale"):
        exset.dataset(samples, data=DATA, experiment=experiment, strict=True)
    with pytest.raises(FormatError, match="hdf5-no-field"):
        nothing = Schema.of({"nothing": {}})
        exset.dataset(samples, data=nothing, experiment=nothing)
    with pytest.raises(TypeError):
        exset.dataset(samples)


def test_no_samples() -> None:
    dataset = opened(SampleList.of(INCLUSION, "/nowhere", []))
    assert len(dataset) == 0 and dataset.fields == () and dataset.batch([]) == {}
    assert dataset.to_arrays() == {} and repr(dataset) == "SampleReader(0 samples, )"
    with pytest.raises(IndexError):
        dataset.batch([0])


@pytest.mark.filterwarnings("ignore::exset.core.errors.FormatWarning")
def test_a_huge_list_is_not_expanded(samples: SampleList) -> None:
    """Ranges are not expanded, neither here nor in a pickle."""
    first = samples.files[0].path
    count = "1000000000000"
    text = f"{INCLUSION}\n{count} 1\n/\n{first[1:]} {count} 0 ... 999999999999\n"
    huge = exset.loads(text, format="sample_list", model=SampleList, ids="integer")
    dataset = opened(huge)
    assert len(dataset) == 10**12 and len(pickle.dumps(dataset)) < 20_000
    assert dataset.batch([2, 0])["labels"].tolist() == [[2], [0]]
    with pytest.raises(LimitError, match="1,000,000,000,000 samples"):
        dataset.to_arrays()
    with pytest.raises(FormatError, match="hdf5-no-sample"):
        dataset.batch([-1])


@settings(max_examples=30)
@given(sample_lists(), st.data())
def test_pairs_by_number(samples: SampleList, data: st.DataObject) -> None:
    if samples.kind.is_exclusion and len(samples):
        with pytest.raises(FormatError, match="lbann-exclusion"):
            samples.pairs_at(np.zeros(1, np.int64))
        return
    if len(samples) > 10_000:
        return
    every = list(samples.pairs())
    rows = data.draw(st.lists(st.integers(0, len(every) - 1), max_size=8)) if every else []
    assert samples.pairs_at(np.array(rows, np.int64)) == [every[row] for row in rows]
    assert samples.pairs_at(np.arange(len(every))) == every


def test_pairs_of_single_samples() -> None:
    single = SampleList.of(Kind("SINGLE-SAMPLE"), "/d", [("a", []), ("b", [])], label_file="")
    assert single.pairs_at(np.array([1, 0])) == [("/d/b", "b"), ("/d/a", "a")]
