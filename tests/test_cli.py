import errno
import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

import exset
from exset import api, formats, samples, streaming, voice
from exset.cli import cli
from exset.cli.convert import plan
from exset.errors import Place
from exset.format import Format

XOR = samples.read("xor.ex").data
TRAP = b"I:1 T:1;\n[max:] I:2 T:0;\n"
BAD = b"I:1 T:1;\nI:2 five;\n"
EVIL = "\x1b[31m\u202e[bold]"

Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the command line in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str, stdin: bytes | None = None) -> Result:
        result = CliRunner().invoke(cli, arguments, input=stdin)
        assert result.exception is None or isinstance(result.exception, SystemExit)
        assert "Traceback" not in result.stderr
        return result

    return call


def write(**files: bytes) -> None:
    for name, data in files.items():
        Path(name.replace("_", ".")).write_bytes(data)


def test_version_and_help(run: Run) -> None:
    assert run("--version").stdout == f"exset {exset.__version__}\n"
    text = run("--help").stdout
    for verb in ("convert", "info", "validate", "cat", "formats", "demo", "doctor"):
        assert verb in text
        assert run(verb, "-h").exit_code == 0
    assert run("nonsense").exit_code == run("convert").exit_code == run("info").exit_code == 2


def test_convert_one(run: Run) -> None:
    write(xor_ex=XOR)
    result = run("convert", "xor.ex", "xor.bex")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "xor.ex -> xor.bex: 4 examples\n"
    assert exset.load("xor.bex") == exset.load("xor.ex")
    assert run("convert", "-q", "xor.bex", "-o", "new.ex.gz").stderr == ""
    assert exset.load("new.ex") == exset.load("xor.ex")


def test_convert_many(run: Run) -> None:
    write(a_ex=XOR, b_ex=XOR, bad_ex=BAD, c_ex_gz=gzip.compress(XOR))
    result = run("convert", "--to", "bex", "a.ex", "bad.ex", "b.ex", "c.ex.gz")
    assert result.exit_code == 1
    assert "bad.ex:2:5: " in result.stderr and "I:2 five;" in result.stderr
    assert sorted(path.name for path in Path().glob("*.bex")) == ["a.bex", "b.bex", "c.bex"]
    assert run("convert", "a.ex", "b.ex", "--to", "bex", "-o", "out/deep/").exit_code == 0
    assert sorted(os.listdir("out/deep")) == ["a.bex", "b.bex"]
    assert run("convert", "a.ex", "--to", "bex", "-o", "new/").exit_code == 0
    assert os.listdir("new") == ["a.bex"]


def test_many_files_in_processes(run: Run) -> None:
    """With --jobs all is said and done as without, in the same order."""
    write(a_ex=XOR, b_ex=TRAP, bad_ex=BAD, c_ex_gz=gzip.compress(XOR))
    names = ("a.ex", "missing.ex", "bad.ex", "-", "b.ex", "c.ex.gz")
    for verb in (
        ("info",),
        ("info", "--json"),
        ("validate",),
        ("validate", "--json"),
        ("convert", "--to", "bex"),
    ):
        alone, many = (run(*verb, *names, *more, stdin=XOR) for more in ((), ("-j", "3")))
        assert (many.exit_code, many.stdout_bytes) == (alone.exit_code, alone.stdout_bytes)
        assert many.stderr == alone.stderr and alone.exit_code == 3
    assert run("convert", "a.ex", "b.ex", "--to", "bex", "-o", "out/", "-j", "0").exit_code == 0
    assert sorted(os.listdir("out")) == ["a.bex", "b.bex"]
    assert run("info", "a.ex", "-j", "-1").exit_code == 2


