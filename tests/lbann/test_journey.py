"""From a folder of HDF5 files to a batch, as a new user does it, also with damaged files."""

from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest

import exset
from tests.cli import command_line

FILES, SAMPLES = 4, 5
LIST, DATA, EXPERIMENT = "train.sample_list", "data.yaml", "exp.yaml"


def run(*arguments: str) -> tuple[int, str]:
    done = command_line.run(*arguments)
    return done.exit_code, done.output


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of HDF5 files, with the list and schemas that the commands build from them."""
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


def reader() -> exset.SampleReader:
    samples = exset.load(LIST, model=exset.SampleList)
    data, experiment = (exset.load(path, model=exset.Schema) for path in (DATA, EXPERIMENT))
    return exset.SampleReader(samples, data, experiment)


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
    batch = reader().batch([5, 3, 8])
    for row, at in enumerate((5, 3, 8)):
        path, sample = parts[0][at]
        with h5py.File(path) as file:
            group = file[str(sample)]
            inputs = [group["inputs/count"][()], *group["inputs/speed"]]
            outputs = [group["outputs/energy"][()], *group["outputs/image"][()].ravel()]
        assert batch["samples"][row].tolist() == np.array(inputs, np.float32).tolist()
        assert batch["responses"][row].tolist() == np.array(outputs, np.float32).tolist()


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
        reader().to_arrays()
    assert getattr(caught.value, "code", "hdf5-file") == error
