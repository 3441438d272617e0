"""Whether the ranges of example sets fit a network."""

from pathlib import Path

import pytest
from hypothesis import assume, given

import exset
from exset import ExampleSet, FormatError
from exset.core.errors import Findings
from exset.runtime.lens.layout_inference import layouts_of
from exset.runtime.lens.network_check import check
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
    check(exset.loads(text.encode(), format="ex"), found, inputs=inputs)  # type: ignore[arg-type]
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
    check(examples, found, inputs=inputs, targets=targets)
    try:
        exset.to_arrays(examples, inputs=inputs, targets=targets, findings=Findings())
    except FormatError as error:
        assert found.count(error.code) or error.code == "limit"
    else:
        assert not found.count("lens-unit-outside")
