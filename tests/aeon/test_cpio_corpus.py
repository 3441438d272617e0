"""Blocks and archives that aeon and GNU cpio wrote."""

import json
from pathlib import Path

import numpy as np

import exset
from exset.codecs.aeon.cpio_write import encode
from exset.core.errors import Findings
from exset.grammars.aeon.block import Block
from tests.aeon.cpio_files import TIME


def blocks_of(corpus: Path) -> list[tuple[Path, dict[str, object]]]:
    found = []
    for path in sorted((corpus / "aeon/cpio").glob("*.json")):
        for name, about in json.loads(path.read_text())["tree"].items():
            if "raw" in about:
                found.append((path.with_suffix("") / name, about))
    return found


def test_blocks_of_aeon(corpus: Path) -> None:
    """Blocks are read like aeon's reader reads them, and written with the bytes of its writer."""
    found_there = blocks_of(corpus)
    assert len(found_there) == 34
    for path, about in found_there:
        findings = Findings()
        found = exset.load(path, model=Block, findings=findings)
        assert found.header is not None and encode(found) == path.read_bytes()
        codes = [finding.code for finding in findings]
        if "c07" in str(path):
            assert codes == ["aeon-block-shift"] and found.width is None
        else:
            made = Block.of(found, time=TIME)
            assert not codes and encode(made) == path.read_bytes()
        if "c06" in str(path):  # the table does not list all of its elements
            assert len(found) == 600 and len(set(found.elements.name)) == 1100
            continue
        raw = about["raw"]
        assert isinstance(raw, dict)
        for word in ("format_version", "writer_version", "record_count"):
            assert getattr(found.header, word) == raw[word]
        assert found.header.elements_per_record == raw["elements_per_record_field"]
        assert found.header.data_type == raw["data_type"].encode()
        framed = [found.elements, found.frame.take(np.arange(1, 3))]
        whole = type(found.elements).concat(framed)
        rows = zip(whole.name, whole.time.tolist(), whole.data, strict=True)
        seen = [(str(name, "ascii"), time, bytes(data).hex()) for name, time, data in rows if name]
        expected = [
            (each["name"], each["mtime"], each["hex"])
            for each in raw["entries"]
            if isinstance(each, dict)
        ]
        assert [each for each in seen if each in expected] == expected
        assert len(seen) == len(raw["entries"]) or "..." in str(raw["entries"])


def test_real_archives(corpus: Path) -> None:
    """Archives of several versions of aeon's network server, and one that GNU cpio copied."""
    paths = [*(corpus / "aeon/files").rglob("*.cpio"), corpus / "aeon/cpio/y.cpio"]
    assert len(paths) == 4
    for path in paths:
        findings = Findings()
        found = exset.load(path, model=Block, findings=findings)
        assert not list(findings) and found.width in (2, 3)
        assert encode(found) == path.read_bytes()
        assert found.padding == (306 if path.name == "y.cpio" else 0)
