"""Formats that other packages add by entry points."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import exset
from exset import formats
from exset.core import plugins
from tests.cli.command_line import run

MODULE = """
from exset.core.errors import Finding, Findings, Severity
from exset.families.lens import LENS
from exset.families.format import Format
from exset.families.option import Option
from exset.grammars.lens.examples import ExampleSet
from exset.core.source import Source

BITS = Format(
    name="bits",
    title="one example a line, in bits",
    family=LENS,
    suffixes=(".bits",),
    reader="exset_bits:parse",
    writer="exset_bits:render",
    signature="%bits",
    options=(Option("on", "Write this letter for one.", metavar="LETTER"),),
    read_options=(Option("first", "Read the first line only."),),
)
LOST = Format("lost", "of which the reader is missing", LENS, (".lost",), "no_such:x", "no_such:y")
NO_FORMAT = 42


def parse(source: Source, *, findings: Findings, first: bool = False, **_: object) -> ExampleSet:
    findings.add(Finding("bits-are-few", Severity.WARNING, "one bit says little"))
    rows = [[float(bit) for bit in line] for line in source.data.decode().split()[1:]]
    rows = rows[:1] if first else rows
    return ExampleSet.from_arrays(rows, None)


def render(model: ExampleSet, /, on: str = "1", **_: object) -> bytes:
    rows = [example.events[0].inputs[0].values for example in model]
    lines = ["".join(on if bit else "0" for bit in row) for row in rows]
    return "\\n".join(["%bits", *lines]).encode()
"""

Install = Callable[[str], None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """What installs a package with these entry points; it is gone after the test."""

    def forget() -> None:
        plugins.found.cache_clear()
        formats._added.clear()
        sys.modules.pop("exset_bits", None)

    def put(points: str) -> None:
        site = tmp_path / "site"
        info = site / "exset_bits-1.0.dist-info"
        info.mkdir(parents=True)
        (site / "exset_bits.py").write_text(MODULE)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: exset-bits\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[exset.formats]\n{points}\n")
        monkeypatch.syspath_prepend(str(site))
        monkeypatch.chdir(tmp_path)
        Path("two.bits").write_bytes(b"%bits\n10\n01")
        Path("two").write_bytes(b"%bits\n10\n01")
        Path("two.dat").write_bytes(b"%bits\n10\n01")

    forget()
    yield put
    forget()


@pytest.mark.filterwarnings("ignore:Source:RuntimeWarning")
def test_a_format_of_another_package(install: Install) -> None:
    install("bits = exset_bits:BITS")
    findings = exset.Findings()
    two = exset.load("two.bits", model=exset.ExampleSet, findings=findings)
    assert len(two) == 2 and findings.count("bits-are-few") == 1
    for name in ("two", "two.dat"):
        assert exset.load(name, findings=findings) == two
    assert exset.load("two", format="bits", findings=findings) == two
    assert exset.detect("two.bits").name == "bits"
    exset.save(two, "back.bits.gz")
    assert exset.load("back.bits.gz", findings=findings) == two
    assert "[bits-are-few]" in run("validate", "-v", "two.bits").stdout
    assert run("diff", "two", "back.bits.gz").exit_code == 0
    assert run("convert", "two.bits", "two.ex").exit_code == 0
    assert run("convert", "two.ex", "--to", "bits", "-o", "-").stdout == "%bits\n10\n01"
    assert run("info", "--from", "bits", "two").stdout.startswith("two: one example a line")
    assert "bits" in run("formats").stdout
    assert "formats bits" in run("doctor").stdout
    assert "bits" not in formats.names()


def test_it_is_not_looked_for_where_it_is_not_needed(install: Install) -> None:
    install("bits = exset_bits:BITS")
    assert run("info", "exset::xor.ex", "--from", "ex").exit_code == 0
    assert run("convert", "exset::xor.ex", "x.bex").exit_code == 0
    assert run("convert", "-q", "x.bex", "-o", "-", "--to", "ex").exit_code == 0
    assert not plugins.found.cache_info().currsize


@pytest.mark.filterwarnings("ignore:Source:RuntimeWarning")
def test_the_options_of_another_package(install: Install) -> None:
    install("bits = exset_bits:BITS")
    command = ("convert", "two.bits", "--to", "bits", "-o", "-")
    assert run(*command, "--on", "x").stdout == "%bits\nx0\n0x"
    assert run(*command, "--first").stdout == "%bits\n10"
    assert "--on LETTER" in run("convert", "--help").stdout
    assert "--first" in run("info", "--help").stdout
    assert run("info", "--nothing", "two.bits").exit_code == 2


@pytest.mark.parametrize(
    ("point", "words"),
    [
        ("gone = exset_nowhere:BITS", "the entry point 'gone' (exset_nowhere:BITS) of the package"),
        ("gone = exset_bits:NOTHING", "AttributeError"),
        ("gone = exset_bits:NO_FORMAT", "it must be a Format, and its type is int"),
        ("one = exset_bits:BITS\ntwo = exset_bits:BITS", "another format has this name"),
    ],
)
def test_a_broken_one_is_named(install: Install, point: str, words: str) -> None:
    install(point)
    for verb in (("info", "two.bits"), ("info", "--from", "bits", "two"), ("formats",)):
        result = run(*verb)
        assert result.exit_code == 1 and words in result.stderr
        assert "'gone'" in result.stderr or "'bits'" in result.stderr
    with pytest.raises(exset.FormatError, match="cannot be used") as caught:
        exset.load("two.bits")
    assert caught.value.code == "plugin"
    assert words in run("doctor").stdout
    assert run("info", "exset::xor.ex").exit_code == 0


def test_a_reader_that_is_not_there_is_named(install: Install) -> None:
    install("lost = exset_bits:LOST")
    Path("x.lost").write_bytes(b"")
    result = run("info", "x.lost")
    assert result.exit_code == 1
    assert "the format 'lost' cannot be used: ModuleNotFoundError" in result.stderr
