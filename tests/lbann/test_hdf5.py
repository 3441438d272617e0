"""Hostile HDF5 files: links, external data, decompression bombs, cycles, damaged bytes."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from exset.core import limits as bounds
from exset.core.errors import FormatError, LimitError
from exset.core.limits import Limits
from exset.io.access import Access
from exset.runtime.hdf5.file import File
from exset.runtime.hdf5.objects import is_group
from tests.cli.command_line import run

X = np.arange(3.0)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a file `inside.h5` to link to, and another file beside the folder."""
    inner = tmp_path / "in"
    inner.mkdir()
    for path in (inner / "inside.h5", tmp_path / "outside.h5"):
        with h5py.File(path, "w") as file:
            file["run/1/x"] = X
    return inner


def make(folder: Path, fill: Callable[[Any], object]) -> str:
    path = folder / "a.h5"
    with h5py.File(path, "w") as file:
        fill(file)
    return str(path)


def read(path: str, name: str = "run/1/x", access: Access = Access(), **limits: int) -> Any:  # noqa: B008
    with File(path, access, Limits(**limits)) as file:
        found = file.find(name)
        if found is None:
            return None
        form = file.data_type(found, name)
        values = np.empty(form.shape, form.dtype)
        file.read(found, values, name)
        return values.tolist()


def soft(target: str, name: str) -> Callable[[Any], object]:
    def fill(file: Any) -> None:
        file["real/1/x"] = X
        if "/" in name:
            file.create_group(name.rpartition("/")[0])
        file[name] = h5py.SoftLink(target)

    return fill


def external(other: str, name: str, target: str) -> Callable[[Any], object]:
    def fill(file: Any) -> None:
        if "/" in name:
            file.create_group(name.rpartition("/")[0])
        file[name] = h5py.ExternalLink(other, target)

    return fill


SOFT = [("/real", "run"), ("/real/1", "run/1"), ("/real/1/x", "run/1/x"), ("../real", "up")]
EXTERNAL = [("run", "/run"), ("run/1", "/run/1"), ("run/1/x", "run/1/x")]


@pytest.mark.parametrize(("target", "name"), SOFT[:3])
def test_soft_links_are_followed_only_when_asked(folder: Path, target: str, name: str) -> None:
    path = make(folder, soft(target, name))
    with pytest.raises(FormatError, match="hdf5-link") as caught:
        read(path)
    assert caught.value.code == "hdf5-link"
    assert read(path, access=Access(links=True)) == [0, 1, 2]


def test_paths_cannot_go_up(folder: Path) -> None:
    path = make(folder, soft("../real", "up"))
    for name in ("up/1/x", "real/../real/1/x", "real/./1/x", "real/1\0/x"):
        with pytest.raises(FormatError, match="hdf5-path"):
            read(path, name, Access(links=True))


@pytest.mark.parametrize(("name", "target"), EXTERNAL)
def test_links_to_other_files_stay_within_the_roots(folder: Path, name: str, target: str) -> None:
    inside = make(folder, external("inside.h5", name, target))
    with pytest.raises(FormatError, match="hdf5-link"):
        read(inside)
    assert read(inside, access=Access(links=True)) == [0, 1, 2]
    outside = str(folder.parent / "outside.h5")
    for other in ("../outside.h5", outside):
        path = make(folder, external(other, name, target))
        with pytest.raises(FormatError, match="hdf5-roots") as caught:
            read(path, access=Access(links=True))
        assert caught.value.code == "hdf5-roots"
        roots = (str(folder), str(folder.parent))
        assert read(path, access=Access(links=True, roots=roots)) == [0, 1, 2]


def test_a_symbolic_link_does_not_leave_the_roots(folder: Path) -> None:
    (folder / "hidden.h5").symlink_to(folder.parent / "outside.h5")
    path = make(folder, external("hidden.h5", "run", "/run"))
    with pytest.raises(FormatError, match="hdf5-roots"):
        read(path, access=Access(links=True))
    with pytest.raises(FormatError, match="hdf5-roots"):
        read(str(folder / "hidden.h5"), access=Access(roots=(str(folder),)))


