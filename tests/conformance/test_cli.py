"""`exset conformance`, its reports, and the page that explains it."""

import json
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest

from exset.testing import conformance
from exset.testing.conformance import meanings
from exset.testing.conformance.written import data_of
from tests.cli.command_line import run

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "conformance.md").read_text()
REFUSES = [sys.executable, "-I", "-S", "-c", "import sys; sys.exit(1)"]
EXSET = [sys.executable, "-m", "exset", "conformance", "meaning"]


def test_list() -> None:
    lines = run("conformance", "list", "--format", "ex", "--run", "*/valid/dense-*").stdout
    assert "ex/valid/dense-values: values from unit 0 on" in lines.splitlines()
    rows = run("conformance", "list", "--json", "--run", "dense-values").stdout.splitlines()
    [row] = map(json.loads, rows)
    assert row["ok"] and row["path"] == "ex/valid/dense-values.ex" and row["agree"] == ["Lens 2.63"]


def test_meaning(tmp_path: Path) -> None:
    file = tmp_path / "a.ex"
    file.write_bytes(b"I: 1;")
    done = run("conformance", "meaning", "--format", "ex", str(file))
    assert json.loads(done.stdout) == meanings.meaning(b"I: 1;", "ex")
    file.write_bytes(b"I: 1")
    assert run("conformance", "meaning", "--format", "ex", str(file)).exit_code == 1


@pytest.mark.parametrize("format", ["bex"])
def test_exset_as_a_program(format: str) -> None:
    """In a loop, all cases of a format in one process."""
    words = ["--format", format]
    done = run(
        "conformance", "run", *words, "--loop", "--timeout", "60", "--", *EXSET, "--loop", *words
    )
    count = len(conformance.cases(format))
    count -= sum(case.verdict == "differs" for case in conformance.cases(format))
    assert done.stdout.splitlines()[-1].startswith(f"{count} of {count} cases pass (100.0%)")


def test_exset_as_a_program_for_each_case() -> None:
    done = run(
        *(
            "conformance",
            "run",
            "--format",
            "ex",
            "--run",
            "*/dense-comma",
            "--run",
            "dense-values",
        ),
        *("--timeout", "60", "--", *EXSET, "--format", "ex", "{}"),
    )
    assert done.stdout.splitlines()[-1] == "2 of 2 cases pass (100.0%)"


def test_reports(tmp_path: Path) -> None:
    forms = ["json", "junit", "tap", "sarif", "markdown"]
    words = [f"--report={form}={tmp_path / form}" for form in forms]
    chosen = ["--run", "dense-*", "--skip", "dense-values", "--without", "groups"]
    done = run("conformance", "run", "--format", "ex", *words, *chosen, "--", *REFUSES)
    assert done.exit_code == 1
    score = done.stdout.splitlines()[-1]
    found = json.loads((tmp_path / "json").read_text())
    assert found["summary"] == score and found["counts"]["error"] == 0
    assert len(found["rows"]) == sum(found["counts"].values())
    [suites] = ElementTree.fromstring((tmp_path / "junit").read_text())
    assert suites.get("failures") == str(found["counts"]["failed"])
    assert len(suites.findall(".//failure")) == found["counts"]["failed"]
    assert len(suites.findall(".//skipped")) == found["counts"]["skipped"] > 2
    lines = (tmp_path / "tap").read_text().splitlines()
    assert lines[:2] == ["TAP version 14", f"1..{len(found['rows'])}"]
    assert sum(line.startswith("not ok") for line in lines) == found["counts"]["failed"]
    assert sum(line.endswith("# SKIP") for line in lines) == found["counts"]["skipped"]
    [sarif] = json.loads((tmp_path / "sarif").read_text())["runs"]
    assert len(sarif["results"]) == found["counts"]["failed"]
    first = sarif["results"][0]
    assert sarif["tool"]["driver"]["rules"][first["ruleIndex"]]["id"] == first["ruleId"]
    assert {each["level"] for each in sarif["results"]} == {"error", "warning"}
    page = (tmp_path / "markdown").read_text()
    assert "| dense |" in page and "![exset conformance" in page and score in page


def test_one_report_on_standard_output() -> None:
    words = ("--format", "ex", "--run", "dense-comma", "--report", "tap")
    done = run("conformance", "run", *words, "--", *REFUSES)
    assert done.exit_code == 0 and done.stdout.startswith("TAP version 14\n1..1\nok 1 - ")


