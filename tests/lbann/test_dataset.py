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
        repr(f"sample {number}").encode() for number in (0, 1, 2, 10, 11, 12)
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
    assert dataset.batch([1])["speed"].tolist() == [2.0]
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


@pytest.fixture
def paths(samples: SampleList, tmp_path: Path) -> dict[str, Any]:
    """The paths of the schemas, and of the list under the name of the source."""
    made = {name: tmp_path / f"{name}.yaml" for name in ("data", "experiment")}
    exset.save(DATA, made["data"])
    exset.save(EXPERIMENT, made["experiment"])
    exset.save(samples.with_text_ids(), tmp_path / "x.sample_list")
    return {"source": tmp_path / "x.sample_list", **made}


@pytest.mark.filterwarnings("ignore::exset.core.errors.FormatWarning")
def test_schemas_by_their_paths(samples: SampleList, paths: dict[str, Any]) -> None:
    batch, expected = exset.dataset(**paths).batch([4, 0]), opened(samples).batch([4, 0])
    assert batch.keys() == expected.keys()
    assert all((batch[name] == expected[name]).all() for name in batch)
    reader = exset.SampleReader(samples, str(paths["data"]), bytes(paths["experiment"]))
    assert reader.fields == ("image", "name", "labels")


@pytest.mark.parametrize("kind", [str, bytes, Path])
def test_a_list_by_its_path(paths: dict[str, Any], kind: type[str | bytes | Path]) -> None:
    source, data, experiment = paths.values()
    findings = exset.Findings()
    reader = exset.SampleReader(kind(source), data, experiment, findings=findings)
    assert len(reader) == 6 and reader.batch([4])["labels"].tolist() == [[11]]
    with pytest.raises(FileNotFoundError):
        exset.SampleReader("nowhere.sample_list", data, experiment)
    with pytest.raises(FormatError) as error:
        exset.SampleReader(kind(data), data, experiment)
    assert error.value.place is not None and error.value.place.source == str(data)


def test_findings_of_schemas_by_their_paths_name_the_file(paths: dict[str, Any]) -> None:
    paths["data"].write_text("image: 1\nspeed:\nname:\n")
    findings = exset.Findings()
    exset.dataset(**paths, findings=findings)
    discarded = next(each for each in findings if each.code == "lbann-discarded")
    assert discarded.place is not None and discarded.place.source == str(paths["data"])
    with pytest.raises(FormatError, match="lbann-discarded"):
        exset.dataset(**paths, strict=True)


def test_a_dataset_without_schemas(samples: SampleList, paths: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match="argument data is missing"):
        exset.dataset(samples)
    with pytest.raises(TypeError, match="argument experiment is missing"):
        exset.dataset(samples, data=DATA)
    with pytest.raises(TypeError, match=r"^experiment must be a schema or its path, not int"):
        exset.dataset(samples, data=DATA, experiment=3)
    with pytest.raises(FileNotFoundError):
        exset.dataset(samples, data="nowhere.yaml", experiment=EXPERIMENT)
    with pytest.raises(FormatError, match="not a schema"):
        exset.dataset(samples, data=paths["source"], experiment=EXPERIMENT)


def test_options_of_the_reader_of_a_list(paths: dict[str, Any], tmp_path: Path) -> None:
    paths["source"].write_text(f"SINGLE-SAMPLE\n1\n{tmp_path}\nnone\n0.h5 3 0 0 1 2\n")
    findings = exset.Findings()
    assert len(exset.dataset(**paths, reader="hdf5", findings=findings)) == 3
    assert findings.count("lbann-other-type") == 1


@pytest.mark.filterwarnings("ignore::exset.core.errors.FormatWarning")
def test_chosen_fields_are_read_without_others(samples: SampleList, tmp_path: Path) -> None:
    """A field may lack in later samples, and a group is read without what is not packed into it."""
    whole = opened(samples).batch([4, 0])
    with h5py.File(tmp_path / "1.h5", "r+") as file:
        for i in range(3):
            del file[f"{i}/image"]
    with pytest.raises(FormatError):
        opened(samples).batch([4, 0])
    chosen = opened(samples, fields=["labels", "name"])
    check(chosen, [5, 0])
    batch = chosen.batch([4, 0])
    assert list(batch) == ["labels", "name"] == list(chosen.fields)
    assert all((batch[name] == whole[name]).all() for name in batch)
    assert opened(samples, fields=["speed"]).batch([4, 0])["speed"].tolist() == [11, 0]
    assert opened(samples, fields=[]).batch([4, 0]) == {}
    wrong: list[Any] = ["name", ["name", "name"], ["image/x"], [3]]
    for fields in wrong:
        with pytest.raises(ValueError, match=r"^fields"):
            opened(samples, fields=fields)


@pytest.mark.filterwarnings("ignore::exset.core.errors.FormatWarning")
def test_scalars_have_the_shape_of_those_of_manifests(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "a.h5", "w") as file:
        for i in range(3):
            file[f"{i}/scalar"], file[f"{i}/one"], file[f"{i}/word"] = i, [i], f"w{i}"
            file[f"{i}/channel"] = float(i)
    schema = Schema.of(
        {"scalar": {}, "one": {}, "word": {}, "channel": {"metadata": {"channels": 1, "dims": [1]}}}
    )
    pairs = [(str(tmp_path / "a.h5"), str(i)) for i in range(3)]
    batch = exset.SampleReader(pairs, schema, schema).batch([2, 0])
    assert batch["scalar"].tolist() == [2, 0] and batch["word"].tolist() == ["w2", "w0"]
    assert batch["one"].tolist() == [[2], [0]] and batch["channel"].shape == (2, 1, 1)
