"""`exset list repack`: every sample once, unchanged, in files with as many samples each."""

from itertools import pairwise
from pathlib import Path

import h5py
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import exset
from exset.runtime.lbann.list_even import even_cuts, loads_of
from exset.runtime.lbann.list_repack import _named
from tests.cli.command_line import run

PATHS = st.sampled_from(["a", "b", "a/b", "run/0", "run/1", "run/0_2", "run/0/x", "a_2"])


@given(st.lists(PATHS, max_size=20))
def test_paths_in_a_file_differ_and_none_is_inside_another(paths: list[str]) -> None:
    names = [each.name for each in _named([("f", path) for path in paths])]
    assert len(names) == len(paths)
    for rank, name in enumerate(names):
        assert name == paths[rank] or name.count("_") > paths[rank].count("_")
        for other in names[:rank] + names[rank + 1 :]:
            assert name != other and not other.startswith(f"{name}/")


@pytest.fixture(autouse=True)
def uneven(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    draw = np.random.default_rng(1)
    for number, count in enumerate([1, 70, 5, 0, 24]):
        with h5py.File(f"{number}.h5", "w", track_order=True) as file:
            file.attrs["of the file"] = 1
            for sample in range(count):
                group = file.create_group(f"run/{sample:03}")
                group.attrs["unit"] = "mm"
                group["in/x"] = draw.random((3, 2)).astype("f4")
                group["name"] = f"{number}-{sample}"
                packed = group.create_dataset("z", data=np.arange(sample), compression="gzip")
                packed.attrs["of z"] = [1, 2]
    assert run("list", "build", ".", "-o", "all.sample_list", "--pattern", "run/*").exit_code == 0


def contents(samples: exset.SampleList) -> list[object]:
    """Return all that is in the groups of the samples."""
    found: list[object] = []
    for path, sample in samples:
        inside: list[object] = []
        with h5py.File(path) as file:

            def add(name: str, each: h5py.HLObject, inside: list[object] = inside) -> None:
                values = None
                if isinstance(each, h5py.Dataset):
                    raw = each[()]
                    values = (str(each.dtype), np.shape(raw), np.asarray(raw).tolist())
                inside.append(
                    (name, values, {k: np.asarray(v).tolist() for k, v in each.attrs.items()})
                )

            file[str(sample)].visititems(add)
            inside.append(file[str(sample)].attrs["unit"])
        found.append(inside)
    return found


@pytest.mark.parametrize(("files", "jobs"), [(2, 1), (7, 1), (100, 1), (3, 2)])
def test_samples_are_kept(files: int, jobs: int) -> None:
    words = ["--files", files, "-j", jobs, "-o", "even.sample_list"]
    done = run("list", "repack", "all.sample_list", "even/", *words)
    assert done.exit_code == 0, done.output
    old = exset.load("all.sample_list", model=exset.SampleList)
    new = exset.load("even.sample_list", model=exset.SampleList)
    assert contents(new) == contents(old)
    counts = new.included.tolist()
    assert len(counts) == files and sum(counts) == 100 and max(counts) - min(counts) <= 1
    assert run("validate", "--files", "even.sample_list").exit_code == 0
    assert len(list(Path("even").iterdir())) == files
    once = {path.name: path.read_bytes() for path in Path("even").iterdir()}
    assert run("list", "repack", "all.sample_list", "again", *words).exit_code == 0
    assert once == {path.name: path.read_bytes() for path in Path("again").iterdir()}


def test_as_many_bytes() -> None:
    """Samples of very different sizes: the files differ from the mean by less than 2 %."""
    draw = np.random.default_rng(2)
    for number, count in enumerate([300, 1, 59]):
        with h5py.File(f"wide{number}.h5", "w", track_order=True) as file:
            for sample in range(count):
                file[f"run/{sample}/x"] = np.zeros(int(draw.integers(1, 400)), "f4")
    run("list", "build", "wide*.h5", "-o", "wide.sample_list", "--pattern", "run/*")
    words = ["wide.sample_list", "even", "--files", "5", "-o", "even.sample_list"]
    done = run("list", "repack", *words, "--by", "bytes")
    sizes = []
    for path in sorted(Path("even").iterdir()):
        with h5py.File(path) as file:
            sizes.append(sum(each["x"].nbytes for each in file["run"].values()))
    assert len(sizes) == 5 and max(abs(size / np.mean(sizes) - 1) for size in sizes) < 0.02
    assert f"{min(sizes):,} to {max(sizes):,} bytes in each file" in done.stderr


@given(st.lists(st.integers(0, 50), min_size=1, max_size=40), st.integers(1, 40))
def test_cuts(weights: list[int], files: int) -> None:
    files = min(files, len(weights))
    cuts = even_cuts(np.array(weights), files)
    assert len(cuts) == files + 1 and cuts[0] == 0 and cuts[-1] == len(weights)
    assert all(start < end for start, end in pairwise(cuts))
    sizes = loads_of(np.array(weights), cuts)
    assert sizes.tolist() == [sum(weights[start:end]) for start, end in pairwise(cuts)]
    if len(weights) >= files * (max(weights) + 1) and min(weights):
        assert np.abs(sizes - sizes.mean()).max() <= max(weights)
    counts = np.diff(even_cuts(np.ones(len(weights), np.int64), files))
    assert counts.max() - counts.min() <= 1


def test_an_exclusion_list_and_the_base() -> None:
    with h5py.File("top.h5", "w", track_order=True) as file:
        for sample in "abcd":
            file[f"{sample}/x"] = 1.0
    text = "CONDUIT_HDF5_EXCLUSION\n3 1 1\n.\ntop.h5 3 1 b\n"
    Path("some.sample_list").write_text(text)
    done = run("list", "repack", "some.sample_list", "even", "--files", 2, "--base", ".")
    assert done.stdout.splitlines()[2:] == ["even", "0.h5 1 0 a", "1.h5 2 0 c d"], done.output


def test_nothing_is_left_after_an_error() -> None:
    with h5py.File("link.h5", "w", track_order=True) as file:
        file["run/000/x"] = 1.0
        file["run/000/y"] = h5py.SoftLink("/run/000/x")
    for line in ("link.h5 1 0 run/000", "1.h5 1 0 run/999", "none.h5 1 0 run/000"):
        Path("l.sample_list").write_text(
            f"CONDUIT_HDF5_INCLUSION\n2 0 2\n.\n2.h5 1 0 run/000\n{line}\n"
        )
        before = sorted(Path().iterdir())
        done = run("list", "repack", "l.sample_list", "even", "--files", 1)
        assert done.exit_code in (1, 3) and line.split()[0] in done.stderr, done.output
        assert sorted(Path().iterdir()) == before
