"""Cases in a folder: exported and edited ones, and drawn ones that were kept."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from exset.testing import conformance
from exset.testing.conformance import meanings
from exset.testing.conformance.generated import case_of
from tests.cli.command_line import run

READER = """
import sys
print('{"examples": [{"events": [{"inputs": [{"kind": "dense", "values": [1]}]}]}]}')
"""


def read(data: bytes) -> Mapping[str, object]:
    return meanings.meaning(data, "bex")


@pytest.mark.parametrize("format", ["block", "sample_list"])
def test_an_export_reads_back(tmp_path: Path, format: str) -> None:
    conformance.export(str(tmp_path), format)
    found = {case.id: case for case in conformance.cases_in(str(tmp_path))}
    assert found == {case.id: case for case in conformance.cases(format)}


def test_edited_cases(tmp_path: Path) -> None:
    """What the folder has holds, and not what the package or the index has."""
    conformance.export(str(tmp_path), "bex")
    folder = tmp_path / "bex" / "valid"
    for file in folder.glob("[!b]*"):
        file.unlink()
    (folder / "mine.bex").write_bytes((folder / "binary-empty.bex").read_bytes())
    found = {case.name: case for case in conformance.cases_in(str(tmp_path), "bex")}
    assert found["mine"].meaning is None and "drawn-01" not in found
    score = conformance.check(read, "bex", folder=str(tmp_path))
    assert score.passed + score.not_judged == len(found)
    meaning = folder / "binary-empty.meaning.json"
    meaning.write_text('{"set": {"max_time": 7}, "examples": []}')
    (tmp_path / "index.json").unlink()
    with pytest.raises(conformance.NotConforming, match="max_time is 1: expected 7"):
        conformance.check(read, "bex", folder=str(tmp_path), only=["binary-empty"])


@pytest.mark.parametrize(
    ("path", "text", "message"),
    [
        ("ex/valid/a.meaning.json", "{", "a.meaning.json: the meaning is not JSON"),
        ("ex/valid/a.meaning.json", '{"x": 1}', "a.meaning.json: the document: unknown member"),
        ("index.json", "{", "index.json: expected JSON"),
        ("index.json", "[]", "index.json: expected an object"),
        ("index.json", '{"cases": [{}]}', r"index.json.cases\[0\].path: expected a text"),
        (
            "index.json",
            '{"cases": [{"path": "ex/valid/a.ex", "severity": "bad"}]}',
            "severity: expected error or warning or note, not 'bad'",
        ),
    ],
)
def test_errors(tmp_path: Path, path: str, text: str, message: str) -> None:
    with pytest.raises(
        ValueError, match=r"has no cases: expected files such as .*/ex/valid/NAME.ex"
    ):
        conformance.cases_in(str(tmp_path))
    (tmp_path / "ex" / "valid").mkdir(parents=True)
    (tmp_path / "ex" / "valid" / "a.ex").write_bytes(b"I: 1;")
    (tmp_path / path).write_text(text)
    with pytest.raises(ValueError, match=message):
        conformance.cases_in(str(tmp_path), "ex")


def test_an_index_that_is_short(tmp_path: Path) -> None:
    """Only the path of a case is needed."""
    place = tmp_path / "sample_list" / "valid"
    place.mkdir(parents=True)
    (place / "mine.sample_list").write_bytes(b"SINGLE-SAMPLE\n0\n/d\nnone\n")
    entry = {"path": "sample_list/valid/mine.sample_list", "options": {"ids": "integer"}}
    (tmp_path / "index.json").write_text(json.dumps({"cases": [entry]}))
    (case,) = conformance.cases_in(str(tmp_path), "sample_list")
    assert case.options == {"ids": "integer"} and case.rule == "a file of the folder"


def test_kept_cases(tmp_path: Path) -> None:
    """A drawn file is a case like any other; its reader passes once it is right."""
    folder, words = str(tmp_path), ("conformance", "run", "--format", "ex")
    path = Path(conformance.keep(case_of(b"I: 1;", "ex"), folder))
    assert path.parent == tmp_path / "ex" / "valid" and path.read_bytes() == b"I: 1;"
    assert json.loads(path.with_suffix(".meaning.json").read_text())["examples"]
    conformance.keep(case_of(b"I: 1", "ex"), folder)
    (tmp_path / "reader.py").write_text(READER)
    command = ("--", "python", "-I", "-S", str(tmp_path / "reader.py"))
    done = run(*words, "--cases", folder, *command)
    assert done.stdout.splitlines()[-1] == "1 of 2 cases pass (50.0%)"
    assert "ex/invalid/drawn-" in done.stdout and "found the end of the file" in done.stdout
    integers = case_of(b"SINGLE-SAMPLE", "sample_list", options={"ids": "integer"})
    conformance.keep(integers, folder)
    assert conformance.cases_in(folder, "sample_list")[0].options == {"ids": "integer"}
    done = run(*words, "--cases", folder, "--run", "*/valid/*", *command)
    assert done.exit_code == 0
    assert len(run("conformance", "list", "--cases", folder).stdout.splitlines()) == 3
