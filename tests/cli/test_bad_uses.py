"""What a new user may do wrong: the message alone is enough to mend it."""

import errno
import os
import re
from pathlib import Path

import click
import h5py
import pytest

import exset
from exset.cli import cli
from tests.cli.command_line import run


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty folder, as the current one."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("verb", ["info", "validate", "stats", "cat", "head"])
def test_a_folder_where_a_file_is_wanted(verb: str) -> None:
    Path("some").mkdir()
    Path("aeon_cache_00000000").mkdir()
    Path("aeon_cache_00000000/cache_complete").touch()
    done = run(verb, "some")
    assert done.exit_code == 3
    assert "some: Is a directory; name the files in it, as in 'FOLDER/*'" in done.stderr
    done = run(verb, "aeon_cache_00000000")
    assert "look at a cache with: exset cache check aeon_cache_00000000" in done.stderr


def test_a_file_where_a_cache_is_wanted() -> None:
    Path("x.cpio").touch()
    done = run("cache", "check", "x.cpio")
    assert done.exit_code == 3 and "x.cpio: Not a directory: a cache is a folder" in done.stderr
    assert "exset: no: No such file or directory" in run("cache", "check", "no").stderr


def test_a_cache_of_another_name_is_not_repaired() -> None:
    exset.save(exset.Manifest.of(["STRING"], [["a"]]), "m.tsv")
    run("cache", "build", "m.tsv", ".")
    (built,) = Path().glob("aeon_cache_*")
    built.rename("renamed")
    done = run("cache", "repair", "renamed", "--manifest", "m.tsv")
    assert "the cache is that of no manifest that its name says" in done.stderr
    assert f"or the folder was renamed: aeon calls it {built.name}" in done.stderr


def test_files_that_are_of_no_format() -> None:
    Path("empty").touch()
    assert "the file is empty, and its name does not say its format" in run("info", "empty").stderr
    with h5py.File("data.h5", "w"):
        pass
    done = run("info", "data.h5")
    assert "an HDF5 file" in done.stderr and "exset list build" in done.stderr