def test_cycles_of_links_end(folder: Path) -> None:
    def fill(file: Any) -> None:
        file["run"] = h5py.SoftLink("/other")
        file["other"] = h5py.SoftLink("/run")

    path = make(folder, fill)
    with pytest.raises(FormatError, match="hdf5-link"):
        read(path, access=Access(links=True))
    path = make(folder, external("a.h5", "run", "/run"))
    with pytest.raises(FormatError, match="hdf5-link"):
        read(path, access=Access(links=True))
    path = make(folder, soft("/nothing", "run"))
    assert read(path, access=Access(links=True)) is None
    path = make(folder, external("missing.h5", "run", "/run"))
    with pytest.raises(FileNotFoundError):
        read(path, access=Access(links=True))


def test_cycles_of_hard_links_are_walked_once(folder: Path) -> None:
    def fill(file: Any) -> None:
        file["run/1/x"] = X
        file["run/1/self"] = file["run"]
        file["run/1/y"] = file["run/1/x"]

    path = make(folder, fill)
    with File(path) as file:
        names = [name for name, _ in file.datasets(file.find("run"), "run")]
    assert names == ["1/x", "1/y"]
    assert read(path, "run/1/self/1/self/1/x") == [0, 1, 2]


def huge(file: Any) -> None:
    file.create_group("run/1").create_dataset("x", (2**40,), "f8", chunks=(1024,))


def huge_chunk(file: Any) -> None:
    file.create_group("run/1").create_dataset(
        "x", (3,), "u1", chunks=(2**31,), maxshape=(None,), compression="gzip"
    )


def compound(file: Any) -> None:
    file["run/1/x"] = np.zeros(3, [("a", "f8"), ("b", "i4")])


def references(file: Any) -> None:
    file.create_group("run/1")["x"] = np.array([file.ref] * 3, h5py.ref_dtype)


def a_named_type(file: Any) -> None:
    file.create_group("run/1")["x"] = np.dtype("f8")


def empty(file: Any) -> None:
    file["run/1/x"] = h5py.Empty("f8")


def varied(file: Any) -> None:
    file.create_group("run/1").create_dataset("x", (3,), h5py.vlen_dtype("f8"))


def yes_or_no(file: Any) -> None:
    file["run/1/x"] = np.array([True, False])


def long_double(file: Any) -> None:
    file["run/1/x"] = np.zeros(3, np.longdouble)


REFUSED: dict[Callable[[Any], object], str] = {
    huge: "limit",
    compound: "hdf5-type",
    references: "hdf5-type",
    a_named_type: "hdf5-type",
    empty: "hdf5-type",
    varied: "hdf5-type",
    yes_or_no: "hdf5-type",
    long_double: "hdf5-type",
}


@pytest.mark.parametrize("fill", REFUSED, ids=lambda fill: fill.__name__)
def test_refused_datasets(folder: Path, fill: Callable[[Any], object]) -> None:
    path = make(folder, fill)
    for access in (Access(), Access(links=True, roots=(str(folder.parent),), plugins=True)):
        with pytest.raises(FormatError) as caught:
            read(path, access=access)
        assert caught.value.code == REFUSED[fill]
        assert caught.value.place is not None and caught.value.place.field == "run/1/x"


def test_a_decompression_bomb_is_a_limit_error(folder: Path) -> None:
    def fill(file: Any) -> None:
        file.create_group("run/1").create_dataset("x", (4096,), "f8", chunks=(64,))

    path = make(folder, fill)
    assert read(path) == [0.0] * 4096
    with pytest.raises(LimitError, match="32,768 bytes"):
        read(path, max_array=32767)
    with pytest.raises(LimitError, match="2,147,483,648 bytes"):
        read(make(folder, huge_chunk), max_array=2**30)


