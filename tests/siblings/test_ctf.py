"""The text format of CNTK."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import exset
from exset import ExampleSet, Findings, FormatError, Table, formats
from exset.core.kernels import Engine
from exset.core.source import Source
from exset.parsers.siblings import ctf
from exset.testing.siblings import streams
from tests.siblings.corpus import verdicts

engines = pytest.mark.parametrize("engine", ["table", "reference"])

BEYOND_CNTK = {
    "made-stream-missing-in-sequence.ctf": ["ctf-missing"],
    "made-comment-with-id.ctf": ["ctf-refuses"],
    "made-id-only.ctf": ["ctf-refuses"],
    "made-spaces-only.ctf": ["ctf-refuses"],
    "made-empty.ctf": [],
}
"""Files that CNTK refuses and exset reads, with the findings."""


@engines
def test_the_corpus(corpus: Path, engine: Engine) -> None:
    """With no allowed error, as is CNTK's default."""
    folder, seen = corpus / "siblings/ctf", 0
    for verdict in verdicts(folder):
        content = (folder / verdict.path).read_bytes()
        if "--errors" in verdict.args or (engine == "reference" and len(content) > 10_000):
            continue
        seen += 1
        source, findings = Source(verdict.path, content), Findings()
        if verdict.verdict == "reject" and verdict.path not in BEYOND_CNTK:
            with pytest.raises(FormatError):
                ctf.parse(source, engine=engine, streams=verdict.args)
            continue
        table = ctf.parse(source, engine=engine, streams=verdict.args, findings=findings)
        if verdict.verdict == "reject":
            assert [each.code for each in findings] == BEYOND_CNTK[verdict.path]
        elif verdict.values:
            check(table, verdict.values)
    assert seen > 60


def check(table: Table, expected: dict[str, Any]) -> None:
    sequences = np.unique_inverse(np.asarray(table["example"].values))[1]  # type: ignore[union-attr]
    assert sequences.max(initial=-1) + 1 == len(expected["sequences"])
    for name, stream in expected["streams"].items():
        wanted = [sample for each in expected["sequences"] for sample in each["data"][name]]
        if stream["storage"] == "dense":
            column: Any = table[name]
            assert column.values.shape[1:] == (stream["dim"],)
            found = column.values[column.present]
            values = [
                [float(each) for each in sample] + [0.0] * (stream["dim"] - len(sample))
                for sample in wanted
            ]
            numbers = np.array(values, np.float32).reshape(found.shape)
            finite = np.isfinite(numbers)
            assert np.allclose(found[finite], numbers[finite], rtol=2e-7, atol=0)
        else:
            index, value = (table[name + each] for each in (ctf.INDEX, ctf.VALUE))
            pairs = [
                [
                    list(pair)
                    for pair in zip(one.values.tolist(), other.values.tolist(), strict=True)
                ]
                for one, other in zip(index, value, strict=True)
                if one is not None
            ]
            assert [len(each) for each in pairs] == [len(each) for each in wanted]
            assert [[pair[0] for pair in each] for each in pairs] == [
                [pair[0] for pair in each] for each in wanted
            ]
            assert np.allclose(
                [pair[1] for each in pairs for pair in each],
                [float(pair[1]) for each in wanted for pair in each],
                rtol=2e-7,
            )


@given(streams())
def test_written_streams_read_back(table: Table) -> None:
    data = exset.dumps(table, format="ctf", findings=Findings())
    assert exset.loads(data, format="ctf", findings=Findings()) == table


@pytest.mark.parametrize(
    ("data", "codes"),
    [
        (b"|A 1 2\n|A 3\n", ["ctf-short"]),
        (b"|A 1\n\n|A 3\n", ["ctf-refuses"]),
        (b"1 |A 1\n2 |A 1\n1 |A 2\n", ["ctf-repeated-id"]),
        (b"1 |A 1\n1 |B 1\n2 |A 1 |B 1", []),
        (b"1 |A 1\n2 |A 1 |B 1", ["ctf-missing"]),
        (b"|A 1 |# a |# comment |B 2 |# at the end\n", []),
    ],
)
@engines
def test_findings(data: bytes, codes: list[str], engine: Engine) -> None:
    findings = Findings()
    ctf.parse(Source("x", data), findings=findings, engine=engine)
    assert [each.code for each in findings] == codes


@pytest.mark.parametrize(
    ("data", "code", "column"),
    [
        (b"|A 1 |A 2", "ctf-sample", 6),
        (b"|A 1\n|A 1:2", "ctf-sample", 1),
        (b"|A 1 2:3", "syntax", 7),
        (b"| A 1", "syntax", 1),
        (b" 1 |A 1", "syntax", 2),
        (b"|A nan", "syntax", 4),
        (b"99999999999999999999 |A 1", "ctf-id", 1),
    ],
)
@engines
def test_errors(data: bytes, code: str, column: int, engine: Engine) -> None:
    with pytest.raises(FormatError) as info:
        ctf.parse(Source("x", data), engine=engine)
    assert info.value.code == code
    assert info.value.place is not None and info.value.hint
    if not data.startswith(b"999"):
        assert info.value.place.column == column


def test_streams() -> None:
    data = b"0 |A 1 |B 2:1\n0 |A 2\n"
    table = ctf.parse(Source("x", data), streams="A=dense:3")
    assert table.types == {"example": "int64", "A": "float32[3]"}
    assert ctf.parse(Source("x", data), streams="C=dense:2")["C"].present.sum() == 0
    for wrong in ("A", "A=dense:x", "A=small:1"):
        with pytest.raises(TypeError):
            ctf.parse(Source("x", data), streams=wrong)
    for wide in ("B=sparse:2", "A=dense:0,B=dense:1"):
        with pytest.raises(FormatError):
            ctf.parse(Source("x", data), streams=wide)


def test_detection() -> None:
    assert formats.detect(b"|A 1\n", "x").name == "ctf"
    assert formats.detect(b"0 |A 1\n", "x.ctf").name == "ctf"


def test_what_ctf_cannot_store() -> None:
    for wrong in (
        {"name": ["a"]},
        {"x": [1.0], "name": ["a"]},
        {"x": [np.nan]},
        {"two words": [1.0]},
        {"x": np.zeros((1, 2, 2))},
        {"x": [1.0], "example": [-1]},
        {"A.index": [[1]], "A.value": [[np.nan]]},
    ):
        with pytest.raises(FormatError) as info:
            exset.dumps(Table.of(wrong), format="ctf", findings=Findings())
        assert info.value.code == "table-holds", wrong


def test_streams_are_in_the_order_of_their_first_samples() -> None:
    table = Table.of({"late": [None, 1.0], "early": [2.0, 3.0]})
    data = exset.dumps(table, format="ctf")
    assert data == b"|early 2\n|early 3 |late 1\n"
    back = exset.loads(data, format="ctf", findings=Findings())
    assert exset.dumps(back, format="ctf") == data


def test_lens_sets(tmp_path: Path) -> None:
    exset.convert("exset::xor.ex", tmp_path / "x.ctf", lossy=True, findings=Findings())
    assert (tmp_path / "x.ctf").read_bytes().startswith(b"|inputs 0 0 |targets 0\n")
    exset.convert(tmp_path / "x.ctf", tmp_path / "x.ex", findings=Findings())
    made = exset.to_arrays(exset.load(tmp_path / "x.ex", model=ExampleSet))
    assert made.inputs.tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]
