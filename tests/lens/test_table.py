"""Tables of example sets, as said and as meant, and the sets that are made of them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import exset
from exset import (
    Dense,
    Event,
    Example,
    ExampleSet,
    Findings,
    FormatError,
    SetHeader,
    Sparse,
    Table,
    bridge,
)
from exset.core.protocols import Level
from exset.families.lens import LENS
from exset.grammars.columns.arrays import bits
from exset.grammars.tables.columns import Lists, Numbers, Records
from exset.runtime.lens import table as table_module
from exset.runtime.lens.table_layout import RowKind
from exset.testing.lens import dense_sets, example_sets
from tests.lens.test_arrays import SIX, fitting
from tests.lens.test_arrays_corpus import loaded

ROWS: tuple[RowKind, ...] = ("event", "example")
SAMPLES = [
    *("xor.ex", "xor-sparse.ex", "xor-both.ex", "xor-events.ex", "pulse.ex", "groups.ex"),
    "xor-binary.bex",
]


def table_of(examples: ExampleSet, **options: Any) -> Table:
    return exset.to_table(examples, findings=Findings(), **options)


def read(table: object, **options: Any) -> ExampleSet:
    made: ExampleSet = exset.from_table(table, family="lens", **options)
    return made


def through(library: str, table: Table) -> Table:
    """The table after a journey through another library, with its metadata."""
    pytest.importorskip("nanoarrow")
    there = pytest.importorskip(library)
    frame = there.table(table) if library == "pyarrow" else there.DataFrame(table)
    return Table.from_arrow(frame).with_metadata(table.metadata)


@given(
    example_sets() | example_sets(text=False) | example_sets(binary=False),
    st.sampled_from(ROWS),
)
def test_said_is_exact(examples: ExampleSet, rows: RowKind) -> None:
    table = table_of(examples, level="said", rows=rows)
    assert len(table) == (len(examples) if rows == "example" else examples.num_events)
    assert read(table) == examples
    assert read(Table(table.columns, len(table), table.metadata)) == examples


@pytest.mark.parametrize("library", ["pyarrow", "polars"])
@settings(max_examples=30)
@given(examples=example_sets(text=False), rows=st.sampled_from(ROWS))
def test_said_is_exact_through_arrow(library: str, examples: ExampleSet, rows: RowKind) -> None:
    assert read(through(library, table_of(examples, level="said", rows=rows))) == examples


@given(dense_sets(), st.sampled_from(ROWS), st.booleans())
def test_meant_is_exact_for_dense_sets(examples: ExampleSet, rows: RowKind, all_said: bool) -> None:
    table = table_of(examples, rows=rows, defaults=False)
    assert read(table) == examples


@given(example_sets(max_examples=3), st.sampled_from(ROWS), st.booleans())
def test_meant_is_the_same_again(examples: ExampleSet, rows: RowKind, defaults: bool) -> None:
    """A set of a table as meant has the same columns; a group of no known size is in no column."""
    try:
        table = table_of(examples, rows=rows, defaults=defaults)
    except FormatError:
        return
    back = read(table)
    assert table_of(back, rows=rows, defaults=defaults).columns == table.columns
    assert read(through("pyarrow", table)) == back


@given(fitting)
def test_meant_has_the_values_of_the_arrays(examples: ExampleSet) -> None:
    arrays = exset.to_arrays(examples, SIX, SIX)
    table = table_of(examples, inputs=SIX, targets=SIX)
    partial = table_of(examples, inputs=SIX, targets=SIX, defaults=False)
    for side, layout in (("inputs", arrays.input_layout), ("targets", arrays.target_layout)):
        for group in SIX:
            values = getattr(arrays, side)[:, layout[group]]
            column, some = table[f"{side}.{group}"], partial[f"{side}.{group}"]
            assert isinstance(column, Numbers) and isinstance(some, Numbers)
            assert (bits(column.values) == bits(values)).all() and column.present.all()
            assert (bits(some.values[some.present]) == bits(values[some.present])).all()


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("rows", ROWS)
def test_samples(name: str, rows: RowKind) -> None:
    examples = exset.load(f"exset::{name}", model=ExampleSet)
    said = table_of(examples, level="said", rows=rows)
    assert read(said) == examples
    meant = table_of(examples, rows=rows)
    for library in ("pyarrow", "polars"):
        assert read(through(library, said)) == examples
        assert read(through(library, meant)) == read(meant)
    if name in ("xor.ex", "xor-binary.bex"):
        assert read(meant) == examples


@pytest.mark.parametrize("name", SAMPLES)
def test_samples_through_a_file(name: str, tmp_path: Path) -> None:
    """A format of tables that holds lists gives the same set, without options."""
    there, back = tmp_path / "a.npz", tmp_path / "a.bex"
    exset.convert(f"exset::{name}", there)
    exset.convert(there, back)
    assert exset.load(back) == exset.load(f"exset::{name}")


def test_real_files(corpus: Path) -> None:
    """All files that load, as said, and as meant if their layout is known."""
    seen = meant = 0
    for path in sorted((corpus / "lens" / "files").rglob("*.*ex*")):
        if not path.is_file() or (examples := loaded(path)) is None:
            continue
        seen += 1
        assert read(table_of(examples, level="said")) == examples, path.name
        try:
            table = table_of(examples)
        except FormatError as error:
            assert error.code in ("lens-layout", "lens-unit-outside", "limit"), path.name
            continue
        assert table_of(read(table)).columns == table.columns, path.name
        meant += 1
    assert seen > 100 and meant > seen / 2


def test_columns_as_meant() -> None:
    table = table_of(exset.load("exset::groups.ex", model=ExampleSet))
    assert table.types == {
        **{"example": "uint32", "event": "uint32", "name": "text", "frequency": "float32"},
        **{"max_time": "float32", "min_time": "float32", "grace_time": "float32"},
        **{"inputs.onset": "float32[3]", "inputs.vowel": "float32[5]"},
        **{"inputs.coda": "float32[26]"},
        **{"targets.phoneme": "float32[11]", "targets.stress": "float32[1]"},
    }
    assert table.metadata["groups"]["targets"] == [["phoneme", 11], ["stress", 1]]
    assert table.metadata["family"] == "lens" and table.metadata["level"] == "meant"


def test_what_no_event_says_is_absent() -> None:
    """A time that is not said, a name that is not there; NaN is a number."""
    events = [Event([1, np.nan], None, max_time=2.0), Event(None, Sparse("*", float("nan")))]
    examples = ExampleSet.from_examples([Example(events), Example([Event([0, 1])], "b")])
    table = table_of(examples, targets=2, defaults=False)
    assert [row["max_time"] for row in table] == [2.0, None, None]
    assert [row["name"] for row in table] == [None, None, "b"]
    inputs, targets = table["inputs"], table["targets"]
    assert inputs.present.tolist() == [True, False, True]
    assert targets.present.tolist() == [False, True, False]
    assert isinstance(targets, Numbers) and np.isnan(targets.values[1]).all()
    assert read(table).events.max_time == examples.events.max_time


def test_groups_that_an_event_does_not_say_are_absent() -> None:
    """A range of the whole network says the groups in which it has units."""
    events = [
        Event([Dense([1, 2], group="a")]),
        Event([Sparse([1], group="b")]),
        Event(Dense([5, 6], 1)),
        Event(Sparse([3])),
        Event([Sparse("*", group="none"), Dense([], group="a")]),
    ]
    examples = ExampleSet.from_examples([Example(events)], SetHeader(default_input=0.5))
    layout = {"a": 2, "none": 0, "b": 2}
    table = table_of(examples, inputs=layout, targets=0, defaults=False)
    assert table["inputs.a"].present.tolist() == [True, False, True, False, False]
    assert table["inputs.b"].present.tolist() == [False, True, True, True, False]
    values = table["inputs.b"]
    assert isinstance(values, Numbers)
    assert values.values.tolist() == [[0, 0], [0.5, 1], [6, 0.5], [0.5, 1], [0, 0]]
    assert table.metadata["groups"]["inputs"] == [["a", 2], ["none", 0], ["b", 2]]


def test_records_as_said() -> None:
    text = b"defI: 0.25; name: n 2 i: (a 2) 1 2 {b 0.5} 3 5-7 {a} * () I: 1 [*] T: 4;"
    examples = exset.loads(text, model=ExampleSet, findings=Findings())
    table = table_of(examples, level="said")
    inputs = table["inputs"]
    assert isinstance(inputs, Lists) and isinstance(inputs.items, Records)
    records = inputs[0]
    assert isinstance(records, Records)
    first = [record for row in range(len(records)) if (record := records[row])]
    for record in first:
        for field, value in record.items():
            record[field] = value.values.tolist() if isinstance(value, Numbers) else value
    assert first == [
        {"group": "a", "first": 2, "value": None, "values": [1, 2], "units": None},
        {"group": "b", "first": None, "value": 0.5, "values": None, "units": [3, 5, -7]},
        {"group": "a", "first": None, "value": 1.0, "values": None, "units": None},
        {"group": None, "first": None, "value": 1.0, "values": None, "units": []},
    ]
    assert [row["targets_list"] for row in table] == [2, 2]
    assert [row["inputs_list"] for row in table] == [0, 1]
    assert table["targets"].present.tolist() == [True, False]
    assert table.metadata["header"]["default_input"] == 0.25


def test_lists_of_inputs_and_targets_are_shared() -> None:
    shared = [Sparse([1])]
    events = [Event(None, shared), Event(shared, None), Event([2], shared)]
    examples = ExampleSet.from_examples([Example([Event([5])]), Example(events)])
    table = table_of(examples, level="said")
    assert [row["inputs_list"] for row in table] == [0, None, 0, 1]
    assert [row["targets_list"] for row in table] == [None, 0, None, 0]
    assert table["inputs"].present.tolist() == [True, False, True, True]
    assert not table["targets"].present.any() and read(table) == examples


def test_names_and_procs_that_are_no_text() -> None:
    """They are columns of bytes; a group that is no text has an escaped column."""
    header = SetHeader(proc=b"set \xff", max_time=float("nan"), min_time=float("-inf"))
    event = Event([1, 2], Dense([1], group=b"\xffa"), proc="step")
    given = [Example([event], name=b"\xe9"), Example([Event([3, 4])], name="b", proc=b"\0\xf0")]
    examples = ExampleSet.from_examples(given, header)
    table = table_of(examples, level="said")
    assert table.types["name"] == "bytes" and table.types["proc"] == "bytes"
    assert table.types["event_proc"] == "text" and read(table) == examples
    meant = table_of(examples, defaults=False)
    assert "targets.\\xffa" in meant.names and read(meant) == examples
    assert meant.metadata["header"]["max_time"] == "nan"
    assert meant.metadata["header"]["proc"] == {"base64": "c2V0IP8="}


def test_groups_whose_columns_would_have_one_name() -> None:
    ranges = [Dense([1], group=b"\xff"), Dense([2], group="\\xff")]
    examples = ExampleSet.from_examples([Example([Event(ranges)])])
    table = table_of(examples)
    assert table.names[-2:] == ("inputs.\\xff", "inputs.\\xff~2") and read(table) == examples


@pytest.mark.parametrize("level", ["said", "meant"])
@settings(max_examples=40)
@given(examples=example_sets(max_examples=6), data=st.data())
def test_chunks(level: Level, examples: ExampleSet, data: st.DataObject) -> None:
    """Tables of chunks are the table of the set, also if few values fit in each."""
    cuts = sorted(data.draw(st.lists(st.integers(0, len(examples)), max_size=3)))
    ends = zip([0, *cuts], [*cuts, len(examples)], strict=True)
    chunks = [examples.select(slice(*each)) for each in ends]
    rows = data.draw(st.sampled_from(ROWS))
    try:
        whole = table_of(examples, level=level, rows=rows)
    except FormatError:
        return
    findings = Findings()
    layout = bridge.layout_of(LENS, iter(chunks), level=level, rows=rows, findings=findings)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table_module, "_MOST_CELLS", data.draw(st.sampled_from([1, 1 << 24])))
        made = bridge.tables_of(LENS, iter(chunks), layout, findings=findings)
        tables = list(made)
    assert Table.concat(tables) == whole
    assert len(tables) >= len(chunks)


def test_findings() -> None:
    """Notes say what becomes dense, and what gets defaults."""
    shared = [0.0, 1.0]
    events = [Event(Sparse([1]), [1]), Event(shared, shared), Event([1, 1]), Event([1, 2], [3, 3])]
    examples = ExampleSet.from_examples([Example(events)])
    findings = Findings(strict=True)
    exset.to_table(examples, findings=findings)
    found = {(each.code, each.place.field if each.place else None) for each in findings}
    assert found >= {
        ("lens-table-expanded", "examples[0].events[0].inputs"),
        ("lens-table-expanded", "examples[0].events[0].targets"),
        ("lens-table-defaults", "examples[0].events[2].targets"),
    }
    assert findings.count("lens-table-expanded") == 4
    findings = Findings()
    exset.to_table(examples, defaults=False, findings=findings)
    assert findings.count("lens-table-defaults") == 0
    findings = Findings()
    exset.to_table(exset.load("exset::xor.ex"), findings=findings)
    assert {each.code for each in findings} == {"lens-layout-inferred"}


def test_arguments() -> None:
    examples = exset.load("exset::xor.ex", model=ExampleSet)
    with pytest.raises(ValueError, match="rows must be"):
        exset.to_table(examples, rows="unit")
    with pytest.raises(TypeError, match="format"):
        exset.to_table(examples, formatting=1)
    with pytest.raises(exset.LimitError):
        wide = ExampleSet.from_examples([Example([Event(Sparse([10**9]))])])
        exset.to_table(wide)
    wide_table = table_of(exset.loads("i: 1000000000;", model=ExampleSet), level="said")
    assert len(wide_table) == 1, "ranges take no memory"


def test_from_arrays_keeps_names() -> None:
    examples = exset.load("exset::pulse.ex", model=ExampleSet)
    arrays = exset.to_arrays(examples, findings=Findings())
    assert exset.from_arrays(arrays).name == examples.name
    assert exset.from_arrays(arrays.take(slice(0, 3))).name.tolist() == [b"left"]
    assert arrays.by_example().name is arrays.by_tick(2).name is examples.name
