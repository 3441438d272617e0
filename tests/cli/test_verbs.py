"""Every command on every format: output and exit code."""

import json
import os
from inspect import signature
from pathlib import Path

import pytest

import exset
from exset import Manifest, SampleList, formats
from exset.cli import cli
from exset.core.protocols import Model, Selectable
from exset.families.format import Format
from exset.formats import of_files
from exset.grammars.aeon.block import Block
from exset.runtime.aeon.cache_plan import Plan
from exset.runtime.aeon.elements import elements, encoded
from exset.runtime.aeon.manifest_dataset import ManifestDataset
from exset.runtime.lbann.sample_reader import SampleReader
from tests.cli.command_line import run
from tests.good_files import good_file

every = pytest.mark.parametrize("fmt", of_files(), ids=lambda fmt: fmt.name)


@pytest.fixture
def file(fmt: Format, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of a format, alone in the current folder."""
    monkeypatch.chdir(tmp_path)
    path = Path(f"whole{fmt.suffix}")
    path.write_bytes(good_file(fmt))
    return path


@every
def test_every_verb_on_a_good_file(fmt: Format, file: Path) -> None:
    model = exset.load(file, findings=exset.Findings())
    assert run("info", file).exit_code == run("stats", file).exit_code == 0
    for verb in ("info", "stats"):
        row = json.loads(run(verb, "--json", file).stdout)
        assert (row["schema"], row["ok"], row["format"]) == (1, True, fmt.name)
    done = run("validate", file)
    assert done.exit_code == 0 and f"{file}: ok" in done.stdout
    texts = [other for other in formats.writers_of(fmt.family) if not other.binary]
    if not any(other is fmt or not other.is_partial for other in texts):
        assert run("cat", file).exit_code == run("head", file).exit_code == 1
    else:
        _check_text_of(fmt, file, model)
    splits = isinstance(model, Selectable)
    done = run("split", file, f"1{fmt.suffix}=1", f"2{fmt.suffix}=rest")
    assert done.exit_code == (0 if splits else 2)
    assert os.path.exists(f"2{fmt.suffix}") == splits
    assert run("diff", file, file).exit_code == 0
    assert run("convert", "-q", file, "-o", f"again{fmt.suffix}", "--to", fmt.name).stdout == ""
    assert not exset.diff(model, exset.load(f"again{fmt.suffix}", findings=exset.Findings()))
    row = json.loads(
        run("convert", "--json", file, "-o", f"b{fmt.suffix}", "--to", fmt.name).stdout
    )
    assert (row["schema"], row["ok"], row["units"]) == (1, True, len(model))


def _check_text_of(fmt: Format, file: Path, model: Model) -> None:
    """Compare what `cat` and `head` show with the file."""
    text = formats.text_of(fmt)
    shown = run("cat", file)
    assert shown.exit_code == 0
    first = run("head", "-n", "1", file)
    if not isinstance(model, Selectable):
        assert first.exit_code == 2
        return
    assert first.exit_code == 0
    Path(f"first{text.suffix}").write_bytes(first.stdout_bytes)
    Path(f"all{text.suffix}").write_bytes(shown.stdout_bytes)
    first_unit = exset.load(f"first{text.suffix}", format=text.name, findings=exset.Findings())
    assert len(first_unit) == 1
    if text is fmt or (text.family == fmt.family and text.name != "csv"):  # CSV stores no types
        assert run("diff", f"all{text.suffix}", file).exit_code == 0
        assert run("diff", f"first{text.suffix}", file).exit_code == 1


@every
@pytest.mark.parametrize("data", [b"", b"\0", b"\xff\xfe[{", b"a: [", bytes(range(256)) * 3])
def test_every_verb_on_a_bad_file(fmt: Format, file: Path, data: bytes) -> None:
    """Some formats accept some of the data; the exit code is always 0 or 1."""
    other = f"good{fmt.suffix}"
    Path(other).write_bytes(file.read_bytes())
    file.write_bytes(data)
    source = ("--from", fmt.name)
    codes = set()
    for verb in ("info", "validate", "stats", "cat", "head"):
        for more in ((), ("--strict",), ("-q",) * (verb in ("validate", "cat", "head"))):
            done = run(verb, *source, *more, file)
            codes.add(done.exit_code)
            assert done.exit_code in (0, 1) or (verb == "head" and done.exit_code == 2)
            assert done.exit_code != 1 or str(file) in done.stderr + done.stdout
    assert run("diff", *source, other, file).exit_code in (0, 1)
    assert run("split", *source, file, "1=1", "2=rest").exit_code in (1, 2)
    assert run("convert", *source, file, "-o", "x", "--to", fmt.name).exit_code in (0, 1)


@every
def test_every_verb_on_no_file(fmt: Format, file: Path) -> None:
    for verb in ("info", "validate", "stats", "cat", "head"):
        done = run(verb, f"missing{fmt.suffix}")
        assert (done.exit_code, done.stdout) == (3, "")
    assert run("diff", file, f"missing{fmt.suffix}").exit_code == 3
    assert run("split", f"missing{fmt.suffix}", "a=1", "b=rest").exit_code == 3


@every
def test_an_option_that_means_nothing_is_wrong_usage(fmt: Format, file: Path) -> None:
    for verb in ("info", "validate", "cat", "stats"):
        done = run(verb, "--from-dialect", "habana", file)
        dialect = fmt.option("dialect", reading=True)
        has_habana = dialect is not None and "habana" in dialect.choices
        assert done.exit_code == (0 if has_habana else 2)
        assert has_habana or "dialect" in done.stderr
        done = run(verb, "--ids", "text", file)
        assert done.exit_code == (0 if fmt.option("ids", reading=True) else 2)


def test_patterns_and_lists_of_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("b.ex", "a.ex", "deep/c.ex", "[x].ex"):
        Path(name).parent.mkdir(exist_ok=True)
        exset.save(exset.load("exset::xor.ex"), name)
    Path("files").write_bytes(b"b.ex\r\n\n*.ex\nexset::xor.ex\n")

    def files(*given: str) -> list[str]:
        return [
            json.loads(row)["file"] for row in run("info", "--json", *given).stdout.splitlines()
        ]

    assert files("?.ex") == ["a.ex", "b.ex"]
    assert files("**/*.ex") == ["[x].ex", "a.ex", "b.ex", "deep/c.ex"]
    assert files("[x].ex") == ["[x].ex"]
    assert files("@files") == ["b.ex", "*.ex", "exset::xor.ex"]
    assert files("exset::xor*.bex") == ["exset::xor-binary.bex"]
    assert run("info", "nothing*.ex").exit_code == 3
    assert run("info", "@nothing").exit_code == 3
    Path("none").write_bytes(b"\n")
    assert run("info", "@none").exit_code == 2
    assert run("info", "@-", stdin=b"a.ex\n").stdout.startswith("a.ex: ")
    assert run("convert", "?.ex", "--to", "bex", "-o", "out/").exit_code == 0
    assert sorted(os.listdir("out")) == ["a.bex", "b.bex"]


def test_quiet_and_verbose(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("warn.ex").write_bytes(b"[max:] I:2;\n" * 9 + b";\n")
    assert "and 6 more" in run("convert", "warn.ex", "x.bex").stderr
    assert run("convert", "-q", "warn.ex", "-o", "x.bex").stderr == ""
    verbose = run("convert", "-v", "warn.ex", "-o", "x.bex").stderr
    assert "more" not in verbose and "lens-empty-example" in verbose
    for verb in ("cat", "head"):
        assert run(verb, "warn.ex").stderr.startswith("warn.ex: 9 warnings, 1 note ")
        assert run(verb, "-q", "warn.ex").stderr == ""
        assert run(verb, "-v", "warn.ex").stderr.count("[lens-missing-value]") == 9
        assert run(verb, "--strict", "warn.ex").exit_code == 1
    assert run("validate", "-q", "exset::xor.ex").stdout == ""
    done = run("split", "-q", "exset::xor.ex", "a.ex=1", "b.ex=rest")
    assert (done.stdout, done.stderr) == ("", "")
    row = json.loads(run("split", "--json", "exset::xor.ex", "a.ex=1", "b.ex=rest").stdout)
    assert row["parts"] == [{"target": "a.ex", "units": 1}, {"target": "b.ex", "units": 3}]


def test_convert_writes_a_json_object_for_each_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bad.ex").write_bytes(b"I: five;")
    done = run("convert", "--json", "exset::xor.ex", "bad.ex", "no.ex", "--to", "bex", "-o", "out/")
    good, bad, missing = map(json.loads, done.stdout.splitlines())
    assert done.exit_code == 3
    assert list(good) == list(bad) == list(missing)
    assert (good["target"], good["units"], good["error"]) == ("out/xor.bex", 4, None)
    assert (bad["ok"], bad["units"], bad["error"]["code"]) == (False, None, "syntax")
    assert run("convert", "--json", "exset::xor.ex", "-", "--to", "bex").exit_code == 2


def test_head_reads_only_what_it_needs(tmp_path: Path) -> None:
    """An error after the last example that is shown does not matter."""
    path = tmp_path / "long.ex"
    path.write_bytes(b"I: 1 0 T: 1;\n" * 200_000 + b"I: five;\n")
    done = run("head", path)
    assert done.exit_code == 0 and done.stdout.count("I:") == 10
    assert run("head", "-n", "0", path).exit_code == 0
    assert run("head", "-n", "300000", path).exit_code == 1
    assert len(exset.loads(run("head", "-n", "3", "-", stdin=path.read_bytes()).stdout)) == 3
    assert len(exset.loads(run("head", "exset::xor-binary.bex").stdout)) == 4


def test_split_by_name() -> None:
    xor = exset.load("exset::xor.ex", model=exset.ExampleSet)
    ones, rest = exset.split(xor, ["*1", None])
    assert [example.name for example in ones] == ["01", "11"]
    assert [example.name for example in rest] == ["00", "10"]
    parts = exset.split(xor, [0.5, "00", "0?", 0.5])
    assert [[example.name for example in part] for part in parts] == [
        ["10"],
        ["00"],
        ["01"],
        ["11"],
    ]
    samples = SampleList.of("CONDUIT_HDF5_INCLUSION", "d", [("a.h5", ["x", "y"]), ("b.h5", ["z"])])
    first, second = exset.split(samples, ["a.h5/*", "*/z"])
    assert [*first] == [("d/a.h5", "x"), ("d/a.h5", "y")] and [*second] == [("d/b.h5", "z")]
    manifest = Manifest.of(["STRING", "ASCII_INT"], [["a", 1], ["b", 2], ["c", 3]])
    assert [*exset.split(manifest, ["[ab]"])[0].column(0)] == [b"a", b"b"]
    block = Block.of([[b"one", b"1"], [b"two", b"2"], [b"three", b"3"]])
    assert [len(part) for part in exset.split(block, ["rec_0000001*", None])] == [1, 2]
    with pytest.raises(ValueError, match="empty"):
        exset.split(xor, ["nothing", None])
    with pytest.raises(ValueError, match="no sizes"):
        exset.split(xor, [])


def test_split_by_name_on_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = run("split", "exset::xor.ex", "ones.ex=name:*1", "others.ex=rest", "--seed", "1")
    assert done.stderr == "ones.ex: 2 examples\nothers.ex: 2 examples\n"
    assert run("split", "exset::xor.ex", "x=y.ex=name:a=b").exit_code == 2


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell: str) -> None:
    done = run("completion", shell)
    assert done.exit_code == 0 and "_EXSET_COMPLETE" in done.stdout


def test_words_that_complete_a_command_line() -> None:
    from click.shell_completion import ShellComplete

    def words(*arguments: str) -> list[str]:
        *before, last = arguments
        made = ShellComplete(cli, {}, "exset", "_EXSET_COMPLETE")
        return [item.value for item in made.get_completions(list(before), last)]

    assert words("va") == ["validate"]
    assert words("convert", "--to", "b") == ["bex", "block"]
    assert "--tolerance" in words("diff", "--")


def test_untrusted_lists_stay_in_their_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import h5py

    (tmp_path / "in").mkdir()
    monkeypatch.chdir(tmp_path / "in")
    with h5py.File(tmp_path / "out.h5", "w", track_order=True) as file:
        file["x/field"] = file["y/field"] = 1.0
    rows = [("out.h5", ["x"], 1)]
    exset.save(SampleList.of("CONDUIT_HDF5_EXCLUSION", tmp_path.as_posix(), rows), "l.sample_list")
    convert = (
        "convert",
        "l.sample_list",
        "-o",
        "n.sample_list",
        "--kind",
        "CONDUIT_HDF5_INCLUSION",
    )
    assert run("validate", "--files", "l.sample_list").exit_code == 0
    done = run("validate", "--files", "--untrusted", "l.sample_list")
    assert done.exit_code == 1 and "[hdf5-roots]" in done.stdout
    done = run("validate", "--files", "--untrusted", "--root", tmp_path, "l.sample_list")
    assert done.exit_code == 0 and "hdf5-roots" not in done.stdout
    assert run(*convert).exit_code == 0
    done = run(*convert, "--untrusted")
    assert done.exit_code == 1 and "hdf5-roots" in done.stderr
    assert run(*convert, "--root", tmp_path).exit_code == 0
    assert run("convert", "exset::xor.ex", "x.bex", "--root", ".").exit_code == 2
    assert run("convert", "exset::xor.ex", "x.bex", "--untrusted").exit_code == 0


def test_one_name_for_the_folder_of_relative_paths() -> None:
    """It is `--base` of each command and `base` of each function, also for aeon's manifest_root."""
    for verb in ("build", "check", "repair"):
        assert "--base FOLDER " in run("cache", verb, "--help").output
    assert "--base FOLDER " in run("validate", "--help").output
    functions = exset.validate, Plan.of, elements, encoded, ManifestDataset, SampleReader
    for function in functions:
        names = signature(function).parameters
        assert "base" in names and "root" not in names


def test_options_that_need_another_option(tmp_path: Path) -> None:
    flags = (("--follow-links",), ("--allow-plugins",), ("--no-locking",))
    for option in (("--base", "."), ("--root", "."), *flags):
        done = run("validate", "exset::flowers.sample_list", *option)
        assert done.exit_code == 2 and f"{option[0]} needs --files" in done.stderr
    for verb in (("check",), ("extract", "-o", tmp_path), ("repair",)):
        done = run("cache", *verb, tmp_path, "--block-size", "2")
        assert "--block-size needs --manifest" in done.stderr
