"""JSON Lines: Python's json, line by line, is the judge; types, errors, and what is written."""

import json
import os
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import exset
from exset import Findings, FormatError, Table, formats
from exset.core.kernels import Engine, Kernels
from exset.grammars.tables.columns import Lists, Numbers, Records, TableColumn
from exset.testing.tables import tables
from tests.tables.corpus import verdicts

INFINITE = (np.inf, -np.inf)
PIECES = st.sampled_from(
    [
        *('{"a": 1}', '{"a": 2.5, "b": "x"}', '{"b": null}', "{}", "[1]", "{", "}", '"', "1", "#"),
        *("\n", "\n", "\r\n", " ", "\t", ",", '{"b": "\u2028"}', '{"b": "\\ud800"}', "NaN", "\0"),
        *('{"a": 01}', '{"a": 1e999}', '{"c": [1, {"d": true}]}', '{"a": "x"}', '{"a": 1, "a": 3}'),
    ]
)


def read(data: bytes, engine: Engine = "auto", findings: Findings | None = None) -> Table:
    found = Findings() if findings is None else findings
    return exset.loads(data, format="jsonl", model=Table, engine=engine, findings=found)


def judged(data: bytes) -> list[dict[str, Any]]:
    """The objects of Python's json, line by line; raises ValueError."""
    rows = [json.loads(line) for line in data.decode().split("\n") if line.strip(" \t\r")]
    if not all(isinstance(row, dict) for row in rows):
        raise ValueError
    return rows


def values(table: Table) -> list[dict[str, Any]]:
    return [{name: plain(value) for name, value in row.items()} for row in table]


def plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    is_list = not isinstance(value, str) and hasattr(value, "__len__")
    return [plain(each) for each in value] if is_list else value


def without_null(value: Any) -> Any:
    """Null and a name that is not there are one."""
    if isinstance(value, dict):
        return {name: without_null(each) for name, each in value.items() if each is not None}
    return [without_null(each) for each in value] if isinstance(value, list) else value


@given(st.lists(PIECES, max_size=12).map("".join))
@example('{"a": 1}\n\n{"b": "x"}')
def test_python_is_the_judge(text: str) -> None:
    try:
        rows = judged(text.encode())
    except ValueError:
        with pytest.raises(FormatError):
            read(text.encode())
        return
    try:
        table = read(text.encode())
    except FormatError as error:
        assert error.code == "jsonl-value"  # kinds differ, or a lone surrogate
        return
    assert len(table) == len(rows)
    assert without_null(values(table)) == without_null(rows)


@given(st.lists(PIECES, max_size=12).map("".join))
def test_the_engines_agree(text: str) -> None:
    results: list[object] = []
    for engine in ("table", "reference"):
        findings = Findings()
        try:
            results.append(str(values(read(text.encode(), engine, findings))))
        except FormatError as error:
            results.append([each.to_dict() for each in error.findings])
        results[-1] = results[-1], [str(each) for each in findings]
    assert results[0] == results[1]


@given(tables(nested=False))
def test_what_is_written_reads_back(table: Table) -> None:
    data = exset.dumps(table, format="jsonl", lossy=True, findings=Findings())
    assert len(read(data)) == (table.rows if data else 0)
    exset.save(table, "x.jsonl", lossy=True, findings=(findings := Findings()))
    found = exset.load("x.jsonl", model=Table)
    if not findings:
        assert found == table
    else:
        assert set(found.columns) <= set(table.columns)


def written(table: Table) -> bytes:
    return exset.dumps(table, format="jsonl", lossy=True, findings=Findings())


def rows(column: TableColumn) -> list[Any]:
    """The rows of a column as Python values; a float has the shortest decimal of its type."""
    found: list[Any]
    if isinstance(column, Numbers):
        kept = column.values
        is_real = kept.dtype.kind == "f"
        found = (kept.astype(np.str_).astype(np.float64) if is_real else kept).tolist()
    elif isinstance(column, Lists):
        items = rows(column.items)
        found = [items[begin:end] for begin, end in pairwise(column.offsets.tolist())]
    elif isinstance(column, Records):
        parts = {name: rows(each) for name, each in column.fields.items()}
        found = [{name: each[i] for name, each in parts.items()} for i in range(len(column))]
    else:
        return list(column)
    return [row if has else None for row, has in zip(found, column.present, strict=True)]


@given(tables())
def test_python_reads_what_is_written(table: Table) -> None:
    made = [json.loads(line) for line in written(table).decode().split("\n")[:-1]]
    assert len(made) == table.rows
    for name in made[0] if made else ():
        column = table.columns[name]
        expected = [None if each != each else each for each in rows(column)]
        expected = [None if each in INFINITE else each for each in expected]
        assert repr([row[name] for row in made]) == repr(expected)


