"""Read a text in parts: the results are those of the text as a whole."""

import io
import json
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from click.testing import Result
from hypothesis import given
from hypothesis import strategies as st

import exset
from exset import formats
from exset.core.errors import Findings
from exset.core.limits import DEFAULT
from exset.core.parts import FilePart, PartState
from exset.core.records import from_json, to_json
from exset.io.blocks import Blocks
from exset.parsers.lens import parts
from exset.runtime.lens.report import SetTally
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
        state, _ = read(text, rank, count, found, limits)
        states.append((state, found))
    findings = parts.joined(states, limits)
    if findings is not None:
        findings.sort()
    return findings


def read(
    text: bytes, rank: int, count: int, findings: Findings, limits: exset.Limits
) -> tuple[PartState, list[exset.ExampleSet]]:
    """Read a part of a text: return its state, and its examples."""
    blocks = Blocks("a.ex", [text], len(text), file=io.BytesIO(text))
    models = parts.read(blocks, FilePart("a.ex", rank, count), findings, limits, "auto")
    found = []
    while True:
        try:
            found.append(next(models))
        except StopIteration as end:
            return end.value, found


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


@given(texts, st.integers(2, 5), st.booleans())
def test_the_counts_of_parts_give_those_of_the_whole(text: str, count: int, full: bool) -> None:
    """They are equal bit for bit, also if a journal has kept them."""
    read_parts = [read(text.encode(), r, count, Findings(), DEFAULT) for r in range(count)]
    if not all(state.is_certain for state, _ in read_parts):
        return
    joined, chunked = SetTally(full), SetTally(full)
    for _, models in read_parts:
        tally = SetTally(full)
        for model in models:
            tally.add(model)
            chunked.add(model)
        joined.merge(from_json(SetTally, json.loads(json.dumps(to_json(tally)))))
    as_whole = exset.loads(text.encode(), format="ex", findings=Findings())
    expected = formats.get("ex").family.summarise([as_whole], detailed=full)
    found = joined.report()
    assert (found.rows(), repr(found.to_dict())) == (
        chunked.report().rows(),
        repr(chunked.report().to_dict()),
    )
    memory = {"memory": 0}  # a model that was joined may take a byte less
    assert repr(found.to_dict() | memory) == repr(expected.to_dict() | memory)


def test_most_texts_need_not_be_read_as_a_whole() -> None:
    text = b"defI: 0.5;\n" + b"name: {a;} I: 1 T: 1e400;\nname: b I: 2 T: 1;\n" * 200
    found = in_parts(text, 4)
    assert found is not None and found.count() == 200
    assert shown(found) == shown(whole(text))
    assert in_parts(text + b"I: five;\n", 4) is None
    assert in_parts(b"I: 1;\nT: 1;\n" * 200, 4) is None
    assert in_parts(b"3 [0-2] I: 1 T: 1;\n" * 200, 4, DEFAULT.with_(max_expand=400)) is None


@pytest.fixture
def large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Two files, without and with an error; a function that lets exset divide them."""
    monkeypatch.chdir(tmp_path)
    text = "defI: 0.5; proc: {x}\n" + "name: {a;} I: 1 T: 1e400;\nname: b I: 2 T: 1;\n" * 200
    lossy = "name: {} I: (A) 0.1 T: 1; freq: -2 T: 1e400 I: 0 1;\n" * 9
    Path("good.ex").write_text(text + lossy + text.partition("\n")[2] + lossy)
    Path("bad.ex").write_text(text + "I: 1 five;\n")

    def divide() -> None:
        monkeypatch.setattr("exset.cli.dividing._LARGE", 1000)
        monkeypatch.setattr(parts, "SIZE", 1000)

    return divide


COMMANDS = [
    "validate -v good.ex bad.ex exset::xor.ex",
    "stats --json good.ex bad.ex exset::xor.ex",
    "info -v good.ex bad.ex",
    "stats --strict good.ex",
    "convert -v --lossy -o out/ --to bex good.ex bad.ex exset::xor.ex",
    "convert -v --lossy --compact -o out/ --to ex good.ex bad.ex",
    "convert -o out/ --to bex good.ex exset::xor.ex",
    "convert --strict --lossy -o out/ --to bex good.ex",
    "convert --lossy good.ex out.bex.gz",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_commands(command: str, large: Callable[[], None]) -> None:
    """They print and write the same, in parts, with journals and in shares."""
    words = command.split()
    expected, written = run(*words), outputs()
    is_lossy = words[0] == "convert" and "--lossy" not in words
    assert expected.exit_code == int("bad.ex" in words or "--strict" in words or is_lossy)
    large()
    if words[0] == "convert":
        done = run(*words, "--jobs", "2")
        assert_same(done, expected)
        assert outputs() == written
    run(*words, "--plan", "plan")
    rows = [json.loads(line) for line in Path("plan").read_text().splitlines()]
    assert sum((row["part"] or "").startswith("9/") for row in rows) == len(
        {"good.ex", "bad.ex"} & set(words)
    )
    for flags in (["--journal", "j"], ["--journal", "j", "--resume"]):
        remove_outputs(written)
        assert_same(run(*words, *flags), expected)
        assert outputs() == written
    for share in ("1/3", "2/3", "3/3"):
        assert run(*words, "--shard", share, "--journal", "s/").exit_code == 0
    remove_outputs([path for path in written if "xor" not in path])  # a small file has no parts
    flags = [word for word in words if word in ("-v", "--json")]
    for _ in range(2):
        assert_same(run("gather", "s/*", *flags), expected)
        assert outputs() == written


def outputs() -> dict[str, bytes]:
    """The files that `convert` writes, without those of parts."""
    paths = [*Path("out").glob("*"), *Path().glob("out.*")]
    return {str(path): path.read_bytes() for path in paths if path.is_file()}


def remove_outputs(paths: Iterable[str]) -> None:
    for path in paths:
        Path(path).unlink()


def assert_same(done: Result, expected: Result) -> None:
    assert (done.stdout, done.stderr.splitlines()) == (
        expected.stdout,
        expected.stderr.splitlines(),
    )
    assert done.exit_code == expected.exit_code
