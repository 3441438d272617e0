"""The errors of a text after the first one: each in a record of its own, none twice."""

import json
import pickle
from pathlib import Path

import pytest

import exset
from exset.core.errors import MOST_ERRORS, STOPPED, FormatError
from exset.core.kernels import Engine
from exset.core.source import Source
from exset.parsers.lbann import labels
from exset.testing.contract import ENGINES
from tests.cli.command_line import run

LIST = "CONDUIT_HDF5_INCLUSION\n9 9 4\n/d\n"
MANY = "CONDUIT_HDF5_INCLUSION\n9 9 5000\n/d\n"


def errors(text: str, fmt: str, engine: Engine = "auto") -> list[str]:
    """Return the line and the column of each error; every engine has the same errors."""
    with pytest.raises(FormatError) as caught:
        exset.loads(text, format=fmt, engine=engine)
    assert next(iter(caught.value.findings)) == caught.value.finding
    places = [found.place for found in caught.value.findings]
    return [f"{place.line}:{place.column}" for place in places if place is not None]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("I: 1 x;\nI: 1;\nI 1;\nI: 2 y;\n", ["1:6", "3:1", "4:6"]),
        ("defI 5; name: a I: 1;\nnam: b I: 1;", ["1:1", "2:1"]),
        ("5 5 name: a; nam: b I: 1;\nI: x;", ["1:14", "2:4"]),
        ("max: 1 ]; I: x;", ["1:8", "1:14"]),
        ("max: ] ; I: x;", ["1:6", "1:13"]),
        (";freq: [ ;0 y;\nI: x;", ["1:10", "1:13", "2:4"]),
        ("[0 1 I: 1;\nI: x;", ["1:6", "2:4"]),
        # What is quoted, protected or a comment ends no record.
        ("I: 1 x name: {a; b} \\;\n# c;\n y;\nI: z;", ["1:6", "4:4"]),
        ("name: {x ] ; y} I: 1;\nI: x;", ["1:10", "2:4"]),
        ('name: "x ] ; \\" y" I: 1;\nI: x;', ["1:10", "2:4"]),
        # The bracket does not end: the next example is not certain.
        ("name: {x ] ; y I: 1;\nI: x;", ["1:10"]),
        ("I: 1 x; I: 1", ["1:6", "1:13"]),
    ],
)
def test_examples(text: str, places: list[str], engine: Engine) -> None:
    assert errors(text, "ex", engine) == places


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("text", "places"),
    [
        (LIST + "a 1\nb 0 0\nc x 1\n\nd\n", ["4:4", "6:3", "8:2"]),
        ("MULTI-SAMPLE_EXCLUSION\n9 9 1\n/d\n/l\na 1\nb\n", ["5:4", "6:2"]),
        # A wrong line may be a file, or a comment.
        ("MULTI-SAMPLE_EXCLUSION\n9 9 3\n/d\n/l\na 1\nb\n", ["2:5", "5:4", "6:2"]),
        (LIST + "# a b c\n \na 0 0\nb 0 0\nc 0 0\nd 0 0\n", ["4:3"]),
        (LIST + "a 0 0\nb 0 0\nc 0 0\nd\n", ["7:2"]),
        (LIST + "a 0 0\nb 0 0\nc\n", ["2:5", "6:2"]),
        ("CONDUIT\n1 1 1\n/d\na\n", ["1:1"]),  # an error in the header: the type is not known
    ],
)
def test_lists(text: str, places: list[str], engine: Engine) -> None:
    assert errors(text, "sample_list", engine) == places


@pytest.mark.parametrize("engine", ENGINES)
def test_manifests(engine: Engine) -> None:
    assert errors("@FILE\na\n@FILE\nb\n#@\n@x\n", "manifest", engine) == ["3:1", "6:1"]
    assert errors("@FILE\tFIL\na\n@FILE\n", "manifest", engine) == ["1:7"]


@pytest.mark.parametrize("engine", ENGINES)
def test_labels(engine: Engine) -> None:
    with pytest.raises(FormatError) as caught:
        labels.parse(Source("x", b"a 1\nb\n\nc 1 more\nd x\n"), engine=engine)
    assert [found.place and found.place.line for found in caught.value.findings] == [2, 5]


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("a: [1\nb: 2\nc: }x\nd:\n  e: 1\n f: 2\n", ["2:2", "3:4", "6:2"]),
        ("é: ]\né: ]\n'b': *c\nd: @x", ["1:4", "2:4", "4:4"]),  # *c may be before the error
        ('a: "b\nc: 1\nd: ]\n', ["1:4", "3:4"]),
        ("a: ]\n  b: ]\n- ]\n", ["1:4"]),
    ],
)
def test_schemas(text: str, places: list[str]) -> None:
    assert errors(text, "schema") == places


@pytest.mark.parametrize(
    ("record", "fmt", "begin"),
    [("I: x;\n", "ex", ""), ("a\n", "sample_list", LIST), ("a: ]\n", "schema", "")],
)
def test_the_number_of_errors_is_limited(record: str, fmt: str, begin: str) -> None:
    assert len(errors(begin + record * 100, fmt)) == MOST_ERRORS


def test_a_file_of_another_kind_has_one_error() -> None:
    assert errors("<html>;</html>;", "ex") == ["1:1"]


def test_a_stream_ends_at_the_first_error() -> None:
    """A pipe may not have the bytes after it yet."""
    with pytest.raises(FormatError) as caught:
        list(exset.stream("exset::xor.ex", format="sample_list"))
    assert caught.value.later is None