def test_drawn_files(tmp_path: Path) -> None:
    tap = tmp_path / "tap"
    words = ("--format", "ex", "--generate", "20", "--keep", str(tmp_path), f"--report=tap={tap}")
    done = run("conformance", "run", *words, "--", *REFUSES)
    assert done.exit_code == 1 and "expected: accepted" in done.stdout
    assert 'exset reads: {"set": {"max_time": 1.0, ' in done.stdout
    assert "not ok 1" in tap.read_text()
    [kept] = tmp_path.glob("ex/valid/drawn-*.ex")
    document = json.loads(kept.with_suffix(".meaning.json").read_text())
    assert document == meanings.meaning(kept.read_bytes(), "ex")
    assert "20 drawn files: no difference" in run(
        *("conformance", "run", "--format", "ex", "--generate", "20", "--loop", "--timeout", "60"),
        *("--", *EXSET, "--loop", "--format", "ex"),
    ).stdout  # fmt: skip


def test_the_schema_of_the_page() -> None:
    validator = jsonschema.Draft202012Validator(json.loads(conformance.schema("lens")))
    blocks = re.findall(r"^```json\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    for text, block in zip((b"I: 1 0.1 T: -;", b"b: 0 2-4;"), blocks, strict=False):
        validator.validate(json.loads(block))
        assert meanings.parsed(block.encode(), "ex") == meanings.meaning(text, "ex")

    lines = b"CONDUIT_HDF5_INCLUSION\n2 1 1\n/data\na.h5 2 1 s0 s1\n"
    records = b"a.jpg\t7\t0.5\tAAEC/w==\nb.jpg\tx\t1\t\n"
    manifest = b"@FILE\tASCII_INT\tASCII_FLOAT\tBINARY\n" + records
    request = b'{"sampler": "planned", "labels": [0, 0, 1, 1], "n": 2, "m": 1, "shuffle": false}'
    schema = b"a: {metadata: {scale: 2.0, dims: [3, 4], pack: samples}}"
    pair = b'{"data": "a: {metadata: {scale: 2.0}}", "experiment": "a:"}'
    image = b'{"type": "image", "height": 4, "width": 6, "channels": 1}'
    config = b'{"manifest_filename": "a.tsv", "batch_size": 2.7, "etl": [%s]}' % image
    cache = data_of({"block": "header:2 'two robins' | x:ffffffff trailer end"}, {})
    texts = [("sample_list", lines), ("schema", schema), ("schema_pair", pair)]
    texts += [("manifest", manifest), ("loader_config", config), ("block", cache)]
    texts.append(("sampler", request))
    for (format, text), block in zip(texts, blocks[2:], strict=True):
        assert meanings.parsed(block.encode(), format) == meanings.meaning(text, format)


def test_the_readers_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The naive one has the faults that the page shows; the shell's one reads what it can."""
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```(py|sh)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    Path("naive.py").write_text(blocks[0][1])
    Path("dense.sh").write_text(next(block for kind, block in blocks if kind == "sh"))
    words = ("conformance", "run", "--format", "ex", "--timeout", "60", "--run", "numbers-*")
    done = run(*words, "--", sys.executable, "-I", "-S", "naive.py")
    [shown] = re.findall(r"-- python naive.py\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    pattern = re.escape(shown).replace(re.escape("...\n"), "(?:.*\n)*")
    assert re.fullmatch(pattern, done.stdout), done.stdout
    lacks = "groups,multi-event,nan,proc,sparse,sharing,header"
    chosen = ("--run", "dense-*", "--run", "examples-t*", "--without", lacks)
    done = run("conformance", "run", "--format", "ex", *chosen, "--", "sh", "dense.sh")
    assert "ex/valid/dense-signs: wrong" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("16 of 22 cases pass")


def test_the_writers_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs without exset: an encoder of sample lists, a transcoder of plain Lens texts."""
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```py\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    for name, start in (("encoder.py", "import base64"), ("transcoder.py", "import struct")):
        Path(name).write_text(next(block for block in blocks if block.startswith(start)))
    for name, words, cases in (
        ("encoder.py", ("sample_list", "--role", "encoder", "--run", "list-[d-l]*"), 20),
        ("encoder.py", ("sample_list", "--role", "encoder", "--run", "integer-*"), 9),
        ("transcoder.py", ("ex", "--role", "transcoder", "--run", "dense-values"), 1),
    ):
        begin = ("conformance", "run", "--timeout", "60", "--format")
        done = run(*begin, *words, "--", sys.executable, "-I", "-S", name)
        found = re.fullmatch(r"(\d+) of (\d+) cases pass.*", done.stdout.splitlines()[-1])
        assert done.exit_code == 0 and found and int(found[1]) >= cases, done.stdout


def test_cases_need_no_hypothesis() -> None:
    code = (
        "import sys; sys.modules['hypothesis'] = None\n"
        "from exset.testing import conformance\n"
        "print(len(conformance.cases()) > 400)\n"
        "from exset.testing import example_sets"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout == "True\n" and "needs Hypothesis, of the extra `test`" in done.stderr
