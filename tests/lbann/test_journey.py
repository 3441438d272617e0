"""As a new user would: from a folder of HDF5 files to a batch; then each input broken in turn."""

import re
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest

import exset
from exset.runtime.lbann.sample_reader import Batch
from tests.cli import command_line

FILES, SAMPLES = 4, 5
LIST, DATA, EXPERIMENT = "train.sample_list", "data.yaml", "exp.yaml"


def run(*arguments: str) -> tuple[int, str]:
    done = command_line.run(*arguments)
    return done.exit_code, done.output


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with what the verbs make of some HDF5 files."""
    monkeypatch.chdir(tmp_path)
    draw = np.random.default_rng(3)
    for number in range(FILES):
        path = Path(f"data/run{number % 2}/f{number}.h5")
        path.parent.mkdir(parents=True, exist_ok=True)
        with h5py.File(path, "w", track_order=True) as file:
            for sample in range(SAMPLES):
                group = file.create_group(f"RUN_ID/{sample:09}")
                group["inputs/speed"] = draw.random(3)
                group["inputs/count"] = np.int32(sample)
                group["outputs/energy"] = draw.random()
                group["outputs/image"] = draw.random((4, 4)).astype(np.float32)
    packs = ("--pack", "samples=inputs", "--pack", "responses=outputs")
    for arguments in (
        ("list", "build", "data", "-o", "all.sample_list"),
        ("schema", "build", "data", "-o", DATA, "--experiment", EXPERIMENT, *packs),
        ("split", "all.sample_list", f"{LIST}=90%", "test.sample_list=rest", "--seed", "1"),
    ):
        assert run(*arguments)[0] == 0
    return tmp_path


def read(which: object = None) -> Batch:
    samples = exset.load(LIST, model=exset.SampleList)
    data, experiment = (exset.load(path, model=exset.Schema) for path in (DATA, EXPERIMENT))
    return exset.SampleReader(samples, data, experiment).read(which)  # type: ignore[arg-type]


def test_from_a_folder_to_a_batch(folder: Path) -> None:
    names = [LIST, "test.sample_list"]
    assert run("validate", "--files", "--root", "data", *names, DATA, EXPERIMENT) == (
        0,
        "".join(f"{name}: ok\n" for name in (*names, DATA, EXPERIMENT)),
    )
    assert run("schema", "check", DATA, EXPERIMENT, *names) == (0, "20 samples: ok\n")
    parts = [list(exset.load(name, model=exset.SampleList)) for name in names]
    assert [len(part) for part in parts] == [18, 2]
    whole = exset.load("all.sample_list", model=exset.SampleList)
    assert {*parts[0], *parts[1]} == {*whole} and len(whole) == FILES * SAMPLES
    batch = read([5, 3, 8])
    for row, at in enumerate((5, 3, 8)):
        path, sample = parts[0][at]
        with h5py.File(path) as file:
            group = file[str(sample)]
            inputs = [group["inputs/count"][()], *group["inputs/speed"]]
            outputs = [group["outputs/energy"][()], *group["outputs/image"][()].ravel()]
        assert batch["samples"][row].tolist() == np.array(inputs, np.float32).tolist()
        assert batch["responses"][row].tolist() == np.array(outputs, np.float32).tolist()


def edit(path: str, old: str, new: str) -> None:
    text = Path(path).read_text()
    changed = re.sub(old, new, text, count=1, flags=re.MULTILINE)
    assert changed != text
    Path(path).write_text(changed)


LISTS = [
    # The change, and the code of the finding.
    (r"\A.*\n", "", "syntax"),
    ("_INCLUSION", "_INCLUSIVE", "syntax"),
    ("CONDUIT_HDF5_IN.*", "MULTI-SAMPLE_INCLUSION", "lbann-file-count"),
    ("CONDUIT_HDF5_IN.*", "MULTI-SAMPLE_INCLUSION_V2", "lbann-id-count"),
    ("_INCLUSION", "_EXCLUSION", "lbann-id-count"),
    ("18 2 4", "18 2 5", "lbann-file-count"),
    ("18 2 4", "17 2 4", "lbann-totals"),
    ("18 2 4\n", "", "lbann-no-number"),
    ("^data$", "my data", "lbann-path-cut"),
    ("^data$", "", "syntax"),
    ("^data$", "date", "lbann-missing-directory"),
    ("^run0/f0.h5 5 0", "run0/f0.h5 5", "syntax"),
    ("^run0/f0.h5 5 0 \\S+", "run0/f0.h5 5 0", "lbann-id-count"),
    ("^run0/f0.h5 5 0 .*", r"\g<0> # all", "lbann-id-count"),
    ("^run0/f0.h5", "run0/f9.h5", "lbann-missing-file"),
    ("RUN_ID/000000002", "RUN_ID/2", "lbann-missing-id"),
    ("RUN_ID", "RUN", "lbann-missing-id"),
    ("^run1/f1.h5", "run0/f0.h5", "lbann-repeated-file"),
]


@pytest.mark.parametrize(("old", "new", "error"), LISTS)
def test_broken_lists(folder: Path, old: str, new: str, error: str) -> None:
    edit(LIST, old, new)
    code, output = run("validate", "--files", LIST)
    assert f"[{error}]" in output, output
    assert code == ("not valid" in output), output


SCHEMAS = [
    (DATA, r"\A[^@]*\Z", "", "lbann-empty"),
    (DATA, r"\A[^@]*\Z", "hello", "schema-empty"),
    (DATA, r"\A[^@]*\Z", "- inputs\n", "schema-empty"),
    (DATA, "^  speed:", "\tspeed:", "yaml"),
    (DATA, "speed:", "velocity:", "hdf5-no-field"),
    (DATA, "ordering: 10", "ordering: ten", "schema-ordering"),
    (DATA, "ordering: 10", "order: 10", "lbann-unknown-directive"),
    (DATA, r"dims: \[4, 4\]", "dims: [4, 5]", "lbann-dims"),
    (DATA, r" *dims: .*\n", "", "schema-channels"),
    (DATA, "channels: 1", "scale: [1.0, 2.0]", "lbann-first-value"),
    (EXPERIMENT, "inputs", "inputz", "schema-unknown-field"),
    (EXPERIMENT, "coerce: float", "coerce: flaot", "schema-coerce"),
    (EXPERIMENT, " *coerce: float\n", "", "schema-pack"),
    (EXPERIMENT, "pack: samples", "pack: 5", "schema-pack"),
    (EXPERIMENT, "^  metadata:\n    pack", "  pack", "yaml"),
]


@pytest.mark.parametrize(("path", "old", "new", "error"), SCHEMAS)
def test_broken_schemas(folder: Path, path: str, old: str, new: str, error: str) -> None:
    edit(path, old, new)
    code, output = run("schema", "check", DATA, EXPERIMENT, LIST)
    assert f"[{error}]" in output, output
    assert code in (0, 1), output


def junk(file: Path) -> None:
    file.write_bytes(b"junk")


def change(act: Callable[[h5py.Group], None]) -> Callable[[Path], None]:
    def changed(path: Path) -> None:
        with h5py.File(path, "r+") as file:
            act(file["RUN_ID/000000001"])

    return changed


def drop(group: h5py.Group) -> None:
    del group["inputs/speed"]


def swap(value: object) -> Callable[[h5py.Group], None]:
    def swapped(group: h5py.Group) -> None:
        del group["inputs/speed"]
        group["inputs/speed"] = value

    return swapped


HDF5 = [
    (Path.unlink, "hdf5-file"),
    (junk, "hdf5"),
    (change(drop), "hdf5-no-field"),
    (change(swap(np.zeros(4))), "hdf5-odd-sample"),
    (change(swap("fast")), "hdf5-odd-sample"),
    (change(swap(h5py.SoftLink("/RUN_ID/000000000/inputs/speed"))), "hdf5-link"),
    (change(swap(h5py.ExternalLink("x.h5", "/x"))), "hdf5-link"),
]


@pytest.mark.parametrize(("harm", "error"), HDF5)
def test_broken_files(folder: Path, harm: Callable[[Path], None], error: str) -> None:
    harm(folder / "data/run1/f1.h5")
    code, output = run("schema", "check", DATA, EXPERIMENT, LIST)
    assert code == 1 and f"[{error}]" in output, output
    with pytest.raises((exset.FormatError, OSError)) as caught:
        read()
    assert getattr(caught.value, "code", "hdf5-file") == error


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("list", "build", "empty"), "[hdf5-no-files]"),
        (("schema", "build", "empty"), "[hdf5-no-files]"),
        (("list", "build", "absent"), "absent: No such file"),
        (("list", "build", LIST), "[hdf5]"),
        (("list", "build", "data", "--sample", "RUN"), "[hdf5-no-sample]"),
        (("list", "build", "data", "--pattern", "RUN/*"), "[list-empty]"),
        (("schema", "check", DATA, EXPERIMENT), "LIST"),
        (("schema", "check", LIST, EXPERIMENT, LIST), "[schema-empty]"),
        (("schema", "check", EXPERIMENT, DATA, LIST), "[schema-unknown-field]"),
        (("schema", "check", DATA, EXPERIMENT, DATA), DATA),
        (("split", LIST, "a=50%", "b=60%"), "18"),
        (("convert", LIST, "out.bex"), "bex"),
        (("convert", LIST, "out.yaml"), "schema"),
        (("convert", "--kind", "SINGLE-SAMPLE", LIST, "o.sample_list"), "[lbann-kind]"),
        (
            ("convert", "--kind", "CONDUIT_HDF5_EXCLUSION", LIST, "o.sample_list"),
            "[lbann-exclusion]",
        ),
        (("list", "merge", LIST, DATA), "sample list"),
    ],
)
def test_wrong_commands(folder: Path, arguments: tuple[str, ...], error: str) -> None:
    Path("empty").mkdir()
    code, output = run(*arguments)
    assert code and error in output, output
