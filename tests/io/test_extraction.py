"""Extraction: unsafe names, links in the path, and files from caches."""

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import exset
from exset.codecs.aeon.cpio import decode, decode_archive
from exset.core.errors import Findings, FormatError
from exset.core.source import Source
from exset.grammars.aeon.manifest import Manifest
from exset.grammars.aeon.manifest_types import ElementType
from exset.io import extraction
from exset.io.content_types import suffix_of
from exset.io.extraction import Extractor, parts_of
from exset.runtime.aeon.cache import Cache
from exset.runtime.aeon.cache_build import build
from exset.runtime.aeon.cache_extract import (
    extract_archive,
    extract_block,
    extract_cache,
)
from exset.runtime.aeon.cache_plan import Plan
from tests.aeon.cpio_files import END, RECORDS, TIME, TRAILER, block, elements, entry, header

FILE, INT, STRING = ElementType.FILE, ElementType.ASCII_INT, ElementType.STRING

UNSAFE = [
    *(b"", b".", b"./", b"/", b"//", b"..", b"../x", b"a/../x", b"a/..", b"a/../../x"),
    *(b"/x", b"//x", b"/etc/passwd", b"./../x", b"a/./../../x", b"..//x", b"a/", b"a/.", b"a//"),
    *(b"\0", b"x\0", b"\0x", b"x\0/../y", b"a/\0", b"../" * 40 + b"x", b"a/" * 70 + b"x"),
    *(b"x" * 256, b"x" * 65534, b"a/" + b"y" * 300, b"./..", b"./.", b"././", b".././x"),
]
SAFE = {
    b"x": "x",
    b"./x": "x",
    b"a//b": "a/b",
    b"a/./b": "a/b",
    b"...": "...",
    b"...tmp": "...tmp",
    b"..x/..y": "..x/..y",
    b"a/b/c/d": "a/b/c/d",
    b"~": "~",
    b"~/x": "~/x",
    b"$HOME": "$HOME",
    b"-rf": "-rf",
    b" ": " ",
    b"a b": "a b",
    b"\x1b[31m": "\x1b[31m",
    b"\xff\xfe": os.fsdecode(b"\xff\xfe"),
    b"new\nline": "new\nline",
    b"C:x": "C:x",
    b"a\\..\\b": "a\\..\\b",
    b"x" * 255: "x" * 255,
}


def tree(folder: Path) -> dict[str, bytes]:
    found = (path for path in folder.rglob("*") if not path.is_dir())
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


@pytest.mark.parametrize("name", UNSAFE, ids=range(len(UNSAFE)))
def test_unsafe_names_are_refused(name: bytes, tmp_path: Path) -> None:
    with Extractor(str(tmp_path / "out")) as out, pytest.raises(ValueError, match="name"):
        out.write(name, [b"1"])
    assert tree(tmp_path) == {}


@pytest.mark.parametrize("can", [True, False])
@pytest.mark.parametrize("name", SAFE, ids=range(len(SAFE)))
def test_names_that_are(
    name: bytes, can: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extraction, "_CAN", can)
    with Extractor(str(tmp_path / "out")) as out:
        out.write(name, [b"12", memoryview(b"3")])
        assert (out.count, out.bytes) == (1, 3)
        with pytest.raises(FileExistsError):
            out.write(name, [b"other"])
    assert tree(tmp_path) == {f"out/{SAFE[name]}": b"123"}


@given(st.lists(st.sampled_from([b"..", b".", b"", b"a", b"/", b"\0", b"...", b"b"]), max_size=6))
def test_no_name_leads_out(parts: list[bytes]) -> None:
    name = b"/".join(parts)
    try:
        found = parts_of(name)
    except ValueError:
        return
    assert found and not {b"..", b".", b""} & {*found} and not any(b"/" in part for part in found)
    assert os.path.normpath(name) == b"/".join(found)


@pytest.mark.parametrize("can", [True, False])
def test_links_in_the_way(can: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extraction, "_CAN", can)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_bytes(b"old")
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "to_folder").symlink_to(outside)
    (folder / "to_file").symlink_to(outside / "kept")
    (folder / "to_nothing").symlink_to(outside / "new")
    (folder / "a").mkdir()
    (folder / "a" / "up").symlink_to("../../outside")
    os.link(outside / "kept", folder / "hard")
    os.mkfifo(folder / "pipe")
    with Extractor(str(folder)) as out:
        for name in (
            *(b"to_folder/x", b"to_folder/kept", b"to_file", b"to_nothing", b"a/up/x"),
            *(b"a/up", b"hard", b"pipe", b"pipe/x", b"to_file/x", b"a"),
        ):
            with pytest.raises(OSError):
                out.write(name, [b"new"])
        assert out.count == 0
    assert tree(outside) == {"kept": b"old"}


