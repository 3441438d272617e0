"""Columns replaced by lists and arrays, in tables of all families."""

import numpy as np
import pytest

import exset
from exset import ExampleSet, SetHeader


def test_columns_may_be_lists() -> None:
    """And the set is checked, and in the normal form, as if it had been made of them."""
    examples = exset.load("exset::xor.ex", model=ExampleSet)
    named = examples.with_columns(name=["a", None, b"c", "\u00e9"], frequency=[1, 2, 1, 0.5])
    assert [each.name for each in named] == ["a", None, "c", "\u00e9"]
    assert named.frequency.tolist() == [1, 2, 1, 0.5]
    assert exset.loads(exset.dumps(named, format="ex")) == named
    assert named.with_columns(name=examples.name, frequency=[1] * 4) == examples
    header = SetHeader(max_time=2, default_target=0.5)
    events = examples.events.with_columns(default_target=[0.5, None, 1, None], max_time=[None] * 4)
    changed = examples.with_columns(header=header, events=events)
    own = changed.events.default_target
    assert [own[i] for i in range(4)] == [None, None, 1, None]
    assert examples.with_columns(proc=["", "", "", ""]) == examples
    ranges = examples.ranges
    old = [ranges.values[row] for row in range(len(ranges))]
    rows = ranges.with_columns(values=[[1, 2], [3], np.arange(2), (), *old[4:]])
    assert rows.values.lengths[:4].tolist() == [2, 1, 2, 0] and rows.values.values.dtype == "f4"
    assert ranges.with_columns(values=old) == ranges
    samples = exset.load("exset::molecules.sample_list", model=exset.SampleList)
    assert samples.with_columns(directory="/data").directory == b"/data"
    manifest = exset.load("exset::captions.tsv", model=exset.Manifest)
    assert manifest.with_columns(fields=["a", "1"] * 4)[3] == (b"a", b"1")


@pytest.mark.parametrize(
    "columns, error, message",
    [
        ({"name": ["a"]}, ValueError, "^name: expected 4 rows, not 1"),
        ({"name": "abcd"}, ValueError, "^name: expected a list of strings, not 'abcd'"),
        ({"name": [1, 2, 3, 4]}, ValueError, r"^name\[0\]: expected text or bytes, not 1"),
        ({"name": None}, ValueError, "^name: expected a list of strings, not None"),
        ({"nmae": ["a"] * 4}, TypeError, "^unknown column 'nmae': ExampleSet has header, name, "),
        ({"frequency": [1e39] * 4}, ValueError, "^frequency: a number does not fit in float32"),
        ({"frequency": [[1]] * 4}, ValueError, "^frequency: expected a one-dimensional float32"),
        ({"frequency": ["1"] * 4}, ValueError, "^frequency: expected real numbers, not text"),
        ({"event_offsets": [0, 1, 2, 3, 9]}, ValueError, "^event_offsets: the last offset"),
        ({"event_offsets": [0.5] * 5}, ValueError, "^event_offsets: expected integers"),
        ({"lists": [2**64] * 5}, ValueError, "^lists: "),
        ({"events": [1]}, ValueError, "^events: expected an instance of Events, not list"),
    ],
)
def test_invalid_columns(columns: dict[str, object], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        exset.load("exset::xor.ex", model=ExampleSet).with_columns(**columns)
