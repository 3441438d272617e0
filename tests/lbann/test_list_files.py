"""Sample lists and their HDF5 files: checks, and conversion to other kinds."""

import os
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import exset
from exset import Findings, FormatError, SampleList
from exset.core.kernels import Engine
from exset.core.source import Source
from exset.grammars.lbann.labels import Labels
from exset.io.access import Access
from exset.parsers.lbann.labels import parse as parse_labels
from exset.runtime.hdf5.objects import Objects
from exset.runtime.lbann.hdf5_files import run_on_files
from exset.runtime.lbann.list_convert import recast
from tests.lbann.hdf5_lists import codes, listed, write


def test_problems_of_files(folder: Path) -> None:
    write("d/flat.h5", ["c", "a", "b"])
    write("d/deep.h5", ["RUN/000", "RUN/001"])
    write("d/plain.h5", ["a", "b"], ordered=False)
    Path("d/junk.h5").write_bytes(b"junk")
    good = listed(
        "CONDUIT_HDF5_INCLUSION", ("flat.h5", ["a", "c"], 1), ("/deep.h5", ["RUN/001"], 1)
    )
    assert codes(good) == []
    bad = listed(
        "CONDUIT_HDF5_INCLUSION",
        ("flat.h5", ["a", "nothing", "a/x/y", "a//x", "../c"]),
        ("deep.h5", ["RUN", "RUN/7", "NO/000"]),
        ("none.h5", ["a"]),
        ("junk.h5", ["a"]),
    )
    for jobs in (1, 2):
        assert codes(bad, jobs=jobs) == [
            *("lbann-missing-id", "lbann-missing-id", "hdf5-path"),
            *("lbann-missing-id", "lbann-missing-id"),
            *("lbann-missing-file", "lbann-unreadable-file"),
        ]
    out = listed("CONDUIT_HDF5_EXCLUSION", ("flat.h5", ["a"], 2), ("none.h5", [], 1))
    assert codes(out) == ["lbann-missing-file"]
    for file, code in (
        (("flat.h5", ["a"], 7), "lbann-file-size"),
        (("flat.h5", ["z"], 2), "lbann-missing-id"),
        (("deep.h5", ["RUN/000"], 1), "lbann-file-size"),
        (("plain.h5", ["a"], 1), "lbann-no-creation-order"),
    ):
        assert codes(listed("CONDUIT_HDF5_EXCLUSION", file)) == [code]
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
    with pytest.raises(FormatError, match="lbann-lost"):
        recast(out, "CONDUIT_HDF5_INCLUSION", Findings())
    v2 = recast(samples, "MULTI-SAMPLE_INCLUSION_V2", Findings(), lossy=True)
    assert list(v2) == list(samples)
    for ids in (["x", "z"], ["z", "z"], ["nothing"], ["z/x"]):
        with pytest.raises(FormatError, match="lbann-exclusion"):
            recast(
                listed("CONDUIT_HDF5_INCLUSION", ("a.h5", ids)),
                "CONDUIT_HDF5_EXCLUSION",
                Findings(),
            )
    write("d/c.h5", ["a"], ordered=False)
    with pytest.raises(FormatError, match="lbann-no-creation-order"):
        recast(
            listed("CONDUIT_HDF5_INCLUSION", ("c.h5", ["a"])), "CONDUIT_HDF5_EXCLUSION", Findings()
        )
    write("d/e.h5", ["a b", "c"])
    with pytest.raises(FormatError, match="lbann-blank"):
        recast(
            listed("CONDUIT_HDF5_EXCLUSION", ("e.h5", ["c"], 1)),
            "CONDUIT_HDF5_INCLUSION",
            Findings(),
        )


