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
    # What is changed, and what is said of it: what is wrong, and how to mend it.
    (r"\A.*\n", "", "expected `CONDUIT_HDF5_EXCLUSION`.*found `18`.*the first line is the type"),
    ("_INCLUSION", "_INCLUSIVE", "found `CONDUIT_HDF5_INCLUSIVE`.*the first line is the type"),
    ("CONDUIT_HDF5_IN.*", "MULTI-SAMPLE_INCLUSION", "list has 3.*names the file of labels"),
    ("CONDUIT_HDF5_IN.*", "MULTI-SAMPLE_INCLUSION_V2", "does not count the excluded"),
    ("_INCLUSION", "_EXCLUSION", "0 excluded and names 5.*write 5.*that are left out"),
    ("18 2 4", "18 2 5", "counts 5 files, the list has 4.*write 4 there"),
    ("18 2 4", "17 2 4", "says 17 included samples, the files add up to 18.*exset convert"),
    ("18 2 4\n", "", "<included> <excluded> <files>"),
    ("^data$", "my data", "no path in a sample list can have a blank"),
    ("^data$", "", "base directory.*not empty"),
    ("^data$", "date", "no base directory date.*--base"),
    ("^run0/f0.h5 5 0", "run0/f0.h5 5", "expected a number.*excluded samples, ids"),
    ("^run0/f0.h5 5 0 \\S+", "run0/f0.h5 5 0", "counts 5 included and names 4.*write 4 there"),
    ("^run0/f0.h5 5 0 .*", r"\g<0> # all", "counts 5 included and names 7.*write 7 there"),
    ("^run0/f0.h5", "run0/f9.h5", "no such file.*mend its name or the base directory"),
    ("RUN_ID/000000002", "RUN_ID/2", "no sample of this id.*taken as they are"),
    ("RUN_ID", "RUN", "no sample of this id.*exset list build"),
    ("^run1/f1.h5", "run0/f0.h5", "named before.*name each file once|name it once"),
]


@pytest.mark.parametrize(("old", "new", "words"), LISTS)
def test_broken_lists(folder: Path, old: str, new: str, words: str) -> None:
    edit(LIST, old, new)
    code, output = run("validate", "--files", LIST)
    assert re.search(words, output, re.DOTALL), output
    assert code == ("not valid" in output), output


SCHEMAS = [
    (DATA, r"\A[^@]*\Z", "", "nothing but blanks and comments"),
    (DATA, r"\A[^@]*\Z", "hello", "names nothing.*a colon: is it this file"),
    (DATA, r"\A[^@]*\Z", "- inputs\n", "names nothing.*a colon: is it this file"),
    (DATA, "^  speed:", "\tspeed:", "blanks, not tabs"),
    (DATA, "speed:", "velocity:", "has no field inputs/velocity.*data.yaml:6:3 names it"),
    (DATA, "ordering: 10", "ordering: ten", "ordering must be a whole number.*such as 10"),
    (DATA, "ordering: 10", "order: 10", "knows no directive order.*it knows pack, ordering"),
    (DATA, r"dims: \[4, 4\]", "dims: [4, 5]", "make 20 values, of which there are 16.*mend dims"),
    (DATA, r" *dims: .*\n", "", "channels without dims.*add dims"),
    (DATA, "channels: 1", "scale: [1.0, 2.0]", "only the first.*say how many channels"),
    (EXPERIMENT, "inputs", "inputz", "data schema has no 'inputz'.*take it out of this one"),
    (EXPERIMENT, "coerce: float", "coerce: flaot", "cannot coerce to 'flaot'.*knows float, double"),
    (EXPERIMENT, " *coerce: float\n", "", "inputs/count, which is int32.*add `coerce: float`"),
    (EXPERIMENT, "pack: samples", "pack: 5", "pack.*name"),
    (EXPERIMENT, "^  metadata:\n    pack", "  pack", "see how far this line"),
]


@pytest.mark.parametrize(("path", "old", "new", "words"), SCHEMAS)
def test_broken_schemas(folder: Path, path: str, old: str, new: str, words: str) -> None:
    edit(path, old, new)
    code, output = run("schema", "check", DATA, EXPERIMENT, LIST)
    assert re.search(words, output, re.DOTALL), output
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
    (Path.unlink, "[Nn]o such file"),
    (junk, "not an HDF5 file, or a broken one.*write it again"),
    (change(drop), "no field inputs/speed.*names it"),
    (
        change(swap(np.zeros(4))),
        r"inputs/speed is float64 \(4,\) here, but float64 \(3,\).*one size",
    ),
    (change(swap("fast")), "inputs/speed is text here.*one size and type"),
    (change(swap(h5py.SoftLink("/RUN_ID/000000000/inputs/speed"))), "soft link.*--follow-links"),
    (change(swap(h5py.ExternalLink("x.h5", "/x"))), "another file.*--follow-links"),
]


@pytest.mark.parametrize(("harm", "words"), HDF5)
def test_broken_files(folder: Path, harm: Callable[[Path], None], words: str) -> None:
    harm(folder / "data/run1/f1.h5")
    code, output = run("schema", "check", DATA, EXPERIMENT, LIST)
    assert code == 1 and re.search(words, output, re.DOTALL), output
    with pytest.raises((exset.FormatError, OSError), match=f"(?s){words}"):
        read()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("list", "build", "empty"), r"end in .h5.*name others"),
        (("schema", "build", "empty"), r"end in .h5.*name others"),
        (("list", "build", "absent"), "absent: No such file"),
        (("list", "build", LIST), "not an HDF5 file.*write it again"),
        (("list", "build", "data", "--sample", "RUN"), "no such group.*from the root of the file"),
        (("list", "build", "data", "--pattern", "RUN/*"), r"no samples.*RUN_ID/\*"),
        (("schema", "check", DATA, EXPERIMENT), "name a LIST, or a --sample"),
        (("schema", "check", LIST, EXPERIMENT, LIST), "names nothing.*is it this file"),
        (("schema", "check", EXPERIMENT, DATA, LIST), "data schema has no 'inputs/count'.*too"),
        (("schema", "check", DATA, EXPERIMENT, DATA), "is no list of samples"),
        (("split", LIST, "a=50%", "b=60%"), "the parts are more than the 18"),
        (("convert", LIST, "out.bex"), "cannot be written as bex.*sample_list"),
        (("convert", LIST, "out.yaml"), "cannot be written as schema.*sample_list"),
        (("convert", "--kind", "SINGLE-SAMPLE", LIST, "o.sample_list"), "a file is one.*--kind"),
        (
            ("convert", "--kind", "CONDUIT_HDF5_EXCLUSION", LIST, "o.sample_list"),
            "run0/f0.h5.*exclude nothing else.*keep it an inclusion list",
        ),
        (("list", "merge", LIST, DATA), "holds schemas.*wanted: sample list"),
    ],
)
def test_wrong_commands(folder: Path, arguments: tuple[str, ...], words: str) -> None:
    Path("empty").mkdir()
    code, output = run(*arguments)
    assert code and re.search(words, output, re.DOTALL), output
