"""Example sets made of tables of other programs, edited tables, and tables that are none."""

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import exset
from exset import Dense, Event, Example, ExampleSet, Findings, FormatError, Sparse, Table
from exset.grammars.tables.columns import TableColumn
from exset.testing.tables import columns_of


def read(columns: object, **options: Any) -> ExampleSet:
    made: ExampleSet = exset.from_table(columns, family="lens", **options)
    return made


def events(*given: Event, **fields: Any) -> ExampleSet:
    return ExampleSet.from_examples([Example(list(given), **fields)])


def error(columns: object, **options: Any) -> tuple[str, str | None]:
    """The code and the place of the error for a table."""
    with pytest.raises(FormatError) as caught:
        read(columns, **options)
    found = caught.value.finding
    return found.code, found.place.field if found.place else None


@pytest.mark.parametrize("inputs", ["inputs", "input", "x"])
@pytest.mark.parametrize("targets", ["targets", "target", "y"])
def test_names_of_columns(inputs: str, targets: str) -> None:
    table = {inputs: np.array([[0.0, 1.0], [1.0, 1.0]]), targets: [1, 0], "name": ["a", None]}
    expected = [Example([Event([0, 1], [1])], "a"), Example([Event([1, 1], [0])])]
    assert read(table) == ExampleSet.from_examples(expected)


@pytest.mark.parametrize(
    "columns",
    [
        {"inputs": np.array([[1, 2, 3]], np.uint8), "targets": np.array([True])},
        {"inputs": [[1, 2, 3]], "targets": [1.0]},
        {"inputs:0": [1], "inputs:2": [3.0], "inputs:1": [2], "targets": np.array([[1.0]])},
        {"inputs": [np.array([[1, 2, 3]])], "targets": [[[1.0]]]},
    ],
)
def test_types_of_columns(columns: dict[str, Any]) -> None:
    """Arrays, lists, single numbers, columns for units, and arrays or lists over events."""
    assert read(columns) == events(Event([1, 2, 3], [1]))


def test_the_words_of_lens_are_names_of_columns() -> None:
    table = {"x": [1], "freq": [2.0], "max": [3.0], "grace": [0.5], "defT": [None]}
    assert read(table) == events(Event([1], max_time=3, grace_time=0.5), frequency=2)


def test_groups() -> None:
    expected = events(
        Event([Dense([1, 2], group="a"), Dense([3], group="b")], Dense([4], group="c"))
    )
    assert read({"inputs.a": [[1, 2]], "inputs.b": [3], "targets.c": [[4]]}) == expected
    units = {"inputs.a:0": [1], "inputs.a:1": [2], "inputs.b:0": [3], "targets.c:0": [4]}
    assert read(units) == expected
    layout = {"inputs": {"a": 2, "b": 1}, "targets": {"c": 1}}
    bare = {"c": [4], "b": [3], "a:0": [1], "a:1": [2]}
    assert read(bare, **layout) == expected
    metadata = exset.to_table(expected).metadata
    assert read(Table.of(bare, metadata)) == expected
    assert error(bare) == ("table-holds", "columns['c']")
    both = {"inputs": {"a": 2}, "targets": {"a": 1}}
    assert error({"a": [1]}, **both) == ("table-holds", "columns['a']")


def test_rows_of_examples() -> None:
    """Rows with the same number are events of one example, wherever they are."""
    table = {
        "example": [7, 3, 7, 3],
        "event": [1, 0, 0, 1],
        "inputs": [1, 2, 3, 4],
        "name": ["b", "a", "b", "a"],
        "frequency": [2, 1, 2, 1],
        "max_time": [None, 5.0, None, None],
    }
    one = Example([Event([3]), Event([1])], "b", frequency=2)
    other = Example([Event([2], max_time=5), Event([4])], "a")
    assert read(table) == ExampleSet.from_examples([one, other])
    assert read({**table, "example": ["u", "t", "u", "t"]}) == read(table)
    assert read({**table, "example": [7.0, 3.0, 7.0, 3.0]}) == read(table)
    without = {name: column for name, column in table.items() if name != "event"}
    assert read(without)[0].events[0].inputs == read({"x": [1]})[0].events[0].inputs


