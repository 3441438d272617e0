"""Sample lists and the HDF5 files that they name: built from them, checked against them."""

import os
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np
import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

import exset
from exset import Findings, FormatError, SampleList, Severity
from exset.access import Access
from exset.cli import cli
from exset.grammars.labels import Labels
from exset.grammars.sample_kinds import Kind
from exset.jobs import Outcome
from exset.kernels import Engine
from exset.parsers.labels import parse as parse_labels
from exset.runtime.hdf5_files import files_in
from exset.runtime.list_build import Found, built, search_for, searched
from exset.runtime.list_files import Checker
from exset.runtime.list_kinds import recast
from exset.runtime.small_files import run_in_batches
from exset.source import Source


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(path: str, samples: list[str], *, ordered: bool = True, **fields: object) -> None:
    """A file of samples, each with the same fields."""
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with h5py.File(path, "w", track_order=ordered) as file:
        for sample in samples:
            group = file.create_group(sample, track_order=ordered)
            for name, value in (fields or {"x": np.zeros(3)}).items():
                group[name] = value


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments)


def codes(samples: SampleList, **options: object) -> list[str]:
    findings = Findings()
    Checker(**options).check(samples, findings)  # type: ignore[arg-type]
    return [finding.code for finding in findings]


def listed(kind: str, *files: tuple[object, ...], directory: str = "d") -> SampleList:
    label_file = "" if Kind(kind).has_label_file else None
    return SampleList.of(kind, directory, files, label_file=label_file)


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_is_wrong_with_the_files(folder: Path, jobs: int) -> None:
    write("d/flat.h5", ["c", "a", "b"])
    write("d/deep.h5", ["RUN/000", "RUN/001"])
    write("d/plain.h5", ["a", "b"], ordered=False)
    Path("d/junk.h5").write_bytes(b"junk")
    good = listed(
        "CONDUIT_HDF5_INCLUSION", ("flat.h5", ["a", "c"], 1), ("/deep.h5", ["RUN/001"], 1)
    )
    assert codes(good, jobs=jobs) == []
    bad = listed(
        "CONDUIT_HDF5_INCLUSION",
        ("flat.h5", ["a", "nothing", "a/x/y", "a//x", "../c"]),
        ("deep.h5", ["RUN", "RUN/7", "NO/000"]),
        ("none.h5", ["a"]),
        ("junk.h5", ["a"]),
    )
    assert codes(bad, jobs=jobs) == [
        *("lbann-missing-id", "lbann-missing-id", "hdf5-path"),
        *("lbann-missing-id", "lbann-missing-id"),
        *("lbann-missing-file", "lbann-unreadable-file"),
    ]
    out = listed("CONDUIT_HDF5_EXCLUSION", ("flat.h5", ["a"], 2), ("none.h5", [], 1))
    assert codes(out, jobs=jobs) == ["lbann-missing-file"]
    for file, code in (
        (("flat.h5", ["a"], 7), "lbann-file-size"),
        (("flat.h5", ["z"], 2), "lbann-missing-id"),
        (("deep.h5", ["RUN/000"], 1), "lbann-file-size"),
        (("plain.h5", ["a"], 1), "lbann-no-creation-order"),
    ):
        assert codes(listed("CONDUIT_HDF5_EXCLUSION", file), jobs=jobs) == [code]
    assert codes(good.with_columns(directory=b"no")) == ["lbann-missing-directory"]
    assert codes(good.with_columns(directory=b"d/.."), base="..") == ["lbann-missing-directory"]
    numbers = listed("MULTI-SAMPLE_INCLUSION_V2", ("a.smi", [1, 2]), ("flat.h5", [1]))
    assert codes(numbers) == ["lbann-missing-file"]


def test_links_are_not_followed(folder: Path) -> None:
    write("d/a.h5", ["real"])
    write("other.h5", ["secret"])
    with h5py.File("d/a.h5", "a") as file:
        file["soft"] = h5py.SoftLink("/real")
        file["dangling"] = h5py.SoftLink("/none")
        file["outside"] = h5py.ExternalLink("../other.h5", "/secret")
        file["real/loop"] = file["/"]
    ids = ["soft", "dangling", "outside", "outside/x", "real/loop/real/loop/real"]
    samples = listed("CONDUIT_HDF5_INCLUSION", ("a.h5", ids))
    assert codes(samples) == ["hdf5-link"] * 4
    found = codes(samples, access=Access(links=True, roots=(str(folder),)))
    assert found == ["lbann-missing-id"]


