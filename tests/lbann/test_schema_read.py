"""Batches of samples, compared with a model that reads one sample at a time."""

import struct
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exset.core.errors import Findings, FormatError, FormatWarning, LimitError
from exset.core.limits import Limits
from exset.core.source import Source
from exset.grammars.lbann.schema import Schema
from exset.io.access import Access
from exset.parsers.lbann.schema import parse
from exset.runtime.lbann.fields import coerce, normalise, repack
from exset.runtime.lbann.merged_schema import merge_schemas
from exset.runtime.lbann.sample_reader import SampleReader
from exset.runtime.training.dataset import Values

DATA = b"""
inputs:
   initial_modes:
   trans_u:
   trans_v:
       metadata:
           scale: 1.666669
           bias: 0.5000008
           ordering: 104
outputs:
   scalars:
       BWx:
       BT:
       tMAXt:
       MT:
           B4:
           after:
   images:
       metadata:
           dims: [64, 64]
           channels: 4
           scale: [29.258502, 858.26596, 100048.72, 4807207.0]
       img_1: 
       img_2: 
       img_3:
"""
EXPERIMENT = b"""
inputs:
    metadata:
       pack: sample
outputs:
    metadata:
       pack: sample
    scalars:
        MT:
    images:
"""


def schema(text: bytes | str | dict[str, Any]) -> Schema:
    if isinstance(text, dict):
        return Schema.of(text)
    return parse(Source("schema.yaml", text.encode() if isinstance(text, str) else text))


def files(folder: Path, contents: dict[str, dict[str, dict[str, Any]]]) -> list[tuple[str, str]]:
    """Write files of samples of fields; return all samples."""
    pairs = []
    for name, samples in contents.items():
        with h5py.File(folder / name, "w") as file:
            for sample, fields in samples.items():
                group = file.create_group(sample)
                for field, values in fields.items():
                    group[field] = values
                pairs.append((str(folder / name), sample))
    return pairs


def read(
    pairs: list[tuple[str, str]], data: Any, experiment: Any, **options: Any
) -> dict[str, Values]:
    reader = SampleReader(pairs, schema(data), schema(experiment), **options)
    return reader.batch(range(len(pairs)))


def test_the_example_of_the_manual(tmp_path: Path) -> None:
    """The fields of the example, in the order of its rules, as one vector for each sample."""
    resolved = merge_schemas(schema(DATA), schema(EXPERIMENT))
    assert [field.name for field in resolved.fields] == [
        *("inputs/initial_modes", "inputs/trans_u", "inputs/trans_v"),
        *("outputs/images/img_1", "outputs/images/img_2", "outputs/images/img_3"),
        *("outputs/scalars/MT/B4", "outputs/scalars/MT/after"),
    ]
    chance = np.random.default_rng(1)

    def sample() -> dict[str, Any]:
        return {
            "inputs/initial_modes": chance.random((4, 3)),
            "inputs/trans_u": chance.random(),
            "inputs/trans_v": chance.random(),
            "outputs/scalars/BWx": chance.random(),
            "outputs/scalars/MT/B4": chance.random(),
            "outputs/scalars/MT/after": chance.random(),
            **{f"outputs/images/img_{i}": chance.random((64, 64, 4)) for i in (1, 2, 3)},
        }

    contents = {"a.h5": {"run/000": sample(), "run/001": sample()}, "b.h5": {"run/000": sample()}}
    findings = Findings()
    pairs = files(tmp_path, contents)
    batch = read(pairs, DATA, EXPERIMENT, findings=findings)
    assert list(batch) == ["sample"] and batch["sample"].dtype == np.float64
    scales = np.array([29.258502, 858.26596, 100048.72, 4807207.0])
    samples = [fields for each in contents.values() for fields in each.values()]
    for row, fields in zip(batch["sample"], samples, strict=True):
        expected = [
            [fields["inputs/trans_v"] * 1.666669 + 0.5000008],  # it alone has an ordering
            fields["inputs/initial_modes"].reshape(-1),
            [fields["inputs/trans_u"]],
            *((fields[f"outputs/images/img_{i}"] * scales).reshape(-1) for i in (1, 2, 3)),
            [fields["outputs/scalars/MT/B4"]],
            [fields["outputs/scalars/MT/after"]],
        ]
        assert row.tobytes() == np.concatenate(expected).tobytes()
    assert findings.count("lbann-refuses") == 10  # 7 without ordering, 3 scales without hwc
    with pytest.raises(FormatError, match="lbann-refuses"):
        read(pairs, DATA, EXPERIMENT, compat="lbann")
    whole = read(pairs, DATA, EXPERIMENT, keep_packed=True, findings=Findings())
    assert whole["outputs/images/img_2"].shape == (3, 4, 64, 64)
    assert whole["inputs/initial_modes"].shape == (3, 12)


