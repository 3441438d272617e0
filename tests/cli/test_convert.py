"""`exset convert`: its inputs, outputs and wrong uses."""

import gzip
import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import exset
from exset.cli.convert_plan import plan
from tests.cli.command_line import run
from tests.lens.small_files import BAD, WARNING, XOR, write

pytestmark = pytest.mark.usefixtures("folder")


def test_convert_one() -> None:
    write(xor_ex=XOR)
    result = run("convert", "xor.ex", "xor.bex")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "xor.ex -> xor.bex: 4 examples\n"
    assert exset.load("xor.bex") == exset.load("xor.ex")
    assert run("convert", "-q", "xor.bex", "-o", "new.ex.gz").stderr == ""
    assert exset.load("new.ex") == exset.load("xor.ex")


def test_convert_many() -> None:
    write(a_ex=XOR, b_ex=XOR, bad_ex=BAD, c_ex_gz=gzip.compress(XOR))
    result = run("convert", "--to", "bex", "a.ex", "bad.ex", "b.ex", "c.ex.gz")
    assert result.exit_code == 1
    assert "bad.ex:2:5: " in result.stderr and "I:2 five;" in result.stderr
    assert sorted(path.name for path in Path().glob("*.bex")) == ["a.bex", "b.bex", "c.bex"]
    assert run("convert", "a.ex", "b.ex", "--to", "bex", "-o", "out/deep/").exit_code == 0
    assert sorted(os.listdir("out/deep")) == ["a.bex", "b.bex"]
    assert run("convert", "a.ex", "--to", "bex", "-o", "new/").exit_code == 0
    assert os.listdir("new") == ["a.bex"]


def test_convert_through_pipes() -> None:
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
    "arguments",
    [
        "a.ex",
        "a.ex b.ex c.ex",
        "a.ex b.ex",
        "a.ex -o a.ex",
        "--to ex a.ex",
        "a.ex -o link.ex",
        "a.ex b.ex --to bex -o a.bex",
        "a.ex b.ex --to bex -o -",
        "a.ex sub/a.ex --to bex -o out/",
        "a.ex b.ex --to bex -o out",
        "a.ex a.ex",
        "a.ex sub",
        "a.ex x.txt",
        "a.ex -",
        "a.ex x.bex --compact",
        "a.ex x.bex --limit speed=3",
        "a.ex x.bex --limit max_depth",
        "a.ex x.bex --to cat",
        "a.ex -o exset::a.bex",
        "- a.ex --to bex -o out/",
    ],
)
def test_convert_refuses_a_wrong_use_and_writes_nothing(arguments: str) -> None:
    os.mkdir("sub")
    write(a_ex=XOR, b_ex=XOR, c_ex=XOR, a_bex=b"old")
    Path("sub/a.ex").write_bytes(XOR)
    os.link("a.ex", "link.ex")
    before = {path: path.read_bytes() for path in Path().rglob("*.*")}
    result = run("convert", *arguments.split())
    assert (result.exit_code, result.stdout) == (2, "")
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


def test_convert_options() -> None:
    write(warn_ex=WARNING, negative_ex=b"freq:-1 I:1;", xor_ex=XOR)
    result = run("convert", "warn.ex", "warn.bex")
    assert result.exit_code == 0 and "warn.ex:2:2: warning: " in result.stderr
    result = run("convert", "--strict", "warn.ex", "strict.bex")
    assert result.exit_code == 1 and not os.path.exists("strict.bex")
    result = run("convert", "negative.ex", "n.bex")
    assert result.exit_code == 1 and result.stderr.startswith("negative.ex: (examples[0].freq")
    assert "with --lossy it" in result.stderr
    assert run("convert", "--lossy", "negative.ex", "n.bex").exit_code == 0
    assert run("convert", "xor.ex", "--compact", "-o", "small.ex").exit_code == 0
    assert exset.load("small.ex") == exset.loads(XOR)
    assert os.path.getsize("small.ex") < os.path.getsize("xor.ex")


def test_a_dry_run_writes_nothing() -> None:
    write(xor_ex=XOR, negative_ex=b"freq:-1 I:1;")
    exset.save(exset.load("xor.ex"), "whole.bex")
    written = os.path.getsize("whole.bex")
    result = run("convert", "-n", "xor.ex", "new/a.bex")
    assert result.exit_code == 0 and not os.path.exists("new")
    assert (
        result.stderr == f"xor.ex -> new/a.bex: 4 examples, {written} bytes; nothing is written\n"
    )
    result = run("convert", "--dry-run", "--json", "xor.ex", "a.npy", "--to", "bex")
    [row] = [json.loads(line) for line in result.stdout.splitlines()]
    assert (row["units"], row["bytes"], row["written"]) == (4, written, False)


def test_a_dry_run_reports_each_loss() -> None:
    write(negative_ex=b"freq:-1 I:1;")
    result = run("convert", "-n", "negative.ex", "n.bex")
    assert result.exit_code == 0 and "[lens-binary-loss]" in result.stderr
    exset.save(exset.Table.of({"a": [1], "b": ["x"]}), "t.npz")
    found = exset.Findings()
    assert exset.convert("t.npz", "t.npy", dry_run=True, findings=found) == 1
    assert [each.code for each in found] == ["table-dropped"] * 2 and not os.path.exists("t.npy")
    with pytest.raises(exset.FormatError, match="does not store the name"):
        exset.convert("t.npz", "t.npy")


def test_the_second_of_two_paths_is_the_output_unless_it_is_there_to_be_read() -> None:
    write(a_ex=XOR)
    os.mkdir("out")
    assert run("convert", "a.ex", "out", "--to", "bex").exit_code == 0
    assert run("convert", "a.ex", "new.dat", "--to", "bex").exit_code == 0
    assert sorted(os.listdir()) == ["a.ex", "new.dat", "out"]
    assert os.listdir("out") == ["a.bex"]
