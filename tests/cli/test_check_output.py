"""Reports of checks for CI systems, and baselines."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from exset import checking
from exset.baseline import Baseline
from exset.core.errors import Finding, Findings, FormatError, Place, Severity
from tests.cli.command_line import run

WORD = "I: 1 five;\n"
GOOD = "I: 1 T: 1;\n"
SPLIT = "I: 1 2; T: 1;\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to a folder with a wrong file, a suspicious one and a good one."""
    monkeypatch.chdir(tmp_path)
    Path("wrong.ex").write_text(WORD)
    Path("split.ex").write_text(SPLIT)
    Path("good.ex").write_text(GOOD)
    return tmp_path


FILES = ("good.ex", "split.ex", "wrong.ex", "none.ex")


def report(form: str) -> str:
    """Return a report of all files, one of which does not exist."""
    done = run("validate", *FILES, "--output-format", form)
    assert done.exit_code == 3 and "none.ex: No such file" in done.stderr
    return done.stdout


def test_github() -> None:
    warning, error, missing = report("github").splitlines()
    assert warning.startswith("::warning file=split.ex,line=1,col=7,title=lens-split-examples::")
    assert error.startswith("::error file=wrong.ex,line=1,col=6,title=syntax::expected a number")
    assert "%0Ahint: " in error and "\n" not in error
    assert missing == "::error file=none.ex,title=system::No such file or directory"


def test_places_without_a_line_and_hints_of_the_command_line() -> None:
    Path("wide.ex").write_text(GOOD + "I: 1 2 T: 1;\n")
    [line] = run("validate", "wide.ex", "--output-format", "github").stdout.splitlines()
    assert line.startswith("::warning file=wide.ex,title=lens-mixed-widths::examples[1].events[0]")
    for form in ("github", "sarif", "junit"):
        text = run("validate", "wide.ex", "--output-format", form).stdout
        assert "--inputs checks" in text and "inputs=" not in text


def test_github_escapes_names_and_texts() -> None:
    name = "a,b:c%.ex"
    Path(name).write_text("I: 1 %\x1b;\n")
    line, *_ = run("validate", name, "--output-format", "github").stdout.splitlines()
    assert line.startswith("::error file=a%2Cb%3Ac%25.ex,line=1,")
    assert "\x1b" not in line and "found `%25`" in line


def test_sarif() -> None:
    [found] = json.loads(report("sarif"))["runs"]
    rules = found["tool"]["driver"]["rules"]
    assert [each["id"] for each in rules] == ["lens-split-examples", "syntax", "system"]
    assert all(each["shortDescription"]["text"] != each["id"] for each in rules)
    assert [each["level"] for each in found["results"]] == ["warning", "error", "error"]
    place = found["results"][1]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "wrong.ex"
    assert place["region"] == {"startLine": 1, "startColumn": 6}


def test_sarif_is_valid_for_a_strict_reader() -> None:
    sarif = pytest.importorskip("sarif_pydantic").Sarif
    found = sarif.model_validate_json(report("sarif"), strict=False)
    assert len(found.runs[0].results) == 3


