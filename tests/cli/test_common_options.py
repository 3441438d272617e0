"""The options and arguments that all commands share that read files."""

import contextlib
import os
import shutil
from pathlib import Path

import h5py
import pytest

import exset
from tests.cli.command_line import DRAWN, run
from tests.cli.test_help import COMMANDS

COMMON = {"--strict", "--untrusted", "--limit", "-q", "--quiet", "-v", "--verbose"}
READ_NOTHING = {
    *("formats", "demo", "doctor", "explain", "completion", "help", "man"),
    *("config schema", "gather", "manifest build"),
    *("conformance export", "conformance list", "conformance run"),
    "conformance meaning",  # answers as a reader under test, which has no options
}


# It needs matplotlib.
DRAWING = pytest.param("plot x.ex -o x.svg", marks=DRAWN)


READING = {path: each for path, each in COMMANDS.items() if path not in READ_NOTHING}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a file of each kind."""
    made = tmp_path_factory.mktemp("files") / "in"
    made.mkdir()
    with contextlib.chdir(made):
        write_files()
    return made.parent


@pytest.fixture(autouse=True)
def folder(files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy of the folder with the files, as the current one."""
    shutil.copytree(files, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path / "in")


def write_files() -> None:
    exset.save(exset.load("exset::xor.ex"), "x.ex")
    exset.save(exset.load("exset::xor.ex"), "../out.ex")
    manifest = exset.Manifest.of(["STRING", "ASCII_INT"], [["a", 1], ["b", 2]])
    exset.save(manifest, "m.tsv")
    exset.save(exset.load("exset::flowers.sample_list"), "l.sample_list")
    exset.save(exset.load("exset::pictures.json"), "c.json")
    with h5py.File("a.h5", "w") as file:
        file["x/field"] = 1.0
    assert run("schema", "build", "a.h5", "-o", "d.yaml", "-q").output == ""
    assert run("cache", "build", "m.tsv", ".", "-q").output == ""


@pytest.mark.parametrize("verb", READING)
def test_every_verb_that_reads_has_them(verb: str) -> None:
    assert {name for param in READING[verb].params for name in param.opts} >= COMMON


@pytest.mark.parametrize("verb", ["info", "stats", "cat", "head", "validate"])
def test_a_usage_error_shows_the_usage_of_its_verb(verb: str) -> None:
    done = run(*verb.split(), "--ids", "integer", "x.ex")
    assert done.exit_code == 2
    assert done.stderr.startswith(f"Usage: cli {verb} [OPTIONS]"), done.stderr
    assert "unknown option 'ids'" in done.stderr


QUIET = (
    *("validate x.ex", "convert x.ex y.bex", "split x.ex a.ex=1 b.ex=rest", "diff x.ex x.ex"),
    *("list merge l.sample_list -o n.sample_list", "manifest balance m.tsv -o n.tsv"),
    "list balance --ranks 2 l.sample_list -o n.sample_list",
    *("list order --ranks 2 l.sample_list -o n.sample_list", "list build a.h5 -o n.sample_list"),
    *("manifest pick m.tsv -o n.tsv", "schema build a.h5 -o n.yaml", "edit x.ex -o y.ex"),
    DRAWING,
    *("schema check d.yaml d.yaml --sample a.h5 x", "cache build m.tsv .", "demo new"),
    *("cache check aeon_cache_*", "cache repair aeon_cache_* --manifest m.tsv"),
    "cache extract aeon_cache_* -o out",
)


@pytest.mark.parametrize("command", QUIET)
def test_quiet_reports_only_problems(command: str) -> None:
    done = run(*command.split(), "-q")
    assert (done.exit_code, done.output) == (0, ""), done.output


ONE_FILE = (
    *("cat x.ex", "head x.ex", "config show c.json", "edit l.sample_list --shuffle"),
    *("manifest balance m.tsv", "cache predict m.tsv", "cache check aeon_cache_*"),
    *("sampler plan m.tsv -n 1 -m 1 --column 1", "diff x.ex x.ex"),
    DRAWING,
    *("split x.ex a.ex=1 b.ex=rest", "schema show d.yaml d.yaml", "cache build m.tsv ."),
    *("info x.ex", "stats x.ex", "validate x.ex", "convert x.ex -o y.bex"),
)


@pytest.mark.parametrize("command", ONE_FILE)
def test_patterns_lists_and_pipes_name_files_with_every_verb(command: str) -> None:
    words = command.split()
    at = next(i for i, word in enumerate(words) if Path(word).suffix or "*" in word)
    path = words[at]
    assert run(*words).exit_code == 0
    (found,) = Path().glob(path)
    Path("names").write_text(f"{found}\n")
    for given in ("@names", f"{path[0]}*{path[2:]}" if "*" not in path else path):
        assert run(*words[:at], given, *words[at + 1 :]).exit_code == 0, given
    if found.is_file():
        before, after = words[:at], words[at + 1 :]
        assert run(*before, "-", *after, stdin=found.read_bytes()).exit_code == 0
        Path("gone").write_text("no.file\n")
        assert run(*before, "@gone", *after).exit_code == 3


def test_untrusted_lists_of_files_stay_in_the_folder() -> None:
    Path("names").write_text(f"x.ex\n{os.path.abspath('../out.ex')}\n")
    assert run("info", "@names").exit_code == 0
    done = run("info", "--untrusted", "@names")
    assert done.exit_code == 2 and "@names: " in done.stderr and "out.ex" in done.stderr
    Path("names").write_text("https://example.org/x.ex\n")
    assert run("cat", "@names", "--untrusted").exit_code == 2
    Path("names").write_text("x.ex\nexset::xor.ex\n")
    assert run("info", "@names", "--untrusted").exit_code == 0


def test_strict_turns_warnings_into_errors() -> None:
    Path("t.ex").write_bytes(b"[max:] I: 1 T: 1;\n")
    for verb in ("info", "stats", "cat", "plot -o t.svg", "convert -o t.bex", "validate"):
        done = run(*verb.split(), "t.ex", "--strict")
        assert done.exit_code == 1 and "[lens-missing-value]" in done.output, verb


def test_verbose_info_shows_the_findings() -> None:
    Path("t.ex").write_bytes(b"[max:] I: 1 T: 1;\n")
    assert "1 warning" in run("info", "t.ex").stdout
    done = run("info", "-v", "t.ex")
    assert "[lens-missing-value]" in done.stderr and "findings" not in done.stdout


@pytest.mark.parametrize("step", ["options", "read_options"])
def test_options_of_one_name_all_take_a_value_or_none(step: str) -> None:
    """They are one option of the command line, which is a flag or has a value."""
    kinds: dict[str, set[bool]] = {}
    for fmt in exset.formats.FORMATS:
        for option in getattr(fmt, step):
            kinds.setdefault(option.name, set()).add(option.is_flag)
    assert [name for name, flags in kinds.items() if len(flags) > 1] == []
    assert len(kinds) > 3