def test_a_small_file_gets_no_large_array_unless_asked(folder: Path) -> None:
    """By default an array over 64 MiB needs a byte in the file for each 1,000 of its bytes."""

    def fill(file: Any) -> None:
        file.create_group("run/1").create_dataset("x", (9_000_000,), "f8", chunks=(1000,))

    with pytest.raises(LimitError, match="72,000,000 bytes, but the file stores 0"):
        read(make(folder, fill))
    assert Limits().most_bytes(100_000) == 100_000_000
    path = str(folder / "a.h5")
    with File(path, limits=Limits(max_array=72_000_000)) as file:
        assert file.data_type(file.find("run/1/x"), "run/1/x").count == 9_000_000


def test_filter_plugins_are_not_loaded(folder: Path) -> None:
    def fill(file: Any) -> None:
        made = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        made.set_chunk((3,))
        made.set_filter(32015, h5py.h5z.FLAG_OPTIONAL, (3,))  # zstd
        space = h5py.h5s.create_simple((3,))
        group = file.create_group("run/1").id
        h5py.h5d.create(group, b"x", h5py.h5t.IEEE_F64LE, space, made)

    path = make(folder, fill)
    with pytest.raises(FormatError, match="hdf5-filter") as caught:
        read(path)
    assert caught.value.code == "hdf5-filter"
    data = folder / "d.yaml"
    data.write_text("x:\n")
    show = ("schema", "show", data, data, "--sample", path, "run/1")
    assert "[hdf5-filter]" in run(*show).stderr
    assert run(*show, "--allow-plugins").exit_code == 0


def test_invalid_files(folder: Path) -> None:
    with pytest.raises(FileNotFoundError):
        File(str(folder / "missing.h5"))
    with pytest.raises(IsADirectoryError):
        File(str(folder))
    os.mkfifo(folder / "pipe")
    for name in (str(folder / "pipe"), "/dev/zero"):
        with pytest.raises(OSError, match="regular file"):
            File(name)
    for name in ("a\0b", "\ud800"):
        with pytest.raises(FormatError, match="file-name"):
            File(name)
    for data in (b"", b"hello", b"\x89HDF\r\n\x1a\n" + b"\xff" * 64):
        (folder / "junk.h5").write_bytes(data)
        with pytest.raises(FormatError, match=r"\[hdf5\]"):
            File(str(folder / "junk.h5"))


def test_groups_and_datasets(folder: Path) -> None:
    def fill(file: Any) -> None:
        file["run/1/x"] = X
        file["run/1/t"] = "tex\udcfft".encode("utf-8", "surrogateescape")
        file["run/1/s"] = np.array(["a", "bc"], "S2")
        file["run/1/big"] = np.arange(3, dtype=">i2")
        file["run/1/h"] = np.float16(1.5)

    path = make(folder, fill)
    with File(path) as file:
        assert is_group(file.find("/run//1/")) and file.find("run/2") is None
        assert file.find("run/1/x/y") is None
        texts = [file.read_strings(file.find(f"run/1/{name}"), name) for name in "ts"]
        forms = [
            str(file.data_type(file.find(f"run/1/{name}"), name)) for name in ("big", "h", "t")
        ]
    assert texts == [["tex\udcfft"], ["a", "bc"]]
    assert forms == ["int16 (3,)", "float16", "text"]
    assert read(path, "run/1/big") == [0, 1, 2]


@pytest.mark.parametrize("locking", [None, True, False])
def test_files_are_locked_as_asked(folder: Path, locking: bool | None) -> None:
    assert read(str(folder / "inside.h5"), access=Access(locking=locking)) == [0, 1, 2]