NUMBERS = ("f4", "f8", "i4", "i8", "u1", "i2", ">f4", ">i8")


@st.composite
def cases(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any], list[str], str]:
    """Draw a flat data schema, the types of its fields, the fields to read, and a coercion."""
    names = [f"f{i}" for i in range(draw(st.integers(1, 4)))]
    forms, tree = {}, {}
    for name in names:
        channels = draw(st.integers(1, 3))
        shape = draw(st.sampled_from([(), (3,), (2, 2), (2, 3, channels), (1, 2, 2, channels)]))
        metadata: dict[str, Any] = {"ordering": draw(st.integers(-2, 2))}
        real = st.floats(-1e3, 1e3)
        if len(shape) > 2:
            metadata |= {"channels": channels, "dims": list(shape[:-1]), "hwc": 1}
            if draw(st.booleans()):
                metadata["scale"] = [draw(real) for _ in range(channels)]
            if draw(st.booleans()):
                metadata |= {"layout": "dhwc", "transpose": "chw"}
        elif draw(st.booleans()):
            metadata |= {"scale": draw(real), "bias": draw(real)}
        if draw(st.booleans()):
            metadata["pack"] = draw(st.sampled_from(["samples", "labels"]))
        forms[name] = (draw(st.sampled_from(NUMBERS)), shape)
        tree[name] = {"metadata": metadata}
    chosen = draw(st.lists(st.sampled_from(names), unique=True, min_size=1))
    return tree, forms, chosen, draw(st.sampled_from(["float", "double"]))


def slowly(values: Any, metadata: dict[str, Any], coerce: str) -> list[float]:
    """A field of one sample, number by number, in Python floats."""

    def rounded(number: float) -> float:
        if coerce == "double":
            return number
        return float(struct.unpack("f", struct.pack("f", number))[0])

    numbers = [rounded(float(value)) for value in np.asarray(values).reshape(-1).tolist()]
    channels = metadata.get("channels", 1)
    if "scale" in metadata or "bias" in metadata:
        scale, bias = metadata.get("scale", 1.0), metadata.get("bias", 0.0)
        scales = scale if isinstance(scale, list) else [scale]
        numbers = [
            rounded(number * scales[at % len(scales)] + bias) for at, number in enumerate(numbers)
        ]
    if "layout" in metadata and channels > 1:
        apart = [numbers[channel::channels] for channel in range(channels)]
        numbers = [number for channel in apart for number in channel]
    return numbers


@given(cases(), st.integers(0, 2**32), st.lists(st.integers(0, 5), min_size=1, max_size=8))
def test_a_batch_agrees_with_a_slow_model(
    tmp_path_factory: pytest.TempPathFactory,
    case: tuple[dict[str, Any], dict[str, Any], list[str], str],
    seed: int,
    which: list[int],
) -> None:
    tree, forms, chosen, coerce = case
    chance = np.random.default_rng(seed)
    folder = tmp_path_factory.mktemp("files")

    def made(kind: str, shape: tuple[int, ...]) -> Any:
        return np.asarray(chance.integers(0, 100, shape) / (1 if "i" in kind else 7)).astype(kind)

    samples = [{name: made(*form) for name, form in forms.items()} for _ in range(6)]
    pairs = files(
        folder,
        {
            "b.h5": {f"run/{i}": samples[i] for i in range(3)},
            "a.h5": {f"run/{i}": samples[i] for i in range(3, 6)},
        },
    )
    experiment = {"metadata": {"coerce": coerce}} | dict.fromkeys(chosen)
    reader = SampleReader(
        pairs, schema(tree), schema(experiment), keep_packed=True, findings=Findings()
    )
    batch = reader.batch(which)
    dtype = {"float": "f4", "double": "f8"}[coerce]
    for row, at in enumerate(which):
        slow = {name: slowly(samples[at][name], tree[name]["metadata"], coerce) for name in chosen}
        groups: dict[str, list[tuple[int, str]]] = {}
        for name in chosen:
            metadata = tree[name]["metadata"]
            if "pack" in metadata:
                groups.setdefault(metadata["pack"], []).append((metadata["ordering"], name))
        for group, members in groups.items():
            slow[group] = [number for _, name in sorted(members) for number in slow[name]]
        assert batch.keys() == slow.keys()
        for name, numbers in slow.items():
            assert batch[name].dtype == dtype
            assert batch[name][row].tobytes() == np.array(numbers, dtype).tobytes(), name


