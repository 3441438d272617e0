"""`exset cache`, and the common verbs on blocks."""

import json
from pathlib import Path

import pytest
from click.testing import Result

import exset
from tests.aeon.cpio_files import BLOCK, END, entry
from tests.cli import command_line

MANIFEST = b"@STRING\tASCII_INT\n" + b"".join(b"name%d\t%d\n" % (i, i) for i in range(10))
FOLDER = "aeon_cache_c7716f98"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.tsv").write_bytes(MANIFEST)
    return tmp_path


def run(line: str) -> Result:
    return command_line.run(*line.split())


def test_a_cache_is_read_as_a_folder() -> None:
    run("cache build m.tsv .")
    assert exset.detect(FOLDER).name == "cache" and run(f"info {FOLDER}").exit_code == 0


def test_a_wrong_block_size_is_one_finding() -> None:
    run("cache build m.tsv . --block-size 3")
    done = run(f"cache check {FOLDER} --manifest m.tsv --block-size 5")
    assert done.exit_code == 1 and done.stdout.count("hint:") == 1
    assert "[aeon-cache-size]" in done.stdout and "--block-size 4" in done.stdout
    done = run("cache build m.tsv . --block-size 5")
    assert done.exit_code == 1 and "[aeon-cache-other]" in done.stderr
    assert "blocks of 4 records" in done.stderr


def test_from_manifest_to_files(folder: Path) -> None:
    done = run("cache predict m.tsv --block-size 3 --cache-directory .")
    assert done.output.splitlines() == [
        FOLDER,
        "10 records in 3 blocks of 4 records; the last block has 2",
        f"./{FOLDER}: does not exist",
    ]
    row = json.loads(run("cache predict m.tsv --json").stdout)
    assert row["sizes"] == [10] and row["folder"] == FOLDER and row["exists"] is None
    assert "3 blocks written" in run("cache build m.tsv . --block-size 3").stderr
    assert "0 blocks written, 3 kept" in run("cache build m.tsv . --block-size 3").stderr
    assert run("cache build m.tsv .").exit_code == 1
    assert run("cache build m.tsv no/such").exit_code == 3
    assert "ok, 3 of 3" in run(f"cache check {FOLDER} --manifest m.tsv").stdout
    assert run(f"cache check {FOLDER} --manifest m.tsv --block-size 5").exit_code == 1
    path = folder / FOLDER / "block_1.cpio"
    path.write_bytes(path.read_bytes()[:200])
    done = run(f"cache check {FOLDER} --json")
    row = json.loads(done.stdout)
    assert done.exit_code == 1 and row["intact"] == [0, 2] and row["ok"] is False
    done = run(f"cache repair {FOLDER}")
    assert done.exit_code == 1 and "[aeon-cache-block]" in done.stdout
    done = run(f"cache extract {FOLDER} -o x")
    assert done.exit_code == 1 and "--damaged" in done.stderr
    done = run(f"cache extract {FOLDER} -o x --types STRING,ASCII_INT --damaged")
    assert done.exit_code == 1 and "7 records" in done.stderr
    assert "1 block written, 2 kept" in run(f"cache repair {FOLDER} --manifest m.tsv").stderr
    done = run(f"cache extract {FOLDER} -o y --types STRING,ASCII_INT")
    assert done.exit_code == 0 and (folder / "y" / "manifest.tsv").read_bytes() == MANIFEST
    done = run(f"cache extract {FOLDER} -o z --manifest m.tsv")
    assert done.exit_code == 0 and (folder / "z" / "manifest.tsv").read_bytes() == MANIFEST


def test_manifests_of_strangers(folder: Path) -> None:
    (folder / "x").write_bytes(b"x")
    (folder / "data").mkdir()
    (folder / "f.tsv").write_text("@FILE\n../x\n")
    done = run("cache build f.tsv . --base data --root data")
    assert done.exit_code == 1 and "[aeon-file-outside]" in done.stderr
    done = run("cache build f.tsv . --base data --root data --root .")
    assert done.exit_code == 0 and "1 block written" in done.stderr
    (name,) = (path.name for path in folder.glob("aeon_cache_*"))
    done = run(f"cache extract {name} -o out")
    assert "1 file, no manifest.tsv" in done.stderr


