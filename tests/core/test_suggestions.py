"""Suggestions for misspelled names: of members, directives, commands and files."""

from pathlib import Path

import pytest

import exset
from exset.core.suggestions import did_you_mean, nearest
from tests.cli.command_line import run


def test_similar_names() -> None:
    assert nearest("heigth", ["height", "width"]) == "height"
    assert nearest("elt", ["etl"]) == "etl" and nearest("once", ["ONCE", "COUNT"]) == "ONCE"
    assert nearest("zzzzzz", ["height"]) is None and nearest("x" * 10**6, ["x"]) is None
    assert did_you_mean("widht", ["width"]) == "did you mean 'width'?"
    assert did_you_mean("a", []) == ""


def test_a_misspelled_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    exset.save(exset.load("exset::xor.ex"), "train.ex")
    (tmp_path / "trains.ex").mkdir()
    for name in ("trian.ex", "Train.ex", "train.ex.gz"):
        with pytest.raises(FileNotFoundError, match=r"No such file.*; did you mean train\.ex\?"):
            exset.load(name)
    with pytest.raises(FileNotFoundError) as caught:
        exset.load("other.tsv")
    assert caught.value.strerror == "No such file or directory"
    with pytest.raises(FileNotFoundError, match=f"did you mean {tmp_path}/train.ex"):
        exset.load(tmp_path / "tain.ex")
    done = run("info", "tran.ex")
    assert done.exit_code == 3 and "tran.ex: No such file" in done.stderr
    assert done.stderr.endswith("did you mean train.ex?\n")


def test_a_misspelled_directive() -> None:
    findings = exset.Findings()
    text = "a:\n  metadata:\n    scal: 1\n    zzz: 2\n"
    exset.loads(text, format="schema", findings=findings)
    hints = [found.hint for found in findings if found.code == "lbann-unknown-directive"]
    assert hints[0] == "did you mean 'scale'?" and str(hints[1]).startswith("LBANN reads")


@pytest.mark.parametrize("words", [(), ("info",), ("list",), ("list", "build")])
def test_help_is_that_of_the_command(words: tuple[str, ...]) -> None:
    assert run("help", *words).stdout == run(*words, "--help").stdout


def test_help_of_an_unknown_command() -> None:
    assert "Did you mean 'validate'?" in run("help", "validat").stderr
    assert run("help", "list", "x").exit_code == 2
    done = run("help", "info", "x")
    assert done.exit_code == 2 and "no command 'x': cli info has no subcommands" in done.stderr
