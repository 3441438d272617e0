"""Manifests: check files, split, balance classes, build from folders and tables, select."""

import json
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import exset
from exset import Findings, Manifest
from exset.codecs.shared.crc32c import crc32c, update
from exset.core.protocols import CheckOptions
from exset.grammars.aeon.manifest_types import Dialect
from exset.runtime.aeon.libstdcxx import MERSENNE, MINSTD, draw, generator, shuffled, subset
from exset.runtime.aeon.manifest_build import from_folder, from_table
from exset.runtime.aeon.manifest_classes import balanced
from exset.runtime.aeon.manifest_files import check_files
from exset.runtime.aeon.selection import blocks, cache_name, node_rows, select_records, uid
from exset.testing import manifests
from tests.aeon.caches import raises
from tests.cli.command_line import run


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    folder = tmp_path / "pictures"
    for name, count in (("birds", 6), ("trees", 2), (".hidden", 1)):
        (folder / name / "deep").mkdir(parents=True)
        for i in range(count):
            (folder / name / "deep" / f"{i}.JPG").write_bytes(b"x")
    (folder / "birds" / "notes.txt").write_bytes(b"")
    return folder


def test_build_from_a_folder(pictures: Path, tmp_path: Path) -> None:
    manifest, classes = from_folder(str(pictures), suffixes=[".jpg"])
    assert classes == ("birds", "trees")
    assert manifest[0] == (b"birds/deep/0.JPG", b"0")
    assert [row[1] for row in manifest] == [b"0"] * 6 + [b"1"] * 2
    out, names = tmp_path / "train.tsv", tmp_path / "names.txt"
    done = run("manifest", "build", pictures, "-o", out, "--classes", names, "--label", "STRING")
    assert done.exit_code == 0 and "9 records" in done.stderr
    assert exset.load(out, model=Manifest).types == ("FILE", "STRING")
    assert names.read_text() == "birds\ntrees\n"
    with raises("aeon-nothing-to-build"):
        from_folder(str(pictures), suffixes=[".png"])
    with raises("aeon-nothing-to-build"):
        from_folder(str(pictures / "birds/deep"))


def test_build_from_a_table(tmp_path: Path) -> None:
    table, out = tmp_path / "t.csv", tmp_path / "t.tsv"
    table.write_text('image,kind\n"a, b.jpg",wren\nc.jpg,elm\n\nd.jpg,wren\n')
    manifest, classes = from_table(
        str(table), [("kind", "CLASS"), ("image", "FILE")], findings=Findings(strict=True)
    )
    assert list(manifest) == [(b"1", b"a, b.jpg"), (b"0", b"c.jpg"), (b"1", b"d.jpg")]
    assert classes == ("elm", "wren")
    done = run("manifest", "build", table, "-o", out, "--types", "STRING,STRING")
    assert done.exit_code == 0 and len(exset.load(out, model=Manifest)) == 4
    for types, says in (
        ("FILE,size:ASCII_INT", "name all columns"),
        ("PATH", "PATH"),
        ("CLASS,CLASS", "one column"),
    ):
        done = run("manifest", "build", table, "--types", types)
        assert done.exit_code == 2 and says in done.stderr
    done = run("manifest", "build", table, "--types", "size:ASCII_INT")
    assert done.exit_code == 1 and "[aeon-table]" in done.stderr
    table.write_text('a\n"b')
    assert run("manifest", "build", table, "--types", "FILE").exit_code == 1
    assert run("manifest", "build", table).exit_code == 2


