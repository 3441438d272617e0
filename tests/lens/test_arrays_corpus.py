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
"""The number of ticks in an interval of time."""
MOST = 20_000
"""The most ticks of a file that is compared."""


def test_real_files(corpus: Path) -> None:
    """Compare all files that load, under the layouts that are inferred from them."""
    with (corpus / "lens" / "oracle.tsv").open(newline="") as table:
        paths = [row["path"] for row in csv.DictReader(table, delimiter="\t", quoting=3)]
    seen = [each for name in paths if (each := loaded(corpus / "lens" / "files" / name))]
    for examples in seen:
        check_all(examples)
    assert len(seen) > 100


def test_edge_cases(corpus: Path) -> None:
    """Compare edge cases; a unit outside of the network, or an unknown layout, is an error."""
    seen = refused = 0
    for path in sorted((corpus / "lens" / "edge").rglob("*.*ex")):
        examples = loaded(path)
        if examples is None:
            continue
        try:
            check_all(examples)
        except FormatError as error:
            assert error.code in ("lens-layout", "lens-unit-outside", "limit"), (path.name, error)
            refused += 1
        seen += 1
    assert seen > 100 and refused < seen / 10


def loaded(path: Path) -> ExampleSet | None:
    """Return the set in a file; None if exset refuses it, as Lens does."""
    try:
        return load(path, "auto")
    except FormatError:
        return None


def check_all(examples: ExampleSet) -> None:
    """Compare dense, sparse, padded and ticked arrays of all devices with the slow model."""
    findings = exset.Findings()
    expected: slow_model.Columns | None = None
    for device in DEVICES:
        arrays = to_arrays(examples, device=device, findings=findings)
        layouts = arrays.input_layout, arrays.target_layout
        expected = slow_model.columns(examples, *layouts) if expected is None else expected
        check(examples, arrays, expected)
        sparse = exset.to_csr(examples, *layouts, device=device, findings=findings)
        for side, rows in zip(SIDES, sparse, strict=True):
            check_sparse(examples, side, rows, expected[side])
        dense = [expected[side] for side in SIDES]
        check_padded(examples, arrays, dense)
        check_ticks(examples, arrays, dense)


def check_sparse(
    examples: ExampleSet, side: slow_model.Side, rows: exset.Csr, expected: Floats
) -> None:
    """Compare the rows, made of defaults and stored values; a row stores no unit twice."""
    data, indices, indptr = to_host(rows.data), to_host(rows.indices), to_host(rows.indptr)
    events = [event for example in examples for event in example.events]
    assert rows.shape == expected.shape and indptr.size == len(events) + 1
    row = np.repeat(np.arange(len(events)), np.diff(indptr))
    assert (np.diff(row * rows.shape[1] + indices) > 0).all()
    defaults = [event.effective(f"default_{side[:-1]}") for event in events]
    dense = np.repeat(np.array(defaults, np.float32)[:, None], rows.shape[1], axis=1)
    dense[row, indices] = data
    np.testing.assert_array_equal(dense, expected)


def check_padded(examples: ExampleSet, arrays: ExampleArrays, expected: list[Floats]) -> None:
    padded = arrays.by_example()
    both = [to_host(padded.inputs), to_host(padded.targets)]
    present = to_host(padded.present)
    begin = 0
    for example in examples:
        count = len(example.events)
        for side, dense in zip(both, expected, strict=True):
            row, rows = side[example.index], dense[begin : begin + count]
            assert np.array_equal(row[:count], rows, equal_nan=True)
            assert not row[count:].any()
        assert present[example.index].tolist() == [k < count for k in range(present.shape[1])]
        begin += count
    assert begin == present.sum()


def check_ticks(examples: ExampleSet, arrays: ExampleArrays, expected: list[Floats]) -> None:
    events = [event for example in examples for event in example.events]
    times = [event.effective("max_time") for event in events]
    if not all(time < math.inf for time in times):
        with pytest.raises(ValueError, match="never ends"):
            arrays.by_tick(TICKS)
        return
    if sum(max(time, 0) for time in times) * TICKS > MOST:
        return
    lasts = [slow_model.ticks(time, TICKS) for time in times]
    ticked = arrays.by_tick(TICKS)
    assert to_host(ticked.tick).tolist() == [k for count in lasts for k in range(count)]
    for side, dense in zip(SIDES, expected, strict=True):
        rows = np.repeat(dense, lasts, axis=0)
        np.testing.assert_array_equal(to_host(getattr(ticked, side)), rows)
    scored = [
        not grace > 0 or (k > 0 and k / TICKS + 1e-6 >= grace)
        for event, count in zip(events, lasts, strict=True)
        for grace in [event.effective("grace_time")]
        for k in range(count)
    ]
    assert to_host(ticked.scored).tolist() == scored