def test_the_folder_itself_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    with Extractor(str(tmp_path / "link")) as out:
        out.write(b"a/x", [b"1"])
    assert tree(tmp_path / "real") == {"a/x": b"1"}


def test_folders_swapped_for_links(tmp_path: Path) -> None:
    """Nothing is written outside the folder."""
    outside, folder = tmp_path / "outside", tmp_path / "out"
    outside.mkdir()
    folder.mkdir()
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            try:
                os.symlink(outside, folder / "a")
                os.unlink(folder / "a")
                os.mkdir(folder / "a")
                os.rename(folder / "a", folder / f"was{os.urandom(4).hex()}")
            except OSError:
                pass

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        for number in range(500):
            with Extractor(str(folder)) as out:
                try:
                    out.write(b"a/%d" % number, [b"1"])
                except OSError:
                    continue
    finally:
        stop.set()
        thread.join()
    assert os.listdir(outside) == []


@pytest.mark.parametrize("can", [True, False])
def test_incomplete_files_are_removed(
    can: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extraction, "_CAN", can)

    def broken() -> Iterator[bytes]:
        yield b"12"
        raise OSError(28, "No space left on device")

    with Extractor(str(tmp_path)) as out, pytest.raises(OSError, match="No space"):
        out.write(b"a/x", broken())
    assert tree(tmp_path) == {}


def test_files_have_their_names_when_they_are_whole(tmp_path: Path) -> None:
    def watched() -> Iterator[bytes]:
        yield b"12"
        (temp,) = os.listdir(tmp_path / "a")
        assert temp.startswith(".exset-")
        yield b"3"

    with Extractor(str(tmp_path)) as out:
        out.write(b"a/x", watched())
    assert tree(tmp_path) == {"a/x": b"123"}


def test_without_hard_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def link(*args: object, **kwargs: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", link)
    outside = tmp_path / "outside"
    outside.write_bytes(b"old")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "link").symlink_to(outside)
    with Extractor(str(tmp_path / "out")) as out:
        out.write(b"x", [b"1"])
        for name in (b"x", b"link"):
            with pytest.raises(FileExistsError):
                out.write(name, [b"2"])
    assert tree(tmp_path) == {"out/x": b"1", "out/link": b"old", "outside": b"old"}


@pytest.mark.parametrize(
    ("name", "is_plain"),
    [
        *((b".. ", False), (b"a.", False), (b"...", False), (b"nul", False), (b"NUL.txt", False)),
        *((b"com1", False), (b"C:x", False), (b"a\\b", False), (b"a\x1f", False)),
        *((b"null", True), (b"com", True), (b".x", True), (b"a b.c", True)),
    ],
)
def test_names_for_windows(name: bytes, is_plain: bool) -> None:
    assert extraction._is_plain(name) is is_plain


def test_an_archive_of_all_kinds(tmp_path: Path) -> None:
    kinds = {0o010644: b"pipe", 0o020644: b"device", 0o040755: b"folder", 0o060644: b"disk"}
    kinds |= {0o120777: b"symlink", 0o140755: b"socket", 0o000644: b"none", 0o160644: b"network"}
    data = b"".join(entry(name, b"/etc/passwd", mode=mode) for mode, name in kinds.items())
    data += b"".join(entry(name, b"bad") for name in UNSAFE if len(name) < 65534)
    data += entry(b"good", b"1") + entry(b"good", b"2") + entry(b"good/x", b"3")
    data += entry(b"a/b", b"4") + entry(b"a", b"5") + entry(b"e\x1b[0m", b"6") + END
    findings = Findings()
    archive = decode_archive(Source("a.cpio", data))
    done = extract_archive(archive, str(tmp_path / "out"), name="a.cpio", findings=findings)
    assert tree(tmp_path) == {"out/good": b"1", "out/a/b": b"4", "out/e\x1b[0m": b"6"}
    assert done.files == 3 and done.records is None
    unsafe = len([name for name in UNSAFE if len(name) < 65534])
    assert findings.count("cpio-unsafe-name") == len(kinds) + unsafe + 3
    assert not any("\x1b" in str(finding) or "\0" in str(finding) for finding in findings)