def test_what_the_library_says_is_shown_once(
    run: Run, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def recognise(*arguments: object) -> Format:
        voice.say("compiling: this takes a while")
        return formats.get("ex")

    monkeypatch.setattr(streaming, "recognise", recognise)
    write(a_ex=XOR, b_ex=XOR)
    result = run("convert", "-q", "a.ex", "b.ex", "--to", "bex")
    assert (result.exit_code, result.stderr) == (0, "exset: compiling: this takes a while\n")
    assert not caplog.records
    voice.say("to the log, for nobody listens any more")
    assert caplog.records[0].name == "exset"


def test_convert_through_pipes(run: Run) -> None:
    binary = exset.dumps(exset.loads(XOR), format="bex")
    write(xor_ex=XOR)
    for arguments in (
        ("-", "-o", "-", "--to", "bex"),
        ("-", "--to", "bex"),
        ("-", "-", "--to", "bex"),
        ("xor.ex", "-", "--to", "bex"),
    ):
        result = run("convert", *arguments, stdin=XOR)
        assert (result.exit_code, result.stdout_bytes) == (0, binary)
    assert run("convert", "-", "x.ex", stdin=binary).exit_code == 0
    assert exset.load("x.ex") == exset.loads(XOR)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("a.ex",), "say where to"),
        (("a.ex", "b.ex", "c.ex"), "say where to"),
        (("a.ex", "b.ex"), "say -o b.ex to replace it"),
        (("a.ex", "-o", "a.ex"), "is an input itself"),
        (("--to", "ex", "a.ex"), "is an input itself"),
        (("a.ex", "-o", "link.ex"), "is an input itself"),
        (("a.ex", "b.ex", "--to", "bex", "-o", "a.bex"), "is not a folder"),
        (("a.ex", "b.ex", "--to", "bex", "-o", "-"), "is not a folder"),
        (("a.ex", "sub/a.ex", "--to", "bex", "-o", "out/"), "would both be"),
        (("a.ex", "b.ex", "--to", "bex", "-o", "out"), "is not a folder; say -o out/"),
        (("a.ex", "a.ex"), "is an input itself"),
        (("a.ex", "sub"), "a folder does not say which format"),
        (("a.ex", "x.txt"), "x.txt does not say which format"),
        (("a.ex", "-"), "--to FORMAT"),
        (("a.ex", "sub"), "--to FORMAT"),
        (("a.ex", "x.bex", "--compact"), "--compact has no meaning for bex"),
        (("a.ex", "x.bex", "--limit", "speed=3"), "no limit is called 'speed'"),
        (("a.ex", "x.bex", "--limit", "max_depth"), "max_depth must be a whole number"),
        (("a.ex", "x.bex", "--to", "tsv"), "'tsv'"),
        (("a.ex", "-o", "exset::a.bex"), "bundled sample"),
        (("-", "a.ex", "--to", "bex", "-o", "out/"), "standard input has no name"),
    ],
)
def test_convert_refuses(run: Run, arguments: tuple[str, ...], words: str) -> None:
    os.mkdir("sub")
    write(a_ex=XOR, b_ex=XOR, c_ex=XOR, a_bex=b"old")
    Path("sub/a.ex").write_bytes(XOR)
    os.link("a.ex", "link.ex")
    before = {path: path.read_bytes() for path in Path().rglob("*.*")}
    result = run("convert", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert words in " ".join(result.stderr.split())
    assert {path: path.read_bytes() for path in Path().rglob("*.*")} == before


@given(
    st.lists(
        st.sampled_from(["a.ex", "b/a.ex", "a.bex.gz", "c", "-", "exset::xor.ex"]), min_size=1
    ),
    st.none() | st.sampled_from(["-", "o.ex", "o.bex.gz", "o/", "o"]),
    st.none() | st.sampled_from(exset.formats.names()),
)
def test_a_plan_never_writes_twice(inputs: list[str], output: str | None, to: str | None) -> None:
    import click

    try:
        jobs = plan(tuple(inputs), output, to)
    except click.UsageError:
        return
    targets = [job.target for job in jobs if job.target != "-"]
    sources = {job.source for job in jobs}
    assert len(set(targets)) == len(targets) and not set(targets) & sources


def test_convert_options(run: Run) -> None:
    write(trap_ex=TRAP, negative_ex=b"freq:-1 I:1;", xor_ex=XOR)
    result = run("convert", "trap.ex", "trap.bex")
    assert result.exit_code == 0 and "trap.ex:2:2: warning: " in result.stderr
    result = run("convert", "--strict", "trap.ex", "strict.bex")
    assert result.exit_code == 1 and not os.path.exists("strict.bex")
    result = run("convert", "negative.ex", "n.bex")
    assert result.exit_code == 1 and result.stderr.startswith("negative.ex: (examples[0].freq")
    assert "hint: say --lossy, or lossy=True in Python" in result.stderr
    assert run("convert", "--lossy", "negative.ex", "n.bex").exit_code == 0
    assert run("convert", "xor.ex", "--compact", "-o", "small.ex").exit_code == 0
    assert exset.load("small.ex") == exset.loads(XOR)
    assert os.path.getsize("small.ex") < os.path.getsize("xor.ex")


def test_missing_unreadable_and_unwritable(run: Run) -> None:
    write(xor_ex=XOR)
    result = run("convert", "missing.ex", "x.bex")
    assert result.exit_code == 3
    assert result.stderr == f"exset: missing.ex: {os.strerror(errno.ENOENT)}\n"
    for verb in ("info", "validate", "cat"):
        result = run(verb, "missing.ex")
        assert (result.exit_code, result.stdout) == (3, "")
        assert "missing.ex" in result.stderr
        assert run(verb, ".").exit_code == 3
    result = run("convert", "xor.ex", "nowhere/x.bex")
    assert result.exit_code == 3 and "nowhere/x.bex" in result.stderr
    assert "there are" in run("cat", "exset::nothing").stderr


def test_limits(run: Run) -> None:
    write(deep_ex=b"name:" + b"{" * 40 + b"}" * 40 + b" I:1;")
    for verb in ("info", "validate", "cat"):
        assert run(verb, "deep.ex").exit_code == 4
    for verb in ("info", "validate"):
        assert run(verb, "deep.ex", "--limit", "max_depth=64").exit_code == 0


def test_info(run: Run) -> None:
    result = run("info", "exset::xor.ex", "exset::groups.ex")
    assert result.exit_code == 0 and result.stderr == ""
    for words in ("exset::xor.ex: Lens example file, text", "4, 4 named", "onset", "header"):
        assert words in result.stdout
    write(trap_ex=TRAP, bad_ex=BAD)
    result = run("info", "bad.ex", "trap.ex")
    assert result.exit_code == 1 and "bad.ex:2:" in result.stderr
    assert "1 warning" in result.stdout


def test_info_json(run: Run) -> None:
    result = run("info", "--json", "exset::xor.ex", "exset::pulse.ex")
    first, second = map(json.loads, result.stdout.splitlines())
    head = {"schema": 1, "file": "exset::xor.ex", "ok": True, "error": None}
    assert {key: first[key] for key in head} == head
    assert (first["format"], first["bytes"]) == ("ex", len(XOR))
    assert first["summary"]["examples"] == 4 and first["summary"]["sparsity"] == 0.5
    pulse = second["summary"]
    assert pulse["header"]["default_target"] == "NaN" and pulse["events_each"] == [2, 4]


def test_info_json_of_what_cannot_be_read(run: Run) -> None:
    write(xor_ex=XOR, bad_ex=BAD)
    result = run("info", "--json", "missing.ex", "bad.ex", "xor.ex")
    assert result.exit_code == 3 and result.stderr.startswith("exset: missing.ex: ")
    missing, bad, good = map(json.loads, result.stdout.splitlines())
    assert list(missing) == list(bad) == list(good)
    assert list(missing["error"]) == list(bad["error"])
    assert missing["error"] == {
        "code": "system",
        "severity": "error",
        "message": os.strerror(errno.ENOENT),
        "hint": None,
        "place": Place.of("missing.ex").to_dict(),
    }
    assert bad["error"]["code"] == "syntax" and bad["error"]["place"]["line"] == 2
    assert (bad["ok"], bad["format"], bad["bytes"], bad["summary"]) == (False, None, None, None)


def test_validate(run: Run) -> None:
    write(xor_ex=XOR, trap_ex=TRAP, bad_ex=BAD)
    assert run("validate", "xor.ex").stdout == "xor.ex: ok\n"
    result = run("validate", "xor.ex", "trap.ex", "bad.ex")
    assert (result.exit_code, result.stderr) == (1, "")
    for words in (
        "xor.ex: ok\n",
        "trap.ex:2:2: warning: ",
        "\n ^^^^\n",
        "trap.ex: ok, 1 warning\n",
        "bad.ex:2:5: ",
        "bad.ex: not valid, 1 error\n",
    ):
        assert words in result.stdout
    assert run("validate", "trap.ex").exit_code == 0
    result = run("validate", "--strict", "trap.ex")
    assert result.exit_code == 1 and "trap.ex: not valid, 1 warning\n" in result.stdout


def test_validate_json(run: Run) -> None:
    write(xor_ex=XOR, bad_ex=BAD)
    result = run("validate", "--json", "xor.ex", "missing.ex", "bad.ex")
    assert result.exit_code == 3
    good, missing, bad = map(json.loads, result.stdout.splitlines())
    assert good == {
        "schema": 1,
        "file": "xor.ex",
        "ok": True,
        "error": None,
        "counts": {"error": 0, "warning": 0, "note": 0},
        "findings": [],
    }
    assert list(missing) == list(bad) == list(good)
    assert missing["ok"] is False and missing["error"]["place"]["source"] == "missing.ex"
    assert missing["counts"] == good["counts"] and missing["findings"] == []
    assert (bad["ok"], bad["error"]) == (False, None)
    assert bad["counts"] == {"error": 1, "warning": 0, "note": 0}
    (row,) = bad["findings"]
    assert (row["severity"], row["place"]["line"], row["place"]["column"]) == ("error", 2, 5)


def test_many_findings_are_counted(run: Run) -> None:
    write(trap_ex=b"[max:] I:2;\n" * 250)
    result = run("validate", "trap.ex")
    assert result.stdout.count("trap.ex:") == 101
    assert "... and 150 more [lens-missing-value]\n" in result.stdout
    assert result.stdout.endswith("trap.ex: ok, 250 warnings\n")
    assert "and 247 more" in run("convert", "trap.ex", "x.bex").stderr


def test_cat(run: Run) -> None:
    exset.save(exset.loads(XOR), "xor.bex")
    text = run("cat", "xor.bex").stdout
    assert exset.loads(text) == exset.loads(XOR)
    assert run("cat", "exset::xor.ex").stdout == text
    assert run("cat", "-", stdin=XOR).stdout == text
    assert len(run("cat", "--compact", "xor.bex").stdout) < len(text)


def test_corrupt_files(run: Run) -> None:
    binary = exset.dumps(exset.loads(XOR), format="bex")
    write(
        cut_bex=binary[:-3],
        cut_gz=gzip.compress(XOR)[:-9],
        empty_ex=b"",
        noise=bytes(range(256)),
        swapped_bex=binary[:4] + binary[7:3:-1] + binary[8:],
    )
    for name in ("cut.bex", "cut.gz", "empty.ex", "noise", "swapped.bex"):
        for verb in ("info", "cat", "validate"):
            result = run(verb, name)
            assert result.exit_code == 1
            assert (result.stdout if verb == "validate" else result.stderr).startswith(name)
    assert "Python: ex (" in run("cat", "noise").stderr
    assert run("info", "--from", "bex", "noise").exit_code == 1


def test_formats(run: Run) -> None:
    result = run("formats")
    names = [line.split()[0] for line in result.stdout.splitlines()]
    assert names == list(exset.formats.names())
    rows = [json.loads(line) for line in run("formats", "--json").stdout.splitlines()]
    assert [row["suffixes"] for row in rows][:2] == [[".ex"], [".bex"]]


def test_names_and_contents_are_escaped(run: Run) -> None:
    """Neither a file's name nor what is in it may drive the terminal, or be taken for markup."""
    name = f"{EVIL}.ex"
    Path(name).write_bytes(
        f"name:{{{EVIL}}} I:({EVIL.replace('[', '').replace(']', '')}) 1".encode()
    )
    write(good_ex=XOR)
    Path(f"good{name}").write_bytes(XOR)
    for arguments in (
        ("info", name),
        ("validate", name),
        ("validate", "--json", name),
        ("cat", name),
        ("info", f"good{name}"),
        ("convert", f"good{name}", f"{EVIL}.bex"),
        ("convert", "--to", "ex", f"good{name}"),
        ("convert", "good.ex", EVIL),
        ("cat", f"missing{EVIL}"),
        (EVIL,),
        ("info", f"--{EVIL}"),
        ("convert", "good.ex", "x.bex", "--limit", EVIL),
        ("demo", "."),
    ):
        result = run(*arguments)
        for text in (result.stdout, result.stderr):
            assert not {"\x1b", "\u202e"} & set(text), arguments
    assert "[bold]" in run("info", name).stderr


def test_real_files(run: Run, corpus: Path) -> None:
    """Every verb on every tenth real file: the same set comes back, or the file is refused."""
    paths = sorted((corpus / "lens" / "files").rglob("*.ex*"))[::10]
    assert paths
    for path in paths:
        code = run("validate", str(path)).exit_code
        assert code in (0, 1)
        assert run("info", str(path)).exit_code == code
        result = run("convert", "-q", str(path), "-o", "x.bex")
        if result.exit_code == 0:
            assert api.load("x.bex") == api.load(path, findings=exset.Findings())


def test_the_second_of_two_paths_is_the_output_unless_it_is_there_to_be_read(run: Run) -> None:
    write(a_ex=XOR)
    os.mkdir("out")
    assert run("convert", "a.ex", "out", "--to", "bex").exit_code == 0
    assert run("convert", "a.ex", "new.dat", "--to", "bex").exit_code == 0
    assert sorted(os.listdir()) == ["a.ex", "new.dat", "out"]
    assert os.listdir("out") == ["a.bex"]