def test_what_cannot_be_meant(folder: Path) -> None:
    (folder / "b.cpio").write_bytes(BLOCK)
    for line in (
        *("cache predict m.tsv --subset-fraction 2", "cache extract b.cpio -o x --manifest m.tsv"),
        *("cache extract b.cpio -o x --types WHAT", "cache extract m.tsv -o x"),
        *("cache build m.tsv . --block-size 0", "cache extract b.cpio"),
    ):
        assert run(line).exit_code == 2, line
    assert run("cache check m.tsv").exit_code == 3
    assert run("cache predict none.tsv").exit_code == 3


def test_blocks_and_archives(folder: Path) -> None:
    (folder / "b.cpio").write_bytes(BLOCK)
    assert "2 a record" in run("info b.cpio").stdout
    assert run("validate --strict b.cpio").exit_code == 0
    assert run("head -n 1 b.cpio").stdout == "@BINARY\tBINARY\nMTIzNDU=\tAQAAAA==\n"
    assert run("convert b.cpio a.cpio --to cpio").exit_code == 0
    assert "cpio archive" in run("info a.cpio").stdout
    assert run("convert a.cpio -o c.cpio").exit_code == 0
    assert len((folder / "c.cpio").read_bytes()) == len(BLOCK)
    done = run("cache extract b.cpio -o x --ext jpg,bin")
    assert done.exit_code == 0 and (folder / "x" / "0000000.0.jpg").read_bytes() == b"12345"
    data = entry(b"../up", b"1") + entry(b"ok", b"2") + END
    (folder / "evil.cpio").write_bytes(data)
    done = run("cache extract evil.cpio -o e")
    assert done.exit_code == 1 and "leads out" in done.stderr
    assert sorted(path.name for path in (folder / "e").iterdir()) == ["ok"]
    assert not (folder / "up").exists()


def test_files_that_have_changed_since(folder: Path) -> None:
    """exset compares FILE elements with their files: the sizes, and with an option every byte."""
    (folder / "data").mkdir()
    for name in ("a", "b", "c"):
        (folder / "data" / name).write_bytes(name.encode() * 5)
    (folder / "f.tsv").write_text("@FILE\tASCII_INT\na\t1\nb\t2\nc\t3\n")
    run("cache build f.tsv . --base data --block-size 1")
    (name,) = (path.name for path in folder.glob("aeon_cache_*"))
    check = f"cache check {name} --manifest f.tsv --base data"
    assert run(f"{check} --contents").stdout == f"{name}: ok, 3 of 3 blocks intact, 3 records\n"
    (folder / "data" / "b").write_bytes(b"B" * 5)
    assert run(check).exit_code == 0
    done = run(f"{check} --contents")
    assert done.exit_code == 1 and "element 0 of its record 0 differs (data/b:" in done.stdout
    (folder / "data" / "c").write_bytes(b"C" * 6)
    done = run(check)
    assert done.exit_code == 1 and "(data/c: 6 bytes, not 5)" in done.stdout
    assert "block_2.cpio" in done.stdout and "block_1.cpio" not in done.stdout
    assert run("cache build f.tsv . --base data --block-size 1").exit_code == 1
    done = run(f"cache repair {name} --manifest f.tsv --base data --contents")
    assert "2 blocks written, 1 kept" in done.stderr
    assert run(f"{check} --contents").exit_code == 0


def test_files_that_are_gone_are_not_compared(folder: Path) -> None:
    """aeon needs no files where it has a cache, so a missing one is only a warning."""
    (folder / "a").write_bytes(b"12345")
    (folder / "b").write_bytes(b"12345")
    (folder / "f.tsv").write_text("@FILE\na\nb\n")
    run("cache build f.tsv .")
    (name,) = (path.name for path in folder.glob("aeon_cache_*"))
    (folder / "a").unlink()
    done = run(f"cache check {name} --manifest f.tsv")
    assert done.exit_code == 0 and done.stdout.count("[aeon-cache-file]") == 1
    assert "exset cannot compare 1 FILE element" in done.stdout
    assert "0 blocks written, 1 kept" in run(f"cache repair {name} --manifest f.tsv").stderr
    done = run(f"cache check {name} --manifest f.tsv --untrusted --base /dev")
    assert done.exit_code == 0 and "2 FILE elements" in done.stdout
    done = run(f"cache extract {name} -o out --manifest f.tsv")
    assert done.exit_code == 0 and (folder / "out" / "b").read_bytes() == b"12345"