@pytest.mark.parametrize(
    ("text", "types", "codes"),
    [
        ("path,kind\na.jpg,wren\nb.jpg,elm\n", "FILE,CLASS", {1: "aeon-table-header"}),
        ("path,kind\n" + "a,wren\nb,elm\n" * 2, "FILE,CLASS", {1: "aeon-table-header"}),
        ("name,text\n1,wren\n2,elm\n", "STRING,STRING", {1: "aeon-table-header"}),
        ("a.jpg,wren\nb.jpg,elm\nc.jpg,elm\n", "FILE,CLASS", {}),
        ("a,wren\nb,elm\nc,wren\n", "FILE,CLASS", {}),
        ("a.jpg,1\n", "FILE,ASCII_INT", {}),
        ("a.jpg,1,x\nb.jpg,2,y\n", "FILE,ASCII_INT", {1: "aeon-table-columns"}),
        ("a.jpg,1\nb.jpg,two\n", "FILE,ASCII_INT", {2: "aeon-no-number"}),
        ("a.jpg,1.5\nb.jpg,1e99\n", "FILE,ASCII_FLOAT", {2: "aeon-number-range"}),
        ("path,n,x\na.jpg,2x,\n", "path:FILE,n:ASCII_INT", {2: "aeon-number-tail"}),
    ],
)
def test_tables_with_likely_mistakes(
    text: str, types: str, codes: dict[int, str], tmp_path: Path
) -> None:
    """A first line of names, columns without a type, and fields that are no numbers."""
    table = tmp_path / "t.csv"
    table.write_text(text)
    done = run("manifest", "build", table, "-o", tmp_path / "t.tsv", "--types", types)
    is_error = {"aeon-no-number", "aeon-number-range"} & {*codes.values()}
    assert done.exit_code == (1 if is_error else 0)
    found = dict(re.findall(r"t\.csv:(\d+): .*\[(\S+)\]", done.stderr))
    assert found == {str(line): code for line, code in codes.items()}


def test_files_are_checked(tmp_path: Path) -> None:
    (tmp_path / "a.jpg").write_bytes(b"x")
    (tmp_path / "empty.jpg").write_bytes(b"")
    (tmp_path / "sub").mkdir()
    text = b"@STRING\tFILE\n1\ta.jpg\n2\tno.jpg\n3\tno.jpg\n4\tsub\n5\tempty.jpg\n6\ta.jpg\r\n"
    path = tmp_path / "m.tsv"
    path.write_bytes(text)
    findings = exset.validate(path, check_files=True, base=tmp_path)
    found = {finding.code: finding for finding in findings}
    assert [finding.place.line for finding in findings if finding.place] == [3, 5, 6, 7, 7]
    assert set(found) == {
        *("aeon-carriage-return", "aeon-file-missing", "aeon-file-folder", "aeon-file-empty"),
    }
    assert findings.count("aeon-file-missing") == 2
    assert "carriage return" in str(found["aeon-file-missing"]) or findings.worst == "error"
    done = run("validate", "--files", "--base", tmp_path, path)
    assert done.exit_code == 1 and "dos2unix" in done.stdout
    assert run("validate", path).exit_code == 0


