"""Check a text in parts: the findings are those of the text as a whole."""

import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import exset
from exset.core.errors import Findings
from exset.core.limits import DEFAULT
from exset.core.parts import FilePart
from exset.parsers.lens import parts
from tests.cli.command_line import run

EXAMPLES = [
    "I: 1 T: 1;",
    "name: word I: 1 T: 1; I: (A) * T: 5-9;",
    "name: {a;\nb} I: 0 1 T: 1;",
    "# comment;",
    "proc: {set x 1} [1 proc: {y;\n}] I: 2 T: 1e400;",
    "I: {nan} 1 T: {inf} 2;",
    "3 [0-2 freq: 3] I: 1 T: 1;",
    "name: {ä\r\n; } I: 1 T: 1 ;",
    "I: 1;",
    "T: 1;",
]
HEADERS = ["", ";\n", "proc: {a;\n} max: 3 defI: -;", "defT: 0.5 actI: 1;\n", "7 2\n"]
texts = st.builds(
    lambda head, some, ends, damage: head + "".join(map(str.__add__, some, ends)) + damage,
    st.sampled_from(HEADERS),
    st.lists(st.sampled_from(EXAMPLES), min_size=60, max_size=60),
    st.lists(st.sampled_from(["\n", "\n", "\n\n", " \r\n"]), min_size=60, max_size=60),
    st.sampled_from(["", "", "", "I: 1 five;\n", "name: {a\n", "I: 0-900000 T: 1;\n"]),
)


def in_parts(text: bytes, count: int, limits: exset.Limits = DEFAULT) -> Findings | None:
    states = []
    for rank in range(count):
        found = Findings()
        part = FilePart("a.ex", rank, count)
        states.append((parts.check(io.BytesIO(text), "a.ex", part, found, limits, "auto"), found))
    findings = parts.joined(states, limits)
    if findings is not None:
        findings.sort()
    return findings


def whole(text: bytes, limits: exset.Limits = DEFAULT) -> Findings:
    findings = Findings()
    try:
        exset.loads(text, format="ex", name="a.ex", findings=findings, limits=limits)
    except exset.FormatError as error:
        findings.add_all(error.findings)
    findings.sort()
    return findings


def shown(findings: Findings) -> list[object]:
    return [(str(each), each.to_dict(), findings.count(each.code)) for each in findings]


@given(texts, st.integers(2, 5), st.sampled_from([DEFAULT, DEFAULT.with_(max_expand=400)]))
def test_parts_have_the_findings_of_the_whole(text: str, count: int, limits: exset.Limits) -> None:
    found = in_parts(text.encode(), count, limits)
    if found is not None:
        assert shown(found) == shown(whole(text.encode(), limits))


def test_most_texts_need_not_be_read_as_a_whole() -> None:
    text = b"defI: 0.5;\n" + b"name: {a;} I: 1 T: 1e400;\nname: b I: 2 T: 1;\n" * 200
    found = in_parts(text, 4)
    assert found is not None and found.count() == 200
    assert shown(found) == shown(whole(text))
    assert in_parts(text + b"I: five;\n", 4) is None
    assert in_parts(b"I: 1;\nT: 1;\n" * 200, 4) is None
    assert in_parts(b"3 [0-2] I: 1 T: 1;\n" * 200, 4, DEFAULT.with_(max_expand=400)) is None


def test_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = "defI: 0.5;\n" + "name: {a;} I: 1 T: 1e400;\nname: b I: 2 T: 1;\n" * 200
    Path("good.ex").write_text(text)
    Path("bad.ex").write_text(text + "I: 1 five;\n")
    words = ["validate", "-v", "good.ex", "bad.ex", "exset::xor.ex"]
    expected = run(*words)
    monkeypatch.setattr("exset.cli.checking._LARGE", 1000)
    monkeypatch.setattr(parts, "SIZE", 1000)
    assert run(*words, "--plan", "plan").exit_code == 0
    assert Path("plan").read_text().count('"part": "9/') == 2
    for flags in ([], ["--journal", "j"], ["--journal", "j", "--resume"]):
        done = run(*words, *flags)
        assert (done.stdout, done.stderr) == (expected.stdout, expected.stderr)
        assert done.exit_code == expected.exit_code == 1