@pytest.mark.parametrize("coding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("name", ["a.ex", "a.json", "a.sample_list"])
def test_utf_16(name: str, coding: str) -> None:
    Path(name).write_text("\ufeffname: a I: 1 T: 1;\n", encoding=coding)
    done = run("info", name)
    assert done.exit_code == 1 and "UTF-16: save " in done.stderr


def test_a_verb_that_there_is_not() -> None:
    assert "No such command 'inof'. Did you mean 'info'?" in run("inof", "x.ex").stderr
    assert "No such command 'qqqq'." in run("qqqq").stderr


def test_one_file_is_wanted() -> None:
    for name in ("a.ex", "b.ex"):
        exset.save(exset.load("exset::xor.ex"), name)
    done = run("cat", "*.ex")
    assert done.exit_code == 2 and "one file is wanted, *.ex names 2" in done.stderr
    assert run("cat", "a*.ex").stdout == run("cat", "a.ex").stdout
    assert run("diff", "a*", "b*").exit_code == 0


def test_numbers_that_cannot_be() -> None:
    xor = "exset::xor.ex"
    done = run("diff", "--tolerance", "nan", xor, xor)
    assert done.exit_code == 2 and "a number from 0 is wanted, not nan" in done.stderr
    done = run("split", xor, "a.ex=150%", "b.ex=rest")
    assert done.exit_code == 2 and "a.ex=150%: a part is of at most 100%" in done.stderr


def test_tables_that_are_no_manifests() -> None:
    done = run("manifest", "build", "no.csv")
    assert done.exit_code == 3 and "no.csv: No such file or directory" in done.stderr
    Path("t.csv").write_text("a\n")
    done = run("manifest", "build", "t.csv", "--types", "FOO")
    assert done.exit_code == 2 and "no element is of type 'FOO'; there are FILE," in done.stderr
    done = run("manifest", "build", "t.csv", "--types", "STRING,STRING")
    assert "t.csv:1: the line has 1 column: column 1, from 0, is wanted" in done.stderr


def test_where_a_link_stands_in_the_way() -> None:
    with h5py.File("data.h5", "w") as file:
        file["run/1/x"] = 1.0
        file["run/2"] = h5py.ExternalLink("other.h5", "x")
    done = run("list", "build", "data.h5", "--sample", "run/1")
    assert "data.h5: (run/2): a link to another file stands in the way" in done.stderr


def test_what_has_no_room_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(file: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    done = run("convert", "exset::xor.ex", "full.bex")
    assert done.exit_code == 3
    assert done.stderr == f"exset: full.bex: {os.strerror(errno.ENOSPC)}\n"


def test_standard_output_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(row: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("exset.cli.inspect.write_one", full)
    done = run("formats", "--json")
    assert done.exit_code == 3 and done.stderr.startswith("exset: standard output: ")


def test_suffixes_stay_suffixes() -> None:
    exset.save(exset.Manifest.of(["STRING"], [["a"]]), "m.tsv")
    run("cache", "build", "m.tsv", ".")
    (built,) = Path().glob("aeon_cache_*")
    done = run("cache", "extract", str(built), "-o", "out", "--ext", "../../x")
    assert done.exit_code == 2 and "suffixes such as jpg,cls are wanted" in done.stderr


def test_help_has_an_example_and_explains_every_option() -> None:
    left: list[tuple[str, click.Command]] = [("", cli)]
    while left:
        path, command = left.pop()
        if isinstance(command, click.Group):
            context = click.Context(command)
            for name in command.list_commands(context):
                found = command.get_command(context, name)
                assert found is not None
                left.append((f"{path} {name}", found))
            continue
        shown = run(*path.split(), "--help").stdout
        assert re.search(rf"^ +exset{path}\b", shown, re.MULTILINE), path
        for option in command.params:
            assert not isinstance(option, click.Option) or option.help, (path, option.name)


def test_what_names_no_file_names_the_one_that_was_read() -> None:
    exset.save(exset.Manifest.of(["FILE"], [["gone.jpg"]]), "m.tsv")
    done = run("cache", "build", "m.tsv", ".")
    assert done.exit_code == 1 and done.stderr.startswith("m.tsv: elements cannot be cached: ")


@pytest.mark.parametrize("group", ["list", "manifest", "schema", "cache", "config", "sampler"])
def test_a_group_without_a_verb_shows_its_help_once(group: str) -> None:
    done = run(group)
    assert done.exit_code == 2 and done.stderr.count("Usage:") == 1 and "Error" not in done.stderr
    assert "..." not in done.stderr.partition("Commands:")[2]


def test_what_may_be_chosen_is_shown_as_it_is() -> None:
    assert r"\x09" not in run("completion").stderr


def test_a_folder_that_is_not_there_is_named() -> None:
    done = run("convert", "exset::xor.ex", "no/x.bex")
    assert done.exit_code == 3 and done.stderr.endswith(": there is no folder no\n")
    assert run("info", "no.ex").stderr == "exset: no.ex: No such file or directory\n"


def test_what_is_written_is_named_for_what_it_is() -> None:
    for verb in ("list merge exset::flowers.sample_list", "manifest balance exset::pictures.tsv"):
        done = run(*verb.split(), "-o", "x.ex")
        assert done.exit_code == 2 and "x.ex: the suffix is that of another format" in done.stderr
    with h5py.File("a.h5", "w") as file:
        file["x/field"] = 1.0
    assert "data.json: the suffix" in run("schema", "build", "a.h5", "-o", "data.json").stderr
    assert not any(Path(name).exists() for name in ("x.ex", "data.json"))


def test_codes_are_found_in_capitals_too() -> None:
    assert run("explain", "LENS-BARE-WORD").stdout == run("explain", "lens-bare-word").stdout
    assert "exset explain lists all" in run("explain", "Q").stderr


def test_hdf5_files_are_no_pipes() -> None:
    for verb in ("list", "schema"):
        assert "are not read from standard input" in run(verb, "build", "-").stderr


def test_labels_between_semicolons() -> None:
    Path("l.csv").write_text("speaker;sex\na;1\n")
    done = run("sampler", "plan", "l.csv", "-n", "1", "-m", "1")
    assert "separated by commas, not ';'" in done.stderr


def test_a_file_where_the_demo_wants_a_folder() -> None:
    Path("f").touch()
    done = run("demo", "f")
    assert done.exit_code == 3 and "f: a file is called that; name a folder" in done.stderr


def test_the_schema_that_asks_for_too_much_is_named() -> None:
    with h5py.File("a.h5", "w") as file:
        file["x/field"] = 1.0
    done = run("schema", "build", "a.h5", "--experiment", "e.yaml", "--pack", "all=nothing")
    assert done.exit_code == 1 and done.stderr.startswith("e.yaml: the data schema has no ")
