"""Whether the ranges of example sets fit a network."""

from collections import Counter
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import exset
from exset import ExampleSet, FormatError
from exset.core.errors import Findings
from exset.grammars.lens.views import ExampleView
from exset.runtime.lens.layout_inference import layouts_of
from exset.runtime.lens.network_check import NetworkCheck
from exset.testing import lens
from tests.cli.command_line import run


@pytest.mark.parametrize(
    ("text", "inputs", "codes"),
    [
        ("I: 1 2;\nI: 1 2 3;\n", 3, ["lens-width"]),
        ("I: 1 2;\nI: 1 2 3;\n", 2, ["lens-unit-outside"]),
        ("I: 1 2 3;\nI: {1} 0 2;\nI: {1} *;\n", 3, []),
        ("I: (0) 1 2 (2) 3;\n", 3, []),
        ("I: (1) 1 2;\n", 3, []),
        ("I: {1} 0 3;\n", 3, ["lens-unit-outside"]),
        ("I: (a) 1 (b) 1 2;\n", {"a": 1, "b": 2}, []),
        ("I: (a) 1 (b) 1;\n", {"a": 1, "b": 2}, ["lens-width"]),
        ("I: (a) 1 (c) 1;\n", {"a": 1, "b": 2}, ["lens-group-missing"]),
    ],
)
def test_inputs(text: str, inputs: int | dict[str, int], codes: list[str]) -> None:
    found = Findings()
    NetworkCheck(inputs=inputs)(examples_of(text), found)
    assert [finding.code for finding in found] == codes


def test_the_place_counts_from_the_first_example_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("exset.streaming.SMALL", 1 << 10)
    path = tmp_path / "a.ex"
    path.write_text("I: 1 2 T: 1;\n" * 100_000 + "I: 1 T: 1;\n")
    [finding] = exset.validate(path, inputs=2, targets="1")
    assert finding.place is not None
    assert finding.place.field == "examples[100000].events[0].inputs[0]"
    assert finding.place.source == str(path)


def test_the_options_of_the_command(tmp_path: Path) -> None:
    path = tmp_path / "a.ex"
    path.write_text("I: (on) 1 2 T: 1;\n")
    assert run("validate", path, "--inputs", "on=2", "--targets", "1").exit_code == 0
    assert run("validate", path, "--inputs", "on=3").exit_code == 1
    assert run("validate", path, "--targets", "2").exit_code == 1
    assert run("validate", path, "--inputs", "on").exit_code == 2


@given(lens.example_sets())
def test_a_set_fits_the_network_that_it_needs(examples: ExampleSet) -> None:
    """The least layout has room for all units, as `to_arrays` says."""
    try:
        inputs, targets = layouts_of(examples, (None, None), Findings())
    except FormatError:
        return
    assume(max(inputs.units, targets.units) < 1 << 16)
    found = Findings()
    NetworkCheck(inputs=inputs, targets=targets)(examples, found)
    try:
        exset.to_arrays(examples, inputs=inputs, targets=targets, findings=Findings())
    except FormatError as error:
        assert found.count(error.code) or error.code == "limit"
    else:
        assert not found.count("lens-unit-outside")


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        ("I: 1 2 T: 1;\nI: 3 4 T: 0;\n", []),
        ("I: 1 2;\nI: 1 2 3;\nI: 1;\nI: 1 2 3;\n", ["[1] has 3 inputs", "[2] has 1 input,"]),
        ("I: 1 T: 1;\nI: 1 T: 1 2;\n", ["[1] has 2 targets, but examples[0] has 1"]),
        ("name: a 2 I: 1 I: 1 2;\n", ['"a", event 1, has 2 inputs, but example "a", event 0, ']),
        ("I: (a) 1 (b) 1 2;\nI: (b) 1 2 (a) 1;\n", []),
        ("I: (a) 1;\nI: (a) 1 2;\n", ["[1] has 2 inputs of the group 'a', but"]),
        ("I: (a) 1 (a 1) 2;\nI: (a) 1;\nI: (a) 1;\n", []),
        ("I: 1 2;\nI: {1} 7;\nI: (1) 4;\nI: {1} *;\n", []),
    ],
)
def test_widths_without_a_network(text: str, messages: list[str]) -> None:
    found = Findings()
    NetworkCheck()(examples_of(text), found)
    assert {finding.code for finding in found} <= {"lens-mixed-widths"}
    assert len(found) == len(messages)
    assert all(words in each.message for words, each in zip(messages, found, strict=True))


RANGES = ["1", "1 2 3", "(a) 1", "(a) 1 2", "(a) 1 (b) 1 2", "(1) 1 2", "{1} 0 4", "(a 1) 2 (a) 1"]
texts = st.lists(
    st.tuples(st.sampled_from("IT"), st.sampled_from(RANGES)).map(": ".join), min_size=1
)


@given(texts, st.integers(0, 9))
def test_widths_in_chunks_are_those_of_the_whole(ranges: list[str], cut: int) -> None:
    examples = examples_of(";".join(ranges) + ";\n")
    whole, parted, check = Findings(), Findings(), NetworkCheck()
    check(examples[:cut], parted, first=0)
    check(examples[cut:], parted, first=min(cut, len(examples)))
    NetworkCheck()(examples, whole)
    assert sorted(map(str, parted)) == sorted(map(str, whole))
    expected = Counter[tuple[str, str | None]]()
    for key in {key for example in examples for key in covering_widths(example)}:
        expected[key[:2]] += 1
    assert whole.count() == sum(count - 1 for count in expected.values())


def covering_widths(example: ExampleView) -> Iterator[tuple[str, str | None, int]]:
    """Yield the side, the group and the width of each range that should cover its group."""
    for event, side in product(example.events, ("inputs", "targets")):
        ranges = getattr(event, side) or ()
        groups = Counter(each.group for each in ranges)
        for each in ranges:
            if groups[each.group] == 1 and len(each.values) and each.first == 0:
                yield side, each.group, len(each.values)


def test_widths_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is divided has the places of the whole file."""
    monkeypatch.setattr("exset.cli.dividing._LARGE", 1000)
    monkeypatch.setattr("exset.parsers.lens.parts.SIZE", 1000)
    path = tmp_path / "a.ex"
    for end, verdict in (("I: 1 T: 1;\n", "1 warning"), ("", "a.ex: ok\n")):
        path.write_text("I: 1 2 3 4 5 6 7 8 T: 1;\n" * 400 + end)
        result = run("validate", path, "-j", "2")
        assert verdict in result.output
        assert ("(examples[400].events[0].inputs[0]): warning: " in result.output) == bool(end)


def examples_of(text: str) -> ExampleSet:
    """Parse a text, without its findings."""
    examples = exset.loads(text, format="ex", findings=Findings())
    assert isinstance(examples, ExampleSet)
    return examples
