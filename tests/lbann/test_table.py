"""Sample lists as tables, tables as sample lists, and tables as HDF5 files for LBANN."""

import os
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from hypothesis import given

import exset
from exset import Findings, FormatError, SampleList, SampleReader, Table
from exset.core.errors import LimitError
from exset.core.limits import Limits
from exset.grammars.lbann.list_types import Kind
from exset.grammars.tables.columns import Lists, Numbers
from exset.io.access import Access
from exset.runtime.lbann.schema_check import check_files
from exset.testing.lbann import sample_lists
from tests.cli.command_line import run
from tests.lbann import hdf5_lists

FIELDS: dict[str, Any] = {
    "x": np.arange(6.0, dtype=np.float32).reshape(2, 3),
    "n": np.int16(3),
    "img/v": np.zeros((1, 2, 2), np.uint8),
    "t": "é",
    "b": np.array([True, False]),
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def listed(*files: tuple[Any, ...]) -> SampleList:
    return SampleList.of("CONDUIT_HDF5_INCLUSION", "d", files)


def codes(call: Callable[[Findings], object]) -> list[str]:
    findings = Findings()
    call(findings)
    return [finding.code for finding in findings]


def test_fields_as_the_files_have_them() -> None:
    hdf5_lists.write("d/a.h5", ["r/0", "r/1"], **FIELDS)
    hdf5_lists.write("d/b.h5", ["r/0"], x=FIELDS["x"], new=np.float64(2))
    table = exset.to_table(listed(("b.h5", ["r/0"]), ("a.h5", ["r/1", "r/0"], 1)))
    assert dict(sorted(table.types.items())) == {
        "b": "bool[2]",
        "file": "text",
        "id": "text",
        "img.v": "uint8[1, 2, 2]",
        "n": "int16",
        "new": "float64",
        "t": "text",
        "x": "float32[2, 3]",
    }
    assert [row["file"] for row in table] == ["d/b.h5", "d/a.h5", "d/a.h5"]
    assert [row["id"] for row in table] == ["r/0", "r/1", "r/0"]
    assert [row["n"] for row in table] == [None, 3, 3]
    assert [row["t"] for row in table] == [None, "é", "é"]
    assert [row["new"] for row in table] == [2.0, None, None]
    assert table.metadata["kind"] == "CONDUIT_HDF5_INCLUSION" and table.metadata["base"] == "d"
    assert table.metadata["excluded"] == {"d/a.h5": 1}
    chosen = exset.to_table(listed(("a.h5", ["r/1"])), fields=["n", "x"])
    assert chosen.names == ("file", "id", "n", "x")


def test_fields_that_the_schemas_select() -> None:
    hdf5_lists.write("d/a.h5", ["r/0", "r/1"], **FIELDS)
    Path("data.yaml").write_text("x:\n  metadata: {ordering: 1}\nimg:\n  v:\nn:\n")
    Path("exp.yaml").write_text("x:\n  metadata: {pack: samples}\nimg:\n")
    samples, schemas = listed(("a.h5", ["r/1", "r/0"])), ("data.yaml", "exp.yaml")
    reader = SampleReader(samples, *schemas, findings=Findings())
    options: Any = {"data": "data.yaml", "experiment": "exp.yaml", "findings": Findings()}
    table = exset.to_table(samples, **options)
    assert table.names == ("file", "id", "img.v", "samples")
    for name, array in reader.to_arrays().items():
        column = table[name.replace("/", ".")]
        assert column == Numbers.of(array)
    assert "x" in exset.to_table(samples, keep_packed=True, **options).names
    exset.save(samples, "a.sample_list")
    assert exset.to_table("a.sample_list", **options) == table


def test_sizes_that_differ_are_lists() -> None:
    hdf5_lists.write("d/a.h5", ["0"], x=np.arange(3), y=np.zeros((2, 2)), n=1)
    hdf5_lists.write("d/b.h5", ["0"], x=np.arange(1), y=np.zeros((1, 5)), n=2)
    table = exset.to_table(listed(("a.h5", ["0"]), ("b.h5", ["0"])))
    assert isinstance(table["x"], Lists) and [*table["x"].lengths] == [3, 1]
    assert [row["y.shape"].tolist() for row in table] == [[2, 2], [1, 5]]
    assert table["n"] == Numbers.of(np.array([1, 2]))


def test_a_field_of_the_name_of_a_column() -> None:
    hdf5_lists.write("d/a.h5", ["0"], id=7, file=8)
    samples = listed(("a.h5", ["0"]))
    table = exset.to_table(samples)
    assert table["id"][0] == 7 and table["sample.id"][0] == "0"
    assert table["file"][0] == 8 and table["sample.file"][0] == "d/a.h5"
    assert exset.from_table(table, findings=Findings()) == samples


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (np.zeros(2, np.complex64), "hdf5-type"),
        (np.zeros(2, [("a", "i4")]), "hdf5-type"),
        (np.array([0], h5py.enum_dtype({"a": 0}, "i2")), "hdf5-type"),
        (h5py.Empty("f4"), "hdf5-type"),
    ],
)
def test_fields_that_no_table_has(value: Any, code: str) -> None:
    hdf5_lists.write("d/a.h5", ["0"], x=value)
    with pytest.raises(FormatError) as caught:
        exset.to_table(listed(("a.h5", ["0"])))
    assert caught.value.code == code and caught.value.place is not None