def test_lists_over_events() -> None:
    table = {
        "inputs": [[[1, 2], [3, 4]], [[5, 6]]],
        "targets": [[[1], None], [[0]]],
        "max_time": [[1.5, None], [2]],
        "min_time": [0.5, None],
        "name": ["a", "b"],
    }
    one = Example(
        [Event([1, 2], [1], max_time=1.5, min_time=0.5), Event([3, 4], min_time=0.5)], "a"
    )
    assert read(table) == ExampleSet.from_examples(
        [one, Example([Event([5, 6], [0], max_time=2)], "b")]
    )


def test_arrays_of_two_dimensions() -> None:
    """They are pictures if a row is one event, and else the events of an example."""
    pictures = np.arange(12.0).reshape(2, 2, 3)
    findings = Findings()
    labelled = {"x": pictures, "y": [0, 1]}
    made = exset.from_table(labelled, family="lens", findings=findings)
    assert [each.code for each in findings] == ["lens-table-flat"]
    assert made == read({"x": pictures.reshape(2, 6), "y": [0, 1]})
    events = {"example": ["a", "a"], "event": [0, 1], "x": pictures}
    made = exset.from_table(events, family="lens", findings=findings)
    assert made == read({**events, "x": pictures.reshape(2, 6)})
    made = read({"x": pictures, "y": pictures[:, :, :1]})
    assert (len(made), made.num_events) == (2, 4)
    assert read({"x": pictures, "max_time": [[1, 2], [3, 4]]}).num_events == 4


def test_absent_values() -> None:
    """An absent row says nothing, an absent number of a row is NaN, an absent frequency is 1."""
    table = {
        "inputs": [None, [1, None]],
        "targets:0": [None, 1],
        "targets:1": [None, None],
        "frequency": [None, 3],
    }
    nan = float("nan")
    expected = [Example(), Example([Event([1, nan], [1, nan])], frequency=3)]
    assert read(table) == ExampleSet.from_examples(expected)


def test_columns_without_any_value() -> None:
    """They may have any type, and may be left out: shared lists are still found."""
    nothing = exset.Table.of({"x": ["a"]}).with_columns(x=[None], y=[None], max_time=[None])
    assert read(nothing) == read({"name": [None]})
    table = {"inputs": [[{"units": [1]}]], "inputs_list": [0], "targets_list": [0]}
    shared = [Sparse([1])]
    assert read(table) == events(Event(shared, shared))


def test_ranges_made_by_hand() -> None:
    """Fields may be left out: a sparse range then has the active value."""
    ranges = [{"values": [1, 2]}, {"group": "a", "units": [0, 3, -5]}, {"group": "a", "value": 0.5}]
    table = {"inputs": [ranges, None], "targets": [[1, 0], [0, 1]], "active_input": [2.0, None]}
    made = [Dense([1, 2]), Sparse([0, (3, 5)], group="a"), Sparse("*", 0.5, group="a")]
    one, other = Event(made, [1, 0], active_input=2), Event(None, [0, 1])
    assert read(table) == ExampleSet.from_examples([Example([one]), Example([other])])


