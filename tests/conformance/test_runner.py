"""The runner: programs, functions, roles, skips, and what a crash is."""

import hashlib
import re
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

import exset
from exset.core.errors import Findings
from exset.testing import conformance
from exset.testing.conformance import FunctionReader, Judge, LoopReader, ProgramReader, meanings
from exset.testing.conformance.export import exported
from exset.testing.conformance.readers import Answer
from exset.testing.conformance.runner import run, score

PYTHON = [sys.executable, "-I", "-S", "-c"]
PLUGGED = """
import pytest
from exset.testing.conformance import check_case, meaning

pytest_plugins = ["exset.testing.conformance.plugin"]


@pytest.mark.conformance("ex", only=["dense-*"], skip=["dense-star"], without=["groups"])
def test_reader(conformance_case):
    assert conformance_case.name != "dense-star"
    check_case(lambda data: meaning(data, "ex"), conformance_case)
"""
CASES = {case.name: case for case in conformance.cases("ex")}
LOOP = r"""
import sys, time
read, write = sys.stdin.buffer, sys.stdout.buffer
while line := read.readline():
    data = read.read(int(line))
    if data == b"crash": sys.exit(3)
    if data == b"hang": time.sleep(60)
    wrong = {b"odd": b"what\n", b"cut": b"0 9\nabc", b"no": b"1 0\n"}
    write.write(wrong.get(data, b"0 %d\n" % len(data) + data))
    write.flush()
    if data == b"cut": break
"""


@pytest.mark.parametrize(
    ("code", "status", "reason"),
    [
        ("print('{}')", "accepted", ""),
        ("import sys; sys.exit('not valid')", "refused", "not valid"),
        ("import sys; sys.exit(2)", "crashed", "exit code 2"),
        ("1 / 0", "crashed", "ZeroDivisionError: division by zero"),
        ("import os; os.abort()", "crashed", "exit code -6"),
        ("import time; time.sleep(60)", "timed out", "no answer in 0.5 s"),
    ],
)
def test_a_program(code: str, status: str, reason: str) -> None:
    timeout = 0.5 if status == "timed out" else 20
    answer = ProgramReader([*PYTHON, code], timeout).answer(b"I: 1;")
    assert (answer.status, answer.reason) == (status, reason)


def test_a_program_gets_the_path_or_standard_input() -> None:
    copy = "import sys; sys.stdout.buffer.write({}.read())"
    for code, more in (("open(sys.argv[1], 'rb')", ["{}"]), ("sys.stdin.buffer", [])):
        reader = ProgramReader([*PYTHON, copy.format(code), *more], 20)
        assert reader.answer(b"\xff\r\n").output == b"\xff\r\n"


def test_a_program_in_a_loop() -> None:
    """After a crash a new process answers the next case."""
    with LoopReader([*PYTHON, LOOP], 20) as reader:
        assert reader.answer(b"\xff\n") == Answer("accepted", b"\xff\n")
        assert reader.answer(b"no").status == "refused"
        assert reader.answer(b"crash").status == "crashed"
        assert reader.answer(b"a").output == b"a"
        assert "expected a status and a length" in reader.answer(b"odd").reason
        assert "3 of 9 bytes" in reader.answer(b"cut").reason
    with LoopReader([*PYTHON, LOOP], 1) as reader:
        assert reader.answer(b"a").status == "accepted"
        assert reader.answer(b"hang") == Answer("timed out", reason="no answer in 1 s")


def test_a_script_that_hangs() -> None:
    """A time limit also ends the programs that a shell script starts."""
    script, begin = ["sh", "-c", "sleep 60 & wait; sleep 60"], time.monotonic()
    with ProgramReader(script, 0.3) as reader:
        assert reader.answer(b"a") == Answer("timed out", reason="no answer in 0.3 s")
    with LoopReader(script, 0.3) as loop, pytest.raises(ValueError, match="no answer to the first"):
        loop.answer(b"a")
    assert time.monotonic() - begin < 30


def test_only_options_are_replaced() -> None:
    """Programs of awk have words in braces."""
    reader = ProgramReader(["printf", "%s", "{print} {ids}"], 20)
    assert reader.answer(b"", {"ids": "integer"}).output == b"{print} integer"
    assert reader.answer(b"").output == b"{print} "


def test_a_program_that_is_not_there() -> None:
    for kind in (ProgramReader, LoopReader):
        with pytest.raises(FileNotFoundError):
            kind(["./no-such-program"]).answer(b"")


def test_a_function() -> None:
    def reader(data: bytes) -> Mapping[str, object] | None:
        if data == b"crash":
            raise KeyError("a")
        if data == b"error":
            raise ValueError("not valid")
        return None if data == b"none" else {"examples": []}

    function = FunctionReader(reader)
    assert [function.answer(data).status for data in (b"crash", b"error", b"none", b"")] == [
        *("crashed", "refused", "refused", "accepted")
    ]


def read(data: bytes) -> Mapping[str, object]:
    return meanings.meaning(data, "ex")


