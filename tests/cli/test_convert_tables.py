"""`exset convert` between families, with the options of their tables: one command each."""

import inspect
import os
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import cast

import h5py
import numpy as np
import pytest

import exset
from exset import Manifest, Table
from exset.core.callers import OptionError
from exset.families.family import load
from exset.families.option import Option
from exset.formats import families, get
from exset.runtime.lbann.table_options import Options as TableOptions
from exset.steps import Steps
from tests.cli.command_line import run
from tests.lbann import hdf5_lists

SCHEMAS = ("--data", "data.yaml", "--experiment", "experiment.yaml")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def samples() -> None:
    """Write a sample list, its HDF5 file, and schemas that pack `x` and `y`."""
    ids = ["r/0", "r/1"]
    hdf5_lists.write(
        "d/a.h5", ids, x=np.arange(3, dtype=np.float32), y=np.float32(1), n=np.int16(3)
    )
    model = exset.SampleList.of("CONDUIT_HDF5_INCLUSION", "d", [("a.h5", ids)])
    exset.save(model, "train.sample_list")
    Path("data.yaml").write_text("x:\n  metadata: {ordering: 1}\ny:\n  metadata: {ordering: 2}\n")
    pack = "x:\n  metadata: {pack: samples}\ny:\n  metadata: {pack: responses}\n"
    Path("experiment.yaml").write_text(pack)


@pytest.fixture
def pictures() -> None:
    """Write three files, and the manifest that names them."""
    os.makedirs("files/cat")
    for name in ("cat/1.jpg", "cat/2.jpg", "3.png"):
        Path("files", name).write_bytes(b"\xff\xd8\xff" + name.encode())
    records = [("cat/1.jpg", "0"), ("cat/2.jpg", "0"), ("3.png", "1")]
    exset.save(Manifest.of(["FILE", "ASCII_INT"], records), "train.tsv")


def converts(*arguments: str) -> str:
    done = run("convert", *arguments)
    assert done.exit_code == 0, done.stderr
    return done.stderr


@pytest.mark.usefixtures("samples")
def test_a_list_with_its_hdf5_files_becomes_a_lens_file() -> None:
    shown = converts("train.sample_list", "train.ex", *SCHEMAS, "--lossy")
    assert shown.count("[table-dropped]") == 1 and "no column 'file'" in shown
    examples = exset.load("train.ex", model=exset.ExampleSet)
    assert [each.name for each in examples] == ["r/0", "r/1"]
    arrays = exset.to_arrays(examples)
    assert arrays.inputs.tolist() == [[0, 1, 2]] * 2 and arrays.targets.tolist() == [[1]] * 2
    refused = run("convert", "train.sample_list", "again.ex", *SCHEMAS)
    assert refused.exit_code == 1 and not os.path.exists("again.ex")


@pytest.mark.usefixtures("samples")
@pytest.mark.parametrize("suffix", ["npz", "h5", "parquet"])
def test_a_list_with_its_hdf5_files_becomes_one_file(suffix: str) -> None:
    if suffix == "parquet":
        pytest.importorskip("pyarrow")
    converts("train.sample_list", f"train.{suffix}", *SCHEMAS)
    table = exset.load(f"train.{suffix}", model=Table)
    assert table.types == {"file": "text", "id": "text", "responses": "float32[1]"} | {
        "samples": "float32[3]"
    }
    converts("train.sample_list", f"some.{suffix}", "--fields", "x, n")
    assert exset.load(f"some.{suffix}", model=Table).names == ("file", "id", "x", "n")
    converts("train.sample_list", f"all.{suffix}", *SCHEMAS, "--keep-packed")
    assert "x" in exset.load(f"all.{suffix}", model=Table).columns


@pytest.mark.usefixtures("samples")
def test_hdf5_files_of_a_list_are_opened_as_allowed() -> None:
    os.mkdir("work")
    os.chdir("work")
    there = ("../train.sample_list", "x.npz", "--base", "..")
    refused = run("convert", "--untrusted", *there)
    assert refused.exit_code == 1 and "[hdf5-roots]" in refused.stderr and not os.listdir()
    converts("--untrusted", "--root", "..", *there)
    with h5py.File("../d/a.h5", "a") as file:
        file["all"] = np.arange(2)
        file["r/0/z"] = file["r/1/z"] = h5py.SoftLink("/all")
    assert run("convert", *there, "--fields", "z").exit_code == 1
    converts(*there, "--fields", "z", "--follow-links", "--no-locking")
    assert exset.load("x.npz", model=Table).types["z"] == "int64[2]"


