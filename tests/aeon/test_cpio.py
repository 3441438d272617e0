"""cpio archives and blocks of aeon's cache: reading, writing, findings and errors."""

import io
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import exset
from exset import LoaderConfig, Manifest
from exset.codecs.aeon.cpio import decode, decode_archive, salvage
from exset.codecs.aeon.cpio_lint import short_records
from exset.codecs.aeon.cpio_write import BlockWriter, encode, encode_archive
from exset.core.errors import Finding, Findings, FormatError
from exset.core.kernels import Engine
from exset.core.source import Source
from exset.grammars.aeon.block import Block, BlockHeader
from exset.testing import archives, blocks
from tests.aeon.configs import BASE
from tests.aeon.cpio_files import BLOCK, END, RECORDS, TIME, TRAILER, block, elements, entry, header
from tests.cli.command_line import run

ENGINES: list[Engine] = ["auto", "table", "reference"]
BODY = b"".join(elements(RECORDS))


def read(data: bytes, engine: Engine = "auto") -> tuple[Block, list[str]]:
    findings = Findings()
    found = decode(Source("b.cpio", data), findings=findings, engine=engine)
    return found, [finding.code for finding in findings]


def values(found: Block) -> list[list[bytes]]:
    return [[bytes(element) for element in record] for record in found]


@pytest.mark.parametrize("engine", ENGINES)
def test_round_trip_of_a_block(engine: Engine) -> None:
    found, codes = read(BLOCK, engine)
    assert values(found) == RECORDS and not codes
    assert len(found) == 3 and found.width == 2 and found.padding == 0
    assert found.elements.name[2] == b"rec_0000001.02"
    assert set(found.elements.time.tolist()) == {TIME}
    assert found.header == BlockHeader(3, 3)
    assert encode(found, engine=engine) == BLOCK
    assert [bytes(each) for each in found[-1]] == RECORDS[-1]
    with pytest.raises(IndexError):
        found[3]
    assert repr(found) == "Block(3 records, 6 elements, aeon)"


def test_blocks_made_in_python() -> None:
    made = Block.of(RECORDS, time=TIME)
    assert encode(made) == BLOCK and made == read(BLOCK)[0]
    assert made != Block.of(RECORDS) and made != Block.of(RECORDS[:2], time=TIME)
    assert pickle.loads(pickle.dumps(made)) == made
    with pytest.raises(ValueError, match="numbers of elements"):
        Block.of([[b"a"], [b"b", b"c"]])
    with pytest.raises(ValueError, match="time"):
        Block.of([[b"a"]], time=-1)


def test_selected_records() -> None:
    found = read(BLOCK)[0].select([2, 0])
    assert encode(found) == block([RECORDS[2], RECORDS[0]])
    assert encode(read(BLOCK)[0].select(slice(0))) == block([])


def test_elements_are_views_of_the_mapped_file(tmp_path: Path) -> None:
    path = tmp_path / "block_0.cpio"
    path.write_bytes(BLOCK)
    found = exset.load(path, model=Block)
    base = found.elements.data.data
    while isinstance(base, np.ndarray) and base.base is not None:
        base = base.base
    assert isinstance(base, memoryview) and type(base.obj).__name__ == "mmap"
    assert values(found) == RECORDS
    path.write_bytes(b"x")  # nothing is read from the file any more
    other = tmp_path / "compressed.cpio.gz"
    exset.save(read(BLOCK)[0], other)
    assert exset.load(other) == read(BLOCK)[0]


def test_incremental_writing() -> None:
    file = io.BytesIO()
    file.write(b"before")
    times = iter(range(100))
    writer = BlockWriter(file, lambda: next(times))
    for record in RECORDS:
        writer.write(record)
    writer.close()
    found, codes = read(file.getvalue()[6:])
    assert values(found) == RECORDS and not codes
    assert found.elements.time.tolist() == [1, 2, 3, 4, 5, 6]
    assert found.frame.time.tolist() == [0, 7, 8]


def test_names_of_many_records_repeat() -> None:
    records = [[b"%d" % i, b""] for i in range(600)]
    file = io.BytesIO()
    writer = BlockWriter(file, lambda: TIME)
    for record in records:
        writer.write(record)
    writer.close()
    assert file.getvalue() == block(records) == encode(Block.of(records, time=TIME))
    found = read(block(records))[0]
    assert len(set(found.elements.name)) == 1100 and values(found) == records


