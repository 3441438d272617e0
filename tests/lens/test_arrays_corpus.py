"""All arrays of all real files, and of the edge cases of the format, against the slow model."""

import csv
import math
from pathlib import Path

import numpy as np
import pytest

import exset
from exset import ExampleSet, FormatError
from exset.grammars.columns.arrays import Floats
from exset.runtime.arrays import to_host
from exset.runtime.lens.arrays import ExampleArrays, to_arrays
from tests.lens import slow_model
from tests.lens.test_arrays import DEVICES, SIDES, check
from tests.lens.test_corpus import load

TICKS = 2
"""In an interval of time; and those of a file that are looked at."""
MOST = 20_000


@pytest.mark.parametrize("device", DEVICES)
def test_real_files(corpus: Path, device: str) -> None:
    """Each that loads, under the layout that it allows to infer."""
    with (corpus / "lens" / "oracle.tsv").open(newline="") as table:
        paths = [row["path"] for row in csv.DictReader(table, delimiter="\t", quoting=3)]
    seen = [each for name in paths if (each := loaded(corpus / "lens" / "files" / name))]
    for examples in seen:
        judge(examples, device)
    assert len(seen) > 100


@pytest.mark.parametrize("device", DEVICES)
def test_edge_cases(corpus: Path, device: str) -> None:
    """The same or, where the network cannot be told or has no such unit, an error."""
    seen = refused = 0
    for path in sorted((corpus / "lens" / "edge").rglob("*.*ex")):
        examples = loaded(path)
        if examples is None:
            continue
        try:
            judge(examples, device)
        except FormatError as error:
            assert error.code in ("lens-layout", "lens-unit-outside", "limit"), (path.name, error)
            refused += 1
        seen += 1
    assert seen > 100 and refused < seen / 10


def loaded(path: Path) -> ExampleSet | None:
    """What a file holds; None if exset refuses it, as Lens does: other tests look after that."""
    try:
        return load(path, "auto")
    except FormatError:
        return None


def judge(examples: ExampleSet, device: str) -> None:
    """That dense, sparse, padded and ticked arrays are what the slow model says."""
    told = exset.Findings()
    arrays = to_arrays(examples, device=device, findings=told)
    check(examples, arrays)
    layouts = arrays.input_layout, arrays.target_layout
    expected = []
    for side, layout in zip(SIDES, layouts, strict=True):
        slow = list(slow_model.rows(examples, side, dict(layout.groups) or layout.units))
        expected.append(np.array(slow, np.float32).reshape(len(slow), layout.units))
    sparse = exset.to_csr(examples, *layouts, device=device, findings=told)
    for side, rows, dense in zip(SIDES, sparse, expected, strict=True):
        check_sparse(examples, side, rows, dense)
    check_padded(examples, arrays, expected)
    check_ticks(examples, arrays, expected)


def check_sparse(
    examples: ExampleSet, side: slow_model.Side, rows: exset.Csr, expected: Floats
) -> None:
    """Every row, from its default and what is stored of it; nothing is stored twice."""
    data, indices, indptr = (
        to_host(each).tolist() for each in (rows.data, rows.indices, rows.indptr)
    )
    events = [event for example in examples.examples for event in example.events]
    assert rows.shape == expected.shape and len(indptr) == len(events) + 1
    dense = []
    for event, begin, end in zip(events, indptr[:-1], indptr[1:], strict=True):
        row = [event.effective(f"default_{side[:-1]}")] * rows.shape[1]
        here = indices[begin:end]
        assert here == sorted(set(here))
        for unit, value in zip(here, data[begin:end], strict=True):
            row[unit] = value
        dense.append(row)
    np.testing.assert_array_equal(np.array(dense, np.float32).reshape(rows.shape), expected)


def check_padded(examples: ExampleSet, arrays: ExampleArrays, expected: list[Floats]) -> None:
    padded = arrays.by_example()
    both = [to_host(padded.inputs), to_host(padded.targets)]
    present = to_host(padded.present)
    begin = 0
    for example in examples.examples:
        count = len(example.events)
        for side, dense in zip(both, expected, strict=True):
            row, wanted = side[example.index], dense[begin : begin + count]
            assert np.array_equal(row[:count], wanted, equal_nan=True)
            assert not row[count:].any()
        assert present[example.index].tolist() == [k < count for k in range(present.shape[1])]
        begin += count
    assert begin == present.sum()


def check_ticks(examples: ExampleSet, arrays: ExampleArrays, expected: list[Floats]) -> None:
    events = [event for example in examples.examples for event in example.events]
    times = [event.effective("max_time") for event in events]
    if not all(map(math.isfinite, times)):
        with pytest.raises(ValueError, match="never ends"):
            arrays.by_tick(TICKS)
        return
    if sum(max(time, 0) for time in times) * TICKS > MOST:
        return
    lasts = [slow_model.ticks(time, TICKS) for time in times]
    ticked = arrays.by_tick(TICKS)
    assert to_host(ticked.tick).tolist() == [k for count in lasts for k in range(count)]
    for side, dense in zip(SIDES, expected, strict=True):
        wanted = np.repeat(dense, lasts, axis=0)
        np.testing.assert_array_equal(to_host(getattr(ticked, side)), wanted)
    scored = [
        not grace > 0 or (k > 0 and k / TICKS + 1e-6 >= grace)
        for event, count in zip(events, lasts, strict=True)
        for grace in [event.effective("grace_time")]
        for k in range(count)
    ]
    assert to_host(ticked.scored).tolist() == scored