@pytest.fixture
def cache(tmp_path: Path) -> tuple[Cache, Plan]:
    source = tmp_path / "images"
    (source / "cats").mkdir(parents=True)
    rows: list[tuple[str, int, str]] = []
    for number in range(5):
        name = f"cats/{number}.jpg" if number < 4 else "../images/cats/4.jpg"
        (source / "cats" / f"{number}.jpg").write_bytes(b"\xff\xd8\xff\xe0 %d" % number)
        rows.append((name, number - 2, f"caption {number}"))
    plan = Plan.of(Manifest.of([FILE, INT, STRING], rows), base=str(source), block_size=2)
    return Cache(build(plan, str(tmp_path), clock=lambda: TIME).folder), plan


def test_a_cache_whose_images_are_gone(cache: tuple[Cache, Plan], tmp_path: Path) -> None:
    found, _ = cache
    out = tmp_path / "out"
    done = extract_cache(found, str(out), types=[FILE, INT, STRING], findings=Findings())
    assert (done.files, done.records) == (5, 5)
    files = tree(out)
    text = files.pop("manifest.tsv")
    assert list(files.values()).count(b"\xff\xd8\xff\xe0 3") == 1
    assert sorted(files) == [
        *("block_0/0000000.0.jpg", "block_0/0000001.0.jpg"),
        *("block_1/0000000.0.jpg", "block_1/0000001.0.jpg", "block_2/0000000.0.jpg"),
    ]
    made = exset.loads(text, model=Manifest)
    assert made[3] == (b"block_1/0000001.0.jpg", b"1", b"caption 3")
    again = Plan.of(made, base=str(out), block_size=2)
    (tmp_path / "again").mkdir()
    rebuilt = build(again, str(tmp_path / "again"), clock=lambda: TIME)
    for number in found.blocks:
        theirs = Path(rebuilt.folder, f"block_{number}.cpio").read_bytes()
        assert Path(found.blocks[number]).read_bytes() == theirs


def test_a_cache_and_its_manifest(cache: tuple[Cache, Plan], tmp_path: Path) -> None:
    found, plan = cache
    out = tmp_path / "out"
    extract_cache(found, str(out), plan=plan, findings=Findings())
    files = tree(out)
    made = exset.loads(files.pop("manifest.tsv"), model=Manifest)
    assert sorted(files) == ["block_2/0000000.0.jpg", *(f"cats/{n}.jpg" for n in range(4))]
    assert [made[i] for i in range(4)] == [plan.manifest[i] for i in range(4)]
    with pytest.raises(FileExistsError):
        extract_cache(found, str(out), plan=plan, findings=Findings())


def test_a_damaged_cache(cache: tuple[Cache, Plan], tmp_path: Path) -> None:
    found, plan = cache
    path = Path(found.blocks[0])
    path.write_bytes(path.read_bytes()[:-150])
    types = [FILE, INT, STRING]
    with pytest.raises(FormatError) as caught:
        extract_cache(found, str(tmp_path / "out"), types=types, findings=Findings())
    assert caught.value.hint is not None and "damaged=True" in caught.value.hint
    findings = Findings()
    folder = str(tmp_path / "out")
    done = extract_cache(found, folder, plan=plan, damaged=True, findings=findings)
    assert done.records == 4 and findings.count("aeon-cache-block") == 1
    made = exset.load(tmp_path / "out" / "manifest.tsv", model=Manifest)
    assert [made[i] for i in range(3)] == [plan.manifest[i] for i in (0, 2, 3)]
    path.write_bytes(b"")
    folder = str(tmp_path / "out2")
    done = extract_cache(found, folder, types=types, damaged=True, findings=Findings())
    assert done.records == 3


