"""Data of HDF5 datasets in other files: external storage, and virtual datasets."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from h5py import h5s

import exset
from exset import FormatError
from exset.io.access import Access
from exset.runtime.hdf5.file import File
from tests.cli.command_line import run

LINKS = Access(links=True)
NAME = "run/1/x"
FIRST = np.arange(4.0)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two files of values; another one is outside. It is the current folder."""
    inner = tmp_path / "in"
    (inner / "below").mkdir(parents=True)
    for path in ("one.h5", "below/two.h5", "../outside.h5"):
        with h5py.File(inner / path, "w") as file:
            file["g/d"] = FIRST + 10 * len(path)
    (inner / "raw").write_bytes(np.arange(9, dtype="<i2").tobytes())
    monkeypatch.chdir(inner)
    return inner


def make(fill: Callable[[Any], object]) -> str:
    with h5py.File("a.h5", "w") as file:
        file.create_group("run/1")
        fill(file)
    return "a.h5"


def virtual(*parts: tuple[Any, str], shape: tuple[int, ...] = (2, 4)) -> Callable[[Any], object]:
    """Return a function that makes a virtual dataset; `parts`: where each part is, and its file."""

    def fill(file: Any) -> None:
        layout = h5py.VirtualLayout(shape, "f8")
        for place, other in parts:
            layout[place] = h5py.VirtualSource(other, "g/d", (4,))
        file.create_virtual_dataset(NAME, layout, fillvalue=-1)

    return fill


def external(*segments: tuple[str, int, int], shape: tuple[int, ...] = (2, 3)) -> str:
    """Make a dataset in external storage, without writing its values."""
    with h5py.File("a.h5", "w") as file:
        kind, space = h5py.h5t.py_create(np.dtype("<i2")), h5s.create_simple(shape)
        made = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        for name, begin, size in segments:
            made.set_external(name.encode(), begin, size)
        h5py.h5d.create(file.create_group("run/1").id, b"x", kind, space, made)
    return "a.h5"


def read(path: str, access: Access = LINKS) -> Any:
    with File(path, access) as file:
        found = file.find(NAME)
        form = file.data_type(found, NAME)
        values = np.empty(form.shape, form.dtype)
        file.read(found, values, NAME)
        return values


def code_of(path: str, access: Access = LINKS) -> str:
    with pytest.raises(FormatError) as caught:
        read(path, access)
    assert caught.value.place is not None and caught.value.place.source == "a.h5"
    with File(path, access) as file, pytest.raises(FormatError):  # without reading the values
        file.data_type(file.find(NAME), NAME)
    return caught.value.code


def expected(path: str) -> Any:
    with h5py.File(path) as file:
        return file[NAME][()]


@pytest.mark.usefixtures("folder")
def test_virtual_datasets_are_read_as_the_library_reads_them() -> None:
    def pieces(file: Any) -> None:
        """Pieces of several files and of this one, converted; the rest is the fill value."""
        file["g/d"] = [0.5, 1.5, 2.5, 3.5]
        layout = h5py.VirtualLayout((3, 4), "f4")
        layout[0, 1:3] = h5py.VirtualSource("one.h5", "g/d", (4,))[::2]
        layout[1, ::2] = h5py.VirtualSource("below/two.h5", "g/d", (4,))[1:3]
        layout[2, 3] = h5py.VirtualSource(".", "g/d", (4,))[2]
        file.create_virtual_dataset(NAME, layout, fillvalue=-1)

    for fill in (virtual((0, "one.h5"), (1, "below/two.h5")), virtual((1, "one.h5")), pieces):
        path = make(fill)
        assert code_of(path, Access()) == "hdf5-elsewhere"
        found, wanted = read(path), expected(path)
        assert found.dtype == wanted.dtype and found.tolist() == wanted.tolist()


@pytest.mark.usefixtures("folder")
def test_external_storage_is_read_as_the_library_reads_it() -> None:
    for segments in ([("raw", 2, 12)], [("raw", 4, 2), ("raw", 0, h5s.UNLIMITED)]):
        path = external(*segments)
        assert code_of(path, Access()) == "hdf5-elsewhere"
        assert read(path).tolist() == expected(path).tolist()
    with h5py.File("a.h5", "w") as file:
        data = np.array([1.5, -2.5])
        file.create_dataset(NAME, data=data, dtype=">f4", external=[("new", 1, 8)])
    assert read("a.h5").tolist() == [1.5, -2.5]


def test_paths_are_relative_to_the_folder_of_the_file(folder: Path) -> None:
    os.chdir(folder.parent)
    with h5py.File("in/a.h5", "w") as file:
        virtual((0, "one.h5"))(file)
    assert read("in/a.h5")[0].tolist() == (FIRST + 60).tolist()
    external(("raw", 2, 12))
    os.replace("a.h5", "in/a.h5")
    assert read("in/a.h5").tolist() == [[1, 2, 3], [4, 5, 6]]


