"""`writer` and `convert`: files, pipes and standard output."""

import errno
import io
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Queue
from types import SimpleNamespace
from typing import cast
from unittest.mock import patch

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import exset
from exset import ExampleSet, FormatError, writing
from exset.cli import cli
from exset.io.blocks import Blocks
from exset.testing import example_sets
from tests.io.pipes import BEX, SECONDS, SET, TEXT, XOR, Pipe, meanwhile


@settings(max_examples=40)
@given(example_sets(text=True, binary=True), st.sampled_from(["ex", "bex"]), st.booleans())
def test_a_writer_writes_what_save_does(model: ExampleSet, format: str, one: bool) -> None:
    stdout = io.BytesIO()
    sets = [model.select([i]) for i in range(len(model))]
    with (
        patch.object(sys, "stdout", SimpleNamespace(buffer=stdout, flush=lambda: None)),
        exset.writer("-", format=format, header=model.header) as out,
    ):
        for example in model if one else sets:
            out.write(example)
    assert out.count == len(model)
    assert stdout.getvalue() == exset.dumps(model, format=format)


@pytest.mark.parametrize("name", ["y.ex", "y.bex", "y.ex.gz", "y.bex.gz", "y.ex.zst", "y.bex.xz"])
def test_a_file_is_whole_or_untouched(folder: Path, name: str) -> None:
    Path(name).write_bytes(b"old")
    with pytest.raises(KeyError), exset.writer(name) as out:
        out.write(SET)
        raise KeyError
    assert [path.name for path in folder.iterdir()] == [name]
    assert Path(name).read_bytes() == b"old"
    with exset.writer(name) as out:
        for example in SET:
            out.write(example)
    exset.save(SET, f"z{name}")
    assert Path(name).read_bytes() == Path(f"z{name}").read_bytes()


def test_units_that_a_writer_takes(folder: Path) -> None:
    header = exset.SetHeader(max_time=3, active_input=0.5)
    new = exset.Example([exset.Event(exset.Sparse([1, 2]), [0, 1])], name="new")
    with exset.writer("y.ex", header=header) as out:
        out.write(new)
        out.write(SET)
        out.write(SET[2])
        with pytest.raises(TypeError, match="not str"):
            out.write(cast(ExampleSet, "x"))
    found = exset.load("y.ex", model=ExampleSet)
    assert found.header == header
    own = ExampleSet.from_examples([new], header)
    assert found == own.concat(SET, SET.select([2]))
    with exset.writer("empty.ex"), exset.writer("empty.bex"):
        pass
    for name in ("empty.ex", "empty.bex"):
        assert exset.load(name) == ExampleSet.from_examples([])
    other = ExampleSet.from_examples([], exset.SetHeader(proc="x"))
    with pytest.raises(ValueError, match="the sets differ in proc"), exset.writer("y.ex") as out:
        out.write(SET)
        out.write(other)


def test_errors_and_findings_of_a_writer_count_through(folder: Path) -> None:
    bad = exset.loads(b"name:ok ;name:{};", model=ExampleSet, findings=exset.Findings())
    with (
        pytest.raises(FormatError, match=r"mine.*examples\[3\].name"),
        exset.writer("y.bex", name="mine") as out,
    ):
        for _ in range(2):
            out.write(bad[0])
        out.write(bad)
    findings = exset.Findings()
    with exset.writer("y.bex", lossy=True, findings=findings) as out:
        for _ in range(2):
            out.write(bad)
    places = [finding.place.field for finding in findings if finding.place]
    assert places == ["examples[1].name", "examples[3].name"]
    with (
        pytest.warns(exset.FormatWarning, match="lens-binary-loss") as caught,
        exset.writer("y.bex", lossy=True) as out,
    ):
        out.write(bad)
    assert [Path(warning.filename).name for warning in caught] == [Path(__file__).name]
    with pytest.raises(TypeError, match="unknown option"), exset.writer("y.bex", compact=True):
        pass


def test_a_lost_proc_of_the_set_is_reported_once(folder: Path) -> None:
    header = exset.SetHeader(proc=b"a\0b")
    for name in ("y.ex", "y.bex"):
        findings = exset.Findings()
        with exset.writer(name, header=header, lossy=True, findings=findings) as out:
            out.write(SET.with_columns(header=header))
            out.write(SET.with_columns(header=header))
        assert [finding.place.field for finding in findings if finding.place] == ["header.proc"]