@given(tables())
def test_plain_and_compiled_kernels_write_the_same(table: Table) -> None:
    plain_lines = written(table)
    use = Kernels.use_compiled
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Kernels, "use_compiled", lambda self, _: use(self, 0, "table"))
        assert written(table) == plain_lines


def test_types_of_all_chunks_decide() -> None:
    """A chunk whose records have no value in a field does not change what JSON can store."""
    table = Table.of({"r": [{"a": None, "b": 1}, {"a": "x", "b": 2}]})
    out = BytesIO()
    beside = formats.get("jsonl").write_chunks([table[:1], table[1:]], out, findings=Findings())
    assert beside == (2, None)
    assert out.getvalue() == b'{"r": {"a": null, "b": 1}}\n{"r": {"a": "x", "b": 2}}\n'


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "fsync", lambda _: None)


def test_types_come_back_by_the_sidecar() -> None:
    columns = {
        "x": np.array([[0.1, 2], [3, -0.0]], np.float32),
        "h": np.array([0.1, 65504], np.float16),
        "n": np.array([1, 255], np.uint8),
        "lists": [np.array([0.1], np.float32), np.array([], np.float32)],
        "none": [None, None],
    }
    table = Table.of(columns, {"origin": "x"})
    exset.save(table, "x.jsonl")
    assert Path("x.jsonl").read_text().splitlines()[0] == (
        '{"x": [0.1, 2.0], "h": 0.1, "n": 1, "lists": [0.1], "none": null}'
    )
    assert exset.load("x.jsonl", model=Table) == table


def test_a_plain_table_has_no_sidecar() -> None:
    sources = [{"type": "file", "channels": [0], "source": "a.wav"}]
    table = Table.of({"id": ["a", "é"], "sources": [sources, []], "duration": [1.5, None]})
    exset.save(table, "x.ndjson")
    assert os.listdir() == ["x.ndjson"]
    assert exset.load("x.ndjson", model=Table) == table


@pytest.mark.parametrize(
    ("column", "problem"),
    [
        (np.array([0.5, np.nan]), "NaN"),
        ([b"\xff", b""], "cannot store bytes"),
        (np.array(["2020-01-01", "NaT"], "M8[D]"), "cannot store datetime64"),
        (
            Records({"a": Numbers.of(np.ones(2, np.float32))}, np.ones(2, np.bool_)),
            "cannot store record",
        ),
        ([[0.5, np.inf], []], "cannot store list"),
    ],
)
def test_losses(column: Any, problem: str) -> None:
    table = Table.of({"x": column, "n": [1, 2]})
    with pytest.raises(FormatError, match=problem) as error:
        exset.dumps(table, format="jsonl")
    assert error.value.code == "table-holds"
    exset.dumps(table, format="jsonl", lossy=True, findings=(findings := Findings()))
    assert [each.code for each in findings] == ["table-dropped"]


def test_the_first_lines_tell_the_format() -> None:
    Path("manifest").write_text('{"audio_filepath": "a.wav"}\n{"audio_filepath": "b.wav"}\n')
    assert exset.load("manifest", model=Table)["audio_filepath"][1] == "b.wav"


def test_whole_numbers_stay_whole() -> None:
    """NumPy makes floats of numbers of which some fit only into int64 and some only into uint64."""
    data = b'{"a": 0}\n{"a": 18446744073709551615}\n'
    table = exset.loads(data, format="jsonl", model=Table)
    assert table == Table.of({"a": np.array([0, 2**64 - 1], np.uint64)})
    assert exset.dumps(table, format="jsonl") == data


def test_depth() -> None:
    deep = b'{"a": ' + b"[" * 40 + b"]" * 40 + b"}\n"
    with pytest.raises(exset.LimitError, match="nested more than 32 levels deep"):
        read(deep)


def test_files_of_nemo_and_lhotse(corpus: Path) -> None:
    seen = 0
    where = corpus / "siblings" / "jsonl-manifests"
    for verdict in verdicts(where):
        if not verdict.path.endswith(("jsonl", "gz")) or verdict.values is None:
            continue
        seen += 1
        try:
            table = exset.load(where / verdict.path, format="jsonl", findings=Findings())
        except FormatError as error:
            assert verdict.path.startswith(("made-kinds", "made-surrogate", "made-scalar"))
            assert error.code in ("jsonl-value", "syntax")
            continue
        assert isinstance(table, Table)
        if verdict.path != "made-nan.jsonl":
            assert without_null(values(table)) == without_null(verdict.values["lines"])
    assert seen > 10
