"""GNU cpio and bsdtar read what exset writes, and exset reads what they write.

The programs are Debian's, of the packages cpio and libarchive-tools.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import exset
from exset.grammars.aeon.block import Block
from tests.aeon.cpio_files import RECORDS, TIME

FILES = {"a.txt": b"text", "odd": b"123", "sub/empty": b"", "sub/all": bytes(range(256)) * 300}


def program(name: str) -> str:
    """Return the path of a program; with EXSET_PROGRAMS, it must be installed."""
    found = shutil.which(name)
    if found is None:
        assert not os.environ.get("EXSET_PROGRAMS"), f"{name} is not installed"
        pytest.skip(f"{name} is not installed")
    return found


def run(arguments: list[str], folder: Path, data: bytes = b"") -> bytes:
    done = subprocess.run(arguments, cwd=folder, input=data, capture_output=True, check=True)
    return done.stdout


def tree(folder: Path) -> dict[str, bytes]:
    found = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def archive(files: dict[str, bytes]) -> bytes:
    made = Block.archive([(name.encode(), data) for name, data in files.items()], time=TIME)
    return exset.dumps(made, format="cpio")


def test_cpio_reads_ours(tmp_path: Path) -> None:
    cpio = program("cpio")
    run([cpio, "-i", "-d", "--quiet"], tmp_path, archive(FILES))
    assert tree(tmp_path) == FILES
    listed = run([cpio, "-t", "--quiet"], tmp_path, archive(FILES))
    assert listed.decode().split() == list(FILES)


def test_bsdtar_reads_ours(tmp_path: Path) -> None:
    bsdtar = program("bsdtar")
    (tmp_path / "x").mkdir()
    (tmp_path / "ours.cpio").write_bytes(archive(FILES))
    run([bsdtar, "-x", "-f", "ours.cpio", "-C", "x"], tmp_path)
    assert tree(tmp_path / "x") == FILES


@pytest.mark.parametrize("name", ["cpio", "bsdtar"])
def test_blocks_are_archives_too(name: str, tmp_path: Path) -> None:
    path = program(name)
    (tmp_path / "block_0.cpio").write_bytes(exset.dumps(Block.of(RECORDS), format="block"))
    (tmp_path / "x").mkdir()
    if name == "cpio":
        run([path, "-i", "--quiet"], tmp_path / "x", (tmp_path / "block_0.cpio").read_bytes())
    else:
        run([path, "-x", "-f", "../block_0.cpio"], tmp_path / "x")
    found = tree(tmp_path / "x")
    assert found.pop("cpiotlr") == bytes(16) and found.pop("cpiohdr").startswith(b"MACR")
    assert [found[each] for each in sorted(found)] == [e for record in RECORDS for e in record]


@pytest.mark.parametrize("name", ["cpio", "bsdtar"])
def test_ours_reads_theirs(name: str, tmp_path: Path) -> None:
    path = program(name)
    how = ["-o", "-H", "bin", "--quiet"] if name == "cpio" else ["-c", "--format", "bin", "-T", "-"]
    for each, data in FILES.items():
        file = tmp_path / each
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(data)
        os.utime(file, (TIME, TIME))
    raw = run([path, *how], tmp_path, "\n".join(FILES).encode())
    found = exset.loads(raw, model=Block)
    assert found.header is None and len(raw) % 512 == 0 and not any(raw[-found.padding :])
    rows = zip(found.elements.name, found.elements.data, strict=True)
    assert {(name or b"").decode(): bytes(data) for name, data in rows} == FILES
    assert set(found.elements.time.tolist()) == {TIME} and found.elements.is_regular.all()
    assert exset.dumps(found, format="cpio") == raw


def test_a_block_that_cpio_copied(tmp_path: Path) -> None:
    """aeon reads blocks made as in neon's documentation, with inodes and padding."""
    cpio = program("cpio")
    raw = exset.dumps(Block.of(RECORDS), format="block")
    names = run([cpio, "-t", "--quiet"], tmp_path, raw)
    run([cpio, "-i", "--quiet"], tmp_path, raw)
    copied = run([cpio, "-o", "-H", "bin", "--quiet"], tmp_path, names)
    found = exset.loads(copied, model=Block)
    assert found.header is not None and found.elements.ino.all()
    assert [[bytes(each) for each in record] for record in found] == RECORDS
    assert exset.dumps(found, format="block") == copied


@settings(max_examples=30)
@given(
    st.dictionaries(
        st.text("abcxyz019._-", min_size=1, max_size=30).filter(
            lambda name: name not in (".", "..", "TRAILER!!!") and not name.startswith("-")
        ),
        st.binary(max_size=300),
        min_size=1,
        max_size=5,
    )
)
def test_any_files(files: dict[str, bytes]) -> None:
    import tempfile

    cpio = program("cpio")
    with tempfile.TemporaryDirectory() as folder:
        run([cpio, "-i", "--quiet"], Path(folder), archive(files))
        assert tree(Path(folder)) == files
        raw = run([cpio, "-o", "-H", "bin", "--quiet"], Path(folder), "\n".join(files).encode())
    found = exset.loads(raw, model=Block)
    assert found.elements.data.tolist() == list(files.values())