def test_sarif_of_a_binary_file_and_of_a_name_with_blanks() -> None:
    Path("a b.bex").write_bytes(b"\0\0\0\0\0")
    [found] = json.loads(run("validate", "a b.bex", "--output-format", "sarif").stdout)["runs"]
    place = found["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "a%20b.bex"
    assert set(place["region"]) == {"byteOffset"}


def test_junit() -> None:
    [suite] = ElementTree.fromstring(report("junit"))
    assert {name: suite.get(name) for name in ("tests", "failures", "errors")} == {
        "tests": "4",
        "failures": "1",
        "errors": "1",
    }
    good, split, wrong, missing = suite
    assert [case.get("name") for case in suite] == list(FILES)
    assert len(good) == 0 and split[0].tag == "system-out"
    assert wrong[0].tag == "failure" and "five" in (wrong[0].text or "")
    assert missing[0].tag == "error"


def test_junit_for_another_reader() -> None:
    junit = pytest.importorskip("junitparser").JUnitXml
    found = junit.fromstring(report("junit").encode())
    assert (found.tests, found.failures, found.errors) == (4, 1, 1)


def test_json_is_the_long_form() -> None:
    assert report("json") == run("validate", *FILES, "--json").stdout


def test_several_reports_of_one_run(monkeypatch: pytest.MonkeyPatch) -> None:
    alone = {form: report(form) for form in ("github", "sarif", "junit")}
    checked: list[object] = []
    validate = checking.validate

    def counting(path: str, **how: Any) -> Findings:
        checked.append(path)
        return validate(path, **how)

    monkeypatch.setattr(checking, "validate", counting)
    files = ("--report", "sarif=r.sarif", "--report", "junit=r.xml")
    done = run("validate", *FILES, *files, "--output-format", "github")
    assert done.exit_code == 3 and done.stdout == alone["github"]
    assert checked == [*FILES]  # once
    assert Path("r.sarif").read_text() == alone["sarif"]
    assert Path("r.xml").read_text() == alone["junit"]
    plain = run("validate", *FILES)
    assert run("validate", *FILES, *files).output == plain.output
    for wrong in ("sarif", "nothing=r.txt"):
        assert run("validate", *FILES, "--report", wrong).exit_code == 2


@pytest.mark.parametrize("form", ["github", "sarif", "junit"])
def test_more_findings_than_are_kept(form: str) -> None:
    Path("many.ex").write_text(SPLIT * 2 + 'name: "a" name: "b" I: 1 T: 1;\n' * 150)
    plain = run("validate", "many.ex").output
    assert ("... and 50 more" in plain) == ("... and 50 more" in report_of("many.ex", form))


def report_of(name: str, form: str) -> str:
    """Return the report of one file."""
    return run("validate", name, "--output-format", form).stdout


def test_a_baseline_hides_what_it_has_wherever_it_moves() -> None:
    made = run("validate", "wrong.ex", "split.ex", "--baseline", "b.json", "--update-baseline")
    assert made.exit_code == 0 and made.stderr == "b.json: 2 findings\n"
    Path("wrong.ex").write_text("# a comment\n\n" + WORD)
    same = run("validate", "wrong.ex", "split.ex", "--baseline", "b.json")
    assert same.exit_code == 0 and same.output == "wrong.ex: ok\nsplit.ex: ok\n"
    Path("wrong.ex").write_text(WORD + "I: 2 six;\n")
    new = run("validate", "wrong.ex", "--baseline", "b.json")
    assert new.exit_code == 1 and "`six`" in new.stdout and "`five`" not in new.stdout
    Path("wrong.ex").write_text(WORD + WORD)
    twice = run("validate", "wrong.ex", "--baseline", "b.json")
    assert twice.exit_code == 1 and "wrong.ex:2:6" in twice.stdout


def test_a_baseline_keeps_the_entries_of_other_files_that_exist() -> None:
    for name in ("wrong.ex", "split.ex"):
        run("validate", name, "--baseline", "b.json", "--update-baseline")
    assert list(json.loads(Path("b.json").read_text())["findings"]) == ["split.ex", "wrong.ex"]
    Path("split.ex").unlink()
    run("validate", "good.ex", "--baseline", "b.json", "--update-baseline")
    assert list(json.loads(Path("b.json").read_text())["findings"]) == ["wrong.ex"]


def test_a_baseline_in_another_folder_names_the_same_files(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("validate", "wrong.ex", "--baseline", "b.json", "--update-baseline")
    (folder / "in").mkdir()
    monkeypatch.chdir(folder / "in")
    done = run("validate", "../wrong.ex", "--baseline", "../b.json")
    assert done.exit_code == 0, done.output


def test_findings_that_are_counted_but_not_kept() -> None:
    place = Place("x", field="a")

    def findings(count: int) -> Findings:
        found = Findings(keep=2)
        for _ in range(count):
            found.add(Finding("c", Severity.WARNING, "same", place))
        return found

    known = Baseline("b.json")
    known.new("x", findings(5))
    assert known.save() == 5
    again = Baseline.read("b.json")
    assert again.new("x", findings(5)).count() == 0 and again.gone == 0
    assert again.new("x", findings(7)).count() == 2
    assert again.new("x", findings(1)).count() == 0 and again.gone == 4


@pytest.mark.parametrize(
    "text",
    [
        *("", "[]", "{}", "[" * 100_000, "\xff", '{"schema": 2, "findings": {}}'),
        '{"schema": 1, "findings": {"a": 1}}',
        '{"schema": 1, "findings": {"a": {"b": {"c": "1"}}}}',
    ],
)
def test_what_is_no_baseline(text: str) -> None:
    Path("b.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(FormatError) as caught:
        Baseline.read("b.json")
    assert caught.value.code == "baseline"
