"""CSV and TSV: Python's csv module is the judge of cells; types, findings, shared suffixes."""

import csv
import io
import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import exset
from exset import Findings, FormatError, Table, formats
from exset.core.kernels import Engine
from exset.core.protocols import Model
from exset.families.format import Format
from exset.grammars.tables.columns import Numbers, Text
from exset.parsers.tables.csv_header import delimiter_of, is_table
from tests.good_files import good_file

PIECES = st.sampled_from(
    ["a", "b", ",", ";", "\t", '"', '""', "\n", "\r\n", "\r", "1", ".5", " ", "é", "nan", "\0"]
)
TEXTS = st.lists(PIECES, max_size=20).map("".join)


def read(text: str | bytes, format: str = "csv") -> Table:
    return exset.loads(text, format=format, model=Table, findings=Findings())


def judged(text: str, delimiter: str) -> list[list[str]]:
    """Return the rows that Python's strict reader gives, without empty lines; raises csv.Error."""
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    return [row for row in rows if row]


@given(TEXTS)
@example("a\n1\n")
@example('a,"b""c"\n,\n')
def test_cells_are_those_of_the_csv_module(text: str) -> None:
    delimiter = delimiter_of(text.encode()).decode()
    try:
        rows = judged(text, delimiter)
    except csv.Error:
        with pytest.raises(FormatError):
            read(text)
        return
    names = rows[0] if rows else []
    if not names or len(set(names)) < len(names) or any(len(row) != len(names) for row in rows):
        with pytest.raises(FormatError):
            read(text)
        return
    table = read(text)
    assert table.names == tuple(names) and len(table) == len(rows) - 1
    for name, cells in zip(names, zip(*rows[1:], strict=True), strict=False):
        column = table[name]
        if isinstance(column, Text):
            assert [cell or "" for cell in column] == list(cells)
        else:
            assert [None if cell is None else float(cell) for cell in column] == pytest.approx(
                [float(cell) if cell else None for cell in cells], nan_ok=True
            )


@given(st.lists(st.lists(st.text(max_size=4), min_size=2, max_size=2), max_size=5))
@pytest.mark.parametrize("name", ["csv", "tsv"])
def test_the_csv_module_reads_what_is_written(name: str, rows: list[list[str]]) -> None:
    table = Table.of({"a": [row[0] for row in rows] or [""], "b": [row[1] for row in rows] or [""]})
    data = exset.dumps(table, format=name, findings=Findings())
    found = judged(data.decode(), "," if name == "csv" else "\t")
    assert found == [["a", "b"], *(rows or [["", ""]])]
    assert read(data, name) == table


@pytest.mark.parametrize(
    ("cells", "dtype"),
    [
        (["1", "-2", ""], "int64"),
        (["9223372036854775807", "-9223372036854775808"], "int64"),
        (["18446744073709551615"], "uint64"),
        (["18446744073709551616"], "text"),
        (["18446744073709551615", "-1"], "text"),
        (["1", "0.5", "nan", "inf", "-inf", "Infinity", "1e400", "5e-324", ".5", "5."], "float64"),
        (["-0"], "float64"),
        (["9007199254740993", "1.5"], "float64"),
        (["007"], "text"),
        (["+1"], "text"),
        (["1,5"], "text"),
        (["1 000"], "text"),
        (["1e"], "text"),
        (["."], "text"),
        (["True", "False"], "text"),
        (["2020-01-02"], "text"),
        (["NA", "1"], "text"),
        (["", ""], "text"),
    ],
)
@pytest.mark.parametrize("engine", ["reference", "table"])
def test_types_of_columns(cells: list[str], dtype: str, engine: Engine) -> None:
    text = "x;y\n" + "".join(f"{cell};z\n" for cell in cells)
    table = exset.loads(text, format="csv", model=Table, engine=engine, findings=Findings())
    assert table.types["x"] == dtype
    if dtype != "text":
        kind = int if "int" in dtype else float
        want = [kind(cell) if cell else None for cell in cells]
        assert [str(cell) for cell in table["x"]] == [str(cell) for cell in want]


def test_three_states_of_a_real_stay_apart() -> None:
    table = Table.of({"x": [1.5, None, float("nan")], "name": ["", None, "a"]})
    data = exset.dumps(table, format="csv")
    assert data == b'x,name\n1.5,""\n,\nnan,a\n'
    assert read(data) == table


def test_arrays_are_split_into_units() -> None:
    table = Table.of({"inputs.onset": np.arange(6.0).reshape(3, 2), "n": [1, 2, 3]})
    data = exset.dumps(table, format="csv")
    assert data.startswith(b"inputs.onset:0,inputs.onset:1,n\n0.0,1.0,1\n")
    assert read(data) == table


def test_text_of_digits_stays_text() -> None:
    table = Table.of({"id": ["1", "2", None], "n": [1, 2, 3]})
    data = exset.dumps(table, format="csv")
    assert data == b'id,n\n"1",1\n"2",2\n,3\n' and read(data) == table
    # Where all cells have quotation marks, these mean nothing.
    assert read(b'"id"\n"1"\n').types == {"id": "int64"}


