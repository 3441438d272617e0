"""The cases of Lens: exset, a right reader and real files agree with them, and faults are found."""

import csv
import json
from pathlib import Path

import jsonschema
import pytest

from exset.core.errors import FormatError
from exset.core.kernels import Engine
from exset.testing import conformance
from exset.testing.conformance import lens, lens_words, meanings
from exset.testing.conformance.generated import search
from exset.testing.conformance.nodes import Document, Node
from tests.conformance import real_files
from tests.conformance.faults import FAULTS
from tests.conformance.right_reader import RightReader

CASES = {case.name: case for case in conformance.cases("ex")}


@pytest.mark.parametrize("format", ["ex", "bex"])
def test_exset_passes(format: str, engine: Engine) -> None:
    def read(data: bytes) -> Document:
        return meanings.meaning(data, format, engine)

    score = conformance.check(read, format)
    assert score.passed == score.run == len(conformance.cases(format)) - score.not_judged > 90


def test_there_are_enough_cases() -> None:
    declared = [case for case in (*CASES.values(), *conformance.cases("bex")) if case.agree]
    assert len(declared) >= 400
    assert {case.verdict for case in CASES.values()} == {"valid", "invalid", "differs"}
    assert all(case.rule and case.section and case.features for case in declared)
    assert all(case.meaning is not None for case in declared if case.verdict == "valid")


def test_a_right_reader_passes() -> None:
    """It shares no code with exset, so the meanings are not merely what exset says."""
    score = conformance.check(RightReader(), "ex")
    assert score.run + score.not_judged == len(CASES)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_case_finds_the_fault(fault: str) -> None:
    with pytest.raises(conformance.NotConforming):
        conformance.check_case(RightReader(fault), CASES[FAULTS[fault][1]])


@pytest.mark.parametrize("fault", ["counts-stay", "header-eats-semicolons", "no-events"])
def test_drawn_files_find_the_fault(fault: str) -> None:
    """`python -m tests.conformance.search` tries all faults."""
    found = search(conformance.FunctionReader(RightReader(fault)), "ex", 2000)
    assert found is not None and found.draws <= 2000 and found.result.messages
    assert len(found.result.case.data) <= 15  # it is small


def test_drawn_files_find_no_fault_in_a_right_reader() -> None:
    assert search(conformance.FunctionReader(RightReader()), "ex", 40) is None


def test_the_schema() -> None:
    validator = jsonschema.Draft202012Validator(json.loads(conformance.schema("lens")))
    for case in [*CASES.values(), *conformance.cases("bex")][::9]:
        if case.meaning is not None:
            validator.validate(case.meaning)
    for wrong in ({}, {"examples": [{"events": [{"inputs": [{"kind": "dense"}]}]}]}):
        assert not validator.is_valid(wrong)


def test_a_meaning_may_be_short() -> None:
    """Members with their default may be missing, lists may be inside events, numbers plain."""
    values = [1, 0.1, "NaN", {"bits": "80000000"}]
    event = {"inputs": [{"kind": "dense", "values": values}]}
    short = lens.normalized(Node({"examples": [{"name": b"a", "events": [event]}]}))
    assert short == meanings.meaning(b"name: a I: 1 0.1 - -0;", "ex")
    times = {"set": {"max_time": 2}, "examples": [{"events": [{"max_time": 2, "min_time": "nan"}]}]}
    assert lens.normalized(Node(times)) == meanings.meaning(b"max: 2;;", "ex")


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ([], "the document: expected an object"),
        ({"examples": [{}]}, r"examples\[0\].events: expected an array, not None"),
        ({"examples": [{"events": []}]}, "expected one or more events"),
        ({"examples": [{"events": [{"inputs": 0}]}]}, "expected the number of one of 0 lists"),
        ({"examples": [{"events": [{"max_time": "x"}]}]}, "max_time: expected a number"),
        (
            {"examples": [{"events": [{"max": 1}]}]},
            "unknown member 'max': choose one of proc, max_time",
        ),
        ({"set": {"max_time": True}, "examples": []}, "set.max_time: expected a number, not True"),
        ({"set": {"proc": {"base64": "?"}}, "examples": []}, "set.proc: expected base64"),
        ({"set": {"max_time": {"bits": "zz"}}, "examples": []}, "eight hexadecimal digits"),
    ],
)
def test_what_is_no_meaning(document: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        lens.normalized(Node(document))


@pytest.mark.parametrize(
    ("right", "wrong", "words"),
    [
        (
            b"; 4 [1-3] I: 1;",
            b"; 4 [1] I: 1;",
            "events 2-3: no inputs: expected the list of event 1, shared, [1]",
        ),
        (
            b"B: 1;",
            b"I: 1 T: 1;",
            "the inputs of event 0 and the targets of event 0 must share one list",
        ),
        (b"I: 1 T: 1;", b"B: 1;", "must not share a list: they only have equal ones"),
        (b"max: 2; I: 1;", b"I: 1;", "the set: max_time is 1: expected 2"),
        (b"I: 1; I: 2;", b"I: 1;", "the set: expected 2 examples, not 1"),
        (b"; 2 I: 1;", b"; I: 1;", "example 0: expected 2 events, not 1"),
        (
            b"i: {h 0.5} 1-2;",
            b"i: {0.5} 1-2;",
            "event 0: inputs [{0.5} 1 -2]: expected ['h' {0.5} 1 -2]",
        ),
        (b"; [max: 3] I: 1;", b"; I: 1;", "event 0: max_time is that of the set: expected 3"),
        (b"name: a ;", b"name: b ;", "example 0: name is 'b': expected 'a'"),
    ],
)
def test_differences_in_words(right: bytes, wrong: bytes, words: str) -> None:
    found = lens_words.explained(meanings.meaning(right, "ex"), meanings.meaning(wrong, "ex"))
    assert any(words in sentence for sentence in found), found


def test_without_sharing() -> None:
    """A reader that copies shared lists is right, if it says so."""

    def copies(data: bytes) -> Document:
        return lens.unshared(meanings.meaning(data, "ex"))

    with pytest.raises(conformance.NotConforming, match="must share one list"):
        conformance.check(copies, "ex", only=["sharing-*"])
    assert conformance.check(copies, "ex", without=["sharing"], only=["sharing-*"]).passed > 20


def test_real_files_agree(corpus: Path) -> None:
    """Lens itself accepts and refuses files of the same rules."""
    with (corpus / "lens" / "edge" / "verdicts.tsv").open(newline="") as lines:
        table = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        verdicts = {row["file"].rpartition(".")[0]: row["verdict"] for row in table}
    every = {**CASES, **{case.name: case for case in conformance.cases("bex")}}
    expected = {"accept": "valid", "reject": "invalid"}
    for name, case in real_files.SAME_RULE.items():
        verdict = expected.get(verdicts[name], "differs")
        assert every[case].verdict in (verdict, "differs"), (name, case)
    assert len(real_files.SAME_RULE) > 140


def test_one_reader_reads_real_files_and_cases(corpus: Path) -> None:
    """The right reader, which passes the cases, gives what exset gives for the real files."""
    seen = 0
    for path in sorted((corpus / "lens" / "edge").glob("*.ex")):
        if path.name in real_files.NO_RULE or path.name.endswith(".out.ex"):
            continue
        data = path.read_bytes()
        try:
            expected = meanings.meaning(data, "ex")
        except FormatError:
            expected = None
        found = RightReader()(data)
        assert (None if found is None else lens.normalized(Node(found))) == expected, path.name
        seen += 1
    assert seen > 120
