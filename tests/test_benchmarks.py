"""The benchmarks run and give all figures; their values are not tested."""

import json
import math
import subprocess
import sys
from pathlib import Path

import pytest

import exset
from benchmarks import peers
from benchmarks.__main__ import SECTIONS, main
from benchmarks.inputs import SIZES, Inputs, lines
from benchmarks.measure import Spread, race, short

ROOT = Path(__file__).parents[1]

SPREADS = {
    "load": ("seconds", "MB/s", "times as fast"),
    "threads": ("seconds", "MB/s", "times as fast"),
    "save": ("seconds", "MB/s", "times as fast"),
    "reference": ("times as fast",),
    "grammar": ("MB/s", "peer, MB/s", "times as fast"),
    "siblings": ("MB/s", "peer, MB/s", "times as fast"),
    "layout": ("MB/s", "peer, MB/s", "times as fast"),
    "growth": ("cost of one at 4x", "cost of one at 16x"),
    "pumps": ("time(2n) / time(n)",),
    "memory": ("peak above an empty run, MiB",),
    "parts": ("peak above an empty run 1x, MiB", "peak above an empty run 4x, MiB"),
    "list": ("seconds", "times as fast"),
    "scan": ("seconds", "peer, s", "times as fast"),
    "clusters": ("seconds", "peer, s", "times as fast"),
    "fields": ("seconds", "peer, s", "times as fast"),
    "manifest": ("seconds", "times as fast"),
    "cache": ("seconds", "MB/s", "times as long"),
    "samplers": ("ns an index",),
    "arrays": ("of its speed", "of a copy into new memory"),
    "batches": ("us a batch", "times as long"),
    "small": ("times as long",),
    "provision": ("records/s", "peer, records/s", "times as fast"),
    "conformance": ("cases/s", "peer, cases/s", "times as fast"),
    "loader": ("peak above an empty run, MiB",),
    "shards": ("samples/s", "times as fast"),
    "csv": ("seconds", "MB/s", "times as fast"),
    "convert": ("seconds", "peer, s", "times as long"),
}


def test_all_of_it_quickly(tmp_path: Path) -> None:
    """In a process of its own: what other tests leave in memory makes each turn slower."""
    path = tmp_path / "figures.json"
    command = [sys.executable, "-m", "benchmarks", "--quick", "--json", str(path)]
    shown = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout
    report = json.loads(path.read_text())
    assert report["schema"] == 1 and report["quick"] is True
    assert report["machine"].keys() >= {"processor", "cores", "load", "Python", "numpy", "numba"}
    assert report["machine"]["processor"] in shown
    rows = report["rows"]
    assert set(SECTIONS) == set(SPREADS)
    assert {row["section"] for row in rows} == set(SECTIONS)
    for section, (title, _) in SECTIONS.items():
        assert f"\n{title}; 1 turns\n" in shown
        for row in (row for row in rows if row["section"] == section):
            assert f"| {row['name']} " in shown
            for name in SPREADS[section]:
                spread = row[name]
                assert math.isfinite(spread["median"])
                assert spread["low"] <= spread["median"] <= spread["high"]
    assert {row["name"] for row in rows if row["section"] == "load"} == {
        f"{kind}{suffix}" for kind in SIZES for suffix in (".ex", ".bex")
    }
    assert len([row for row in rows if row["section"] == "growth"]) == 12


def test_some_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--quick", "--only", "load sparse.ex", "--runs", "3"]) == 0
    shown = capsys.readouterr().out
    assert "| sparse.ex " in shown and "dense" not in shown and "re + float" in shown
    assert main(["--quick", "--only", "nothing at all"]) == 2


@pytest.mark.parametrize("kind", SIZES)
def test_the_inputs(kind: str, tmp_path: Path) -> None:
    """The inputs have the described contents, load without a warning, and are reproducible."""
    assert list(lines(kind, 50)) == list(lines(kind, 50))
    inputs = Inputs(str(tmp_path), 1 / 500)
    model = exset.load(inputs.path(kind, ".ex"), model=exset.ExampleSet)
    assert len(model) == SIZES[kind] / 500
    assert exset.load(inputs.path(kind, ".bex")) == model
    ranges = model.ranges
    if kind == "dense":
        assert ranges.values.values.size == 120 * len(model) and model.name.present.all()
        assert len(peers.numbers(inputs.path(kind, ".ex"))) == 121 * len(model) + 2
    elif kind == "sparse":
        assert ranges.units.values.size == 5 * len(model) and not model.name.present.any()
    else:
        assert len(model.groups) == 5 and model.num_events > len(model)
        assert set(model.events.inputs.tolist()) & set(model.events.targets.tolist()) - {-1}


def test_turns() -> None:
    order: list[str] = []
    result = race(lambda: order.append("ours"), lambda: order.append("theirs"), 2, peer_part=0.5)
    assert order == ["ours", "theirs"] * 1 + ["theirs", "ours"] * 2
    ours, theirs = result.subjects, result.peers
    assert result.ratio == Spread.of([b / a for a, b in zip(ours, theirs, strict=True)])
    assert result.slowness.low == pytest.approx(1 / result.ratio.high)
    assert Spread.of([3, 1, 2, 9]) == Spread(2.5, 1, 9)


def test_numbers_for_people() -> None:
    assert [short(x) for x in (0.0, 1234.5, 99.96, 1.2345, 0.012345)] == [
        "0.0", "1234", "100.0", "1.23", "0.0123"
    ]  # fmt: skip