def test_broken_files_are_findings(folder: Path) -> None:
    write("whole.h5", [f"s{number}" for number in range(20)])
    whole = Path("whole.h5").read_bytes()
    random = np.random.default_rng(5)
    os.makedirs("d")
    samples = listed("CONDUIT_HDF5_INCLUSION", ("x.h5", ["s1", "s2/x"]))
    for _ in range(60):
        data = bytearray(whole)
        for place in random.integers(0, len(data), 12).tolist():
            data[place] ^= int(random.integers(1, 256))
        Path("d/x.h5").write_bytes(data[: int(random.integers(8, len(data) + 1))])
        codes(samples)
        codes(listed("CONDUIT_HDF5_EXCLUSION", ("x.h5", ["s1"], 19)))


def test_inclusion_to_exclusion_and_back(folder: Path) -> None:
    write("d/a.h5", ["z", "y", "x"])
    write("d/b.h5", ["p", "q"])
    samples = listed("CONDUIT_HDF5_INCLUSION", ("a.h5", ["z", "x"], 1), ("b.h5", ["p", "q"], 0))
    out = recast(samples, "MULTI-SAMPLE_EXCLUSION", Findings(), labels="labels")
    assert out.label_file == b"labels"
    assert [(file.ids, file.included) for file in out.files] == [(["y"], 2), ([], 2)]
    back = recast(out, "CONDUIT_HDF5_INCLUSION", Findings(), lossy=True)
    assert back == samples
    with pytest.raises(FormatError, match="cannot say the label file labels"):
        recast(out, "CONDUIT_HDF5_INCLUSION", Findings())
    v2 = recast(samples, "MULTI-SAMPLE_INCLUSION_V2", Findings(), lossy=True)
    assert list(v2) == list(samples)
    for ids, why in (
        (["x", "z"], "order in which they were made"),
        (["z", "z"], "twice"),
        (["nothing"], "has no nothing"),
        (["z/x"], "not at the top"),
    ):
        with pytest.raises(FormatError, match=why):
            recast(
                listed("CONDUIT_HDF5_INCLUSION", ("a.h5", ids)),
                "CONDUIT_HDF5_EXCLUSION",
                Findings(),
            )
    write("d/c.h5", ["a"], ordered=False)
    with pytest.raises(FormatError, match="does not keep in which order"):
        recast(
            listed("CONDUIT_HDF5_INCLUSION", ("c.h5", ["a"])), "CONDUIT_HDF5_EXCLUSION", Findings()
        )
    write("d/e.h5", ["a b", "c"])
    with pytest.raises(FormatError, match="blank"):
        recast(
            listed("CONDUIT_HDF5_EXCLUSION", ("e.h5", ["c"], 1)),
            "CONDUIT_HDF5_INCLUSION",
            Findings(),
        )