def test_errors() -> None:
    hdf5_lists.write("d/a.h5", ["0"], x=1)
    hdf5_lists.write("d/b.h5", ["0"], x=1.5)
    for samples, code in (
        (listed(("a.h5", ["1"])), "hdf5-no-sample"),
        (listed(("a.h5", ["0"]), ("b.h5", ["0"])), "hdf5-odd-sample"),
    ):
        with pytest.raises(FormatError) as caught:
            exset.to_table(samples)
        assert caught.value.code == code
    with pytest.raises(FileNotFoundError):
        exset.to_table(listed(("c.h5", ["0"])))
    with pytest.raises(TypeError, match="colour"):
        exset.to_table(listed(), colour=1)
    with pytest.raises(ValueError, match="fields"):
        exset.to_table(listed(("a.h5", ["0"])), fields=["y"])
    many = SampleList.of("MULTI-SAMPLE_INCLUSION_V2", "d", [("a", range(50))])
    with pytest.raises(LimitError):
        exset.to_table(many, limits=Limits(max_expand=10))
    with h5py.File("d/c.h5", "w") as file:
        file["0/x.y"], file["0/x/y"] = 1, 2
    with pytest.raises(FormatError) as caught:
        exset.to_table(listed(("c.h5", ["0"])))
    assert caught.value.code == "table-names"


def test_an_exclusion_list_names_its_samples() -> None:
    hdf5_lists.write("d/a.h5", ["0", "1", "2"], x=1)
    samples = SampleList.of("CONDUIT_HDF5_EXCLUSION", "d", [("a.h5", ["1"], 2)])
    table = exset.to_table(samples)
    assert [row["id"] for row in table] == ["0", "2"]
    assert table.metadata["excluded"] == {"d/a.h5": 1}
    again = exset.from_table(table, findings=Findings())
    assert again == listed(("a.h5", ["0", "2"], 1))


def test_a_list_of_images_has_labels() -> None:
    Path("labels.txt").write_text("a.png 3\nc.png 4\n")
    files = [("a.png",), ("b.png",), ("c.png",)]
    samples = SampleList.of("SINGLE-SAMPLE", "d", files, label_file="labels.txt")
    table = exset.to_table(samples)
    assert table.names == ("file", "label")
    assert [row["label"] for row in table] == [3, None, 4]
    assert exset.from_table(table, findings=Findings()) == samples
    with pytest.raises(FormatError) as caught:
        exset.to_table(samples, access=Access(roots=("d",)))
    assert caught.value.code == "hdf5-roots"


@given(sample_lists())
def test_lists_come_back(samples: SampleList) -> None:
    """A table without fields gives the list back, if each record is a run of another file."""
    if samples.kind.is_exclusion or samples.label_file:
        return
    table = exset.to_table(samples, fields=())
    assert len(table) == len(samples)
    again = exset.from_table(table)
    assert [*again.pairs()] == [*samples.pairs()]
    names = [*samples.name]
    one_run_each = all(one != other for one, other in pairwise(names))
    if samples.kind.is_single or (one_run_each and samples.included.all()):
        assert again == samples.with_unchecked(totals=None)