def test_columns_of_one_value() -> None:
    """Columns that take no space are written by compiled kernels, too."""
    n = 40_000
    table = Table.of({"a": Text.empty(n), "b": Text.of([""]).take(np.zeros(n, np.int64))})
    assert read(exset.dumps(table, format="csv")) == table
    table = Table.of({"x": np.broadcast_to(1.0, (n, 2)), "n": np.arange(n)})
    assert read(exset.dumps(table, format="csv")) == table


@given(st.lists(st.floats(width=32), min_size=1), st.lists(st.floats(), min_size=1))
def test_reals_are_shortest_and_read_back(singles: list[float], doubles: list[float]) -> None:
    for values in (np.array(singles, np.float32), np.array(doubles)):
        data = exset.dumps(Table.of({"x": values}), format="csv", findings=Findings())
        cells = data.decode().split()[1:]
        assert [float(cell) for cell in cells] == pytest.approx(
            [float(str(value)) for value in values], rel=0, abs=0, nan_ok=True
        )
        back = read(data)
        assert np.array_equal(np.array(list(back["x"])).astype(values.dtype), values, True)
        assert exset.dumps(back, format="csv", findings=Findings()) == data


@given(st.lists(st.floats(width=32), min_size=1))
def test_reals_next_to_absent_ones(values: list[float]) -> None:
    """They have the same text in a file of one column, and what is read is written alike."""
    for dtype in (np.float16, np.float32, np.float64):
        with np.errstate(over="ignore"):
            numbers = np.append(np.array(values).astype(dtype), dtype(0))
        present = np.arange(numbers.size) < len(values)
        data = exset.dumps(
            Table.of({"x": Numbers(numbers, present)}), format="csv", findings=Findings()
        )
        plain = exset.dumps(Table.of({"x": numbers[:-1]}), format="csv", findings=Findings())
        assert data == plain + b'""\n'
        assert exset.dumps(read(data), format="csv", findings=Findings()) == data


@pytest.mark.parametrize(
    ("columns", "what"),
    [
        ({"x": [[1, 2], [3]]}, "lists"),
        ({"x": [b"\xff"]}, "not UTF-8"),
        ({"x": np.zeros((1, 2, 2))}, "one dimension"),
        ({"x:0": [1], "x": [[1]] and np.ones((1, 1))}, "two would have the same name"),
        ({"x": ["a", None]}, "row without text"),
    ],
)
def test_losses(columns: dict[str, object], what: str) -> None:
    table = Table.of(columns)
    with pytest.raises(FormatError, match=what) as error:
        exset.dumps(table, format="csv")
    assert error.value.code == "table-holds"
    findings = Findings()
    more = table.with_columns(other=np.arange(len(table)))
    if what != "row without text":
        data = exset.dumps(more, format="csv", lossy=True, findings=findings)
        assert "table-dropped" in [finding.code for finding in findings]
        assert "other" in read(data).names


@pytest.mark.parametrize("name", ["csv", "tsv"])
def test_delimiters_in_the_only_column(name: str) -> None:
    """The row of names does not show the delimiter."""
    table = Table.of({"x": ["a,b", "c;d", "e\tf"]})
    assert exset.loads(exset.dumps(table, format=name), format=name) == table


def test_absent_text_that_is_left_alone_is_a_loss() -> None:
    table = Table.of({"x": ["a", None], "y": [b"\xff", b""]})
    with pytest.raises(FormatError, match="no column that CSV could store"):
        exset.dumps(table, format="csv", lossy=True)


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        (b"a,b\nx,=1\n", ["csv-formula"]),
        (b"a,b\nx,007\n", ["csv-zeros"]),
        (b"a,b\nx,NA\n", ["csv-missing"]),
        (b"1,b\nx,y\n", ["csv-no-names"]),
        (b"a,b\nx,y\n", []),
    ],
)
def test_findings_when_reading_and_writing(text: bytes, codes: list[str]) -> None:
    findings = Findings()
    table = exset.loads(text, format="csv", findings=findings)
    assert [finding.code for finding in findings] == codes
    written = Findings()
    exset.dumps(table, format="csv", findings=written)
    assert [each.code for each in written] == (
        ["csv-manifest", "table-sidecar"] if codes == ["csv-no-names"] else codes
    )


def test_corpus(corpus: Path) -> None:
    folder = corpus / "interchange" / "csv"
    for line in (folder / "verdicts.tsv").read_text().splitlines()[1:]:
        name, _, args, verdict, *_ = line.split("\t")
        if "dtype=str" not in args:
            continue
        data = (folder / name).read_bytes()
        # docs/csv.md: two columns of one name are an error.
        if verdict == "reject" or name == "names-twice.csv":
            with pytest.raises(FormatError):
                read(data)
            continue
        given = json.loads((folder / "values" / f"{name}.json").read_text())
        want = given["pandas dtype=str,keep_default_na=False"]
        table = read(data)
        names = [each.replace("Unnamed: 0", "") for each in want["columns"]]
        assert list(table.names) == names, name
        for row, cells in zip(table, want["rows"], strict=True):
            for value, cell in zip(row.values(), cells, strict=True):
                if isinstance(value, float):
                    assert value == float(cell), name
                else:
                    assert ("" if value is None else str(value)) == cell, name