@pytest.mark.usefixtures("pictures")
def test_a_manifest_with_its_files_becomes_webdataset() -> None:
    converts("train.tsv", "train.tar", "--contents", "--base", "files", "--names", "image,label")
    with tarfile.open("train.tar") as archive:
        names = archive.getnames()
        member = archive.extractfile(names[0])
        assert member is not None and member.read() == b"\xff\xd8\xffcat/1.jpg"
    assert names[:3] == ["00000000.image.jpg", "00000000.image.path.txt", "00000000.label.cls"]
    found = exset.load("train.tar", model=Table)
    assert [*found["label"]] == [0, 0, 1]
    os.mkdir("work")
    os.chdir("work")
    shown = converts("--untrusted", "../train.tsv", "x.npz", "--contents", "--base", "../files")
    assert shown.count("[aeon-absent]") == 3


@pytest.mark.usefixtures("pictures")
def test_a_table_becomes_a_manifest_and_its_files() -> None:
    converts("train.tsv", "train.npz", "--contents", "--base", "files")
    planned = converts("-n", "train.npz", "again.tsv", "--to", "manifest", "--files-to", "again")
    assert "nothing is written" in planned and not os.path.exists("again")
    converts("train.npz", "again.tsv", "--to", "manifest", "--files-to", "again")
    assert exset.load("again.tsv") == exset.load("train.tsv")
    assert Path("again/3.png").read_bytes() == Path("files/3.png").read_bytes()


@pytest.mark.usefixtures("pictures")
def test_a_table_of_paths_becomes_a_manifest_and_a_cache() -> None:
    Path("train.csv").write_text("path,label\ncat/1.jpg,0\n3.png,1\n")
    converts("train.csv", "paths.tsv", "--to", "manifest", "--from", "csv", "--files", "path")
    made = exset.load("paths.tsv", model=Manifest)
    assert [str(each) for each in made.types] == ["FILE", "ASCII_INT"]
    done = run("cache", "build", "train.csv", ".", "--files", "path", "--base", "files")
    assert done.exit_code == 0, done.stderr
    [cache] = Path().glob("aeon_cache_*")
    converts(str(cache), "back.npz", "--types", "FILE,ASCII_INT", "--names", "image,label")
    back = exset.load("back.npz", model=Table)
    assert [*back["label"]] == [0, 1] and back["image"][0] == b"\xff\xd8\xffcat/1.jpg"


def test_layouts_and_rows_of_example_sets() -> None:
    layout = "onset=20,vowel=6,coda=30"
    converts("exset::groups.ex", "g.npz", "--inputs", layout, "--level", "meant")
    table = exset.load("g.npz", model=Table)
    assert table.types["inputs.vowel"] == "float32[6]"
    converts("exset::pulse.ex", "p.npz", "--rows", "example", "--level", "meant")
    assert exset.load("p.npz", model=Table).types["inputs"].startswith("list")
    Path("t.csv").write_text("onset:0,onset:1,phoneme\n1,0.5,1\n")
    converts("t.csv", "t.ex", "--inputs", "onset=2", "--targets", "phoneme=1")
    assert [*exset.load("t.ex", model=exset.ExampleSet).groups] == [b"onset", b"phoneme"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("exset::xor.ex", "x.npz", "--data", "d.yaml"), "unknown option 'data' of the conversion"),
        (("exset::xor.ex", "x.npz", "--contents"), "unknown option 'contents'"),
        (("exset::xor.ex", "x.bex", "--rows", "event"), "unknown option 'rows'"),
        (("exset::xor.ex", "x.npz", "--inputs", "a"), "inputs a is not of the form GROUP=SIZE"),
        (
            ("exset::captions.tsv", "x.npz", "--names", "a"),
            "names: expected 2 names, one for each column, not 1",
        ),
        (("exset::xor.ex", "x.npz", "--rows", "rows"), "Invalid value"),
    ],
)
def test_wrong_options(arguments: tuple[str, ...], message: str) -> None:
    done = run("convert", *arguments)
    assert done.exit_code == 2 and message in done.stderr and not os.listdir()


def test_options_in_python() -> None:
    exset.convert("exset::captions.tsv", "x.npz", names=["a", "b"])
    exset.convert("exset::groups.ex", "g.npz", inputs={"onset": 20, "vowel": 6, "coda": 30})
    assert exset.load("x.npz", model=Table).names == ("a", "b")
    with pytest.raises(OptionError, match="unknown rows 'all'"):
        Steps.of(get("ex"), get("npz"), {"rows": "all"}, {})


def test_each_option_of_a_table_is_an_argument() -> None:
    """The record and the functions of a family have the same options."""
    access = {"root", "follow_links", "allow_plugins", "no_locking"}
    for family in families():
        for target, options in (
            (family.to_table, family.table_options),
            (family.from_table, family.model_options),
        ):
            if target is None:
                assert not options
                continue
            taken = {*inspect.signature(cast(Callable[..., object], load(target))).parameters}
            if "options" in taken:
                taken = {*TableOptions.__annotations__}
            for option in options:
                assert isinstance(option, Option) and option.help.endswith(".")
                assert ("access" if option.name in access else option.name) in taken
