"""Tables of emergent."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import exset
from exset import ExampleSet, Findings, FormatError, Table, formats
from exset.core.kernels import Engine
from exset.core.source import Source
from exset.grammars.siblings.events import EVENTS
from exset.grammars.siblings.layers import as_patterns, from_patterns
from exset.parsers.siblings import emergent
from exset.testing.siblings import layers
from tests.siblings.corpus import verdicts

engines = pytest.mark.parametrize("engine", ["table", "reference"])

PLAIN = ("plain-headers", "plain-one-typed", "bom", "spaces")
"""Files of plain names, which exset reads as tables of text."""
SHIFTED = ("cell-missing", "dims-huge", "dims-not-number", "name-with-dims-text")
"""Files that emergent reads into the wrong columns, from their names."""


@engines
def test_the_corpus(corpus: Path, engine: Engine) -> None:
    folder, seen = corpus / "siblings/emergent", 0
    for verdict in verdicts(folder):
        content = (folder / verdict.path).read_bytes()
        if engine == "reference" and len(content) > 20_000:
            continue
        seen += 1
        source, name = Source(verdict.path, content), verdict.path.removeprefix("made-")[:-4]
        is_refused = name in (*PLAIN, "planets", "name-twice") or verdict.verdict != "accept"
        if is_refused or name in SHIFTED[:-1]:
            with pytest.raises(FormatError):
                emergent.parse(source, engine=engine)
        elif name not in SHIFTED:
            table = emergent.parse(source, engine=engine, findings=Findings(), as_go=True)
            check(table, verdict.values)
    assert seen > 50


def check(table: Table, expected: dict[str, Any]) -> None:
    """Compare each value with that of emergent, where it is not missing."""
    columns: Any = [column for name, column in from_patterns(table).items() if name not in EVENTS]
    assert table.rows == expected["rows"]
    assert len(columns) == len(expected["columns"])
    for column, wanted in zip(columns, expected["columns"], strict=True):
        if wanted["type"] == "string":
            items = [*getattr(column, "items", column)]
            assert items == wanted["values"]
            continue
        assert str(column.values.dtype) == wanted["type"]
        assert list(column.shape) == wanted["cell_shape"]
        values = np.array([float(each) for each in wanted["values"]])
        found = column.values.reshape(-1).astype(float)
        is_there = ~np.isin(np.arange(values.size), wanted["null"])
        assert np.array_equal(found[is_there], values[is_there], equal_nan=True)


def test_tensors_are_in_place(corpus: Path) -> None:
    """The Go program read the file of the C++ program, and wrote it transposed."""
    folder, findings = corpus / "siblings/emergent", Findings()
    path = folder / "emer_simple_lines_5x5.dat"
    table: Any = exset.load(path, model=Table, findings=findings)
    assert [each.code for each in findings] == ["emergent-order"] * 2
    as_go: Any = exset.load(path, as_go=True, model=Table)
    assert as_go == exset.load(folder / "emer_simple_lines_5x5_rec.dat", model=Table)
    one, other = (each["inputs.Input"].values.reshape(-1, 5, 5) for each in (table, as_go))
    assert np.array_equal(one, other.swapaxes(1, 2))


@given(layers())
def test_written_layers_read_back(table: Table) -> None:
    data = exset.dumps(table, format="emergent", findings=Findings())
    assert exset.loads(data, format="emergent", model=Table, findings=Findings()) == table


@pytest.mark.parametrize(
    ("data", "codes"),
    [
        (b"_H:\t%X[2:0,0]<2:2,1>\t%X[2:1,0]\n_D:\t1\t2\n", []),
        (b"_H:\t%X[1:1]<1:2>\t%X[1:0]\n_D:\t1\t2\n", ["emergent-order"]),
        (b"_H:\t%x\n1\t2\n", ["emergent-mark"]),
        (b"%x\t%y\n_D:\t2\n", ["emergent-mark"]),
        (b"_H:\t%x\n_D:\tabc\n_D:\t1e400\n_D:\t1_0\n_D:\t0x1p-2\n", ["emergent-value"] * 2),
        (b"_H:\t%x\n_D:\tInf\n_D:\t+Inf\n_D:\tNaN\n_D:\t\n", ["emergent-missing"]),
        (b"_H:\t|x\n_D:\t3.9\n_D:\t9007199254740993\n_D:\t4\n", ["emergent-rounded"] * 2),
    ],
)
@engines
def test_findings(data: bytes, codes: list[str], engine: Engine) -> None:
    findings = Findings()
    emergent.parse(Source("x", data), findings=findings, engine=engine)
    assert [each.code for each in findings] == codes


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"a\tb\n1\t2\n", "emergent-header"),
        (b"_H:\t%X[1:1]\n_D:\t1\n", "emergent-tensor"),
        (b"_H:\t%X[1:0]<2:1>\n_D:\t1\n", "emergent-tensor"),
        (b"_H:\t%X[1:0]<1:2>\n_D:\t1\n", "emergent-tensor"),
        (b"_H:\t%X\t$X\n_D:\t1\t1\n", "emergent-twice"),
        (b"_H:\t@X\n_D:\t256\n", "emergent-range"),
        (b"_H:\t|X\n_D:\t1e30\n", "emergent-range"),
        (b"_H:\t%X\n_D:\t1\t2\n", "csv-row"),
        (b'_H:\t$X\n_D:\ta"b\n', "syntax"),
        (b'_H:\t$X\n_D:\t"a"b\n', "syntax"),
    ],
)
@engines
def test_errors(data: bytes, code: str, engine: Engine) -> None:
    with pytest.raises(FormatError) as info:
        emergent.parse(Source("x", data), engine=engine)
    assert info.value.code == code and info.value.hint


def test_groups_are_examples() -> None:
    data = b"_H:\t$Group\t$Name\t%Input[1:0]<1:1>\n_D:\ta\tx\t1\n_D:\ta\ty\t2\n_D:\tb\tz\t3\n"
    table = exset.loads(data, format="emergent", model=Table)
    columns: Any = table.columns
    assert columns["example"].values.tolist() == [0, 0, 1]
    assert columns["event"].values.tolist() == [0, 1, 0]
    assert [*columns["name"]] == ["a", "a", "b"]
    assert exset.dumps(table, format="emergent") == data
    made = exset.from_table(table.without_columns("Name"), family="lens")
    assert isinstance(made, ExampleSet)
    assert [len(each.events) for each in made] == [2, 1]
    again = as_patterns(Table.of({"Group": ["a", "b", "a"], "name": ["1", "2", "3"]}))
    assert again.names == ("Group", "name")


def test_detection(tmp_path: Path) -> None:
    for data, name in ((b"_H:\t%x", "x.tsv"), (b'"_H:"\t"%x"\n', "x.tsv"), (b"_H:,%x\n", "x.csv")):
        assert formats.detect(data, name).name == "emergent"
    assert formats.detect(b"_H:\t%x", "x.dat").name == "emergent"
    assert formats.detect(b"x\ty\n1\t2\n", "x.tsv").name == "tsv"


def test_what_emergent_cannot_store() -> None:
    for wrong in (
        {"x": [b"\xff"]},
        {"x": [[1.0], [1.0, 2.0]]},
        {"x": ["a", None]},
        {"x": ["a\r\nb"]},
        {"x": [1 << 60]},
        {"a[0]": [1.0]},
        {"x": np.array(["2020"], "M8[D]")},
    ):
        with pytest.raises(FormatError) as info:
            exset.dumps(Table.of(wrong), format="emergent", findings=Findings())
        assert info.value.code == "table-holds", wrong


def test_lens_sets(tmp_path: Path) -> None:
    exset.convert("exset::xor.ex", tmp_path / "x.tsv", to="emergent", findings=Findings())
    data = (tmp_path / "x.tsv").read_bytes()
    assert data.startswith(b"_H:\t$Name\t%Input[1:0]<1:2>\t%Input[1:1]\t%Output[1:0]<1:1>\n")
    exset.convert(tmp_path / "x.tsv", tmp_path / "x.ex", findings=Findings())
    made = exset.to_arrays(exset.load(tmp_path / "x.ex", model=ExampleSet, findings=Findings()))
    assert made.inputs.tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]