@pytest.fixture(scope="module")
def flat(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """Files whose creation order differs from the order of the names."""
    folder = tmp_path_factory.mktemp("flat")
    made = {str(folder / f"{name}.h5"): [f"s{k}" for k in order] for name, order in ORDERS.items()}
    for path, samples in made.items():
        write(path, samples)
    return made


ORDERS = {"a": [3, 1, 2, 0], "b": [5], "c": [9, 8, 7, 6, 5, 4, 10]}


@given(st.data())
def test_inclusion_to_exclusion_round_trips(
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
    with pytest.raises(FormatError, match="lbann-kind"):
        recast(listed("CONDUIT_HDF5_INCLUSION", ("a", ["x", "y"])), "SINGLE-SAMPLE", Findings())
    other = listed("CONDUIT_HDF5_INCLUSION", ("a", ["x"]))
    with pytest.raises(FormatError, match="lbann-lost"):
        recast(other, "SINGLE-SAMPLE", Findings())
    findings = Findings()
    assert recast(other, "SINGLE-SAMPLE", findings, lossy=True).label_file == b""
    assert {finding.code for finding in findings} == {"lbann-lost", "lbann-no-label-file"}
    with pytest.raises(ValueError, match="unknown type of list"):
        recast(other, "SINGLE", Findings())


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
        with pytest.raises(FormatError, match="syntax"):
            parse_labels(Source("l", wrong))
    os.makedirs("d")
    for name in "abc":
        Path(f"d/{name}.png").write_bytes(b"")
    assert codes(single) == ["lbann-missing-labels"]
    Path("l").write_bytes(text)
    assert codes(single) == ["lbann-repeated-label", "lbann-missing-labels"]


def test_label_files_of_multi_sample_lists(folder: Path) -> None:
    """LBANN's image readers look labels up by the names of files; its HDF5 readers never do."""
    write("d/a.h5", ["x", "y"])
    write("d/b.h5", ["x"])
    included: list[tuple[object, ...]] = [("a.h5", ["x", "y"]), ("b.h5", ["x"])]
    excluded: list[tuple[object, ...]] = [("a.h5", [], 2), ("b.h5", [], 1)]
    for kind, files in (
        ("MULTI-SAMPLE_INCLUSION", included),
        ("MULTI-SAMPLE_EXCLUSION", excluded),
    ):
        samples = SampleList.of(kind, "d", files, label_file="labels")
        Path("labels").write_text("a.h5 1\nb.h5 2\n")
        assert codes(samples) == []
        Path("labels").write_text("a.h5 1\na.h5 2\n")
        assert codes(samples) == ["lbann-repeated-label", "lbann-missing-labels"]
        Path("labels").write_text("a.h5 one\n")
        with pytest.raises(FormatError, match="syntax"):
            codes(samples)
        os.remove("labels")
        exset.save(samples, "l.sample_list")
        [finding] = exset.validate("l.sample_list", check_files=True, ids="text")
        assert finding.code == "lbann-missing-labels"
        assert finding.severity is exset.Severity.WARNING


SEED = """CONDUIT_HDF5_EXCLUSION
61 3 3
d
h5out_1.h5 18 2 RUN_ID/000000003 RUN_ID/000000021
h5out_2.h5 24 0
h5out_3.h5 19 1 RUN_ID/000000003
"""
"""The example of an exclusion list in LBANN's documentation."""


@pytest.mark.parametrize("ordered", [True, False])
def test_an_exclusion_list_of_two_levels_becomes_an_inclusion_list(
    folder: Path, ordered: bool
) -> None:
    """LBANN refuses the example of its documentation, as it lists only the top level of a file."""
    for number, count in ((1, 20), (2, 24), (3, 20)):
        names = [f"RUN_ID/{(each + 3):09}" for each in range(count - (number == 1))]
        write(
            f"d/h5out_{number}.h5", [*names, *["RUN_ID/000000031"] * (number == 1)], ordered=ordered
        )
    Path("seed.sample_list").write_text(SEED)
    findings = Findings()
    seed = exset.load("seed.sample_list", model=SampleList, findings=findings)
    assert findings.count("lbann-two-levels") == 3
    code = "lbann-file-size" if ordered else "lbann-no-creation-order"
    assert {*codes(seed)} == {code}, "as LBANN sees it"
    made = recast(seed, "CONDUIT_HDF5_INCLUSION", Findings())
    assert [file.included for file in made.files] == [18, 24, 19]
    assert [file.excluded for file in made.files] == [2, 0, 1]
    assert made.computed == seed.computed and codes(made) == []
    assert "RUN_ID/000000021" not in made.files[0].ids
    assert made.files[2].ids[0] == "RUN_ID/000000004"
    exset.convert(
        "seed.sample_list", "made.sample_list", kind="CONDUIT_HDF5_INCLUSION", findings=findings
    )
    assert exset.load("made.sample_list", model=SampleList, ids="text") == made


@pytest.mark.parametrize(
    "row, code",
    [
        (("a.h5", ["RUN/0"], 2), "lbann-file-size"),
        (("a.h5", ["RUN/7"], 1), "lbann-missing-id"),
        (("a.h5", ["RUN/0", "x"], 0), "lbann-exclusion"),
        (("a.h5", ["RUN/0/x"], 1), None),
        (("a.h5", ["/".join("x" * 300)], 1), "hdf5"),
    ],
)
def test_exclusion_lists_of_levels_that_do_not_fit(
    folder: Path, row: tuple[object, ...], code: str | None
) -> None:
    write("d/a.h5", ["RUN/0", "RUN/1"])
    samples = listed("CONDUIT_HDF5_EXCLUSION", row)
    if code is None:
        made = recast(samples, "CONDUIT_HDF5_INCLUSION", Findings())
        assert made.files[0].ids == ["RUN/1/x"]
        return
    with pytest.raises(FormatError) as caught:
        recast(samples, "CONDUIT_HDF5_INCLUSION", Findings())
    assert caught.value.code == code


def test_levels_of_a_cycle_are_limited(folder: Path) -> None:
    with h5py.File("x.h5", "w") as file:
        group = file.create_group("a")
        group["a"] = group["b"] = group
    with Objects("x.h5", limits=exset.Limits(max_objects=1000)) as objects:
        assert len(objects.paths_at(3)) == 8
        with pytest.raises(exset.LimitError):
            objects.paths_at(60)


def test_files_and_labels_stay_within_the_roots(folder: Path) -> None:
    Path("d").mkdir()
    Path("d/a.png").touch()
    Path("labels").write_text("a.png 1\n")
    Path("x.sample_list").write_text("SINGLE-SAMPLE\n1\nd\nlabels\na.png\n")
    for root, count in (("d", 1), ("nowhere", 2), (".", 0)):
        found = exset.validate("x.sample_list", check_files=True, access=Access(roots=(root,)))
        assert found.count("hdf5-roots") == count


@dataclass(frozen=True)
class Dying:
    """Work that kills its process on some files."""

    def __call__(self, path: str) -> str:
        if path.endswith("7"):
            os._exit(1)
        if path.endswith("5"):
            raise FileNotFoundError(2, "gone", path)
        return path


def test_batches_give_the_same_outcomes() -> None:
    paths = [f"p{number}" for number in range(16)]
    outcomes = list(run_on_files(Dying(), paths, jobs=2))
    assert [outcome.item for outcome in outcomes] == paths
    assert {outcome.item for outcome in outcomes if outcome.error} == {"p5", "p7", "p15"}
    assert isinstance(outcomes[7].error, ChildProcessError)
    assert all(outcome.value == outcome.item for outcome in outcomes if not outcome.error)