SHIFTED = header(3) + b"".join(elements([RECORDS[0], RECORDS[1][1:], RECORDS[2]])) + TRAILER + END
EVEN = header(2) + b"".join(elements([[b"a"], [b"b", b"c", b"d"]])) + TRAILER + END


@pytest.mark.parametrize(
    ("data", "codes"),
    [
        (SHIFTED, ["aeon-block-shift"]),
        (EVEN, ["aeon-block-shift"]),
        (header(4) + BODY + TRAILER + END, ["aeon-block-shift"]),
        (header(0) + TRAILER + END, ["aeon-block-empty"]),
        (header(0) + BODY + TRAILER + END, ["aeon-block-empty", "aeon-block-shift"]),
        (header(3) + BODY + END, ["aeon-block-no-trailer"]),
        (header(3) + BODY + TRAILER, ["aeon-block-no-end"]),
        (header(3) + BODY + TRAILER + END[:-1], ["aeon-block-no-end"]),
        (header(3, version=9) + BODY + TRAILER + END, ["aeon-block-version"]),
        (header(3, rest=b"\1" * 36) + BODY + TRAILER + END, ["aeon-block-2016"]),
        (BLOCK + b"junk", ["cpio-trailing-bytes"]),
        (BLOCK + bytes(512), []),
        (header(3, 0, kind=b"00000000") + BODY + TRAILER + END, []),
    ],
)
def test_findings(data: bytes, codes: list[str]) -> None:
    found, seen = read(data)
    assert seen == codes
    assert [bytes(each) for each in found.elements.data] == [
        bytes(each) for each in salvage(Source("b", data)).data
    ]
    if codes not in (["aeon-block-no-end"], ["cpio-trailing-bytes"]):
        assert encode(found) == data


def test_names_show_which_record_is_short() -> None:
    assert "record 1 " in short_records(read(SHIFTED)[0])
    assert "record 0 " in short_records(read(EVEN)[0])


def test_records_are_inaccessible_after_a_shift() -> None:
    found, _ = read(SHIFTED)
    assert found.width is None and len(found) == 3 and len(found.elements) == 5
    for act in (lambda: found[0], lambda: list(found), lambda: found.select([0])):
        with pytest.raises(FormatError) as caught:
            act()
        assert caught.value.code == "aeon-block-width"
    with pytest.raises(FormatError, match="aeon-block-width"):
        encode_archive(found)
    with pytest.raises(FormatError, match="aeon-block-shift"):
        decode(Source("b", SHIFTED), findings=Findings(strict=True))


@pytest.mark.parametrize(
    ("data", "field"),
    [
        (b"", "entries[0].magic"),
        (b"\x71\xc7" + BLOCK[2:], "entries[0].magic"),
        (BLOCK[:34] + b"MACS" + BLOCK[38:], "entries[0].data.magic"),
        (entry(b"a", b"1") + END, "entries[0]"),
        (END, "entries[0]"),
        (header(1000) + BODY + TRAILER + END, "entries[0].data.record_count"),
        (header(2**32 - 1) + BODY + TRAILER + END, "entries[0].data.record_count"),
        (header(3) + BODY[:-3], "entries[6].filesize_high"),
        (header(3) + BODY, "entries[7].magic"),
        (BLOCK[:20] + b"\0\0" + BLOCK[22:], "entries[0].namesize"),
        (BLOCK[:20] + b"\xff\xff" + BLOCK[22:], "entries[0].namesize"),
        (BLOCK[:22] + b"\xff\xff" + BLOCK[24:], "entries[0].filesize_high"),
    ],
)
@pytest.mark.parametrize("engine", ENGINES)
def test_errors(data: bytes, field: str, engine: Engine) -> None:
    with pytest.raises(FormatError) as caught:
        read(data, engine)
    assert caught.value.place is not None and caught.value.place.field == field