def test_tables_of_others_as_lists() -> None:
    table = Table.of({"file": ["a.h5", "a.h5", "b.h5"], "id": ["0", "2", "1"]})
    samples = exset.from_table(table, family="lbann")
    assert samples == SampleList.of(
        "CONDUIT_HDF5_INCLUSION", ".", [("a.h5", ["0", "2"]), ("b.h5", ["1"])]
    )
    single = exset.from_table(table.without_columns("id"), family="lbann")
    assert single.kind is Kind.SINGLE_SAMPLE and len(single) == 3
    numbers = exset.from_table(table.with_columns(id=[1, 2, 5]), family="lbann")
    assert numbers.has_integer_ids
    for wrong in (
        Table.of({"id": ["0"]}),
        table.with_columns(id=[1.5, 2, 3]),
        table.with_columns(file=["a b", "c", "d"]),
        table.with_columns(x=[1, 2, 3]),
    ):
        with pytest.raises(FormatError) as caught:
            exset.from_table(wrong, family="lbann")
        assert caught.value.code == "table-holds"
    lossy = codes(
        lambda found: exset.from_table(
            table.with_columns(x=[1, 2, 3]), family="lbann", lossy=True, findings=found
        )
    )
    assert lossy == ["table-dropped"]


TABLE = Table.of(
    {
        "inputs.a": np.arange(12, dtype=np.float32).reshape(4, 3),
        "inputs.b": np.arange(4),
        "targets": np.eye(4),
        "name": ["a", "b", "c", "d"],
        "some": [1, None, 2, 3],
        "lists": [[1], [1, 2], [], [3]],
        "image": np.zeros((4, 1, 2, 2), np.uint8),
        "is_new": [True, False, True, True],
    }
)


def test_files_for_lbann() -> None:
    os.mkdir("out")
    found = codes(lambda found: exset.save(TABLE, "out/x.lbann.h5", findings=found))
    assert found == ["lbann-not-in-schema"] * 3
    assert sorted(os.listdir("out")) == [
        "x.data.yaml",
        "x.experiment.yaml",
        "x.lbann.h5",
        "x.sample_list",
    ]
    assert exset.load("out/x.lbann.h5") == TABLE
    samples = exset.load("out/x.sample_list", model=SampleList)
    data, experiment = (exset.load(f"out/x.{name}.yaml") for name in ("data", "experiment"))
    assert not check_files(samples, data, experiment)  # type: ignore[arg-type]
    assert run("schema", "check", "out/x.data.yaml", "out/x.experiment.yaml", "out/x.sample_list")
    assert run("validate", "--files", "out/x.sample_list")
    assert run("list", "shuffle", "--seed", "1", "out/x.sample_list")
    arrays = SampleReader(samples, data, experiment).to_arrays()  # type: ignore[arg-type]
    np.testing.assert_array_equal(arrays["responses"], np.eye(4))
    np.testing.assert_array_equal(arrays["samples"][1], [3, 4, 5, 1])
    assert exset.to_table("out/x.sample_list")["image"] == TABLE["image"]


def test_all_numbers_are_floats_without_inputs() -> None:
    table = Table.of({"x": np.arange(3), "y": np.arange(3, dtype=np.float16)})
    exset.save(table, "x.h5", format="lbann_hdf5")
    samples = exset.load("x.sample_list")
    reader: Any = exset.dataset(samples, data="x.data.yaml", experiment="x.experiment.yaml")
    assert {each.dtype.name for each in reader.to_arrays().values()} == {"float32"}
    assert not reader.findings


def test_without_numbers_there_are_no_schemas() -> None:
    exset.save(Table.of({"t": ["a"]}), "x.lbann.h5", findings=Findings())
    assert sorted(os.listdir()) == ["x.lbann.h5", "x.sample_list"]


def test_no_file_is_changed_unless_all_are_written() -> None:
    os.mkdir("x.data.yaml")
    with pytest.raises(OSError, match=r"x\.data\.yaml"):
        exset.save(TABLE, "x.lbann.h5", findings=Findings())
    assert os.listdir() == ["x.data.yaml"]


def test_to_torch() -> None:
    torch = pytest.importorskip("torch")
    exset.save(TABLE, "x.lbann.h5", findings=Findings())
    schemas = {"data": "x.data.yaml", "experiment": "x.experiment.yaml"}
    dataset: Any = exset.dataset("x.sample_list", **schemas)  # type: ignore[arg-type]
    assert torch.equal(dataset.to_torch()[2]["responses"], torch.eye(4)[2])
    whole: Any = exset.dataset("x.lbann.h5", fields=["targets"])
    assert torch.equal(whole.to_torch()[2]["targets"], torch.eye(4, dtype=torch.float64)[2])