def test_later_errors_are_kept() -> None:
    with pytest.raises(FormatError, match=r"\n\(and 1 more error\)$") as caught:
        exset.loads("I: x;I: y;", format="ex", name="a.ex")
    pickle.dumps(caught.value.__context__)  # as tblib does with each exception
    again = pickle.loads(pickle.dumps(caught.value))
    assert list(again.findings) == list(caught.value.findings) and len(again.findings) == 2
    renamed = again.changed(lambda finding: finding)
    assert list(renamed.findings) == list(again.findings)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("text", "fmt", "places"),
    [
        # The errors of readers, each in a record of its own, and the syntax errors after them.
        (";I: 1 T: 1;\n2 [5] I: 1;\n[3] I: 1;\nI: 1;\n[0] I: 1 I: 1;\nI: x;", "ex",
         ["2:4", "3:2", "5:10", "6:4"]),
        ("I: 9999999999;\ni: 9999999999;\n9999999999 I: 1;", "ex", ["2:4", "3:1"]),
        (LIST + "a 1 0 x y\nb 1 0 x\nc 3 0 x\nd 2\n", "sample_list", ["4:3", "6:3", "7:4"]),
        # Also if the first record has a syntax error: then no record comes after the header.
        (LIST + "a 1\nb 1 0\nc 1 0 z\nd 1 0\n", "sample_list", ["4:4", "5:3", "7:3"]),
        (LIST + "a 1\n", "sample_list", ["2:5", "4:4"]),
        ("CONDUIT_HDF5_INCLUSION\n\n/d\na 1\nb 1 0\n", "sample_list", ["2:1", "4:4"]),
        ("MULTI-SAMPLE_INCLUSION\n9 9 2\n/d\n/l\na 1\nb 2 0 x\n", "sample_list", ["5:4", "6:3"]),
        ("@FILE\tFILE\n@x\ny\na\tb\nz\n", "manifest", ["2:1", "3:1", "5:1"]),
        (LIST + "b 1 0 x\na 1\nc 3 0 x\nd 1 0\n", "sample_list", ["5:4", "6:3", "7:3"]),
        ("@FILE\tFILE\na\tb\nc\n@\nd\n\ne\tf\ng\th\ti\n", "manifest", ["3:1", "4:1", "5:1", "8:1"]),
        ("@FILE\na\n@\nb\tc\n", "manifest", ["3:1", "4:1"]),
        ("@FILE\tFILE\na\n@FILE\n", "manifest", ["2:1", "3:1"]),
    ],
)  # fmt: skip
def test_errors_of_readers(text: str, fmt: str, places: list[str], engine: Engine) -> None:
    assert errors(text, fmt, engine) == places


def test_errors_of_columns_are_in_order_of_places() -> None:
    """The reader checks all ids before all counts."""
    with pytest.raises(FormatError) as caught:
        exset.loads(
            LIST + "a 2 0 1\nb 1 0 x\nc 1 0 3\nd 2 0 4\n", format="sample_list", ids="integer"
        )
    assert [found.place and found.place.line for found in caught.value.findings] == [4, 5, 7]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_manifest_whose_first_record_decides_the_number_of_fields(engine: Engine) -> None:
    with pytest.raises(FormatError) as caught:
        text = "@FILE\n@x\na\tb\nz\nc\td\ny\n"
        exset.loads(text, format="manifest", dialect="seed", engine=engine)
    assert [found.place and found.place.line for found in caught.value.findings] == [2, 4, 6]


def test_the_numbers_of_examples_after_an_error() -> None:
    with pytest.raises(FormatError) as caught:
        exset.loads("max: 3; I: 1;\ni: 9999999999;\n[3] I: 1;\nI: 1;[1] I: 1;", format="ex")
    assert [found.message for found in caught.value.findings][1:] == [
        "event 3 is out of range: example 2 has 1 event",
        "event 1 is out of range: example 4 has 1 event",
    ]


def test_many_errors_of_a_reader() -> None:
    assert len(errors("I: 1;\n[3] I: 1;\n" * 5_000, "ex")) == MOST_ERRORS
    assert len(errors("@FILE\n" + "a\tb\n" * 5_000, "manifest")) == MOST_ERRORS
    assert len(errors(MANY + "a 1 0 x y\n" * 5_000, "sample_list")) == MOST_ERRORS


@pytest.mark.parametrize(
    ("record", "fmt", "begin"),
    [
        ("I: x;\n", "ex", ""),
        ("[3] I: 1;\n", "ex", "I: 1;\n"),
        ("a\n", "sample_list", LIST),
        ("a 1 0\n", "sample_list", LIST),
        ("a\tb\n", "manifest", "@FILE\n"),
        ("a: ]\n", "schema", ""),
    ],
)
def test_an_error_says_whether_there_are_more(record: str, fmt: str, begin: str) -> None:
    for count in (MOST_ERRORS, MOST_ERRORS + 1):
        with pytest.raises(FormatError) as caught:
            exset.loads(begin.replace("4", str(count)) + record * count, format=fmt)
        assert caught.value.findings.count() == MOST_ERRORS
        assert caught.value.findings.stopped == (count > MOST_ERRORS)


def test_the_command_line_says_whether_there_are_more_errors(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    for count in (MOST_ERRORS, MOST_ERRORS + 1):
        path.write_text("@FILE\n" + "a\tb\n" * count)
        assert exset.validate(path).stopped == (count > MOST_ERRORS)
        result = run("validate", str(path))
        assert (STOPPED in result.output) == (count > MOST_ERRORS)
        [row] = map(json.loads, run("validate", "--json", str(path)).output.splitlines())
        assert row["stopped"] == (count > MOST_ERRORS)