def test_the_tables_of_the_corpus(corpus: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    said = read(parquet.read_table(corpus / "interchange/parquet/lens-ranges-pilot.parquet"))
    vowels = Sparse([2, (4, 6)], 0.8, group="vowel")
    nan = float("nan")
    one = [
        Event(Dense([0, 1, 1], group="onset"), [1, 0, nan], max_time=2),
        Event(vowels, None, max_time=2),
    ]
    assert said.header.max_time == 2 and said.header.default_input == 0.5
    assert said[0] == ExampleSet.from_examples([Example(one, "ace", frequency=12)])[0]
    dense = read(parquet.read_table(corpus / "interchange/parquet/lens-dense-pilot.parquet"))
    assert dense[0].events[0].targets == events(Event(None, [1, 0, nan]))[0].events[0].targets
    assert (len(dense), dense.num_events) == (1, 2)
    arrays = exset.load(str(corpus / "interchange/npz/lens-dense.npz"), findings=Findings())
    made = read(arrays)
    assert [(each.name, each.frequency, len(each.events)) for each in made] == [
        ("ace", 12, 2),
        ("", 1, 1),
    ]


def test_whole_arrays(tmp_path: Path) -> None:
    """NPZ files have arrays with an element for each event, and for each example."""
    path, nan = tmp_path / "a.npz", float("nan")
    arrays: dict[str, Any] = {"x": np.eye(3), "y": [[nan], [0], [1]], "example": [4, 4, 2]}
    np.savez(path, name=["ace", "b"], frequency=[12.0, 1.0], **arrays)
    one = Example([Event([1, 0, 0], [nan]), Event([0, 1, 0], [0])], "ace", frequency=12)
    other = Example([Event([0, 0, 1], [1])], "b")
    found = exset.load(path, findings=Findings())
    assert read(found) == ExampleSet.from_examples([one, other])
    np.savez(path, name=["ace"], **arrays)
    assert error(exset.load(path, findings=Findings())) == ("lens-table", "columns['name']")


def test_a_table_of_pandas() -> None:
    """Columns for units, and the index, come back; the metadata does not."""
    pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    examples = exset.load("exset::xor.ex", model=ExampleSet)
    frame = exset.to_table(examples, findings=Findings()).to_pandas()
    assert read(frame) == examples
    files = "groups.ex", "pulse.ex"  # NaN targets, and times that are not said
    for name, rows in product(files, ("event", "example")):
        table = exset.to_table(f"exset::{name}", rows=rows, defaults=False, findings=Findings())
        frame_of = Table.from_arrow(table.to_pandas()).with_metadata(table.metadata)
        assert read(frame_of) == read(table)
    frame["inputs:0"] *= 2
    kept = read(frame[frame["targets:0"] > 0])
    assert [each.name for each in kept] == [
        examples[1].name,
        examples[2].name,
    ]


@pytest.mark.parametrize(
    ("columns", "code", "place"),
    [
        ({"inputs": [[1]], "label": ["cat"]}, "table-holds", "columns['label']"),
        ({"inputs": ["cat"]}, "table-holds", "columns['inputs']"),
        ({"inputs": np.zeros((1, 2, 3, 4))}, "table-holds", "columns['inputs']"),
        ({"inputs": [[1]], "x": [[1]]}, "lens-table", "columns['x']"),
        ({"max": [1.0], "max_time": [1.0]}, "lens-table", "columns['max_time']"),
        ({"inputs": [1e300]}, "lens-table", "columns['inputs'][0]"),
        ({"example": [1, None], "x": [1, 2]}, "lens-table", "columns['example'][1]"),
        ({"example": [float("inf")], "x": [1]}, "lens-table", "columns['example']"),
        ({"example": [0.5], "x": [1]}, "lens-table", "columns['example']"),
        ({"example": [1, 1], "event": [0, 0], "x": [1, 2]}, "lens-table", "columns['event'][1]"),
        ({"event": [0, 1], "x": [1, 2]}, "lens-table", "columns['event'][1]"),
        ({"event": [0.5], "example": [1]}, "lens-table", "columns['event']"),
        ({"event": [None, 1], "example": [1, 1]}, "lens-table", "columns['event'][0]"),
        ({"example": [1, 1], "name": ["a", "b"]}, "lens-table", "columns['name'][1]"),
        ({"example": [1, 1], "frequency": [1, 2]}, "lens-table", "columns['frequency'][1]"),
        ({"name": [0.5]}, "lens-table", "columns['name']"),
        ({"max_time": ["a"]}, "lens-table", "columns['max_time']"),
        ({"inputs": [[[1]]], "max_time": [[1, 2]]}, "lens-table", "columns['inputs'][0]"),
        ({"inputs": [[[1]], []]}, "lens-table", "columns['inputs'][1]"),
        ({"inputs": [[{"values": [1], "units": [1]}]]}, "lens-table", "columns['inputs']"),
        ({"inputs": [[{"unit": 1}]]}, "lens-table", "columns['inputs.unit']"),
        ({"inputs": [[{"values": ["a"]}]]}, "lens-table", "columns['inputs.values']"),
        ({"inputs": [[{"values": [None, 1]}]]}, "lens-table", "columns['inputs.values']"),
        ({"inputs": [[{"first": "a"}]]}, "lens-table", "columns['inputs.first']"),
        ({"inputs": [[{"units": [2**40]}]]}, "lens-table", "columns['inputs.units'][0]"),
        ({"inputs": [[{"units": [0.5]}]]}, "lens-table", "columns['inputs.units']"),
        ({"inputs": [[{"units": [1]}, None]]}, "lens-table", "columns['inputs']"),
        ({"inputs": [[{"units": [1]}]], "inputs.a": [1]}, "lens-table", "columns['inputs']"),
        ({"inputs": [[1]], "inputs_list": [0]}, "lens-table", "columns['inputs_list']"),
        (
            {"inputs": [[{"units": [1]}]], "inputs_list": ["a"]},
            *("lens-table", "columns['inputs_list']"),
        ),
        (
            {"inputs": [[{"units": [1]}], None], "inputs_list": [1, 1]},
            *("lens-table", "columns['inputs_list'][1]"),
        ),
        (
            {"inputs": [[{"units": [1]}]] * 2, "inputs_list": [1, 1], "example": [0, 0]},
            *("lens-table", "columns['inputs_list'][1]"),
        ),
    ],
)
def test_errors(columns: dict[str, Any], code: str, place: str) -> None:
    assert error(columns) == (code, place)


@pytest.mark.parametrize(
    ("metadata", "field"),
    [
        ({"version": 2}, "version"),
        ({"header": 1}, "header"),
        ({"header": {"max_time": True}}, "header.max_time"),
        ({"header": {"max_time": "1"}}, "header.max_time"),
        ({"header": {"max_time": 1e300}}, "header.max_time"),
        ({"header": {"time": 1}}, "header.time"),
        ({"header": {"proc": 1}}, "header.proc"),
        ({"header": {"proc": {"base64": "?"}}}, "header.proc"),
        ({"header": {"proc": "\ud800"}}, "header.proc"),
        ({"groups": []}, "groups"),
        ({"groups": {"inputs": 1}}, "groups.inputs"),
        ({"groups": {"inputs": [["a"]]}}, "groups.inputs"),
        ({"groups": {"targets": [["a", -1]]}}, "groups.targets"),
    ],
)
def test_damaged_metadata(metadata: dict[str, Any], field: str) -> None:
    table = Table.of({"x": [1]}, {"family": "lens", "version": 1, **metadata})
    assert error(table) == ("lens-table", f"metadata.{field}")
    assert len(read(table.with_metadata({}))) == 1


def test_columns_are_dropped_when_asked() -> None:
    findings = Findings()
    table = {"inputs": [[1]], "label": ["cat"], "targets": ["dog"]}
    made = exset.from_table(table, family="lens", lossy=True, findings=findings)
    assert made == events(Event([1]))
    assert [(each.code, each.place.field) for each in findings if each.place] == [
        ("table-dropped", "columns['label']"),
        ("table-dropped", "columns['targets']"),
    ]


_names = st.sampled_from(
    [
        *("example", "event", "name", "frequency", "proc", "event_proc", "max_time", "inputs"),
        *("inputs", "targets", "inputs.a", "targets.b", "x", "y:0", "y:1", "inputs_list", "a:0"),
        *("targets_list", "default_input", "active_target", "inputs.", "\udcff", "\ud800"),
    ]
)
_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)


@st.composite
def _tables(draw: st.DrawFn) -> Table:
    """Draw a table whose columns have names that Lens knows, and any types."""
    rows = draw(st.integers(0, 4))
    names = draw(st.lists(_names, max_size=5, unique=True))
    columns: dict[str, TableColumn] = {name: draw(columns_of(rows)) for name in names}
    metadata = draw(
        st.fixed_dictionaries(
            {},
            optional={
                "family": st.sampled_from(["lens", "aeon"]),
                "version": st.just(1) | _json,
                "rows": st.sampled_from(["example", "event"]),
                "header": st.dictionaries(st.sampled_from(["max_time", "proc"]), _json) | _json,
                "groups": st.dictionaries(st.sampled_from(["inputs", "targets"]), _json) | _json,
            },
        )
    )
    return Table(columns, rows if columns else 0, metadata)


@given(_tables(), st.booleans())
def test_any_table(table: Table, lossy: bool) -> None:
    """A table becomes a set in normal form, or raises FormatError, and nothing else."""
    try:
        made = read(table, lossy=lossy, findings=Findings())
    except FormatError:
        return
    assert isinstance(made, ExampleSet) and made == made.normalized()
