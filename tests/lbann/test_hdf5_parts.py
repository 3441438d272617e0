"""Work on one large HDF5 file in parts: the results are those of the file as a whole."""

import json
from pathlib import Path
from unittest.mock import patch

import h5py
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exset.core.errors import FormatError, LimitError
from exset.core.limits import DEFAULT
from exset.core.parts import FilePart
from exset.runtime.hdf5.file import File
from exset.runtime.lbann import hdf5_probe, hdf5_search, hdf5_walk, schema_check
from exset.runtime.lbann.hdf5_search import Search, run_search
from exset.runtime.lbann.hdf5_walk import Walk
from tests.cli.command_line import run

trees = st.recursive(
    st.sampled_from(["sample", "field"]),
    lambda below: st.dictionaries(st.sampled_from("abcdefgh"), below, max_size=6),
    max_leaves=60,
)


def write(group: h5py.Group, tree: object) -> None:
    if isinstance(tree, dict):
        for name, below in tree.items():
            if below == "field":
                group[name] = 1.0
            else:
                write(group.create_group(name), below)
    elif tree == "sample":
        group["x"] = 1.0
        group["inner/x"] = 1.0


@given(trees.filter(lambda tree: isinstance(tree, dict)), st.integers(1, 6))
def test_the_parts_of_a_walk_give_the_walk(tree: object, size: int) -> None:
    file = h5py.File("x", "w", driver="core", backing_store=False)
    with pytest.MonkeyPatch.context() as patch, file as written:
        patch.setattr(hdf5_walk, "PART", size)
        write(written, tree)
        written.flush()
        with File("x.h5", content=written.id.get_file_image()) as file:
            whole = Walk(file, is_sample)
            expected = [path for path, _ in whole.found()]
            count = Walk(file, is_sample).parts()
            found, groups = [], 0
            for rank in range(count):
                part = Walk(file, is_sample)
                found += [path for path, _ in part.found(FilePart("x.h5", rank, count))]
                groups += part.groups
            assert (found, groups) == (expected, whole.groups)
            if len(expected) > 8 * size and len(tree) > 1:  # type: ignore[arg-type]
                assert count > 1
            with pytest.raises(FormatError, match="changed"):
                list(Walk(file, is_sample).found(FilePart("x.h5", 0, count + 1)))


def is_sample(path: str, names: object) -> bool:
    return "x" in names  # type: ignore[operator]


def test_the_objects_of_a_file_are_listed_once(large: str) -> None:
    """All parts of a file, and no part of another file or another search, use the same list."""
    with patch.object(Walk, "_tops", autospec=True, side_effect=Walk._tops) as listed:
        for rank in range(4):
            found = Search(pattern="run/*")(FilePart(large, rank, 4))
            assert len(found.samples) in (7, 8)
        assert listed.call_count == 1
        Search(pattern="run/1*").parts(large)
        assert listed.call_count == 2
        with h5py.File(large, "a") as file:
            file["more"] = 1.0
        Search(pattern="run/1*").parts(large)
        assert listed.call_count == 3


@pytest.fixture
def large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A file that is divided into four parts, and one that is not."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EXSET_ISOLATE", "off")  # other processes do not see what is set here
    monkeypatch.setattr(hdf5_search, "LARGE", 1)
    monkeypatch.setattr(hdf5_walk, "PART", 8)
    monkeypatch.setattr(hdf5_probe, "_PART", 8)
    monkeypatch.setattr(schema_check, "_PART", 8)
    for name, count in (("large.h5", 30), ("one.h5", 1)):
        with h5py.File(name, "w", track_order=True) as file:
            for sample in range(count):
                wrong = sample in (11, 29)
                file[f"run/{sample:02}/x"] = [1.0, sample] if not wrong else [1.0]
                if sample in (4, 20):
                    file[f"run/{sample:02}/y"] = 1.0
    return "large.h5"


def test_commands(large: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """They print and write what they do with the files as a whole, and shares divide the parts."""
    build = ["list", "build", large, "one.h5", "--sample", "run/00"]
    commands = [
        [*build, "-o", "all.sample_list"],
        [
            "schema",
            "build",
            large,
            "one.h5",
            "--sample",
            "run/00",
            "-o",
            "d.yaml",
            "--experiment",
            "e.yaml",
        ],
        ["validate", "--files", "wrong.sample_list"],
        ["schema", "check", "d.yaml", "e.yaml", "wrong.sample_list"],
    ]
    results = []
    count = hdf5_search._counts
    for is_divided in (True, False):
        if not is_divided:
            monkeypatch.setattr(hdf5_search, "LARGE", 1 << 30)
            monkeypatch.setattr(hdf5_probe, "_PART", 1 << 30)
            monkeypatch.setattr(schema_check, "_PART", 1 << 30)
        shown = []
        for words in commands:
            done = run(*words)
            shown.append((done.exit_code, done.stdout, done.stderr))
            if words[:2] == ["list", "build"]:
                text = Path("all.sample_list").read_text()
                wrong = text.replace("run/06", "run/99").replace("run/25", "run/11")
                Path("wrong.sample_list").write_text(wrong)
        files = [Path(name).read_bytes() for name in ("all.sample_list", "d.yaml", "e.yaml")]
        results.append((shown, files))
        if is_divided:
            run(*build, "--plan", "plan")
            rows = [json.loads(line) for line in Path("plan").read_text().splitlines()]
            assert [row["part"] for row in rows] == ["1/4", "2/4", "3/4", "4/4", None]
            for share in ("1/3", "2/3", "3/3"):
                assert run(*build, "--shard", share, "--journal", "s/").exit_code == 0
            monkeypatch.setattr(hdf5_search, "_counts", None)  # the journals say the counts
            gathered = run("gather", "s/*", "-o", "gathered.sample_list")
            assert gathered.stderr.replace("gathered", "all") == shown[0][2]
            assert Path("gathered.sample_list").read_bytes() == files[0]
            monkeypatch.setattr(hdf5_search, "_counts", count)
    assert results[0] == results[1]
    assert "4 warnings" in results[0][0][0][2] or results[0][0][0][2].count("odd") >= 3
    assert results[0][0][2][0] == 1 and "run/99" in results[0][0][2][1]
    assert results[0][0][3][0] == 1 and "run/11" in results[0][0][3][1]


def test_limits_are_those_of_the_file(large: str) -> None:
    limits = DEFAULT.with_(max_objects=31)
    search = Search(None, "run/*", limits=limits)
    [outcome] = run_search(search, [large])
    assert isinstance(outcome.error, LimitError)
    with pytest.raises(LimitError) as caught:
        search(large)
    assert caught.value.finding == outcome.error.finding