def test_truncated_anywhere() -> None:
    """An error, or a finding if only the end is lost, which aeon ignores."""
    complete = len(header(3) + BODY + TRAILER)
    for end in range(len(BLOCK)):
        source = Source("b", BLOCK[:end])
        if end >= complete:
            assert read(BLOCK[:end])[1] == ["aeon-block-no-end"]
            continue
        with pytest.raises(FormatError):
            decode(source)
        if end < len(header(3)):
            with pytest.raises(FormatError):
                salvage(source)
            continue
        saved = [bytes(each) for each in salvage(source).data]
        assert saved == [each for record in RECORDS for each in record][: len(saved)]
    assert len(saved) == 6


def attempt(data: bytes) -> None:
    """Check that both drivers read the same, and that it survives a round trip."""
    for reader in (decode, decode_archive):
        results: list[tuple[Block | None, list[Finding]]] = []
        for engine in ENGINES:
            findings = Findings()
            try:
                result = reader(Source("b", data), findings=findings, engine=engine)
                results.append((result, list(findings)))
            except FormatError as error:
                results.append((None, [error.finding]))
        assert results[0] == results[1] == results[2]
        found, seen = results[0]
        if found is not None and found.header is not None and not seen:
            assert decode(Source("b", encode(found))) == found


@given(st.lists(st.tuples(st.integers(0, len(BLOCK) - 1), st.integers(0, 255)), max_size=4))
def test_changed_anywhere(changes: list[tuple[int, int]]) -> None:
    data = bytearray(BLOCK)
    for at, byte in changes:
        data[at] = byte
    attempt(bytes(data))


@given(st.binary(max_size=80))
def test_any_bytes(tail: bytes) -> None:
    attempt(tail)
    attempt(header(1) + tail)
    attempt(header(1) + entry(b"x", b"1")[:20] + tail + END)


@pytest.mark.parametrize("number", [0, 1, 0x8000, 0xFFFF])
def test_any_word_may_be_wrong(number: int) -> None:
    data = block(RECORDS[:1])
    for at in range(0, len(data) - 1, 2):
        attempt(data[:at] + number.to_bytes(2, "little") + data[at + 2 :])


def test_names() -> None:
    found, codes = read(header(1) + entry(b"a\0b\x1b[31m", b"1") + TRAILER + END)
    assert found.elements.name[0] == b"a\0b\x1b[31m" and not codes
    wrong = entry(b"abc", b"1").replace(b"abc\0", b"abcd")
    found, codes = read(header(1) + wrong + TRAILER + END)
    assert found.elements.name[0] == b"abc" and codes == ["cpio-name"]


def test_round_trip_of_an_archive() -> None:
    files = [(b"a/b.txt", b"text"), (b"c.txt", b"123"), (b"cpiotlr", bytes(16))]
    data = b"".join(entry(name, each, nlink=1) for name, each in files) + END
    found = decode_archive(Source("a", data + bytes(-len(data) % 512)))
    assert found.header is None and len(found) == 3 and found.width == 1
    rows = zip(found.elements.name, found.elements.data.tolist(), strict=True)
    assert list(rows) == files
    assert encode_archive(found) == data + bytes(-len(data) % 512)
    assert len(encode_archive(found)) % 512 == 0
    assert exset.loads(data, model=Block).header is None
    assert exset.loads(BLOCK, model=Block).header is not None
    assert encode_archive(decode_archive(Source("b", BLOCK))) == BLOCK


def test_block_to_archive_to_block() -> None:
    records = [[b"\xff\xd8\xff\xe0 jpeg", b"\1\0\0\0"], [b"\x89PNG\r\n\x1a\n", b"caption"]]
    archive = exset.dumps(Block.of(records, time=TIME), format="cpio")
    assert len(archive) % 512 == 0
    found = exset.loads(archive, model=Block)
    assert found.elements.name.tolist() == [
        *(b"0000000.0.jpg", b"0000000.1.bin"),
        *(b"0000001.0.png", b"0000001.1.txt"),
    ]
    assert exset.dumps(found, format="block") == block(records)
    alone = Block.archive([(b"x", b"1"), (b"y", b"2")], time=TIME)
    assert exset.dumps(alone, format="block") == block([[b"1"], [b"2"]])


