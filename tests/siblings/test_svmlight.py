"""svmlight and libsvm files."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import exset
from exset import ExampleSet, Findings, FormatError, LimitError, Table
from exset.core.kernels import Engine
from exset.core.limits import Limits
from exset.core.source import Source
from exset.grammars.tables.columns import Lists, Numbers
from exset.parsers.siblings import svmlight
from exset.testing.siblings import features
from tests.siblings.corpus import verdicts

engines = pytest.mark.parametrize("engine", ["table", "reference"])

PYTHON_ALONE = {
    "made-value-under.svm": "1_0 is a number in Python",
    "made-qid-word.svm": "scikit-learn reads over a qid that it is not asked for",
    "made-qid-real.svm": "the same",
}
"""What scikit-learn accepts, and exset refuses."""


@engines
def test_the_corpus(corpus: Path, engine: Engine) -> None:
    folder, seen = corpus / "siblings/svmlight", set()
    for verdict in verdicts(folder):
        if verdict.oracle.startswith("libsvm"):
            continue
        seen.add(verdict.path)
        source = Source(verdict.path, (folder / verdict.path).read_bytes())
        base = {"zero_based=True": "yes", "zero_based=False": "no"}.get(verdict.args, "auto")
        is_several = "multilabel" in verdict.args
        if verdict.verdict == "accept" and verdict.path not in PYTHON_ALONE:
            table = svmlight.parse(source, engine=engine, zero_based=base)
            check(table, verdict.values[verdict.args], has_labels=is_several)
        elif is_refused(folder, verdict.path):
            with pytest.raises(FormatError):
                svmlight.parse(source, engine=engine, zero_based=base)
    assert len(seen) == 62


def is_refused(folder: Path, path: str) -> bool:
    """Return whether scikit-learn refuses a file with all arguments, or exset refuses it, too."""
    found = [each for each in verdicts(folder) if each.path == path and "sklearn" in each.oracle]
    return path in PYTHON_ALONE or all(each.verdict == "reject" for each in found)


def check(table: Table, expected: dict[str, Any], *, has_labels: bool) -> None:
    columns: Any = table.columns
    index, value, target = columns["index"], columns["value"], columns["target"]
    assert index.offsets.tolist() == expected["indptr"]
    assert index.items.values.tolist() == expected["indices"]
    wanted = np.array([float(each) for each in expected["data"]])
    assert np.array_equal(value.items.values, wanted, equal_nan=True)
    if has_labels:
        rows = [np.atleast_1d(getattr(row["target"], "values", row["target"])) for row in table]
        assert [sorted(row.tolist()) for row in rows] == expected["y"]  # scikit-learn sorts them
    else:
        labels = np.array([float(each) for each in expected["y"]])
        assert np.array_equal(target.values, labels, equal_nan=True)
    if "qid" in expected:
        ids = columns["qid"]
        assert ids.values[ids.present].tolist() == expected["qid"]


@given(features())
def test_written_features_read_back(table: Table) -> None:
    data = exset.dumps(table, format="svmlight")
    assert exset.loads(data, format="svmlight", zero_based="no", findings=Findings()) == table


@pytest.mark.parametrize(
    ("data", "codes"),
    [
        (b"1 1:1\n-1 2:1\n", []),
        (b"1 0:1\n1 1:1\n1 0:2\n", ["svmlight-zero-based"]),
        (b"1 qid:1 1:1\n1 1:1\n", ["svmlight-query", "svmlight-libsvm"]),
        (b"1 1:1\n\n\n2 2:1\n", ["svmlight-libsvm"]),
        (b"1,2 1:1\n", ["svmlight-libsvm"]),
        (b"1:1\n1 2:3\n", ["svmlight-libsvm"]),
        (b"2 7 3\n1,2 0:1\n3 6:1\n", ["svmlight-header", "svmlight-libsvm"]),
        (b"3 7 3\n1 0:1\n", ["svmlight-header", "svmlight-rows"]),
    ],
)
@engines
def test_findings(data: bytes, codes: list[str], engine: Engine) -> None:
    findings = Findings()
    svmlight.parse(Source("x", data), findings=findings, engine=engine)
    assert sorted(each.code for each in findings) == sorted(codes)


@pytest.mark.parametrize(
    ("data", "code", "column", "options"),
    [
        (b"1 2:1 1:1", "svmlight-order", 7, {}),
        (b"1 2:1 2:1", "svmlight-order", 7, {}),
        (b"1 2147483648:1", "svmlight-index", 3, {}),
        (b"1 0:1", "svmlight-index", 3, {"zero_based": "no"}),
        (b"1 3:1 4:1", "svmlight-width", 7, {"features": "3"}),
        (b"1 3:x", "syntax", 4, {}),
        (b"1 cost:2 1:1", "syntax", 3, {}),
        (b"1 |f 1:1", "syntax", 3, {}),
        (b"1 sid:2 1:1", "syntax", 3, {}),
    ],
)
@engines
def test_errors(
    data: bytes, code: str, column: int, options: dict[str, str], engine: Engine
) -> None:
    with pytest.raises(FormatError) as info:
        svmlight.parse(Source("x", data), engine=engine, **options)  # type: ignore[arg-type]
    assert info.value.code == code
    assert info.value.place is not None and info.value.place.column == column
    assert info.value.hint


def test_dense_rows() -> None:
    data, findings = b"1 2:0.5\n-1 1:3 4:nan\n", Findings()
    table = exset.loads(
        data, format="svmlight", dense=True, features="5", model=Table, findings=findings
    )
    expected = [[0, 0.5, 0, 0, 0], [3, 0, 0, np.nan, 0]]
    assert np.array_equal(table["inputs"].values, expected, equal_nan=True)  # type: ignore[union-attr]
    assert [each.code for each in findings] == ["svmlight-features"]
    large = b"1 2147483647:1\n" * 3
    with pytest.raises(LimitError):
        exset.loads(large, format="svmlight", dense=True)
    with pytest.raises(LimitError):
        exset.loads(b"1 99999:1", format="svmlight", dense=True, limits=Limits(max_array=99))
    with pytest.raises(TypeError):
        exset.loads(data, format="svmlight", features="many")


def test_what_svmlight_cannot_store() -> None:
    no_label = Lists.of(Numbers.of(np.zeros(0)), np.zeros(1, np.int64))
    for wrong in (
        {"name": ["a"]},
        {"index": [[1]], "value": [[1.0, 2.0]]},
        {"index": [[2, 1]], "value": [[1.0, 2.0]]},
        {"index": [[-1]], "value": [[1.0]]},
        {"inputs": [[0.0]], "targets": [[1.0, 2.0]]},
        {"inputs": [[1.0]], "weight": [1.0]},
        {"inputs": np.array([[0.0]]), "target": no_label},
    ):
        with pytest.raises(FormatError) as info:
            exset.dumps(Table.of(wrong), format="svmlight", findings=Findings())
        assert info.value.code == "table-holds", wrong


def test_lens_sets(tmp_path: Path) -> None:
    """A Lens set becomes features, and dense features become a Lens set."""
    path = tmp_path / "x.svmlight"
    exset.convert("exset::xor-sparse.ex", path, findings=Findings())
    assert path.read_bytes() == b"0\n1 2:1\n1 1:1\n0 1:1 2:1\n"
    exset.convert(path, tmp_path / "x.ex", dense=True, findings=Findings())
    made = exset.to_arrays(exset.load(tmp_path / "x.ex", model=ExampleSet))
    assert made.inputs.tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]