def test_a_shifted_block_gives_the_records_that_are_whole(tmp_path: Path) -> None:
    folder = tmp_path / "aeon_cache_00000000"
    folder.mkdir()
    rows = [[b"a", b"1234"], [b"5678"], [b"b", b"1234"]]
    data = header(3) + b"".join(elements(rows)) + TRAILER + END
    (folder / "block_0.cpio").write_bytes(data)
    (folder / "cache_complete").touch()
    out = str(tmp_path / "out")
    done = extract_cache(
        Cache(str(folder)), out, types=[FILE, INT], damaged=True, findings=Findings()
    )
    assert done.records == 2
    assert sorted(tree(tmp_path / "out")) == [
        *("block_0/0000000.0.txt", "block_0/0000002.0.txt", "manifest.tsv"),
    ]
    unnamed = data.replace(b"rec_", b"ser_")
    (folder / "block_0.cpio").write_bytes(unnamed)
    done = extract_cache(
        Cache(str(folder)), str(tmp_path / "o"), types=[FILE, INT], damaged=True,
        findings=Findings(),
    )  # fmt: skip
    assert done.records == 0


def test_one_block(tmp_path: Path) -> None:
    found = decode(Source("b", block(RECORDS)))
    extract_block(found, str(tmp_path / "a"), suffixes=[".x", ".y"])
    assert sorted(tree(tmp_path / "a"))[:2] == ["0000000.0.x", "0000000.1.y"]
    extract_block(found, str(tmp_path / "b"), types=[FILE, ElementType.ASCII_FLOAT])
    assert tree(tmp_path / "b")["manifest.tsv"].startswith(b"@FILE\tASCII_FLOAT\n0000000.0.txt\t1e")
    with pytest.raises(FormatError, match="but ASCII_INT needs 4 bytes"):
        extract_block(found, str(tmp_path / "c"), types=[INT, INT])
    with pytest.raises(FormatError, match="2 elements, but `types` names 1 type"):
        extract_block(found, str(tmp_path / "d"), types=[FILE])
    shifted = decode(Source("b", header(4) + b"".join(elements(RECORDS)) + TRAILER + END))
    with pytest.raises(FormatError, match="aeon-block-width"):
        extract_block(shifted, str(tmp_path / "e"))


@pytest.mark.parametrize("types", [None, (FILE, INT)])
def test_one_damaged_block(tmp_path: Path, types: tuple[ElementType, ...] | None) -> None:
    whole = block(RECORDS)
    for number, (data, code, count) in enumerate(
        (
            (whole, None, 3),
            (whole[:-150], "syntax", 2),
            (header(3) + b"".join(elements([*RECORDS[:1], RECORDS[1][1:]])), "syntax", 1),
            (header(4) + b"".join(elements(RECORDS)) + TRAILER + END, "aeon-block-shift", 3),
        )
    ):
        findings, out = Findings(), tmp_path / str(number)
        source = Source("b", data)
        done = extract_block(source, str(out), types=types, findings=findings)
        assert [finding.code for finding in findings] == [code] * (code is not None)
        assert (done.files, done.records) == ((count, count) if types else (2 * count, None))
        assert tree(out)["0000000.0.txt"] == b"12345"
    unnamed = Source("b", whole[:-150].replace(b"rec_", b"ser_"))
    if types:
        done = extract_block(unnamed, str(tmp_path / "u"), types=types, findings=Findings())
        assert done.records == 2
        return
    with pytest.raises(FormatError, match="do not show how many") as caught:
        extract_block(unnamed, str(tmp_path / "u"), findings=Findings())
    assert caught.value.hint and "types=" in caught.value.hint


@pytest.mark.parametrize(
    ("data", "suffix"),
    [
        (b"\xff\xd8\xff\xe1", ".jpg"),
        (b"\x89PNG\r\n\x1a\n", ".png"),
        (b"RIFF\0\0\0\0WAVEfmt ", ".wav"),
        (b"RIFF\0\0\0\0AVI LIST", ".avi"),
        (b"RIFF\0\0\0\0what", ".bin"),
        (b"\0\0\0\x18ftypmp42", ".mp4"),
        (b"BM" + bytes(60), ".bmp"),
        (b"BM", ".txt"),
        (b"", ".bin"),
        (b"\1\0\0\0", ".bin"),
        (b"a caption\n", ".txt"),
        (b' {"object": []}', ".json"),
        ("é".encode() * 3000, ".txt"),
        (b"x" * 4095 + "é".encode(), ".txt"),
        (b"\xe9t\xe9", ".bin"),
    ],
)
def test_suffixes(data: bytes, suffix: str) -> None:
    assert suffix_of(data) == suffix_of(memoryview(data)) == suffix