def test_skips() -> None:
    """A skipped case that passes is a failure."""
    wrong, right = CASES["dense-star"], CASES["dense-comma"]

    def reader(data: bytes) -> Mapping[str, object]:
        return {"examples": []} if data == wrong.data else read(data)

    results = list(run(lambda: FunctionReader(reader), [wrong, right], skip=["dense-*"]))
    assert [each.outcome for each in results] == ["skipped", "skipped but passes"]
    assert score(results).text == "0 of 1 cases pass (0.0%), 1 skipped"
    for skip, only in ((["no"], []), ([], ["dense-*", "no"])):
        with pytest.raises(ValueError, match="no case matches 'no'"):
            conformance.check(read, "ex", skip=skip, only=only)
    with pytest.raises(ValueError, match="no case has the feature 'stars': choose one of"):
        conformance.check(read, "ex", without=["sharing", "stars"])
    with pytest.raises(conformance.NotConforming, match="remove the pattern"):
        conformance.check(read, "ex", only=["dense-comma"], skip=["*/dense-comma"])


def test_features_that_a_reader_lacks() -> None:
    judge = Judge(without=frozenset({"sparse", "multi-event"}))
    results = list(run(lambda: FunctionReader(read), CASES.values(), judge))
    total = score(results)
    assert total.unsupported > 150 and total.passed == total.run > 100


def test_the_first_failure_may_end_the_run() -> None:
    def nothing(data: bytes) -> None:
        return None

    results = list(run(lambda: FunctionReader(nothing), CASES.values(), stop_early=True))
    assert [each.failed for each in results] == [True]


def test_threads_keep_the_order() -> None:
    some = list(CASES.values())[:30]
    results = list(run(lambda: FunctionReader(read), some, parallel=3))
    assert [each.case for each in results] == some and not any(each.failed for each in results)


def test_what_differs_may_be_read_or_refused() -> None:
    case = CASES["strings-latin-1"]
    assert not Judge().judge(case, Answer("refused")).failed
    assert not Judge().judge(case, Answer("accepted", {"examples": []})).failed
    assert Judge().judge(case, Answer("crashed")).failed


def test_the_output_must_be_a_meaning() -> None:
    case = CASES["dense-values"]
    deep: dict[str, object] = {}
    for _ in range(5_000):
        deep = {"children": {"a": deep}}
    result = Judge().judge(
        conformance.cases("schema")[0], Answer("accepted", {"children": {"a": deep}})
    )
    assert "too many objects in one another" in result.messages[0]
    for output, message in ((b"no", "the meaning is not JSON"), (b"[]", "expected an object")):
        result = Judge().judge(case, Answer("accepted", output))
        assert result.outcome == "wrong" and message in result.messages[0]


def test_encoders() -> None:
    """An encoder gets a meaning, and writes a file that exset reads back."""
    judge = Judge("encoder")
    names = {case.meaning is not None and judge.question(case): case for case in CASES.values()}

    def encoder(data: bytes) -> bytes:
        return names[data].data

    results = list(run(lambda: FunctionReader(encoder), CASES.values(), judge))
    assert len(results) > 250 and not any(each.failed for each in results)
    wrong = judge.judge(CASES["dense-values"], Answer("accepted", b"I: 1;"))
    assert "expected [1 0 0.5]" in wrong.messages[0]
    invalid = judge.judge(CASES["dense-values"], Answer("accepted", b"I: 1"))
    assert "exset cannot read the output" in invalid.messages[0]


def test_transcoders() -> None:
    """A transcoder's bytes are compared with those of exset."""
    judge = Judge("transcoder", target="bex")

    def convert(data: bytes) -> bytes:
        examples = exset.loads(data, format="ex", findings=Findings())
        return exset.dumps(examples, format="bex", findings=Findings())

    some = conformance.selected(CASES.values(), ["sharing-*", "strings-*"])
    results = list(run(lambda: FunctionReader(convert), some, judge))
    assert len(results) > 40 and not any(each.failed for each in results)
    case = CASES["dense-values"]
    bytes_differ = judge.judge(case, Answer("accepted", convert(case.data) + b"more"))
    assert bytes_differ.messages == ("the bytes differ, but not the meaning",)
    assert "targets" in judge.judge(case, Answer("accepted", convert(b"I: 1 0 .5;"))).messages[0]


def test_unknown_formats() -> None:
    message = "no cases for the format 'no': choose bex, block, ex, loader_config, manifest"
    with pytest.raises(ValueError, match=message):
        conformance.cases("no")
    with pytest.raises(ValueError, match="cannot compare files of the format 'npz'"):
        conformance.meaning(b"", "npz")


def test_the_plugin(tmp_path: Path) -> None:
    test = tmp_path / "test_it.py"
    test.write_text(PLUGGED)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-p", "no:cacheprovider"]
    done = subprocess.run([*command, str(test)], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert re.search(r"\d\d passed, \d+ skipped, 1 xfailed", done.stdout), done.stdout


def test_export_is_the_same_everywhere(tmp_path: Path) -> None:
    """A change of these bytes needs another version."""
    found = dict(exported())
    assert len(found) > 800 and sum(map(len, found.values())) < 3_000_000
    digest = hashlib.sha256()
    for path, data in found.items():
        digest.update(path.encode() + b"\0" + data)
    assert (conformance.VERSION, digest.hexdigest()[:16]) == (1, "73bc3da41db03970")
    assert (
        conformance.export(str(tmp_path), "bex")
        == sum(path.startswith("bex/") for path in found) + 3
    )
    assert (tmp_path / "bex" / "valid" / "binary-empty.bex").read_bytes()[:4] == b"\xaa" * 4
