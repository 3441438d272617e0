"""Example files of MikeNet."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import exset
from exset import ExampleSet, Findings, FormatError, LimitError, Table, formats
from exset.core.kernels import Engine
from exset.core.limits import Limits
from exset.core.source import Source
from exset.parsers.siblings import mikenet
from exset.testing.siblings import timed_patterns
from tests.siblings.corpus import verdicts

engines = pytest.mark.parametrize("engine", ["table", "reference"])

NETWORK = ("time-too-far", "group-unknown", "group-case", "too-many-values", "too-few-values")
"""What MikeNet refuses because of the network, which no file describes."""
SOFT = ("taotest2.ex", "made-verb-soft.ex")


@engines
def test_the_corpus(corpus: Path, engine: Engine) -> None:
    folder, seen = corpus / "siblings/mikenet", 0
    for verdict in verdicts(folder):
        content = (folder / verdict.path).read_bytes()
        if engine == "reference" and len(content) > 20_000:
            continue
        source = Source(verdict.path, content)
        is_of_network = any(f"made-{name}.ex" == verdict.path for name in NETWORK)
        if verdict.path in SOFT or (verdict.verdict == "reject" and not is_of_network):
            with pytest.raises(FormatError):
                mikenet.parse(source, engine=engine)
            continue
        table = mikenet.parse(source, engine=engine, findings=Findings())
        if verdict.values and "examples" in verdict.values:
            seen += 1
            check(table, verdict.values)
    assert seen > 25


def check(table: Table, expected: dict[str, Any]) -> None:
    """Compare each group at each tick."""
    ticks: dict[int, list[dict[str, Any]]] = {}
    for row in table:
        length = row.get("max_time")
        listed = ticks.setdefault(row["example"], [])
        listed += [row] * int(expected["time"] if length is None else length)
    rows: list[dict[str, Any]]
    for number, example in enumerate(expected["examples"]):
        rows = ticks[number][: expected["time"]]
        tag = example["tag"]
        name = rows[0].get("name")
        assert name == (None if tag is None else tag.strip())
        assert rows[0].get("frequency", 1.0) == np.float32(example["prob"])
        for side in ("inputs", "targets"):
            for group, width in expected["groups"].items():
                wanted = example[side].get(group) or [None] * expected["time"]
                for tick, value in zip(rows, wanted, strict=True):
                    found = tick.get(f"{side}.{group}")
                    assert (found is None) == (value is None)
                    if found is not None:
                        numbers = values_of(value, width)
                        size = found.size
                        assert np.array_equal(found, numbers[:size], equal_nan=True)
                        assert size == width or "units" in value


def values_of(value: dict[str, Any], width: int) -> Any:
    if "full" in value:
        numbers = [np.nan if each is None else float(each) for each in value["full"]]
        return np.array(numbers, np.float32)
    found = np.full(max([width, *(unit + 1 for unit in value["units"])]), value["off"], np.float32)
    found[value["units"]] = value["on"]
    return found


@given(timed_patterns())
def test_written_patterns_read_back(table: Table) -> None:
    data = exset.dumps(table, format="mikenet", findings=Findings())
    assert exset.loads(data, format="mikenet", findings=Findings()) == table


@pytest.mark.parametrize(
    ("data", "codes"),
    [
        (b"CLAMP I ALL FULL 1,5 2x\n;\n", ["mikenet-tail"] * 2),
        (b"CLAMP I 3-1 FULL 1\n;\n", ["mikenet-time"]),
        (b"PROB 0.5\nCLAMP I ALL FULL 1\n;\n", ["mikenet-probability"]),
        (b"CLAMP I ALL FULL d NaN nan\n;\n", []),
    ],
)
@engines
def test_findings(data: bytes, codes: list[str], engine: Engine) -> None:
    findings = Findings()
    mikenet.parse(Source("x", data), findings=findings, engine=engine)
    assert [each.code for each in findings] == codes


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"[0-2] 0 0 ,", "syntax"),
        (b"# x\n", "syntax"),
        (b"SOFTCLAMP I ALL FULL 1\n;\n", "syntax"),
        (b"CLAMP I ALL FULL 1\n;\nCLAMP I ALL FULL 1 2\n;\n", "mikenet-values"),
        (b"CLAMP I ALL FULL 1 2\n;\nCLAMP I ALL SPARSE 2 ,\n;\n", "mikenet-unit"),
        (b"CLAMP I ALL SPARSE -1 ,\n;\n", "mikenet-unit"),
        (b"CLAMP I ALL FULL 1\n", "syntax"),
    ],
)
@engines
def test_errors(data: bytes, code: str, engine: Engine) -> None:
    with pytest.raises(FormatError) as info:
        mikenet.parse(Source("x", data), engine=engine)
    assert info.value.code == code and info.value.hint


def test_groups_without_units() -> None:
    table = mikenet.parse(Source("x", b"CLAMP I ALL FULL\n;\nCLAMP I ALL FULL\n;\n"))
    assert table.types["inputs.I"] == "float32[0]"


def test_limits() -> None:
    data = b"CLAMP I ALL SPARSE 1000000 ,\n;\n"
    with pytest.raises(LimitError):
        mikenet.parse(Source("x", data), limits=Limits(max_array=99))
    data = b"".join(b"TARGET T %d-ALL FULL 1\n" % tick for tick in range(99)) + b";\n"
    with pytest.raises(LimitError):
        mikenet.parse(Source("x", data), limits=Limits(max_expand=99))


def test_detection() -> None:
    for data in (b"TAG a\n", b";\nCLAMP I ALL", b"\nTARGETS T", b"PROB 1"):
        assert formats.detect(data, "x.ex").name == "mikenet"
    for data in (b"name: a", b";\n", b"1 2 3", b"", b"I: 1;"):
        assert formats.detect(data, "x.ex").name == "ex"


def test_what_mikenet_cannot_store() -> None:
    one = np.ones((1, 1))
    two = np.ones((2, 1))
    for wrong in (
        {"inputs": one, "weight": [1.0]},
        {"inputs": one, "name": ["a\nb"]},
        {"inputs.two words": one},
        {"inputs": one, "max_time": [0.5]},
        {"inputs": two, "example": [0, 0]},
    ):
        with pytest.raises(FormatError) as info:
            exset.dumps(Table.of(wrong), format="mikenet", findings=Findings())
        assert info.value.code == "table-holds", wrong


def test_lens_sets(tmp_path: Path) -> None:
    exset.convert("exset::xor.ex", tmp_path / "x.mikenet", findings=Findings())
    data = (tmp_path / "x.mikenet").read_bytes()
    assert data.startswith(b"TAG 00\nCLAMP Input ALL FULL 0 0\nTARGET Output ALL FULL 0\n;\n")
    exset.convert(tmp_path / "x.mikenet", tmp_path / "x.ex", findings=Findings())
    made = exset.to_arrays(exset.load(tmp_path / "x.ex", model=ExampleSet, findings=Findings()))
    assert made.inputs.tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]