def test_files_stay_within_the_roots(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.jpg").write_bytes(b"x")
    (tmp_path / "b.jpg").write_bytes(b"x")
    path = tmp_path / "m.tsv"
    path.write_text("@FILE\na.jpg\n../b.jpg\n../b.jpg\n/etc/none\n")
    options = ("--files", "--base", tmp_path / "in", "--root")
    done = run("validate", *options, tmp_path / "in", path)
    assert done.exit_code == 1 and done.stdout.count("[aeon-file-outside]") == 2
    assert "m.tsv:3: " in done.stdout and "m.tsv:5: " in done.stdout
    done = run("validate", *options, tmp_path, path)
    assert done.stdout.count("[aeon-file-outside]") == 1 and "aeon-file-missing" not in done.stdout


def test_no_findings_if_all_files_exist(pictures: Path) -> None:
    manifest, _ = from_folder(str(pictures), suffixes=[".jpg"])
    findings = Findings(strict=True)
    check_files(manifest, findings, CheckOptions("m", str(pictures)))
    check_files(
        manifest.with_columns(dialect=Dialect.SEED), findings, CheckOptions("m", f"{pictures}/")
    )
    assert not len(findings)


def test_stratified_parts(tmp_path: Path) -> None:
    rows = [(f"{i}.jpg", i % 10 == 0) for i in range(1000)]
    manifest = Manifest.of(("FILE", "ASCII_INT"), [(name, int(rare)) for name, rare in rows])
    for seed in (None, 1):
        parts = exset.split(manifest, [0.7, 0.2, None], seed=seed, stratify="label")
        assert [len(part) for part in parts] == [700, 200, 100]
        assert [Counter(row[1] for row in part)[b"1"] for part in parts] == [70, 20, 10]
        assert Counter(row for part in parts for row in part) == Counter(manifest)
    path, a, b = (tmp_path / name for name in ("all.tsv", "a.tsv", "b.tsv"))
    exset.save(manifest, path)
    done = run("split", path, f"{a}=90%", f"{b}=rest", "--stratify", "1", "--seed", "3")
    assert done.exit_code == 0
    assert Counter(row[1] for row in exset.load(b, model=Manifest)) == {b"0": 90, b"1": 10}
    assert run("split", path, f"{a}=90%", "--stratify", "7").exit_code == 2
    with pytest.raises(ValueError, match="by and stratify cannot be combined"):
        exset.split(manifest, [0.5], by="0", stratify="1")


def test_groups_stay_whole() -> None:
    manifest = Manifest.of(("FILE", "STRING"), [(f"{i // 3}.wav", f"{i}") for i in range(30)])
    first, second = exset.split(manifest, [0.5, 0.5], seed=0, by="0")
    assert not {row[0] for row in first} & {row[0] for row in second}


@given(manifests(max_records=12), st.none() | st.integers(0, 9))
def test_balanced(manifest: Manifest, seed: int | None) -> None:
    made = balanced(manifest, seed=seed)
    before, after = Counter(row[-1:] for row in manifest), Counter(row[-1:] for row in made)
    assert set(before) == set(after)
    assert set(after.values()) <= {max(before.values(), default=0)}
    assert set(made) == set(manifest)
    if seed is None and len(manifest):
        assert made.select(slice(len(manifest))) == manifest


def test_balance_and_stats(tmp_path: Path) -> None:
    path, out = tmp_path / "m.tsv", tmp_path / "out.tsv"
    path.write_bytes(b"@FILE\tASCII_INT\n" + b"a\t0\n" * 6 + b"b\t1\nc\t1\nd\tx\n")
    assert run("manifest", "balance", path, "-o", out).exit_code == 0
    assert len(exset.load(out, model=Manifest, findings=Findings())) == 18
    assert run("manifest", "balance", path, "--by", "5").exit_code == 2
    done = run("stats", path)
    assert done.exit_code == 0 and "0: 6, 1: 2" in done.stdout
    row = json.loads(run("stats", "--json", path).stdout)["summary"]
    assert row["columns"][1]["classes"] == {"0": 6, "1": 2, "x": 1}
    assert row["columns"][1]["spread"]["high"] == 1
    assert row["uid"] and row["dialect"] == "head"
    assert "aeon_cache_" in run("info", path).stdout


def test_pick(tmp_path: Path) -> None:
    path, out = tmp_path / "m.tsv", tmp_path / "out.tsv"
    path.write_bytes(b"@STRING\n" + b"".join(b"s%d\n" % i for i in range(10)))
    done = run("manifest", "pick", path, "-o", out, "--subset-fraction", "0.5")
    assert out.read_bytes() == b"@STRING\ns0\ns1\ns2\ns6\ns8\n"
    assert "aeon_cache_1625a129" in done.stderr
    done = run("manifest", "pick", path, "-o", out, "--node", "1", "3", "--batch-size", "2")
    assert out.read_bytes() == b"@STRING\ns2\ns3\ns7\n"
    assert run("manifest", "pick", path, "--shuffle-manifest").exit_code == 2
    assert run("manifest", "pick", path, "--subset-fraction", "0").exit_code == 2
    run("manifest", "pick", path, "-o", out, "--shuffle-manifest", "--random-seed", "1")
    assert out.read_bytes().startswith(b"@STRING\ns2\ns7\ns1\n")
    seed = ("--shuffle-manifest", "--from-dialect", "seed")
    done = run("manifest", "pick", path, "-o", out, *seed)
    assert out.read_bytes().startswith(b"@STRING\ns0\ns2\ns1\n")
    assert "aeon_cache_0b075e47" in done.stderr


def test_convert_from_the_command_line(tmp_path: Path) -> None:
    old, new = tmp_path / "old.csv", tmp_path / "new.tsv"
    old.write_bytes(b"a.jpg,1.txt\n")
    assert run("convert", "--dialect", "head", old, new).exit_code == 0
    assert new.read_bytes() == b"@FILE\tFILE\na.jpg\t1.txt\n"
    done = run("convert", "--from-dialect", "seed", "--dialect", "head", old, "-o", new)
    assert new.read_bytes() == b"@FILE\na.jpg,1.txt\n" and done.exit_code == 0
    assert run("convert", new, "-o", "-", "--to", "manifest", "--dialect", "csv").exit_code == 1
    assert run("convert", "--dialect", "csv", "exset::xor.ex", tmp_path / "x.bex").exit_code == 2
    done = run("validate", "--ids", "text", new)
    assert done.exit_code == 2 and "unknown option 'ids'" in done.stderr
    done = run("validate", "--from-dialect", "csv", old)
    assert done.exit_code == 0 and "aeon-dialect" not in done.stdout


def test_the_generators_are_those_of_c() -> None:
    """The ten thousandth number of each is in the standard of C++."""
    for kind, seed, expected in ((MINSTD, 1, 1043618065), (MERSENNE, 5489, 4123659995)):
        state = generator(kind, seed)
        assert [draw(state) for _ in range(10_000)][-1] == expected
    with pytest.raises(ValueError, match="seed must be from 0"):
        generator(MINSTD, 2**32)


@pytest.mark.parametrize("kind", [MINSTD, MERSENNE])
@pytest.mark.parametrize("count", [0, 1, 2, 7, 1000, 120_000])
def test_a_shuffle_keeps_all_items(kind: int, count: int) -> None:
    assert sorted(shuffled(count, kind, 7).tolist()) == list(range(count))


def test_a_tiny_fraction_takes_a_few() -> None:
    """If 0 records are needed, the selection does not stop early."""
    assert subset(100_000, 1e-6, 0, 0).size < 5
    assert subset(10, 0.999, 9, 0).size == 9


def test_crc32c() -> None:
    data = np.frombuffer(b"123456789", np.uint8)
    assert crc32c(data) == 0xE3069283
    assert crc32c(data[:0]) == 0
    large = np.arange(200_003, dtype=np.int64).astype(np.uint8)
    tables = np.array([[_entry(i, row) for i in range(256)] for row in range(8)], np.int64)
    assert crc32c(large) == update(large, tables, 0xFFFFFFFF) ^ 0xFFFFFFFF
    empty = Manifest.of((), ())
    assert cache_name(uid(empty)) == "aeon_cache_00000000"


def _entry(byte: int, zeros: int) -> int:
    """Return the checksum of a byte and then zeros, bit by bit."""
    rest = byte
    for _ in range(8 * (zeros + 1)):
        rest = rest >> 1 ^ (0x82F63B78 if rest & 1 else 0)
    return rest


def test_blocks() -> None:
    assert [len(block) for block in blocks(16, 3)] == [4, 4, 4, 4, 0]
    assert [len(block) for block in blocks(0, 3)] == [0]
    train = blocks(1_281_167)
    assert len(train) == 256 and len(train[0]) == 5005
    with_empty = [(n, b) for n in range(1, 400) for b in range(1, 60) if not len(blocks(n, b)[-1])]
    assert len(with_empty) == 210
    for n, b in ((7, 2), (100, 9), (5001, 5000)):
        assert [row for block in blocks(n, b) for row in block] == list(range(n))
    with pytest.raises(ValueError, match="block_size"):
        blocks(3, 0)


def test_nodes_have_disjoint_records() -> None:
    for n, count, batch in ((10, 3, 2), (100, 7, 3), (5, 8, 2)):
        parts = [node_rows(n, each, count, batch).tolist() for each in range(count)]
        rows = [row for part in parts for row in part]
        assert sorted(rows) == list(range(n // count * count))
        assert {len(part) for part in parts} == {n // count}
    with pytest.raises(ValueError, match="node_id"):
        node_rows(5, 2, 2, 1)


def test_a_shuffle_without_a_seed_is_refused() -> None:
    manifest = Manifest.of(["STRING"], [["a"], ["b"]])
    with pytest.raises(ValueError, match="random_seed"):
        select_records(manifest, shuffle_manifest=True)
    assert (
        select_records(manifest, shuffle_manifest=True, random_seed=4)[1]
        == select_records(manifest)[1]
    )
