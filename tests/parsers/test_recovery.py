"""The errors of a text after the first one: each in a record of its own, none twice."""

import pickle

import pytest

import exset
from exset.core.errors import MOST_ERRORS, FormatError
from exset.core.kernels import Engine
from exset.core.source import Source
from exset.parsers.lbann import labels
from exset.testing.contract import ENGINES

LIST = "CONDUIT_HDF5_INCLUSION\n9 9 3\n/d\n"


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
    again = pickle.loads(pickle.dumps(caught.value))
    assert list(again.findings) == list(caught.value.findings) and len(again.findings) == 2
    renamed = again.changed(lambda finding: finding)
    assert list(renamed.findings) == list(again.findings)