def suffixes(fmt: Format) -> set[str]:
    return {*fmt.suffixes, *fmt.other_suffixes}


PAIRS = [
    (one, other, suffix)
    for one, other in combinations(formats.FORMATS, 2)
    for suffix in sorted(suffixes(one) & suffixes(other))
]
SHARED = {
    "csv": b"name,x\na,1\n",
    "tsv": b"name\tx\na\t1\n",
    "manifest": b"@FILE\tASCII_INT\na.jpg\t1\n",
}


@pytest.mark.parametrize(
    ("one", "other", "suffix"), PAIRS, ids=[f"{a.name}-{b.name}-{c}" for a, b, c in PAIRS]
)
def test_formats_that_share_a_suffix(
    one: Format, other: Format, suffix: str, tmp_path: Path
) -> None:
    for fmt in (one, other):
        path = tmp_path / f"{fmt.name}{suffix}"
        path.write_bytes(SHARED.get(fmt.name) or good_file(fmt))
        assert exset.detect(path) is fmt
        # A file is written in the format of the model's family, unless another one is named.
        model: Model = exset.load(path, findings=Findings())
        is_first = formats.by_suffix(suffix, fmt.family) is fmt
        to = None if is_first else fmt.name
        exset.save(model, tmp_path / f"again{suffix}", format=to, findings=Findings())
        assert exset.detect(tmp_path / f"again{suffix}") is fmt
        exset.convert(path, tmp_path / f"third{suffix}", to=to, findings=Findings())
        again = (tmp_path / f"again{suffix}").read_bytes()
        assert (tmp_path / f"third{suffix}").read_bytes() == again
        if fmt.name in SHARED:
            assert again == path.read_bytes()


@pytest.mark.parametrize(
    ("head", "found"),
    [
        (b"name,x\n", True),
        (b"a\n", False),
        (b"a,b\n", True),
        (b"a,b\na,b\n", False),
        (b"inputs.onset,n\n0.5,1\n", True),
        (b"a.jpg\tcat.txt\n", False),
        (b"a.foo\t1\nb.foo\t2\n", False),
        (b"pictures/a,b\n", False),
        (b"1,2\n3,4\n", False),
        (b"@FILE\na\n", False),
        (b"FILE\tASCII_INT\na\t1\n", False),
        (b"a,b\n1\n", False),
        (b"a,b\n1", True),
        (b"#c\n", False),
        (b"", False),
    ],
)
def test_tables_are_known_by_their_first_rows(head: bytes, found: bool) -> None:
    assert is_table(head) == found
    assert is_table(b"\xef\xbb\xbf" + head) in (found, head[:1] in (b"@", b"#"))


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".csv.gz"])
def test_the_sidecar_tells_a_table_from_a_manifest(suffix: str, tmp_path: Path) -> None:
    table, path = (
        Table.of({"1": np.array([3, 4]), "2": ["a.jpg", "b.jpg"]}),
        tmp_path / f"x{suffix}",
    )
    exset.save(table, path, findings=(findings := Findings()))
    assert [each.code for each in findings] == ["csv-manifest"]
    assert exset.load(path, model=Table, findings=Findings()) == table
    assert list(exset.stream(path, findings=Findings())) == list(table)
    if not suffix.endswith(".gz"):
        path.write_text("a.jpg\t1\n")  # another program's file: the sidecar is that of the old one
        assert exset.detect(path).name == "manifest"
    (tmp_path / f"x{suffix.removesuffix('.gz')}.exset.json").write_text("[" * 100_000)
    assert exset.detect(path).name == "manifest"


def test_arrays_convert_to_text(tmp_path: Path) -> None:
    table = Table.of({"a": np.ones((2, 3)), "b": ["x", None]}, {"kind": "made"})
    exset.save(table, tmp_path / "a.npz")
    exset.convert(tmp_path / "a.npz", tmp_path / "a.tsv", findings=(findings := Findings()))
    assert not findings and exset.load(tmp_path / "a.tsv", model=Table) == table
    (tmp_path / "a.tsv.exset.json").unlink()
    assert exset.load(tmp_path / "a.tsv", model=Table) == table.with_metadata({})


def test_many_names() -> None:
    """The last of 30,000 names is there twice: the search takes time in proportion to them."""
    names = b",".join(b"a%d:0" % i for i in range(30_000))
    with pytest.raises(FormatError, match="two columns have the name 'a29999:0'"):
        exset.loads(names + b",a29999:0\n", format="csv")