def test_a_reader_gets_each_example_at_once(pipe: Pipe) -> None:
    name, read = pipe("y.ex"), Queue[None]()

    def write() -> None:
        with exset.writer(name) as out:
            for example in SET:
                out.write(example)
                read.get(timeout=SECONDS)

    with meanwhile(write):
        found = []
        for example in exset.stream(name):
            found.append(example)
            read.put(None)
    assert found == list(SET)


@pytest.mark.parametrize("spooled", [1 << 20, 10])
def test_a_binary_pipe_gets_all_examples_at_the_end(
    pipe: Pipe, monkeypatch: pytest.MonkeyPatch, spooled: int
) -> None:
    monkeypatch.setattr(writing, "_SPOOLED", spooled)
    name = pipe("y.bex")

    def write() -> None:
        with exset.writer(name) as out:
            for example in SET:
                out.write(example)

    with meanwhile(write):
        assert Path(name).read_bytes() == BEX


def test_a_full_disk_for_the_temporary_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the folder of temporary files, not the target."""

    class Full(io.BytesIO):
        def write(self, data: object, /) -> int:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("tempfile.tempdir", str(folder))
    monkeypatch.setattr("tempfile.SpooledTemporaryFile", lambda max_size: Full())
    with pytest.raises(OSError, match="No space") as caught, exset.writer("y.bex.gz") as out:
        out.write(SET)
    assert caught.value.filename == str(folder) and os.listdir() == []


def test_a_reader_that_closes_the_pipe_is_an_error_of_the_system(pipe: Pipe) -> None:
    name, gone = pipe("y.ex"), Queue[None]()

    def read() -> None:
        with open(name, "rb") as file:
            file.read(1)
        gone.put(None)

    with meanwhile(read), pytest.raises(BrokenPipeError), exset.writer(name) as out:
        out.write(SET)
        gone.get(timeout=SECONDS)
        out.write(SET)


# Conversion


@settings(max_examples=40)
@given(
    example_sets(text=True, binary=True),
    st.sampled_from(["ex", "bex"]),
    st.sampled_from(["ex", "bex"]),
    st.integers(1, 50),
)
def test_conversion_in_chunks_gives_the_same_bytes(
    model: ExampleSet, source: str, target: str, size: int
) -> None:
    data, out = exset.dumps(model, format=source), io.BytesIO()
    chunks = (data[at : at + size] for at in range(0, len(data), size))

    @contextmanager
    def opened(*arguments: object, **options: object) -> Iterator[Blocks]:
        yield Blocks("x", chunks, None, is_pipe=True)

    with (
        patch("exset.io.files.blocks", opened),
        patch.object(sys, "stdout", SimpleNamespace(buffer=out, flush=lambda: None)),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore", exset.FormatWarning)
        assert exset.convert("x", "-", from_format=source, to=target) == len(model)
    assert out.getvalue() == exset.dumps(
        exset.loads(data, findings=exset.Findings()), format=target
    )


def test_a_file_of_many_chunks(folder: Path) -> None:
    lines = b"".join(b"name:n%d I: %d 0.5 2 t: 3 5-7;\n" % (n, n) for n in range(40_000))
    Path("x.ex").write_bytes(b"max: 2;\n" + lines)
    model = exset.load("x.ex")
    for source, target in (("x.ex", "y.bex"), ("y.bex", "z.ex"), ("x.ex", "y.bex.gz")):
        assert exset.convert(source, target) == 40_000
        exset.save(model, f"w{target}")
        assert Path(target).read_bytes() == Path(f"w{target}").read_bytes()


def test_a_file_may_be_its_own_target(folder: Path) -> None:
    Path("x.ex").write_bytes(XOR)
    assert exset.convert("x.ex", "x.ex", compact=True) == 4
    assert Path("x.ex").read_bytes() == exset.dumps(SET, format="ex", compact=True)


def test_a_bad_file_leaves_the_target(folder: Path) -> None:
    Path("y.bex").write_bytes(b"old")
    for data in (b"I: five;", b"I: 1;\n" * 90_000 + b"I: five;"):
        Path("x.ex").write_bytes(data)
        with pytest.raises(FormatError):
            exset.convert("x.ex", "y.bex")
        assert Path("y.bex").read_bytes() == b"old"
        assert len(list(folder.iterdir())) == 2


def test_the_command_passes_a_pipe_through(pipe: Pipe) -> None:
    name = pipe("x")

    def write() -> None:
        with open(name, "wb", buffering=0) as file:
            for line in TEXT.splitlines(keepends=True):
                file.write(line)

    with meanwhile(write):
        result = CliRunner().invoke(cli, ["convert", name, "-o", "-", "--to", "bex"])
    assert result.exit_code == 0, result.stderr
    assert result.stdout_bytes == BEX