def test_samples_are_in_the_requested_order(tmp_path: Path) -> None:
    contents = {
        name: {f"{i}": {"x": np.float64(10 * n + i)} for i in range(3)}
        for n, name in enumerate(("b.h5", "a.h5"))
    }
    reader = SampleReader(files(tmp_path, contents), schema("x:\n"), schema("x:\n"))
    assert len(reader) == 6
    every = [0, 1, 2, 10, 11, 12]
    assert reader.to_arrays()["x"].tolist() == every
    assert reader.batch([5, 0, 0, 4])["x"].tolist() == [12, 0, 0, 11]
    assert reader.batch(np.arange(6) % 2 == 0)["x"].tolist() == every[::2]
    assert reader.batch([])["x"].shape == (0,)
    with pytest.raises(IndexError):
        reader.batch([6])
    assert reader.batch([-1])["x"].tolist() == [12]


def test_a_list_and_a_base_folder(tmp_path: Path) -> None:
    files(tmp_path, {"a.h5": {"7": {"x": 1.5}}})
    for base in (str(tmp_path), f"{tmp_path}/"):
        reader = SampleReader([("a.h5", 7)], schema("x:\n"), schema("x:\n"), base=base)
        assert reader.to_arrays()["x"].tolist() == [1.5]
    with pytest.raises(FormatError, match="hdf5-roots"):
        read([(f"{tmp_path}/a.h5", "7")], "x:\n", "x:\n", access=Access(roots=(f"{tmp_path}/b",)))


UNLIKE = [
    ({"x": np.zeros(4)}, "hdf5-odd-sample"),
    ({"x": np.zeros(3, "f4")}, "hdf5-odd-sample"),
    ({"x": np.zeros(3, "i8")}, "hdf5-odd-sample"),
    ({"x": "text"}, "hdf5-odd-sample"),
    ({"x/y": 1.0}, "hdf5-no-field"),
    ({"y": 1.0}, "hdf5-no-field"),
]


@pytest.mark.parametrize(("other", "code"), UNLIKE)
def test_samples_that_differ_are_an_error(tmp_path: Path, other: dict[str, Any], code: str) -> None:
    pairs = files(tmp_path, {"a.h5": {"1": {"x": np.ones(3)}, "2": other}})
    with pytest.raises(FormatError) as caught:
        read(pairs, "x:\n", "x:\n")
    assert caught.value.code == code
    assert caught.value.place is not None and caught.value.place.field == "2/x"
    same_size = isinstance(other.get("x"), np.ndarray) and len(other["x"]) == 3
    coerced = {"x": {"metadata": {"coerce": "float"}}}
    if same_size:  # a coerced field may have any type of number
        assert read(pairs, "x:\n", coerced)["x"].tolist() == [[1, 1, 1], [0, 0, 0]]


def test_shapes_of_equal_size_are_equal(tmp_path: Path) -> None:
    """LBANN flattens all data."""
    shapes: list[tuple[int, ...]] = [(2, 3), (6,), (3, 2)]
    samples = {str(i): {"x": np.arange(6.0).reshape(shape)} for i, shape in enumerate(shapes)}
    batch = read(files(tmp_path, {"a.h5": samples}), "x:\n", "x:\n")
    assert batch["x"].tolist() == [[0, 1, 2, 3, 4, 5]] * 3


def test_one_warning_for_findings_without_collector(tmp_path: Path) -> None:
    pairs = files(tmp_path, {"a.h5": {"1": {"x": 1.0}}})
    reader = SampleReader(pairs, schema("x:\n"), schema({"x": {"metadata": {"bias": 1.0}}}))
    with pytest.warns(FormatWarning, match="bias without scale") as caught:
        assert reader.to_arrays()["x"].tolist() == [2.0]
    assert caught[0].filename == __file__
    assert reader.batch([0])["x"].tolist() == [2.0]  # and no second one
    assert reader.findings.count("lbann-refuses") == 1


