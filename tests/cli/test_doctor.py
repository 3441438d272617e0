import json
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

import exset
from exset import doctor
from exset.compiler import declared
from tests.cli import command_line


def ask(*arguments: str) -> str:
    result = command_line.run("doctor", *arguments)
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache that does not exist yet."""
    monkeypatch.setenv("EXSET_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_a_new_machine(folder: Path) -> None:
    report = doctor.examine()
    assert report.versions["exset"] == exset.__version__
    assert report.versions.keys() >= {"Python", "numpy", "lark", "construct", "numba"}
    assert (report.cache, report.writable, report.bytes) == (str(folder), True, 0)
    names = {"json.lark", "labels.lark", "lens.lark", "manifest.lark", "sample_list.lark"}
    assert {part.name for part in report.grammars} >= names
    names = {f"codecs.lens.layout:{name}" for name in ("BinaryExampleFile", "Head", "Tail", "One")}
    assert {part.name for part in report.layouts} >= names
    modules = ", ".join(part.name for part in report.kernels)
    assert "parsers.engine.kernel" in modules and "codecs.engine.gather_kernels" in modules
    assert not any(part.ready for part in (*report.grammars, *report.layouts, *report.kernels))
    assert not report.ready and not folder.exists()


def test_without_the_extras(folder: Path) -> None:
    """No optional library is imported."""
    extras = ("cupy", "fsspec", "isal", "matplotlib", "torch")
    code = f"""
import sys
sys.modules.update(dict.fromkeys({extras}))
from exset import doctor
assert not doctor.examine().ready
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_content_of_the_cache(folder: Path) -> None:
    (folder / "kernels").mkdir(parents=True)
    (folder / "kernels" / "old").write_bytes(bytes(1000))
    grammar = next(each for each in declared.grammars() if each.file == "lens.lark")
    _ = grammar.__class__(grammar.file, grammar.start, grammar.steps).lowered
    name, layout = next(iter(declared.layouts().items()))
    _ = layout.__class__(str(layout.name)).program
    report = doctor.examine()
    tables = next(part for part in report.grammars if part.name == grammar.file)
    program = next(part for part in report.layouts if part.name == name)
    for part in (tables, program):
        assert part.ready and part.bytes > 100
    assert (report.bytes, report.stale) == (tables.bytes + program.bytes + 1000, 1000)


def test_as_text_and_as_json(folder: Path) -> None:
    text = ask()
    for words in (f"numpy        {version('numpy')}\n", str(folder), "lens.lark: not yet"):
        assert words in text
    row = json.loads(ask("--json"))
    assert row["schema"] == 1 and row["cache"] == str(folder) and row["seconds"] is None
    assert row["ready"] is False and {"name", "ready"} <= row["grammars"][0].keys()


def test_without_the_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "exset.core.native", None)
    assert "plain Python" in ask() and "(llvmlite is not installed)" in ask()
    assert json.loads(ask("--json"))["compiled"] is False
    monkeypatch.undo()
    monkeypatch.setattr(doctor, "version", missing_numba)
    assert "numba is not installed: kernels that are not ready run as Python" in ask()


def missing_numba(name: str) -> str:
    if name == "numba":
        raise PackageNotFoundError
    return version(name)


def test_a_cache_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "\x1b[31mfile").write_bytes(b"")
    monkeypatch.setenv("EXSET_CACHE", str(tmp_path / "\x1b[31mfile" / "cache"))
    assert not doctor.examine().writable
    text = ask()
    assert "not writable" in text and "\x1b" not in text


def test_warming_up() -> None:
    """This uses the cache of all other tests, and compiles the rest."""
    result = command_line.run("doctor", "--compile")
    assert result.exit_code == 0 and "not yet" not in result.stdout
    assert result.stdout.splitlines()[-1].endswith("seconds")
    assert doctor.examine().ready
