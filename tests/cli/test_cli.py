"""The command line: output and exit codes."""

import errno
import gzip
import json
import os
from pathlib import Path

import pytest

import exset
from exset import api
from exset.core.errors import Place
from tests.cli.command_line import run
from tests.lens.small_files import BAD, WARNING, XOR, write

EVIL = "\x1b[31m\u202e[bold]"

pytestmark = pytest.mark.usefixtures("folder")


def test_version_and_help() -> None:
    assert run("--version").stdout == f"exset {exset.__version__}\n"
    text = run("--help").stdout
    for verb in ("convert", "info", "validate", "cat", "formats", "demo", "doctor"):
        assert verb in text
        assert run(verb, "-h").exit_code == 0
    assert run("nonsense").exit_code == run("convert").exit_code == run("info").exit_code == 2


def test_many_files_in_processes() -> None:
    """With --jobs, output and exit code are the same, in the same order."""
    write(a_ex=XOR, b_ex=WARNING, bad_ex=BAD, c_ex_gz=gzip.compress(XOR))
    names = ("a.ex", "missing.ex", "bad.ex", "-", "b.ex", "c.ex.gz")
    for verb in (("info",), ("validate", "--json"), ("convert", "--to", "bex")):
        alone, many = (run(*verb, *names, *more, stdin=XOR) for more in ((), ("-j", "2")))
        assert (many.exit_code, many.stdout_bytes) == (alone.exit_code, alone.stdout_bytes)
        assert many.stderr == alone.stderr and alone.exit_code == 3
    assert run("convert", "a.ex", "b.ex", "--to", "bex", "-o", "out/", "-j", "0").exit_code == 0
    assert sorted(os.listdir("out")) == ["a.bex", "b.bex"]
    assert run("info", "a.ex", "-j", "-1").exit_code == 2


def test_missing_unreadable_and_unwritable() -> None:
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
    assert "choose one of" in run("cat", "exset::nothing").stderr


def test_limits() -> None:
    write(deep_ex=b"name:" + b"{" * 40 + b"}" * 40 + b" I:1;")
    for verb in ("info", "validate", "cat"):
        assert run(verb, "deep.ex").exit_code == 4
    for verb in ("info", "validate"):
        assert run(verb, "deep.ex", "--limit", "max_depth=64").exit_code == 0


def test_info() -> None:
    result = run("info", "exset::xor.ex", "exset::groups.ex")
    assert result.exit_code == 0 and result.stderr == ""
    for words in ("exset::xor.ex: Lens example file, text", "4, 4 named", "onset", "header"):
        assert words in result.stdout
    write(warn_ex=WARNING, bad_ex=BAD)
    result = run("info", "bad.ex", "warn.ex")
    assert result.exit_code == 1 and "bad.ex:2:" in result.stderr
    assert "1 warning" in result.stdout


def test_info_json() -> None:
    result = run("info", "--json", "exset::xor.ex", "exset::pulse.ex")
    first, second = map(json.loads, result.stdout.splitlines())
    head = {"schema": 1, "file": "exset::xor.ex", "ok": True, "error": None}
    assert {key: first[key] for key in head} == head
    assert (first["format"], first["bytes"]) == ("ex", len(XOR))
    assert first["summary"]["examples"] == 4 and first["summary"]["sparsity"] == 0.5
    pulse = second["summary"]
    assert pulse["header"]["default_target"] == "NaN" and pulse["events_each"] == [2, 4]


def test_info_json_of_files_that_cannot_be_read() -> None:
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
        "place": Place("missing.ex").to_dict(),
    }
    assert bad["error"]["code"] == "syntax" and bad["error"]["place"]["line"] == 2
    assert (bad["ok"], bad["format"], bad["bytes"], bad["summary"]) == (False, None, None, None)


def test_validate() -> None:
    write(xor_ex=XOR, warn_ex=WARNING, bad_ex=BAD)
    assert run("validate", "xor.ex").stdout == "xor.ex: ok\n"
    result = run("validate", "xor.ex", "warn.ex", "bad.ex")
    assert (result.exit_code, result.stderr) == (1, "")
    for words in (
        "xor.ex: ok\n",
        "warn.ex:2:2: warning: ",
        "\n ^^^^\n",
        "warn.ex: ok, 1 warning\n",
        "bad.ex:2:5: ",
        "bad.ex: not valid, 1 error\n",
    ):
        assert words in result.stdout
    assert run("validate", "warn.ex").exit_code == 0
    result = run("validate", "--strict", "warn.ex")
    assert result.exit_code == 1 and "warn.ex: not valid, 1 warning\n" in result.stdout


def test_validate_json() -> None:
    write(xor_ex=XOR, bad_ex=BAD)
    result = run("validate", "--json", "xor.ex", "missing.ex", "bad.ex")
    assert result.exit_code == 3
    good, missing, bad = map(json.loads, result.stdout.splitlines())
    assert good == {
        "schema": 1,
        "file": "xor.ex",
        "ok": True,
        "error": None,
        "stopped": False,
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


def test_many_findings_are_counted() -> None:
    write(warn_ex=b"[max:] I:2;\n" * 250)
    result = run("validate", "warn.ex")
    assert result.stdout.count("warn.ex:") == 101
    assert "... and 150 more [lens-missing-value]\n" in result.stdout
    assert result.stdout.endswith("warn.ex: ok, 250 warnings\n")
    assert "and 247 more" in run("convert", "warn.ex", "x.bex").stderr


def test_cat() -> None:
    exset.save(exset.loads(XOR), "xor.bex")
    text = run("cat", "xor.bex").stdout
    assert exset.loads(text) == exset.loads(XOR)
    assert run("cat", "exset::xor.ex").stdout == text
    assert run("cat", "-", stdin=XOR).stdout == text
    assert len(run("cat", "--compact", "xor.bex").stdout) < len(text)


def test_corrupt_files() -> None:
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
    assert "--from NAME: bex, block, cpio" in run("cat", "noise").stderr
    assert run("info", "--from", "bex", "noise").exit_code == 1


def test_formats() -> None:
    result = run("formats")
    names = [line.split()[0] for line in result.stdout.splitlines()]
    assert names == ["FORMAT", *exset.formats.names()]
    rows = [json.loads(line) for line in run("formats", "--json").stdout.splitlines()]
    assert [row["suffixes"] for row in rows][:2] == [[".ex"], [".bex"]]


def test_names_and_contents_are_escaped() -> None:
    """Neither the name nor the content of a file controls the terminal or is read as markup."""
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


def test_real_files(corpus: Path) -> None:
    """Every tenth real file: a conversion returns the same set, or the file is an error."""
    paths = sorted((corpus / "lens" / "files").rglob("*.ex*"))[::10]
    assert paths
    for path in paths:
        code = run("validate", str(path)).exit_code
        assert code in (0, 1)
        assert run("info", str(path)).exit_code == code
        result = run("convert", "-q", str(path), "-o", "x.bex")
        if result.exit_code == 0:
            assert api.load("x.bex") == api.load(path, findings=exset.Findings())
