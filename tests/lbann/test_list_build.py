"""Sample lists that are built from HDF5 files."""

import os
from pathlib import Path

import h5py
import numpy as np
import pytest

import exset
from exset import Findings, FormatError, SampleList, Severity
from exset.core.outcome import Outcome
from exset.runtime.lbann.hdf5_files import files_in, run_on_files
from exset.runtime.lbann.hdf5_search import SearchResult
from exset.runtime.lbann.list_build import built, search_for
from tests.cli.command_line import run
from tests.lbann.hdf5_lists import write


def build(*paths: str, findings: Findings | None = None, **options: object) -> SampleList:
    findings = Findings() if findings is None else findings
    found = files_in(paths)
    search = search_for(found, findings, **options)  # type: ignore[arg-type]
    return built(found, run_on_files(search, found), findings)


def test_lists_are_built(folder: Path) -> None:
    write("d/a.h5", ["RUN/0", "RUN/1"], x=np.zeros(3), y=1.5)
    write("d/sub/b.h5", ["RUN/0", "OTHER/DEEP/7"], x=np.ones(3), y=2.5)
    write("d/sub/unlike.h5", ["RUN/2"], x=np.ones(4), y=2.5)
    write("d/nan.h5", ["RUN/3"], x=np.ones(3), y=np.nan)
    Path("d/broken.hdf5").write_bytes(b"junk")
    Path("d/notes.txt").write_bytes(b"no HDF5")
    findings = Findings()
    samples = build("d", findings=findings)
    assert samples.directory == b"d"
    assert list(samples) == [
        *(("d/a.h5", "RUN/0"), ("d/a.h5", "RUN/1"), ("d/nan.h5", "RUN/3")),
        *(("d/sub/b.h5", "RUN/0"), ("d/sub/b.h5", "OTHER/DEEP/7")),
    ]
    assert [finding.code for finding in findings] == ["hdf5", "list-odd-sample"]
    findings = Findings()
    finite = build("d/a.h5", "d/nan.h5", finite=["y"], findings=findings)
    assert len(finite) == 2 and "y contains NaN" in next(iter(findings)).message
    assert len(build("d/sub", pattern="RUN/*")) == 2
    Path("d/000.h5").write_bytes(b"broken, and the first")
    assert list(build("d")) == list(samples)
    with pytest.raises(FormatError, match=r"\[hdf5\]"):
        build("d/000.h5", "d/broken.hdf5")
    with pytest.raises(FormatError, match="list-empty"):
        build("d/sub", pattern="NOTHING/*")


@pytest.mark.parametrize("how", [["--pattern", "q/*"], ["--sample", "a/s"]])
def test_a_cycle_of_groups_ends(folder: Path, how: list[str]) -> None:
    with h5py.File("x.h5", "w") as file:
        file["a/b/again"] = file.create_group("a")
        file["a/s/x"] = 1.0
    done = run("list", "build", "x.h5", *how)
    assert done.exit_code == 1
    assert "[hdf5]" in done.stderr and "[list-empty]" in done.stderr


def test_names_with_blanks_are_findings(folder: Path) -> None:
    findings = Findings()
    outcomes = [
        Outcome("d/a b.h5", SearchResult(["x"])),
        Outcome("d/c.h5", SearchResult(["x y", "z"], [("w", "it lacks v")])),
        Outcome("d/e.h5", error=FileNotFoundError(2, "gone", "d/e.h5")),
    ]
    samples = built([each.item for each in outcomes], outcomes, findings)
    assert list(samples) == [("d/c.h5", "z")]
    assert samples.files[0].excluded == 1
    assert [finding.code for finding in findings] == [
        *("lbann-blank", "list-odd-sample", "lbann-blank", "hdf5-file"),
    ]
    assert findings.worst is Severity.ERROR


def test_as_commands(folder: Path) -> None:
    write("d/a.h5", ["s1", "s2"])
    write("d/b.h5", ["s1", "s2"])
    done = run("list", "build", "d", "-o", "all.sample_list")
    assert done.exit_code == 0, done.output
    assert "4 samples of 2 files" in done.stderr
    assert run("validate", "--files", "all.sample_list").stdout == "all.sample_list: ok\n"
    done = run("list", "build", "d", "--kind", "conduit_hdf5_exclusion", "-o", "out.sample_list")
    assert done.exit_code == 0, done.output
    assert Path("out.sample_list").read_text().splitlines()[3:] == ["a.h5 2 0", "b.h5 2 0"]
    done = run("convert", "--kind", "CONDUIT_HDF5_INCLUSION", "out.sample_list", "in.sample_list")
    assert exset.load("in.sample_list") == exset.load("all.sample_list")
    os.remove("d/b.h5")
    done = run("validate", "--files", "all.sample_list")
    assert done.exit_code == 1 and "[lbann-missing-file]" in done.stdout
    assert run("validate", "--files", "--base", "d", "all.sample_list").exit_code == 1
    done = run("validate", "--files", "--root", "elsewhere", "all.sample_list")
    assert done.exit_code == 1 and "[hdf5-roots]" in done.stdout
    assert run("list", "build", "d", "--sample", "s", "--pattern", "s").exit_code == 2
    os.makedirs("empty")
    assert "[hdf5-no-files]" in run("list", "build", "empty").stderr
    assert run("list", "build", "d", "--sample", "nothing").exit_code == 1
    findings = exset.validate("all.sample_list", check_files=True, ids="text")
    assert findings.count("lbann-missing-file") == 1


