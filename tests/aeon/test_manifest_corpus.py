"""Manifests of aeon and of its users, and the verdicts of two versions on unusual ones."""

import csv
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import exset
from exset import Findings, FormatError, Manifest
from exset.core.kernels import Engine
from exset.core.source import Source
from exset.parsers.aeon.manifest import parse
from exset.parsers.aeon.manifest_text import render
from exset.runtime.aeon.elements import ElementError, encoded
from exset.runtime.aeon.selection import blocks, node_rows, select_records

# What aeon gets depends on what lay in memory behind the field (rule M20): no element here.
FROM_MEMORY = {"080_b64_unpadded", "081_b64_one_char", "082_b64_space", "087_b64_five"}
FROM_MEMORY |= {"089_b64_high_bit"}
NO_FILE = {"123_missing_manifest"}


def rows(corpus: Path) -> Iterator[dict[str, str]]:
    with open(corpus / "aeon/edge/verdicts.tsv", encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)


def options(row: dict[str, str]) -> dict[str, str]:
    words = row["options"].split()
    found: dict[str, str] = {}
    for i, word in enumerate(words):
        if word.startswith("--"):
            after = words[i + 1] if i + 1 < len(words) else "--"
            found[word] = "" if re.match("--[a-z]", after + "a") else after
    return found


def used(manifest: Manifest, given: dict[str, str]) -> tuple[Manifest, str]:
    """The records that aeon uses, and its checksum of the manifest."""
    manifest, crc = select_records(
        manifest,
        subset_fraction=float(given.get("--subset", 1)),
        shuffle_manifest="--shuffle" in given,
        random_seed=int(given.get("--seed", 0)),
    )
    if "--node-count" in given and manifest.dialect == "head":
        names = ("--node-id", "--node-count", "--batch-size")
        manifest = manifest.select(node_rows(len(manifest), *(int(given[name]) for name in names)))
    return manifest, crc


@pytest.mark.parametrize("engine", ["reference", "table"])
@pytest.mark.parametrize("dialect", ["head", "seed"])
def test_verdicts(
    corpus: Path, engine: Engine, dialect: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(corpus / "aeon/edge")
    seen = 0
    for row in rows(corpus):
        name, given = row["case"], options(row)
        if name in NO_FILE:
            assert (row["head_verdict"], row["seed_verdict"]) == ("reject", "reject")
            with pytest.raises(FileNotFoundError):
                exset.load(f"{name}.tsv")
            continue
        seen += 1
        source = Source(f"{name}.tsv", Path(f"{name}.tsv").read_bytes())
        verdict = row[f"{dialect}_verdict"]
        if verdict in ("reject", "crash"):
            with pytest.raises((FormatError, ValueError)):
                used(parse(source, dialect=dialect, engine=engine), given)
            continue
        findings = Findings()
        manifest = parse(source, dialect=dialect, engine=engine, findings=findings)
        dump = json.loads(Path(row[f"{dialect}_dump"]).read_bytes())
        compare(name, manifest, given, dump)
        assert parse(Source("x", render(manifest)), dialect=dialect) == manifest
        fails = verdict == "accept-record-error" and "FILE" not in dump["types"]
        assert (findings.worst == "error") == (fails or name in FROM_MEMORY | {EMPTY_PATH}), name
    assert seen == 81


EMPTY_PATH = "099_file_empty_field_noroot"


def compare(name: str, manifest: Manifest, given: dict[str, str], dump: dict[str, Any]) -> None:
    assert list(manifest.types) == dump["types"], name
    manifest, crc = used(manifest, given)
    assert crc == dump["crc"], name
    assert len(manifest) == dump["record_count"], name
    size = int(given.get("--block-size", 5000))
    assert [len(block) for block in blocks(len(manifest), size)] == dump["blocks"], name
    root = given.get("--root", "")
    for record, expected in zip(encoded(manifest, base=root), dump["records"], strict=True):
        made = [each.hex() for each in record if isinstance(each, bytes)]
        if name in FROM_MEMORY:
            assert made == [expected["elements"][0]["hex"]], name
            continue
        assert made == [each["hex"] for each in expected["elements"]], name
        failed = [each for each in record if isinstance(each, ElementError)]
        assert bool(failed) == ("error" in expected), name


def test_real_manifests(corpus: Path) -> None:
    folder = corpus / "aeon/files/NervanaSystems+aeon"
    paths = [*folder.glob("*.tsv"), *folder.glob("*.csv"), *(corpus / "aeon/cpio").glob("*.tsv")]
    paths += (corpus / "aeon/loader").glob("*.tsv")
    assert len(paths) == 38
    for path in paths:
        engines: tuple[Engine, ...] = ("table", "reference")
        for engine in engines[: 1 + (path.stat().st_size < 10_000)]:
            manifest = parse(Source(path.name, path.read_bytes()), engine=engine)
            assert parse(Source("x", render(manifest)), dialect=manifest.dialect) == manifest


@pytest.mark.parametrize("version", ["head", "seed"])
def test_the_folders_of_caches(corpus: Path, version: str) -> None:
    """The checksum names the folder, also of a subset or a shuffled manifest."""
    seen = 0
    for path in sorted((corpus / "aeon/cpio").glob(f"*.{version}.json")):
        run = json.loads(path.read_bytes())
        folders = os.listdir(path.with_suffix(""))
        given = options({"options": " ".join(run["options"])})
        given.setdefault("--seed", "0")
        manifest = parse(Source(path.name, run["manifest"].encode()), dialect=version)
        manifest, crc = used(manifest, given)
        assert f"aeon_cache_{crc}" in folders
        if "--shuffle" in given:
            passes = run["seen_by_consumer"]["seen"]
            order = [each["elements"][0]["hex"] for block in passes for each in block]
            assert [record[0].hex() for record in manifest] == order
            assert len(passes) == len(blocks(len(manifest), int(given["--block-size"])))
        seen += 1
    assert seen == 10


def test_tables_of_the_corpus(corpus: Path) -> None:
    """Every manifest that exset reads comes back from the table of it, as said."""
    paths = sorted((corpus / "aeon").rglob("*.[tc]sv"))
    seen = 0
    for path in paths:
        if "verdicts" in path.name or path.name in ("files.tsv", "real.tsv"):
            continue
        try:
            manifest = parse(Source(path.name, path.read_bytes()))
        except FormatError:
            continue
        seen += 1
        findings = Findings()
        table = exset.to_table(manifest, level="said", findings=findings)
        assert exset.from_table(table, findings=findings) == manifest, path
        assert findings.count("table-dropped") == 0
    assert seen > 100
