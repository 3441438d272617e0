"""Schemas built from HDF5 files and checked against them."""

import os
import signal
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from exset.core.errors import Findings, FormatError, Severity
from exset.core.parts import FilePart
from exset.grammars.lbann.schema import Schema
from exset.parsers.lbann.schema_text import render
from exset.runtime.hdf5.file import File
from exset.runtime.hdf5.groups import guess_sample
from exset.runtime.lbann import hdf5_files
from exset.runtime.lbann.hdf5_search import Search, SearchResult
from exset.runtime.lbann.merged_schema import merge_schemas
from exset.runtime.lbann.sample_reader import SampleReader
from exset.runtime.lbann.schema_build import build, experiment
from exset.runtime.lbann.schema_check import check_files
from exset.runtime.reports.statistics import Spread
from tests.cli.command_line import run
from tests.lbann.hdf5_lists import samples_like


def write(path: Path, samples: dict[str, dict[str, Any]]) -> str:
    with h5py.File(path, "w", track_order=True) as file:
        for sample, fields in samples.items():
            group = file.create_group(sample, track_order=True)
            for name, values in fields.items():
                group[name] = values
    return str(path)


def sample(seed: int) -> dict[str, Any]:
    chance = np.random.default_rng(seed)
    return {
        "inputs/trans_u": chance.normal(3.0, 2.0),
        "inputs/modes": chance.random((4, 3)).astype("f4"),
        "outputs/count": np.int64(seed),
        "outputs/image": chance.random((8, 8)),
        "name": f"sample {seed}",
    }


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Two files, of 3 and 2 samples two levels deep."""
    first = {f"RUN_ID/{i:09}": sample(i) for i in range(3)}
    second = {f"RUN_ID/{i:09}": sample(i) for i in range(3, 5)}
    return [write(tmp_path / "a.h5", first), write(tmp_path / "b.h5", second)]


def test_fields_have_their_types_shapes_and_orderings(files: list[str]) -> None:
    built = build(files)
    assert built.samples == 5 and not len(built.findings)
    assert built.prototype.sample == "RUN_ID/000000000"
    fields = {"/".join(path): leaf for path, leaf in built.schema.root.leaves()}
    orderings = {name: leaf.metadata["ordering"].value for name, leaf in fields.items()}
    assert sorted(orderings.values()) == [10, 20, 30, 40, 50]  # type: ignore[type-var]
    assert set(fields) == set(sample(0))
    assert fields["outputs/image"].metadata["dims"].value == (8, 8)
    assert fields["outputs/image"].metadata["channels"].value == 1
    text = render(built.schema).decode()
    for note in (
        "5 samples in 2 files",
        "modes:  # float32 (4, 3)",
        "count:  # int64, not a float",
    ):
        assert note in text


@pytest.mark.parametrize(("normalise", "expected"), [("range", (0, 1)), ("unit", None)])
def test_scale_and_bias_come_from_all_values(
    files: list[str], normalise: Any, expected: tuple[int, int] | None
) -> None:
    built = build(files, normalise=normalise)
    found = samples_like(built.prototype, files)
    pairs = [(path, sample) for path, samples in found.items() for sample in samples]
    selected = experiment(built.schema, [("samples", "inputs"), ("responses", "outputs")])
    findings = Findings()
    reader = SampleReader(
        pairs, built.schema, selected, keep_packed=True, compat="lbann", findings=findings
    )
    batch = reader.to_arrays()
    assert not findings.count("lbann-refuses")
    for name in ("inputs/trans_u", "inputs/modes", "outputs/count", "outputs/image"):
        values = batch[name].astype(np.float64)
        assert batch[name].dtype == np.float32
        if expected:
            assert values.min() == pytest.approx(0, abs=1e-6)
            assert values.max() == pytest.approx(1, abs=1e-6)
        else:
            assert values.mean() == pytest.approx(0, abs=1e-6)
            assert values.std() == pytest.approx(1, abs=1e-6)
    assert batch["samples"].shape == (5, 13) and batch["responses"].shape == (5, 65)


def test_rejected_groups_are_findings(tmp_path: Path, files: list[str]) -> None:
    others = {
        "RUN_ID/good": sample(9),
        "RUN_ID/long": sample(9) | {"inputs/modes": np.zeros((4, 4), "f4")},
        "RUN_ID/less": {"name": "x", "inputs/trans_u": 1.0},
        "RUN_ID/more": sample(9) | {"extra": 1.0},
        "other/deep/er": sample(9),
    }
    path = write(tmp_path / "c.h5", others)
    built = build([files[0], path])
    assert samples_like(built.prototype, [path]) == {path: ["RUN_ID/good", "other/deep/er"]}
    found = {f.place.field: f.message for f in built.findings if f.place}
    assert found.keys() == {"RUN_ID/long", "RUN_ID/less", "RUN_ID/more"}
    assert "inputs/modes is float32 (4, 4), not float32 (4, 3)" in found["RUN_ID/long"]
    assert "it lacks inputs/modes" in found["RUN_ID/less"]
    assert "it also has extra" in found["RUN_ID/more"]


def test_constant_and_infinite_values(tmp_path: Path) -> None:
    fields = {"x": np.array([1.0, np.nan, 3.0]), "same": 2.0, "metadata": 1.0}
    path = write(tmp_path / "a.h5", {"run/1": fields, "run/2": fields})
    built = build([path], "run/1", normalise="range")
    codes = sorted(finding.code for finding in built.findings)
    assert codes == ["schema-constant", "schema-not-finite", "schema-reserved"]
    [field] = [leaf for name, leaf in built.schema.root.leaves() if name == ("x",)]
    assert (field.metadata["scale"].value, field.metadata["bias"].value) == (0.5, -0.5)
    assert len(built.schema) == 2


def test_spreads_add_up() -> None:
    chance = np.random.default_rng(7)
    parts = [chance.normal(1e6, 3, n) for n in (1, 0, 1000, 17)]
    spread = Spread()
    for part in parts:
        spread.add(Spread.of(part))
    whole = np.concatenate(parts)
    assert spread.count == whole.size and (spread.low, spread.high) == (whole.min(), whole.max())
    assert spread.mean == pytest.approx(whole.mean(), rel=1e-14)
    assert spread.deviation == pytest.approx(whole.std(), rel=1e-9)
    assert Spread().to_range() is None and Spread.of(np.array([5e-324, 0.0])).to_range() is None


def test_a_sample_is_guessed(tmp_path: Path, files: list[str]) -> None:
    shapes: list[tuple[dict[str, dict[str, Any]], str | None]] = [
        ({"1": {"x": 1.0}, "2": {"x": 1.0}}, "1"),
        ({"e1/s1": {"in/x": 1.0, "out/y": 1.0}, "e1/s2": {"in/x": 1.0, "out/y": 1.0}}, "e1/s1"),
        ({"a": {"x": 1.0}, "b": {"y": 1.0}}, None),
        ({"a": {}}, None),
    ]
    for samples, expected in shapes:
        with File(write(tmp_path / "x.h5", samples)) as file:
            if expected is None:
                with pytest.raises(FormatError, match="hdf5-no-sample") as caught:
                    guess_sample(file)
                assert "--sample" in (caught.value.hint or "")
            else:
                assert guess_sample(file) == expected


def test_build_errors(tmp_path: Path, files: list[str]) -> None:
    with pytest.raises(ValueError, match="files must not be empty"):
        build([])
    with pytest.raises(FormatError, match="hdf5-no-sample"):
        build(files, "RUN_ID/7")
    with pytest.raises(FileNotFoundError):
        build(["missing.h5"])
    junk = tmp_path / "junk.h5"
    junk.write_bytes(b"junk")
    built = build([*files, str(junk), "missing.h5"])
    codes = [(f.code, f.severity) for f in built.findings]
    assert codes == [("hdf5", Severity.ERROR), ("hdf5-file", Severity.ERROR)]
    with pytest.raises(FormatError, match="schema-unknown-field"):
        experiment(built.schema, [("samples", "nothing")])


def test_an_experiment_selects_and_packs() -> None:
    data = Schema.of({"inputs": {"x": None, "y": None}, "out": None})
    selected = experiment(data, [("samples", "inputs/x"), ("responses", "out")])
    merged = {field.name: field.to_json() for field in merge_schemas(data, selected).fields}
    assert merged == {
        "inputs/x": {"pack": "samples", "coerce": "float"},
        "out": {"pack": "responses", "coerce": "float"},
    }
    assert len(merge_schemas(data, experiment(data)).fields) == 3


def test_text_below_a_packed_path_is_left_out(tmp_path: Path) -> None:
    fields = {
        "out": 1.0,
        "in/x": 1.0,
        "in/name": "a",
        "in/deep/n": np.int64(3),
        "in/deep/name": "b",
    }
    built = build([write(tmp_path / "a.h5", {"run/0": fields, "run/1": fields})])
    findings = Findings()
    packs = [("samples", "in")]
    made = experiment(built.schema, packs, text=built.text, findings=findings)
    assert [finding.code for finding in findings] == ["schema-text"] * 2
    pairs = [(str(tmp_path / "a.h5"), f"run/{i}") for i in range(2)]
    found = check_files(pairs, built.schema, made, compat="lbann")
    assert found.worst is None or found.worst < Severity.WARNING
    reader = SampleReader(pairs, built.schema, made)
    assert reader.to_arrays()["samples"].shape == (2, 2)
    with pytest.raises(FormatError, match="schema-pack"):
        experiment(built.schema, [("samples", "in/name")], text=built.text)


def test_files_without_samples_are_not_counted(tmp_path: Path, files: list[str]) -> None:
    built = build([*files, write(tmp_path / "c.h5", {"other/1": {"x": 1.0}})])
    assert built.findings.count("hdf5-no-sample") == 1
    assert "5 samples in 2 files" in render(built.schema).decode()


def test_one_unusual_file_does_not_define_the_schema(tmp_path: Path, files: list[str]) -> None:
    unusual = write(tmp_path / "0.h5", {"RUN_ID/0": sample(7) | {"inputs/modes": [1.0]}})
    built = build([unusual, *files])
    assert built.samples == 5 and built.prototype.sample == "RUN_ID/000000000"
    assert {each.code for each in built.findings} == {"hdf5-odd-sample", "hdf5-no-sample"}
    assert build([unusual, *files], "RUN_ID/0").samples == 1


def test_the_hint_about_text_is_not_to_coerce_it(files: list[str]) -> None:
    data = Schema.of({"name": None})
    [finding] = check_files(pairs_of(files), data, data)
    assert finding.code == "lbann-not-float" and "coerce" not in (finding.hint or "")


def pairs_of(files: list[str]) -> list[tuple[str, str | int]]:
    counts = [range(3), range(3, 5)]
    return [
        (path, f"RUN_ID/{i:09}") for path, each in zip(files, counts, strict=True) for i in each
    ]


def test_check_of_matching_files(files: list[str]) -> None:
    data = Schema.of({"inputs": {"modes": None}, "outputs": {"image": None}})
    for jobs in (1, 2):
        findings = check_files(pairs_of(files), data, data, jobs=jobs)
        assert not len(findings)


def test_check_of_other_files(tmp_path: Path, files: list[str]) -> None:
    data = Schema.of({"inputs": {"modes": None, "ghost": None}})
    selected = Schema.of({"inputs": {"modes": None}})
    other = write(tmp_path / "unlike.h5", {"1": sample(1) | {"inputs/modes": np.zeros(2, "f4")}})
    junk = tmp_path / "junk.h5"
    junk.write_bytes(b"junk")
    pairs = [*pairs_of(files), (other, "1"), (other, "2"), (str(junk), "1"), ("missing.h5", "1")]
    found = check_files(pairs, data, selected)
    codes = sorted(finding.code for finding in found)
    assert codes == ["hdf5", "hdf5-file", "hdf5-no-sample", "hdf5-odd-sample"]
    assert found.worst is Severity.ERROR
    lacking = check_files(pairs_of(files), data, data)
    assert lacking.count("hdf5-no-field") == 5
    assert check_files([], data, Schema.of({"nothing": None})).count("schema-unknown-field") == 1


def test_findings_of_schemas_are_reported_once(files: list[str]) -> None:
    data = Schema.of({"outputs": {"count": None}, "name": None})
    found = check_files(pairs_of(files), data, data)
    assert [finding.code for finding in found] == ["lbann-not-float"] * 2


class DyingSearch(Search):
    """A search that ends its process in one of the files."""

    def __call__(self, item: str | FilePart) -> SearchResult:
        if os.fspath(item).endswith("b.h5"):
            os.kill(os.getpid(), signal.SIGSEGV)
        return super().__call__(item)


def test_a_crash_of_hdf5_is_a_finding(files: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("exset.runtime.lbann.schema_build.Search", DyingSearch)
    built = build(files, jobs=2)
    assert [finding.code for finding in built.findings] == ["hdf5-crash"]
    assert built.samples == 3
    assert hdf5_files.failure("x", ChildProcessError(10, "died")).code == "hdf5-crash"


def test_lbanns_generator(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same fields in the same order, and also the sample that LBANN's generator drops."""
    monkeypatch.chdir(corpus / "lbann" / "generate")
    for name in ("fl", "fl2", "fl3"):
        files = Path(f"{name}.txt").read_text().split()
        built = build(files)
        theirs = Path(f"o_{name}/inclusive.sample_list").read_text().splitlines()
        assert built.samples == int(theirs[1].split()[0])
        listed = {line.split()[0].lstrip("/"): line.split()[3:] for line in theirs[3:]}
        found = samples_like(built.prototype, files)
        ours = {path.replace("//", "/").removeprefix("d/"): ids for path, ids in found.items()}
        assert ours == listed
        fields = [path for path, _ in built.schema.root.leaves()]
        assert fields == [("inputs", "x"), ("inputs", "y"), ("out",)]
        dropped = [f.place.field for f in built.findings if f.place is not None]
        assert dropped == (["RUN_ID/000000001"] if name == "fl2" else [])


def test_a_path_to_pack_that_the_schema_lacks() -> None:
    data = Schema.of({"inputs": {"x": None, "y": None}, "out": None})
    for path, hint in (
        ("inputs/x,out", "[('s', 'inputs/x'), ('s', 'out')]"),
        ("inputs/z", "inputs/y"),
        ("zzz", "inputs/y"),
        ("", "inputs"),
    ):
        with pytest.raises(FormatError) as caught:
            experiment(data, [("s", path)])
        assert caught.value.code == "schema-unknown-field" and hint in (caught.value.hint or "")


@pytest.mark.parametrize("pack", ["samples", "samples=", "=x", "samples=/"])
def test_an_incomplete_pack_is_an_error_of_usage(tmp_path: Path, pack: str) -> None:
    path, made = write(tmp_path / "a.h5", {"s": {"x": [1.0]}}), tmp_path / "e.yaml"
    done = run("schema", "build", path, "--experiment", str(made), "--pack", pack)
    assert done.exit_code == 2 and "GROUP=PATH" in done.stderr and not made.exists()