def test_missing_samples_and_files(tmp_path: Path) -> None:
    path = files(tmp_path, {"a.h5": {"1": {"x": 1.0}}})[0][0]
    with pytest.raises(FormatError, match="hdf5-no-sample"):
        read([(path, "01")], "x:\n", "x:\n")
    with pytest.raises(FormatError, match="hdf5-no-sample"):
        read([(path, "1/x")], "x:\n", "x:\n")
    with pytest.raises(FileNotFoundError):
        read([("missing.h5", "1")], "x:\n", "x:\n")
    assert read([], "x:\n", "x:\n") == {}
    with pytest.raises(ValueError, match="no samples"):
        _ = SampleReader([], schema("x:\n"), schema("x:\n")).layout


def test_a_batch_has_a_limit(tmp_path: Path) -> None:
    pairs = files(tmp_path, {"a.h5": {"1": {"x": np.zeros(100)}}}) * 10
    assert len(read(pairs, "x:\n", "x:\n", limits=Limits(max_batch=8000))["x"]) == 10
    with pytest.raises(LimitError, match="10 samples of 800 bytes"):
        read(pairs, "x:\n", "x:\n", limits=Limits(max_batch=7999))


def test_groups_on_disk_are_read_whole(tmp_path: Path) -> None:
    pairs = files(tmp_path, {"a.h5": {"1": {"g/b": 1.0, "g/a/z": np.arange(2), "g/t": "text"}}})
    batch = read(pairs, "g:\n", "g:\n")
    assert {name: values.tolist() for name, values in batch.items()} == {
        "g/a/z": [[0, 1]],
        "g/b": [1.0],
        "g/t": ["text"],
    }
    for directive in ("scale: 1.0", "coerce: float", "pack: samples"):
        with pytest.raises(FormatError, match="schema-"):
            read(pairs, "g:\n", f"g:\n  metadata:\n    ordering: 1\n    {directive}\n")


def test_values_outside_the_integer_range(tmp_path: Path) -> None:
    pairs = files(tmp_path, {"a.h5": {"1": {"x": np.array([2**31, -1]), "y": 1e10}}})
    coerce = {name: {"metadata": {"coerce": "int"}} for name in "xy"}
    findings = Findings()
    batch = read(pairs, "x:\n", {"x": coerce["x"]}, findings=findings)
    assert batch["x"].tolist() == [[-(2**31), -1]]
    assert findings.count("lbann-narrowed") == 1
    with pytest.raises(FormatError, match="schema-coerce"):
        read(pairs, "y:\n", {"y": coerce["y"]})


def test_arithmetic() -> None:
    third = np.array([[1 / 3]], "f4")
    once = np.float32(float(third[0, 0]) * 0.1 + 1e-9)
    assert normalise(third, (0.1,), (1e-9,))[0, 0] == once
    assert normalise(np.full((1, 5), 1.0), (2.0, 3.0), (0.0, 0.5)).tolist() == [[2, 3.5, 2, 3.5, 1]]
    assert repack(np.arange(6.0).reshape(1, 6), 3).tolist() == [[0, 3, 1, 4, 2, 5]]
    assert coerce(np.array([[1.9, -1.9, 2.0**31 - 1]]), "i4").tolist() == [[1, -1, 2**31 - 1]]
    assert coerce(np.array([[1e39]]), "f4").tolist() == [[np.inf]]
    assert coerce(np.array([[2**24 + 1]]), "f4").tolist() == [[2**24]]
    for bad in (np.nan, np.inf, 2.0**31, -(2.0**31) - 1):
        with pytest.raises(ValueError, match="int32"):
            coerce(np.array([[bad]]), "i4")
    with pytest.raises(ValueError, match="int64"):
        coerce(np.array([[2.0**63]]), "i8")


def test_dims_that_do_not_fit_are_a_warning_without_a_transpose(tmp_path: Path) -> None:
    pairs = files(tmp_path, {"a.h5": {"1": {"x": np.arange(12.0)}}})
    channels = "x: {metadata: {channels: 3, dims: [2, %d]%s}}\n"
    for dims, shape in ((2, (1, 3, 2, 2)), (3, (1, 12))):
        findings = Findings()
        batch = read(pairs, "x:\n", channels % (dims, ""), findings=findings)
        assert batch["x"].shape == shape
        assert findings.count("lbann-dims") == (dims == 3)
    with pytest.raises(FormatError, match="lbann-dims"):
        read(pairs, "x:\n", channels % (3, ", layout: hwc, transpose: chw"))