HARM = """
import random, signal, sys
import numpy as np
from exset.core.errors import FormatError
from exset.core.limits import Limits
from exset.io.access import Access
from exset.runtime.hdf5.file import File
path, first, last = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
good = open(path, "rb").read()
for seed in range(first, last):
    print(seed, flush=True)
    signal.alarm(10)  # HDF5 may hang, too
    chance = random.Random(seed)
    data = bytearray(good)
    for _ in range(chance.randint(1, 6)):
        at = chance.randrange(len(data))
        data[at] = chance.choice([0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256)])
    if chance.random() < 0.2:
        del data[chance.randrange(len(data)) :]
    broken = f"{path}.{first}"
    open(broken, "wb").write(data)
    try:
        limits = Limits(max_objects=1000, max_array=1 << 24)
        with File(broken, Access(links=True), limits) as file:
            for name, each in file.datasets(file.find("run"), "run"):
                form = file.data_type(each, name)
                if form.kind == "text":
                    file.read_strings(each, name)
                elif form.count < 1 << 20:
                    values = np.empty(form.shape, form.dtype)
                    file.read(each, values, name)
    except (FormatError, OSError):
        pass
print("done")
"""


def test_broken_files_raise_nothing_else(folder: Path) -> None:
    """In another process: exset cannot prevent crashes of the HDF5 library."""

    def fill(file: Any) -> None:
        file["run/1/x"] = X
        file["run/1/t"] = "text"
        file["run/2/x"] = np.zeros((4, 4), "f4")
        file["run/2"].create_dataset("z", (64,), "i4", chunks=(8,), compression="gzip")
        layout = h5py.VirtualLayout((2, 3), "f4")
        layout[0, :2] = h5py.VirtualSource("inside.h5", "run/1/x", (3,))[::2]
        layout[1, :] = h5py.VirtualSource(".", "run/1/x", (3,))
        file.create_virtual_dataset("run/3/v", layout)
        external = [(str(folder / "raw"), 2, 8), (str(folder / "raw"), 0, 8)]
        file["run/3"].create_dataset("e", data=np.arange(4), external=external, dtype=">i4")

    path = make(folder, fill)
    cases = {"nightly": 20_000}.get(os.environ.get("HYPOTHESIS_PROFILE", ""), 500)
    first = 0
    crashes = 0
    while first < cases:
        done = subprocess.run(
            [sys.executable, "-c", HARM, path, str(first), str(cases)],
            capture_output=True,
            text=True,
            timeout=600,
            cwd=Path(__file__).parents[2],
        )
        assert "Traceback" not in done.stderr, done.stderr
        last = done.stdout.split()[-1]
        if last == "done":
            break
        assert done.returncode < 0  # a signal
        crashes += 1
        first = int(last) + 1
    assert crashes < cases // 20


@pytest.mark.parametrize("options", [{}, {"chunks": (2,)}], ids=["whole", "chunked"])
@pytest.mark.parametrize("block", [0, 512])
def test_strings_that_claim_too_many_bytes(
    folder: Path, options: dict[str, object], block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The library would allocate up to 4 GiB before it looks for them."""
    path = str(folder / "a.h5")
    with h5py.File(path, "w", userblock_size=block) as file:
        texts = np.array(["ab", "cde", "f"], object)
        file.create_dataset("t", data=texts, dtype=h5py.string_dtype(), **options)
        stored = file["t"].id
        begin = stored.get_chunk_info(0).byte_offset if options else stored.get_offset()
    with File(path) as file:
        assert file.read_strings(file.find("t"), "t") == ["ab", "cde", "f"]
    with File(path, limits=Limits(max_array=5)) as file, monkeypatch.context() as patch:
        patch.setattr(bounds, "MOST_COMPRESSED", 0)
        with pytest.raises(LimitError, match="6 bytes"):
            file.read_strings(file.find("t"), "t")
    raw = bytearray(Path(path).read_bytes())
    raw[begin + 3] = 0x40
    Path(path).write_bytes(raw)
    with File(path) as file, pytest.raises(FormatError, match="1,073,741,826 bytes"):
        file.read_strings(file.find("t"), "t")