def test_lists_as_lbann_generates_them(corpus: Path) -> None:
    """At least the samples of LBANN's generator, which silently drops one with another field."""
    generate = corpus / "lbann/generate"
    for paths, made in ((["a_default.h5", "b_default.h5"], "o_fl"), (["d"], "o_fl2")):
        findings = Findings()
        samples = build(*(str(generate / path) for path in paths), findings=findings)
        theirs = exset.load(generate / made / "inclusive.sample_list", model=SampleList, ids="text")
        ours = {(file.name.lstrip("/"), tuple(file.ids)) for file in samples.files}
        assert ours == {(file.name.lstrip("/"), tuple(file.ids)) for file in theirs.files}
        assert bool(findings.count("list-odd-sample")) == (made == "o_fl2")


@pytest.mark.parametrize("jobs", [1, 2])
def test_one_unusual_first_file_does_not_reject_the_others(folder: Path, jobs: int) -> None:
    write("d/0.h5", ["RUN/0"], x=np.zeros(5))
    for number in range(1, 40):
        write(f"d/{number:02}.h5", ["RUN/0", "RUN/1"], x=np.zeros(3))
    findings = Findings()
    samples = build("d", findings=findings, jobs=jobs)
    assert len(samples) == 78 and findings.count("list-odd-sample") == 1
    assert len(build("d", sample="RUN/0")) == 1
    write("e.h5", ["RUN/0"], x=np.zeros(3))
    with h5py.File("e.h5", "a") as file:
        for number in range(1, 20):
            file[f"RUN/{number}/x"] = np.zeros(4)
    assert len(build("e.h5")) == 19


def test_a_field_that_no_sample_has_is_an_error(folder: Path) -> None:
    write("d/a.h5", ["RUN/0"], x=1.0)
    with pytest.raises(FormatError) as caught:
        build("d", finite=["y"])
    assert caught.value.code == "hdf5-no-field" and "are x" in (caught.value.hint or "")
    with pytest.raises(FormatError) as caught:
        build("d", finite=["y"], pattern="RUN/*")
    assert caught.value.code == "list-empty" and "--sample" not in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("sample", "near"),
    [("RUN/01", "RUN/001"), ("RUM/001", "RUN/001"), ("zzz", "RUN/000"), ("RUN/000/x", "RUN/000")],
)
@pytest.mark.parametrize("files", [1, 3])
def test_a_sample_that_no_file_has(folder: Path, sample: str, near: str, files: int) -> None:
    for number in range(files):
        write(f"d/{number}.h5", ["RUN/000", "RUN/001"], x=1.0)
    with pytest.raises(FormatError) as caught:
        build("d", sample=sample)
    assert caught.value.code == "hdf5-no-sample" and repr(near) in (caught.value.hint or "")
    assert (f"{files - 1} other files" in caught.value.message) == (files > 1)
    with pytest.raises(FormatError) as caught:
        schema = exset.Schema.of({"x": None})
        exset.SampleReader([("d/0.h5", sample)], schema, schema).to_arrays()
    assert caught.value.code == "hdf5-no-sample" and repr(near) in (caught.value.hint or "")


def test_an_old_list_is_not_replaced_by_an_incomplete_one(folder: Path) -> None:
    write("d/a.h5", ["RUN/0"], x=np.zeros(3))
    Path("d/b.h5").write_bytes(b"junk")
    assert run("list", "build", "d", "-o", "all.sample_list").exit_code == 1
    incomplete = Path("all.sample_list").read_bytes()
    assert b"a.h5" in incomplete
    Path("all.sample_list").write_bytes(b"old")
    found = run("list", "build", "d", "-o", "all.sample_list")
    assert found.exit_code == 1 and "[hdf5-incomplete]" in found.stderr
    assert Path("all.sample_list").read_bytes() == b"old"
    assert run("list", "build", "d", "-o", "all.sample_list", "--partial").exit_code == 1
    assert Path("all.sample_list").read_bytes() == incomplete


def test_an_old_schema_is_not_replaced_by_an_incomplete_one(folder: Path) -> None:
    write("d/a.h5", ["RUN/0"], x=np.zeros(3))
    Path("d/b.h5").write_bytes(b"junk")
    words = ("schema", "build", "d", "-o", "d.yaml", "--experiment", "e.yaml")
    for old in ("d.yaml", "e.yaml"):
        assert run(*words, "--partial").exit_code == 1
        incomplete = {each: Path(each).read_bytes() for each in ("d.yaml", "e.yaml")}
        assert b"x:" in incomplete["d.yaml"]
        for each in incomplete:
            Path(each).unlink()
        Path(old).write_bytes(b"old")
        found = run(*words)
        assert found.exit_code == 1 and "[hdf5-incomplete]" in found.stderr
        assert Path(old).read_bytes() == b"old"
        assert sum(Path(each).exists() for each in incomplete) == 1
        assert run(*words, "--partial").exit_code == 1
        assert {each: Path(each).read_bytes() for each in incomplete} == incomplete