def test_other_files_stay_within_the_roots(folder: Path) -> None:
    outside = folder.parent / "outside.h5"
    (folder / "hidden.h5").symlink_to(outside)
    both = Access(links=True, roots=(str(folder), str(folder.parent)))
    for name in ("../outside.h5", str(outside), "hidden.h5"):
        path = make(virtual((0, name)))
        assert code_of(path) == "hdf5-roots"
        assert read(path, both)[0].tolist() == (FIRST + 130).tolist()
        path = external((name, 0, 12))
        assert code_of(path) == "hdf5-roots"
        assert read(path, both).shape == (2, 3)
    assert code_of(external(("/etc/passwd", 0, 12))) == "hdf5-roots"


def test_files_that_are_missing_or_do_not_fit(folder: Path) -> None:
    def of_a_link(file: Any) -> None:
        file["g/d"] = h5py.ExternalLink("../outside.h5", "g/d")
        virtual((0, "."))(file)

    def nested(file: Any) -> None:
        virtual((slice(None), "one.h5"), shape=(4,))(file)
        file.move(NAME, "g/d")
        virtual((0, "."))(file)

    def of_itself(file: Any) -> None:
        layout = h5py.VirtualLayout((4,), "f8")
        layout[:] = h5py.VirtualSource(".", NAME, (4,))
        file.create_virtual_dataset(NAME, layout)

    def of_text(file: Any) -> None:
        file["g/d"] = np.array([b"a"] * 4)
        virtual((0, "."))(file)

    def of_a_group(file: Any) -> None:
        file.create_group("g/d")
        virtual((0, "."))(file)

    def too_short(file: Any) -> None:
        file["g/d"] = [1.0, 2.0]
        virtual((0, "."))(file)

    def of_another_rank(file: Any) -> None:
        file["g/d"] = [[1.0, 2.0], [3.0, 4.0]]
        layout = h5py.VirtualLayout((4,), "f8")
        layout[:2] = h5py.VirtualSource(".", "g/d", (4,))[:2]
        file.create_virtual_dataset(NAME, layout)

    wrong = {
        virtual((0, "missing.h5")): "hdf5-elsewhere",
        virtual((0, "raw")): "hdf5",
        virtual((0, "a.h5")): "hdf5-elsewhere",
        # More values than places: the work could grow faster than the file.
        virtual(*[(0, "one.h5")] * 3): "hdf5-elsewhere",
        of_a_link: "hdf5-roots",
        nested: "hdf5-elsewhere",
        of_itself: "hdf5-elsewhere",
        of_text: "hdf5-elsewhere",
        of_a_group: "hdf5-elsewhere",
        too_short: "hdf5-elsewhere",
        of_another_rank: "hdf5-elsewhere",
    }
    for number, (fill, code) in enumerate(wrong.items()):
        assert code_of(make(fill)) == code, number
    for segment in (("missing", 0, 12), ("raw", 7, 12), ("n" * 255, 0, 12)):
        assert code_of(external(segment)) == "hdf5-elsewhere"
    os.mkfifo("pipe")
    for path in (make(virtual((0, "pipe"))), external(("pipe", 0, 12))):
        with pytest.raises(OSError, match="regular file"):
            read(path)
    assert folder


SIZE = """
import sys
from exset.core.errors import FormatError
from exset.io.access import Access
from exset.runtime.hdf5.file import File
for links in (False, True):
    with File("a.h5", Access(links=links)) as file:
        try:
            file.data_type(file.find("run/1/x"), "run/1/x")
        except FormatError as error:
            print(error.code)
"""


@pytest.mark.usefixtures("folder")
def test_the_size_of_a_virtual_dataset_opens_no_file() -> None:
    """HDF5 opens the files of a dataset without limits when asked for its size: here, a pipe."""

    def unlimited(file: Any) -> None:
        layout = h5py.VirtualLayout((4,), "f8", maxshape=(None,))
        source = h5py.VirtualSource("pipe", "d", (4,), maxshape=(None,))
        layout[: h5s.UNLIMITED] = source[: h5s.UNLIMITED]
        file.create_virtual_dataset(NAME, layout)

    make(unlimited)
    os.mkfifo("pipe")
    command, root = [sys.executable, "-c", SIZE], str(Path(__file__).parents[2])
    environment = {**os.environ, "PYTHONPATH": root}
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.split() == ["hdf5-elsewhere"] * 2


@pytest.mark.usefixtures("folder")
def test_samples_with_data_in_other_files() -> None:
    make(virtual((0, "one.h5"), (1, "below/two.h5")))
    Path("d.yaml").write_text("x:\n")
    Path("a.sample_list").write_text("CONDUIT_HDF5_INCLUSION\n1 0 1\n.\na.h5 1 0 run/1\n")
    schemas: dict[str, Any] = {"data": "d.yaml", "experiment": "d.yaml"}
    with pytest.raises(FormatError, match="hdf5-elsewhere"):
        exset.dataset("a.sample_list", **schemas)
    batch = exset.dataset("a.sample_list", **schemas, access=LINKS).batch([0])
    assert batch["x"].tolist() == [[*(FIRST + 60), *(FIRST + 120)]]
    check = ("schema", "check", "d.yaml", "d.yaml", "a.sample_list")
    assert "[hdf5-elsewhere]" in run(*check).stdout + run(*check).stderr
    assert run(*check, "--follow-links").exit_code == 0
    os.remove("one.h5")
    missing = run(*check, "--follow-links")
    assert missing.exit_code and "one.h5, which does not exist" in missing.stdout + missing.stderr