def test_losses_of_archives_and_blocks() -> None:
    unusual = read(header(1, kind=b"00000000") + entry(b"sha", b"1") + TRAILER + END)[0]
    with pytest.raises(FormatError, match="cpio-loss"):
        encode_archive(unusual)
    findings = Findings()
    data = encode_archive(unusual, lossy=True, findings=findings)
    assert [finding.code for finding in findings] == ["cpio-loss", "cpio-loss"]
    assert exset.loads(data, model=Block).elements.name.tolist() == [b"0000000.0.txt"]
    folder = decode_archive(Source("a", entry(b".", mode=0o040755) + entry(b"x", b"1") + END))
    with pytest.raises(FormatError, match="cpio-not-a-file"):
        encode(folder)
    assert exset.loads(encode(folder, lossy=True, findings=findings), model=Block).width == 1


def test_blocks_as_text() -> None:
    """`exset cat` shows a block as a manifest of base64, which can be written as a block."""
    found = read(BLOCK)[0]
    text = exset.dumps(found, format="manifest")
    assert text.splitlines()[:2] == [b"@BINARY\tBINARY", b"MTIzNDU=\tAQAAAA=="]
    manifest = exset.loads(text, model=Manifest)
    assert values(exset.loads(exset.dumps(manifest, format="block"), model=Block)) == RECORDS
    mixed = Manifest.of(["STRING", "ASCII_INT"], [["ab", 1]])
    made = exset.loads(exset.dumps(mixed, format="block"), model=Block)
    assert values(made) == [[b"ab", b"\1\0\0\0"]]
    with pytest.raises(FormatError, match="aeon-no-number"):
        exset.dumps(Manifest.of(["ASCII_INT"], [["x"]]), format="block")
    with pytest.raises(FormatError, match="aeon-block-width"):
        exset.dumps(read(SHIFTED)[0], format="manifest")
    with pytest.raises(TypeError, match="must be a Manifest"):
        exset.dumps(LoaderConfig.from_dict(BASE), format="manifest")


def test_a_manifest_converts_to_a_block_and_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither direction needs `--to`; the files of the manifest are read."""
    monkeypatch.chdir(tmp_path)
    Path("data").mkdir()
    Path("data/a").write_bytes(b"\xff\t\n")
    Path("m.tsv").write_bytes(b"@FILE\tASCII_INT\na\t7\n")
    assert run("convert", "m.tsv", "b.cpio", "--base", "data").exit_code == 0
    assert values(exset.load("b.cpio", model=Block)) == [[b"\xff\t\n", b"\7\0\0\0"]]
    assert run("convert", "b.cpio", "n.tsv").exit_code == 0
    assert Path("n.tsv").read_bytes() == b"@BINARY\tBINARY\n/wkK\tBwAAAA==\n"
    assert exset.convert("n.tsv", "c.cpio") == 1
    assert Path("c.cpio").read_bytes() == Path("b.cpio").read_bytes()
    done = run("convert", "m.tsv", "d.cpio")
    assert done.exit_code == 1 and "m.tsv:2: record 0, column 0: a: " in done.stderr
    done = run("convert", "m.tsv", "d.cpio", "--base", "data", "--root", "data", "--untrusted")
    assert done.exit_code == 0
    done = run("convert", "m.tsv", "d.cpio", "--base", "/", "--untrusted")
    assert done.exit_code == 1 and "[aeon-file-outside]" in done.stderr
    exset.save(exset.load("m.tsv", model=Manifest), "e.cpio", base="data")
    assert Path("e.cpio").read_bytes() == Path("b.cpio").read_bytes()


@given(blocks())
def test_round_trip_of_any_block(made: Block) -> None:
    for engine in ENGINES:
        assert encode(made, engine=engine) == encode(made)
    findings = Findings()
    found = decode(Source("b", encode(made)), findings=findings)
    assert found == made
    assert {finding.code for finding in findings} <= {"aeon-block-empty"}
    if len(made):
        archive = exset.loads(encode_archive(made), model=Block)
        assert values(exset.loads(exset.dumps(archive, format="block"), model=Block)) == values(
            made
        )


@given(archives())
def test_round_trip_of_any_archive(made: Block) -> None:
    assert decode_archive(Source("a", encode_archive(made))) == made
