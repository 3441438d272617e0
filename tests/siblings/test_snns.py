"""Pattern files of SNNS."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import exset
from exset import ExampleSet, Findings, FormatError, Table, formats
from exset.core.kernels import Engine
from exset.core.source import Source
from exset.grammars.tables.columns import Lists
from exset.parsers.siblings import snns
from exset.testing.siblings import patterns
from tests.siblings.corpus import verdicts

engines = pytest.mark.parametrize("engine", ["table", "reference"])

BEYOND_SNNS = {
    "made-crlf.pat": "exset reads carriage returns as blanks, with a finding",
    "made-remap-params.pat": "the function Threshold does not take one parameter",
}
"""What SNNS refuses, and exset reads."""

HEAD = b"SNNS pattern definition file V3.2\ngenerated at x\n\n"
XOR = HEAD + b"No. of patterns : 2\nNo. of input units : 2\nNo. of output units : 1\n"


@engines
def test_the_corpus(corpus: Path, engine: Engine) -> None:
    folder, seen = corpus / "siblings/snns", 0
    for verdict in verdicts(folder):
        content = (folder / verdict.path).read_bytes()
        if engine == "reference" and len(content) > 20_000:
            continue
        source, findings = Source(verdict.path, content), Findings()
        if verdict.verdict == "reject" and verdict.path not in BEYOND_SNNS:
            with pytest.raises(FormatError):
                snns.parse(source, engine=engine)
            continue
        seen += 1
        table = snns.parse(source, engine=engine, findings=findings)
        if verdict.values:
            check(table, verdict.values)
        assert (findings.count("snns-line-ends") == 1) == (b"\r" in content)
    assert seen > 60


def check(table: Table, expected: dict[str, Any]) -> None:
    assert table.rows == expected["patterns"]
    for row, pattern in zip(table, expected["data"], strict=True):
        for name, sizes, key in (
            ("inputs", "input_sizes", "in"),
            ("targets", "target_sizes", "out"),
        ):
            found = row.get(name, np.zeros(0, np.float32))
            found = getattr(found, "values", found)
            wanted = np.array([float(each) for each in pattern[key]], np.float32)
            assert np.array_equal(found, wanted)
            size = row.get(sizes)
            assert ([] if size is None else size.tolist()) == pattern[f"{key}_shape"]
        label = row.get("name")
        assert (label and label.encode().decode("latin-1")) == pattern["class"]
    extra = table.metadata.get("snns", {})
    assert extra.get("redistribution") == expected["redistribution"]
    assert extra.get("remap") == expected["remap"]


@given(patterns())
def test_written_patterns_read_back(table: Table) -> None:
    data = exset.dumps(table, format="snns", findings=Findings())
    assert exset.loads(data, format="snns", findings=Findings()) == table


@pytest.mark.parametrize(
    ("data", "code", "line"),
    [
        (XOR + b"0 1 1\n0 0\n", "snns-values", 8),
        (XOR + b"0 1 1\n0 0 1 2\n", "snns-values", 8),
        (XOR + b"0 - 1\n0 0 1\n", "snns-values", 7),
        (XOR + b"0 1#c 1\n0 0 1\n", "syntax", 7),
        (XOR + b"[ 2 ] 0 1 1\n0 0 1\n", "snns-values", 7),
        (XOR.replace(b"V3.2", b"V5.0") + b"0 1 1\n0 0 1\n", "snns-header", 1),
        (XOR.replace(b": 2", b": 0", 1) + b"0 1 1\n0 0 1\n", "snns-header", 4),
        (XOR.replace(b"units : 2", b"units : -1") + b"0 1 1\n", "snns-header", 5),
        (XOR.replace(b": 2", b": 999999999", 1) + b"0 1 1\n0 0 1\n", "snns-values", 8),
        (XOR.replace(b": 2", b": 99999999999", 1) + b"0 1 1\n0 0 1\n", "snns-header", 4),
        (XOR.replace(b"No. of input", b"No.of input") + b"0 1 1\n0 0 1\n", "syntax", 5),
    ],
)
@engines
def test_errors(data: bytes, code: str, line: int, engine: Engine) -> None:
    with pytest.raises(FormatError) as info:
        snns.parse(Source("x", data), engine=engine)
    place = info.value.place
    assert (info.value.code, place and place.line) == (code, line)
    assert info.value.hint


def test_findings() -> None:
    data, findings = XOR.replace(b": 2\n", b": 2.9\n", 1) + b"0 1 1\n1e39 1 0\n", Findings()
    table = snns.parse(Source("x", data), findings=findings)
    assert sorted(each.code for each in findings) == ["snns-count", "snns-infinite"]
    assert table["inputs"].values.tolist() == [[0, 1], [np.inf, 1]]  # type: ignore[union-attr]


def test_the_first_line_with_a_carriage_return() -> None:
    findings = Findings()
    snns.parse(Source("x", XOR + b"0 1 1\n0\r\n0 1\r\n"), findings=findings)
    assert [each.place and each.place.line for each in findings] == [8]


def test_a_long_header() -> None:
    names = [b"c%d" % number for number in range(100)]
    data = HEAD + b"No. of patterns : 100\nNo. of input units : 1\nNo. of classes : 100\n"
    data += b"Class redistribution : [ " + b"2 " * 100 + b"]\n"
    table = snns.parse(Source("x", data + b"".join(b"1 %b\n" % name for name in names)))
    assert table.metadata["snns"] == {"redistribution": [2] * 100}
    assert list(table["name"]) == [name.decode() for name in names]


def test_detection() -> None:
    assert formats.detect(XOR, "x").name == "snns"
    assert formats.detect(XOR[:9], "x").name == "snns"
    assert formats.detect(b"", "x.pat").name == "snns"


def test_what_snns_cannot_store() -> None:
    one = np.ones((1, 1))
    for wrong in (
        {"name": ["a"]},
        {"inputs": one, "weight": [1.0]},
        {"inputs": one, "name": ["two words"]},
        {"inputs": np.array([[np.nan]])},
        {"inputs": [[1.0, 2.0]], "input_sizes": np.array([[3]])},
        {"inputs": [[1.0, 2.0], [1.0]], "input_sizes": np.array([[2], [2]])},
        {"inputs": np.ones((0, 2))},
    ):
        with pytest.raises(FormatError) as info:
            exset.dumps(Table.of(wrong), format="snns", findings=Findings())
        assert info.value.code == "table-holds", wrong
    table = Table.of({"inputs": np.array([[np.nan], [2.0]]), "name": ["a", "b"]})
    data = exset.dumps(table, format="snns", lossy=True, findings=(found := Findings()))
    assert [each.code for each in found] == ["table-dropped"]
    assert b"No. of patterns : 1\n" in data and data.endswith(b"\n2\nb\n")


def test_lists_without_sizes() -> None:
    table = Table.of({"inputs": [[1.0, 2.0], [3.0]]})
    data = exset.dumps(table, format="snns")
    back: Any = exset.loads(data, format="snns")
    assert isinstance(back["inputs"], Lists) and back["input_sizes"].values.tolist() == [[2], [1]]


def test_lens_sets(tmp_path: Path) -> None:
    exset.convert("exset::xor.ex", tmp_path / "x.pat", findings=Findings())
    exset.convert(tmp_path / "x.pat", tmp_path / "x.ex", findings=Findings())
    made = exset.load(tmp_path / "x.ex", model=ExampleSet, findings=Findings())
    assert not exset.diff(made, exset.load("exset::xor.ex", findings=Findings()))
