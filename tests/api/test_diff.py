"""Two models compared by what they mean, column by column."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import exset
from exset import Dense, Event, Example, ExampleSet, Manifest, SampleList, SetHeader, Sparse
from exset.core.protocols import Model
from exset.grammars.aeon.block import Block
from exset.grammars.aeon.config.model import LoaderConfig
from exset.grammars.aeon.manifest_types import Dialect
from exset.runtime.reports.column_diff import Pairs, unequal, unequal_strings
from exset.testing import (
    archives,
    blocks,
    example_sets,
    loader_configs,
    manifests,
    sample_lists,
    schemas,
    strings,
)
from tests.cli.command_line import run

MODELS = st.one_of(
    example_sets(max_examples=4),
    sample_lists(),
    manifests(),
    blocks(),
    archives(),
    schemas(),
    loader_configs(),
)
INT = "MULTI-SAMPLE_INCLUSION_V2"


def paths(one: Model, other: Model, tolerance: float = 0.0) -> list[str]:
    """Return where models differ; both orders find the same places."""
    found, back = exset.diff(one, other, tolerance=tolerance), exset.diff(other, one)
    if not tolerance:
        assert {each.path for each in back.first} == {each.path for each in found.first}
    return [each.path for each in found.first]


@settings(max_examples=40)
@given(MODELS, st.sampled_from([0.0, 1e-6]))
def test_nothing_differs_from_itself(model: Model, tolerance: float) -> None:
    assert not exset.diff(model, model, tolerance=tolerance)


@settings(max_examples=40)
@given(example_sets(max_examples=3), example_sets(max_examples=3))
def test_sets_differ_as_their_views_do(one: ExampleSet, other: ExampleSet) -> None:
    """With equal headers, sets differ if and only if their examples do."""
    found = exset.diff(one, other)
    if one.header == other.header:
        assert bool(found) == (list(one) != list(other))
    assert bool(found) == bool(exset.diff(other, one))
    assert found.differing <= found.compared == min(len(one), len(other))


@settings(max_examples=40)
@given(example_sets(max_examples=3, text=True))
def test_a_set_as_text_and_as_bytes(examples: ExampleSet) -> None:
    findings = exset.Findings()
    text = exset.dumps(examples, format="ex", lossy=True, unshare=True, findings=findings)
    if findings.count():
        return
    try:
        data = exset.dumps(examples, format="bex")
    except exset.FormatError:
        return
    findings = exset.Findings()
    pair = (exset.loads(each, findings=findings) for each in (text, data))
    assert not exset.diff(*pair)


@given(st.lists(strings(), max_size=6), st.lists(strings(), max_size=6))
def test_strings_are_compared_as_they_are(one: list[bytes], other: list[bytes]) -> None:
    from exset.grammars.columns.strings import Strings

    pairs = Pairs.of("x", min(len(one), len(other)))
    found = unequal_strings(pairs, Strings.of(one), Strings.of(other))
    assert found.tolist() == [a != b for a, b in zip(one, other, strict=False)]


def test_rows_are_compared_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("exset.runtime.reports.column_diff._CHUNK", 5)
    rng = np.random.default_rng(1)
    one = rng.random((40, 7), np.float32)
    other = one.copy()
    rows = [0, 3, 17, 18, 39]
    other[rows, 4] += 1
    sets = [ExampleSet.from_arrays(each, None) for each in (one, other)]
    found = exset.diff(*sets, keep=3)
    assert (found.differing, found.compared) == (5, 40)
    assert [each.path for each in found.first] == [
        f"examples[{row}].events[0].inputs[0].values[4]" for row in rows[:3]
    ]


def test_where_examples_differ() -> None:
    def made(example: Example, header: SetHeader | None = None) -> ExampleSet:
        return ExampleSet.from_examples([Example([Event()]), example], header)

    def where(one: Example, other: Example) -> list[str]:
        return paths(made(one), made(other))

    dense, sparse = Dense([1, 0]), Sparse([1, 2])
    plain = Example([Event(inputs=[dense], targets=[sparse])], name="a")
    at = "examples[1].events[0]"
    event = Event(inputs=[dense], targets=[sparse])
    assert where(plain, Example([event], name="b")) == ["examples[1].name"]
    assert where(plain, Example([event], name="a", frequency=2)) == ["examples[1].frequency"]
    assert where(plain, Example([event, event], name="a")) == ["examples[1].events"]
    other = Event(inputs=[Dense([1, 2])], targets=[Sparse([1, 3], value=2)])
    assert where(plain, Example([other], name="a")) == [
        f"{at}.inputs[0].values[1]",
        f"{at}.targets[0].value",
        f"{at}.targets[0].units[1]",
    ]
    other = Event(inputs=[sparse, dense], targets=[Sparse([1, 2], group="g")], max_time=3)
    assert where(plain, Example([other], name="a")) == [
        f"{at}.max_time",
        f"{at}.inputs",
        f"{at}.targets[0].group",
    ]
    assert where(plain, Example([Event(inputs=[sparse])], name="a")) == [
        f"{at}.targets",
        f"{at}.inputs[0]",
    ]


def test_inherited_and_shared_values_are_compared() -> None:
    """A value of the header, and the same value of each event; shared lists, and copies."""
    dense = [Dense([1.0])]
    one = ExampleSet.from_examples([Example([Event(inputs=dense)])], SetHeader(max_time=3))
    other = ExampleSet.from_examples([Example([Event(inputs=dense, max_time=3)])])
    assert one != other and not exset.diff(one, other)
    assert paths(one, ExampleSet.from_examples([Example([Event(inputs=dense)])])) == [
        "header.max_time"
    ]
    shared = ExampleSet.from_examples([Example([Event(inputs=dense), Event(inputs=dense)])])
    copies = [Event(inputs=[Dense([1.0])]), Event(inputs=[Dense([1.0])])]
    assert not exset.diff(shared, ExampleSet.from_examples([Example(copies)]))
    assert paths(one, one.select([0, 0])) == ["examples"]


def test_tolerance() -> None:
    nan = np.nan
    one = np.array([1.0, 1000.0, nan, np.inf, 0.0, nan, -np.inf], np.float32)
    other = np.array([1.05, 1005.0, nan, np.inf, -0.0, 1.0, np.inf], np.float32)
    assert unequal(one, other, 0).tolist() == [True, True, False, False, True, True, True]
    assert unequal(one, other, 0.01).tolist() == [True, False, False, False, False, True, True]
    assert unequal(one, other, 0.1).tolist() == [False, False, False, False, False, True, True]
    for wrong in (-1.0, nan, np.inf):
        with pytest.raises(ValueError, match="tolerance"):
            exset.diff(ExampleSet.from_examples([]), ExampleSet.from_examples([]), tolerance=wrong)


def test_lists_of_other_types() -> None:
    files = [("a", ["1", "2", "3"]), ("b", ["7"])]
    numbers = [("a", [1, 2, 3]), ("b", [7])]
    text = SampleList.of("CONDUIT_HDF5_INCLUSION", "d", files)
    ranges = SampleList.of(INT, "d/", numbers)
    assert not exset.diff(text, ranges)
    assert paths(text, SampleList.of(INT, "d", [("a", [1, 2, 4]), ("b", [7])])) == [
        "files[0].ids[2]"
    ]
    assert paths(ranges, SampleList.of(INT, "d", [("a", [1, 2, 4]), ("b", [7])])) == [
        "files[0].ids"
    ]
    assert paths(ranges, SampleList.of(INT, "d", [("a", [1, 2]), ("b", [8])])) == [
        "files[0].ids",
        "files[1].ids[0]",
    ]
    huge = exset.loads(
        f"{INT}\n1000000001 2\nd\na 1000000000 0 ... 999999999\nb 1 7\n", ids="integer"
    )
    assert paths(text, huge) == ["files[0].ids"]
    assert paths(text, SampleList.of(INT, "e", numbers)) == ["files[0].path", "files[1].path"]
    single = SampleList.of("SINGLE-SAMPLE", "d", [("x.jpg",), ("y.jpg",)], label_file="l")
    named = [("x.jpg", ["x.jpg"]), ("y.jpg", ["y.jpg"])]
    assert not exset.diff(single, SampleList.of("CONDUIT_HDF5_INCLUSION", "d", named))
    exclusion = SampleList.of("CONDUIT_HDF5_EXCLUSION", "d", files)
    with pytest.raises(exset.FormatError, match="lbann-exclusion"):
        exset.diff(text, exclusion)
    more = SampleList.of("CONDUIT_HDF5_EXCLUSION", "d", [("a", ["1", "2", "3"], 5), ("b", ["7"])])
    assert paths(exclusion, more) == ["files[0].included"]


def test_manifests_of_other_dialects() -> None:
    rows = [["a.jpg", "1.0"], ["b.jpg", "2"]]
    one = Manifest.of(["FILE", "ASCII_FLOAT"], rows)
    other = Manifest.of(["FILE", "ASCII_FLOAT"], [["a.jpg", "1"], ["b.jpg", "2.001"]])
    assert paths(one, other) == ["records[1].fields[1]"]
    assert paths(one, other, tolerance=0.01) == []
    broken = Manifest.of(["FILE", "ASCII_FLOAT"], [["a.jpg", "1"], ["b.jpg", "two"]])
    assert paths(one, broken, tolerance=9) == ["records[1].fields[1]"]
    files = Manifest.of(["FILE", "FILE"], rows)
    assert not exset.diff(files, files.with_columns(dialect=Dialect.CSV))
    assert paths(one, files)[0] == "types"


def test_base64_is_compared_as_the_bytes_that_aeon_decodes() -> None:
    one, other = (
        Manifest.of(["BINARY"], [[text], [last]])
        for text, last in (("====", "AA=="), ("BA==", "AQ=="))
    )
    differences = exset.diff(one, other)
    assert [each.path for each in differences.first] == ["records[1].fields[0]"]


def test_two_notations_of_one_value_are_equal_in_meaning(tmp_path: Path) -> None:
    one, other = (Manifest.of(["ASCII_INT"], [[text]]) for text in ("0", "00"))
    assert one != other and not exset.diff(one, other)
    files = tmp_path / "one.tsv", tmp_path / "other.tsv"
    for model, file in zip((one, other), files, strict=True):
        exset.save(model, file)
    assert run("diff", *files).stdout.endswith(" are equal in meaning: 1 record\n")
    assert "what two files mean" in run("diff", "--help").stdout


def test_blocks_of_other_times() -> None:
    one, other = Block.of([[b"a", b"b"]], time=1), Block.of([[b"a", b"b"]], time=2)
    assert not exset.diff(one, other)
    assert paths(one, Block.of([[b"a", b"x" * 40]])) == ["elements[1].data"]
    assert paths(one, Block.of([[b"a"], [b"b"]])) == ["records"]
    files = [Block.archive([(name, b"1")]) for name in (b"x", b"y")]
    assert paths(files[0], files[1]) == ["elements[0].name"]


def test_trees() -> None:
    schema = exset.Schema.of({"a": {"metadata": {"scale": 0.5, "dims": [2, 3]}}, "b": None})
    other = exset.Schema.of({"b": None, "a": {"metadata": {"scale": 0.5001, "dims": [2, 4]}}})
    assert paths(schema, other) == ["a/metadata/scale", "a/metadata/dims[1]"]
    assert paths(schema, other, tolerance=0.01) == ["a/metadata/dims[1]"]
    assert paths(schema, exset.Schema.of({"a": {"c": None}})) == [
        "a",
        "a/metadata/scale",
        "a/metadata/dims[0]",
        "a/metadata/dims[1]",
        "b",
        "a/c",
    ]
    image = {"type": "image", "height": 8, "width": 8}
    config = {"manifest_filename": "m", "batch_size": 2, "etl": [image]}
    one = LoaderConfig.from_dict(config)
    assert not exset.diff(one, LoaderConfig.from_dict({**config, "iteration_mode": "ONCE"}))
    assert paths(one, LoaderConfig.from_dict({**config, "batch_size": 3}))[0] == "batch_size"


def test_models_of_two_families() -> None:
    with pytest.raises(TypeError, match="a schema cannot be compared with a manifest"):
        exset.diff(exset.Schema.of({"a": None}), Manifest.of([], []))


def test_diff_as_a_command(tmp_path: Path) -> None:
    text, binary = tmp_path / "x.ex", tmp_path / "x.bex"
    examples = exset.load("exset::xor.ex", model=ExampleSet)
    exset.save(examples, text)
    exset.save(examples, binary)
    done = run("diff", text, binary)
    equal = f"{text} and {binary} are equal in meaning: 4 examples\n"
    assert (done.exit_code, done.stdout) == (0, equal)
    within = run("diff", "--tolerance", "1e-6", text, binary).stdout
    assert within == equal.replace("meaning", "meaning, within 1e-06")
    assert run("diff", "-q", text, binary).stdout == ""
    done = run("diff", text, "exset::xor-sparse.ex")
    assert done.exit_code == 1 and "examples[0].name: '00' / nothing\n" in done.stdout
    assert done.stdout.endswith("differ: 4 of 4 examples\n")
    assert len(done.stdout.splitlines()) == 11
    assert run("diff", "-q", text, "exset::xor-sparse.ex").stdout == ""
    rows = run("diff", "-v", text, "exset::xor-sparse.ex").stdout.splitlines()
    row = json.loads(run("diff", "--json", text, "exset::xor-sparse.ex").stdout)
    assert len(row["first"]) == len(rows) - 1 > 10 and row["ok"] is row["equal"] is False
    assert run("diff", text, "exset::captions.tsv").exit_code == 2
    assert run("diff", "-", "-").exit_code == 2
    assert run("diff", text, "missing.ex").exit_code == 3
    assert run("diff", "--tolerance", "-1", text, text).exit_code == 2


@pytest.mark.parametrize(
    ("one", "other", "tolerance", "equal"),
    [
        (0.5, 0.625, 0.125, True),
        (0.5, 0.75, 0.125, False),
        (-8, -7, 0.125, True),
        (8, 6.5, 0.125, False),
        (-1, 1, 1, False),
        (-1, 1, 2, True),
    ],
)
def test_a_tolerance_grows_with_absolute_values_above_1(
    one: float, other: float, tolerance: float, equal: bool
) -> None:
    sets = [exset.ExampleSet.from_arrays([[value]], None) for value in (one, other)]
    assert bool(exset.diff(*sets, tolerance=tolerance)) is not equal