@pytest.fixture(scope="module")
def flat(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """Files whose samples were made in an order that is not that of their names."""
    folder = tmp_path_factory.mktemp("flat")
    made = {str(folder / f"{name}.h5"): [f"s{k}" for k in order] for name, order in ORDERS.items()}
    for path, samples in made.items():
        write(path, samples)
    return made


ORDERS = {"a": [3, 1, 2, 0], "b": [5], "c": [9, 8, 7, 6, 5, 4, 10]}


@given(st.data())
def test_inclusion_is_exclusion_is_inclusion(
    flat: dict[str, list[str]], data: st.DataObject
) -> None:
    rows = []
    for path in data.draw(st.permutations(sorted(flat))):
        chosen = data.draw(st.sets(st.sampled_from(flat[path])))
        ids = [each for each in flat[path] if each in chosen]
        rows.append((os.path.basename(path), ids, len(flat[path]) - len(ids)))
    directory = os.path.dirname(next(iter(flat)))
    samples = listed("CONDUIT_HDF5_INCLUSION", *rows, directory=directory)
    out = recast(samples, "CONDUIT_HDF5_EXCLUSION", Findings())
    assert out.computed == samples.computed and codes(out) == codes(samples) == []
    text = exset.dumps(out, format="sample_list")
    again = exset.loads(text, model=SampleList, ids="text")
    assert again == out
    assert recast(again, "CONDUIT_HDF5_INCLUSION", Findings()) == samples


def test_single_sample_lists_and_others(folder: Path) -> None:
    single = SampleList.of("SINGLE-SAMPLE", "d", [("a.png",), ("b.png",)], label_file="l")
    many = recast(single, "MULTI-SAMPLE_INCLUSION", Findings())
    assert [path for path, _ in many] == [path for path, _ in single]
    assert recast(many, "SINGLE-SAMPLE", Findings()) == single
    with pytest.raises(FormatError, match="a file is one"):
        recast(listed("CONDUIT_HDF5_INCLUSION", ("a", ["x", "y"])), "SINGLE-SAMPLE", Findings())
    odd = listed("CONDUIT_HDF5_INCLUSION", ("a", ["x"]))
    with pytest.raises(FormatError, match="called in their files"):
        recast(odd, "SINGLE-SAMPLE", Findings())
    findings = Findings()
    assert recast(odd, "SINGLE-SAMPLE", findings, lossy=True).label_file == b""
    assert {finding.code for finding in findings} == {"lbann-lost", "lbann-no-label-file"}
    with pytest.raises(ValueError, match="no kind of list"):
        recast(odd, "SINGLE", Findings())


def test_labels(folder: Path) -> None:
    text = b"a.png 1\n\n b.png\t+2 ignored\r\na.png 3\nother 4"
    findings = Findings()
    engines: tuple[Engine, ...] = ("auto", "reference", "table")
    for engine in engines:
        labels = parse_labels(Source("l", text), findings=findings, engine=engine)
        single = SampleList.of(
            "SINGLE-SAMPLE", "d", [("a.png",), ("b.png",), ("c.png",)], label_file="l"
        )
        values, given = labels.of(single)
        assert values.tolist() == [3, 2, 0] and given.tolist() == [True, True, False]
    assert {finding.code for finding in findings} == {"lbann-repeated-label"}
    assert isinstance(labels, Labels) and len(labels) == 4
    for wrong in (b"a.png", b"a.png x", b"a.png -"):
        with pytest.raises(FormatError, match="name of a file, label"):
            parse_labels(Source("l", wrong))
    os.makedirs("d")
    for name in "abc":
        Path(f"d/{name}.png").write_bytes(b"")
    assert codes(single) == ["lbann-missing-labels"]
    Path("l").write_bytes(text)
    assert codes(single) == ["lbann-repeated-label", "lbann-missing-labels"]


def build(*paths: str, findings: Findings | None = None, **options: object) -> SampleList:
    findings = Findings() if findings is None else findings
    found = files_in(paths)
    search = search_for(found, findings, **options)  # type: ignore[arg-type]
    return built(list(searched(search, found)), findings)


def test_lists_are_built(folder: Path) -> None:
    write("d/a.h5", ["RUN/0", "RUN/1"], x=np.zeros(3), y=1.5)
    write("d/sub/b.h5", ["RUN/0", "OTHER/DEEP/7"], x=np.ones(3), y=2.5)
    write("d/sub/odd.h5", ["RUN/2"], x=np.ones(4), y=2.5)
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
    assert len(finite) == 2 and "NaN in y" in next(iter(findings)).message
    assert len(build("d/sub", pattern="RUN/*")) == 2
    Path("d/000.h5").write_bytes(b"broken, and the first")
    assert list(build("d")) == list(samples)
    with pytest.raises(FormatError, match="not an HDF5 file"):
        build("d/000.h5", "d/broken.hdf5")
    with pytest.raises(FormatError, match="no samples"):
        build("d/sub", pattern="NOTHING/*")


def test_a_search_goes_on_where_it_was(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(4):
        write(f"d/{number}.h5", ["a", "b"])
    paths = files_in(["d"])
    search = search_for(paths, Findings())
    first = searched(search, paths, journal="j")
    assert next(first).result() == Found(["a", "b"])
    assert next(first).result()
    first.close()
    with open("j", "a") as file:
        file.write('{"path": "d/2.h5", "sta')
    looked: list[str] = []
    run_search = type(search).__call__

    def looking(self: object, path: str) -> Found:
        looked.append(path)
        return run_search(search, path)

    monkeypatch.setattr(type(search), "__call__", looking)
    outcomes = list(searched(search, paths, journal="j"))
    assert looked == paths[2:]
    assert [outcome.item for outcome in outcomes] == paths
    assert all(outcome.result() == Found(["a", "b"]) for outcome in outcomes)
    write("d/1.h5", ["a", "b", "c"])
    looked.clear()
    assert len(list(searched(search, paths, journal="j"))) == 4 and looked == ["d/1.h5"]
    with pytest.raises(FormatError, match="another search"):
        list(searched(search_for(paths, Findings(), pattern="a"), paths, journal="j"))
    Path("j").write_bytes(b"\xff\n")
    with pytest.raises(FormatError, match="no journal"):
        list(searched(search, paths, journal="j"))


@pytest.mark.parametrize("how", [["--pattern", "q/*"], ["--sample", "a/s"]])
def test_a_circle_of_groups_has_an_end(folder: Path, how: list[str]) -> None:
    with h5py.File("x.h5", "w") as file:
        file["a/b/again"] = file.create_group("a")
        file["a/s/x"] = 1.0
    done = run("list", "build", "x.h5", *how)
    assert done.exit_code == 1
    assert "or in a circle" in done.stderr and "no samples were found" in done.stderr


def test_files_and_labels_stay_within_the_roots(folder: Path) -> None:
    Path("d").mkdir()
    Path("d/a.png").touch()
    Path("labels").write_text("a.png 1\n")
    Path("x.sample_list").write_text("SINGLE-SAMPLE\n1\nd\nlabels\na.png\n")
    for root, count in (("d", 1), ("nowhere", 2), (".", 0)):
        found = exset.validate("x.sample_list", check_files=True, access=Access(roots=(root,)))
        assert found.count("hdf5-roots") == count


def test_what_no_list_can_name_is_told(folder: Path) -> None:
    findings = Findings()
    outcomes = [
        Outcome("d/a b.h5", Found(["x"])),
        Outcome("d/c.h5", Found(["x y", "z"], [("w", "it lacks v")])),
        Outcome("d/e.h5", error=FileNotFoundError(2, "gone", "d/e.h5")),
    ]
    samples = built(outcomes, findings)
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
    assert done.exit_code == 1 and "no such file" in done.stdout
    assert run("validate", "--files", "--base", "d", "all.sample_list").exit_code == 1
    done = run("validate", "--files", "--root", "elsewhere", "all.sample_list")
    assert done.exit_code == 1 and "outside of the roots" in done.stdout
    assert run("list", "build", "d", "--sample", "s", "--pattern", "s").exit_code == 2
    os.makedirs("empty")
    assert "that end in .h5" in run("list", "build", "empty").stderr
    assert run("list", "build", "d", "--sample", "nothing").exit_code == 1
    findings = exset.validate("all.sample_list", check_files=True, ids="text")
    assert findings.count("lbann-missing-file") == 1


def test_lists_as_lbann_generates_them(corpus: Path) -> None:
    """At least what LBANN's generator finds; and it drops an odd sample without a word."""
    generate = corpus / "lbann/generate"
    for paths, made in ((["a_default.h5", "b_default.h5"], "o_fl"), (["d"], "o_fl2")):
        findings = Findings()
        samples = build(*(str(generate / path) for path in paths), findings=findings)
        theirs = exset.load(generate / made / "inclusive.sample_list", model=SampleList, ids="text")
        ours = {(file.name.lstrip("/"), tuple(file.ids)) for file in samples.files}
        assert ours == {(file.name.lstrip("/"), tuple(file.ids)) for file in theirs.files}
        assert bool(findings.count("list-odd-sample")) == (made == "o_fl2")


@dataclass(frozen=True)
class Dying:
    """Work that ends its process on some files."""

    def __call__(self, path: str) -> str:
        if path.endswith("7"):
            os._exit(1)
        if path.endswith("5"):
            raise FileNotFoundError(2, "gone", path)
        return path


def test_batches_are_as_one_by_one() -> None:
    paths = [f"p{number}" for number in range(20)]
    outcomes = list(run_in_batches(Dying(), paths, jobs=2))
    assert [outcome.item for outcome in outcomes] == paths
    assert {outcome.item for outcome in outcomes if outcome.error} == {"p5", "p7", "p15", "p17"}
    assert isinstance(outcomes[7].error, ChildProcessError)
    assert all(outcome.value == outcome.item for outcome in outcomes if not outcome.error)
