"""`exset edit` on files of all families, whole and in chunks."""

import json
from pathlib import Path

import pytest

import exset
from exset import ExampleSet, Manifest, edit, formats, streaming
from exset.core.protocols import Selectable
from exset.families.format import Format
from exset.formats import of_files
from tests.cli.command_line import run
from tests.good_files import good_file


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("fmt", of_files(), ids=lambda fmt: fmt.name)
def test_every_format(fmt: Format) -> None:
    path = f"whole{fmt.suffix}"
    Path(path).write_bytes(good_file(fmt))
    model = exset.load(path, findings=exset.Findings())
    done = run("edit", "-q", path, "-o", f"same{fmt.suffix}", "--from", fmt.name)
    if not isinstance(model, Selectable):
        assert done.exit_code == 2 and "cannot be edited" in done.stderr
        return
    assert done.exit_code == 0, done.output
    assert not exset.diff(model, exset.load(f"same{fmt.suffix}", findings=exset.Findings()))
    reversed_twice = ("edit", path, "--select", "::-1", "--reverse", "-o", f"b{fmt.suffix}")
    assert run(*reversed_twice, "--from", fmt.name).exit_code == 0
    assert not exset.diff(model, exset.load(f"b{fmt.suffix}", findings=exset.Findings()))


def test_options_are_applied_in_their_order() -> None:
    arguments = ("--keep", "name!=00", "--select", "0:2", "--reverse")
    done = run("edit", "exset::xor.ex", *arguments, "--rename", "name", "*", "x*", "-o", "a.ex")
    assert done.stderr == "a.ex: 2 of 4 examples\n"
    assert [*exset.load("a.ex", model=ExampleSet).name] == [b"x10", b"x01"]
    done = run("edit", "exset::xor.ex", "--sort", "name", "--reverse", "--json", "-o", "b.bex")
    row = json.loads(done.stdout)
    assert (row["file"], row["format"], row["units"]) == ("b.bex", "bex", 4)
    assert exset.load("b.bex", model=ExampleSet).name[0] == b"11"
    sizes = ("--inputs", "onset=20", "--inputs", "vowel=6", "--inputs", "coda=26")
    done = run("edit", "exset::groups.ex", "--noise", "1", "--group", "onset", *sizes)
    assert done.exit_code == 0 and "(onset)" in done.stdout, done.output
    noisy = ("edit", "exset::xor.ex", "--noise", "0.5", "--clip", "0", "1")
    assert (
        run(*noisy).stdout == run(*noisy, "--seed", "0").stdout != run(*noisy, "--seed", "1").stdout
    )


def test_values_in_a_file() -> None:
    Path("bad.txt").write_bytes(b"s/001\r\n\ns/005\n")
    done = run("edit", "exset::flowers.sample_list", "--drop", "id=@bad.txt", "-o", "a.sample_list")
    assert done.stderr == "a.sample_list: 5 of 7 samples\n"
    done = run(
        "edit", "exset::flowers.sample_list", "--keep", "id = @bad.txt", "-o", "b.sample_list"
    )
    assert done.exit_code == 0 and "2 of 7" in done.stderr
    drop = ("edit", "exset::flowers.sample_list", "--drop", "id != @bad.txt", "-o", "c.sample_list")
    assert run(*drop).exit_code == 0
    assert Path("b.sample_list").read_bytes() == Path("c.sample_list").read_bytes()
    assert run("edit", "exset::xor.ex", "--keep", "name=@none").exit_code == 3


def test_files_are_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    exset.save(Manifest.of(["STRING"], [["a"], ["b"]]), "a.tsv")
    exset.save(Manifest.of(["STRING"], [["c"]]), "b.tsv")
    for small in (streaming.SMALL, 0):
        monkeypatch.setattr(streaming, "SMALL", small)
        assert run("edit", "a.tsv", "b.tsv", "-o", "all.tsv").stderr == "all.tsv: 3 records\n"
        assert [*exset.load("all.tsv", model=Manifest)] == [(b"a",), (b"b",), (b"c",)]
        done = run("edit", "a.tsv", "b.tsv", "--drop", "name=b", "--reverse", "-o", "all.tsv")
        assert done.stderr == "all.tsv: 2 of 3 records\n"
    done = run("edit", "a.tsv", "exset::xor.ex")
    assert done.exit_code == 2 and "is an example set, not a manifest" in done.stderr
    Path("h.ex").write_text("max: 4;\nI: 1 T: 1;")
    assert run("edit", "exset::xor.ex", "h.ex", "-o", "two.ex").exit_code == 0
    assert exset.load("two.ex", model=ExampleSet).effective("max_time").tolist() == [1] * 4 + [4]
    block = exset.loads(good_file(formats.get("block")))
    exset.save(block, "a.cpio")
    assert run("edit", "a.cpio", "a.cpio", "-o", "b.cpio").exit_code == 0
    assert len(exset.load("b.cpio")) == 2 * len(block)


def test_a_file_is_edited_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "SMALL", 0)
    monkeypatch.setattr(streaming, "_BLOCK", 100)
    lines = "".join(f"name: {{n{i}}} I: {i} T: 1;\n" for i in range(300))
    Path("long.ex").write_text(lines)
    assert run("edit", "long.ex", "-o", "long.ex", "--keep", "name=*7").exit_code == 0
    assert len(exset.load("long.ex")) == 30
    whole = edit.keep(exset.loads(lines, model=ExampleSet), "name=*7")
    assert Path("long.ex").read_bytes() == exset.dumps(whole, format="ex")
    done = run("edit", "-", "--drop", "name=n1*", stdin=lines.encode())
    assert len(exset.loads(done.stdout_bytes)) == 189


def test_a_range_of_ids_is_limited() -> None:
    text = "MULTI-SAMPLE_INCLUSION_V2\n9000000000 1\n.\na 9000000000 1 ... 9000000000\n"
    Path("a.sample_list").write_text(text)
    edited = run("edit", "a.sample_list", "--ids", "integer", "--reverse", "-o", "b.sample_list")
    split = run("split", "a.sample_list", "--ids", "integer", "b.sample_list=1")
    for done in (edited, split):
        assert done.exit_code == 4 and "[limit]" in done.stderr


def test_wrong_usage() -> None:
    for arguments, message in (
        (("--keep", "x"), "'x' is not a condition"),
        (("--keep", "x=1"), "has no field 'x'"),
        (("--select", "nothing"), "'nothing' selects none of the 4 examples"),
        (("--group", "a"), "--group needs --noise"),
        (("--inputs", "2"), "--inputs needs --noise"),
        (("--noise", "1", "--inputs", "a"), "is not of the form GROUP=SIZE"),
        (("--clip", "0", "1"), "--clip needs --noise"),
        (
            ("--rename", "file", "a", "b"),
            "exset can rename the name or group of an example set, not 'file'",
        ),
        (("-o", "x.json"), "cannot be written to x.json"),
        (("--json",), "would both go to standard output"),
    ):
        done = run("edit", "exset::xor.ex", *arguments)
        assert done.exit_code in (1, 2) and message in done.stderr, (arguments, done.output)
    done = run("edit", "exset::captions.tsv", "--noise", "1")
    assert done.exit_code == 2 and "expected an ExampleSet, not Manifest" in done.stderr
