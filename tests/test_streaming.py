"""`stream`, `writer` and `convert`: files, pipes, standard input and output."""

import gzip
import io
import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from queue import Queue
from types import SimpleNamespace
from typing import Protocol, cast
from unittest.mock import patch

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import exset
from exset import ExampleSet, FormatError, files, samples, streaming
from exset.cli import cli
from exset.testing import example_sets

XOR = samples.read("xor.ex").data
SET = exset.loads(XOR, model=ExampleSet)
TEXT = exset.dumps(SET, format="ex")
BEX = exset.dumps(SET, format="bex")
TRAP = b"I:1 T:1;\n[max:] I:2 T:0;\n"
SECONDS = 20

Read = Callable[[], bytes]


class Pipe(Protocol):
    def __call__(self, name: str) -> str: ...


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def pipe(folder: Path) -> Pipe:
    def made(name: str) -> str:
        os.mkfifo(name)
        return name

    return made


@contextmanager
def meanwhile(act: Callable[[], object]) -> Iterator[None]:
    """Do something in a thread; what it raises is raised at the end."""
    done: Queue[BaseException | None] = Queue()

    def run() -> None:
        try:
            act()
            done.put(None)
        except BaseException as error:
            done.put(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    yield
    if (error := done.get(timeout=SECONDS)) is not None:
        raise error


# Streams


@pytest.mark.parametrize("name", samples.names())
def test_a_stream_gives_what_load_does(name: str) -> None:
    path = samples.PREFIX + name
    whole = exset.load(path, model=ExampleSet, findings=exset.Findings())
    with exset.stream(path, findings=exset.Findings()) as examples:
        assert examples.header == whole.header
        assert list(examples) == list(whole.examples)


@pytest.mark.parametrize("name", ["x.ex", "x.ex.gz", "x.bex.bz2", "x"])
def test_files_may_be_compressed(folder: Path, name: str) -> None:
    exset.save(SET, name, format="bex" if "bex" in name else "ex")
    assert list(exset.stream(name)) == list(SET.examples)
    assert list(exset.stream(name.removesuffix(".gz"))) == list(SET.examples)


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    for data in (XOR, BEX, gzip.compress(XOR)):
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data)))
        assert list(exset.stream("-")) == list(SET.examples)
    with pytest.raises(ValueError, match="standard input cannot be read again"):
        exset.stream("-", loop=True)


def test_findings_are_heard_or_warned_of(folder: Path) -> None:
    Path("x.ex").write_bytes(TRAP)
    findings = exset.Findings()
    assert len(list(exset.stream("x.ex", findings=findings))) == 2
    assert [finding.code for finding in findings] == ["lens-missing-value"]
    with pytest.warns(exset.FormatWarning, match="x.ex:2:2: nothing follows") as caught:
        assert len(list(exset.stream("x.ex"))) == 2
    assert [Path(warning.filename).name for warning in caught] == [Path(__file__).name]
    with pytest.raises(FormatError, match=r"x.ex:2:2: nothing follows"):
        list(exset.stream("x.ex", strict=True))
    with pytest.raises(ValueError, match="strict=True goes without findings"):
        exset.stream("x.ex", strict=True, findings=findings)


def test_errors_come_after_the_examples_before_them(folder: Path) -> None:
    Path("x.ex").write_bytes(b"I:1;\nI:2;\nI: five;\n")
    examples = exset.stream("x.ex")
    assert [next(examples).events[0].inputs is not None for _ in range(2)] == [True, True]
    with pytest.raises(FormatError, match=r"x.ex:3:4: expected"):
        next(examples)


@pytest.mark.parametrize("name", ["|ls", "a\0b"])
def test_commands_are_no_files(folder: Path, name: str) -> None:
    with pytest.raises(FormatError):
        next(exset.stream(name))
    with pytest.raises(FormatError), exset.writer(name, format="ex"):
        pass
    for source, target in ((name, "y.ex"), ("exset::xor.ex", name)):
        with pytest.raises(FormatError):
            exset.convert(source, target, to="ex")
    assert not list(folder.iterdir())


def test_other_errors(folder: Path) -> None:
    with pytest.raises(FileNotFoundError):
        next(exset.stream("missing.ex"))
    with pytest.raises(ValueError, match="there is no format"):
        exset.stream("missing.ex", format="nonsense")
    with pytest.raises(ValueError, match="no engine"):
        exset.stream("missing.ex", engine=cast(exset.kernels.Engine, "x"))
    with pytest.raises(ValueError, match="closed"):
        with exset.stream("exset::xor.ex") as examples:
            pass
        print(examples.header)


def test_a_loop_begins_again(folder: Path) -> None:
    for name in ("x.ex", "x.bex"):
        exset.save(SET, name)
        with exset.stream(name, loop=True) as examples:
            assert [next(examples) for _ in range(10)] == [SET.examples[i % 4] for i in range(10)]
    Path("empty.ex").write_bytes(b"max: 3;\n")
    assert not list(exset.stream("empty.ex", loop=True))
    Path("trap.ex").write_bytes(TRAP)
    findings = exset.Findings()
    with exset.stream("trap.ex", loop=True, findings=findings) as examples:
        assert len([next(examples) for _ in range(9)]) == 9
    assert findings.count() == 1


def test_a_pipe_is_opened_again(pipe: Pipe, monkeypatch: pytest.MonkeyPatch) -> None:
    name, opened, asked = pipe("x.ex"), streaming.opened, Queue[str]()

    def watched(path: str, **options: exset.Limits) -> AbstractContextManager[files.Blocks]:
        asked.put(path)
        return opened(path, **options)

    def write() -> None:
        for turn in (b"name:a I:1;\nname:b I:2;\n", b"max:3;\nname:c I:1;"):
            asked.get(timeout=SECONDS)
            Path(name).write_bytes(turn)

    monkeypatch.setattr(streaming, "opened", watched)
    with meanwhile(write), exset.stream(name, loop=True) as examples:
        assert [next(examples).name for _ in range(3)] == ["a", "b", "c"]
        assert examples.header.max_time == 3


@pytest.mark.parametrize("engine", ["auto", "table"])
@pytest.mark.parametrize("suffix", ["ex", "bex"])
def test_a_pipe_gives_each_example_at_once(
    pipe: Pipe, suffix: str, engine: exset.kernels.Engine
) -> None:
    """The writer waits for each example to be read before it writes the next."""
    name, read = pipe("pipe"), Queue[str | None]()

    def write() -> None:
        with open(name, "wb") as file:
            if suffix == "ex":
                parts = TEXT.splitlines(keepends=True)
            else:
                parts = [BEX[at : at + 7] for at in range(0, len(BEX), 7)]
            for part in parts:
                file.write(part)
                file.flush()
                if suffix == "ex" and b"I:" in part:
                    read.get(timeout=SECONDS)

    with meanwhile(write):
        examples = []
        for example in exset.stream(name, engine=engine):
            examples.append(example)
            read.put(example.name)
    assert examples == list(SET.examples)


def test_an_error_in_a_pipe_ends_it(pipe: Pipe) -> None:
    name, read = pipe("x.ex"), Queue[None]()

    def write() -> None:
        with open(name, "wb", buffering=0) as file:
            file.write(b"I:1;\nI:2 @;\n")
            read.get(timeout=SECONDS)

    with meanwhile(write):
        examples = exset.stream(name)
        next(examples)
        with pytest.raises(FormatError, match=r"x.ex:2:5"):
            next(examples)
        with pytest.raises(StopIteration):
            next(examples)
        read.put(None)


# Writers


@given(example_sets(text=True, binary=True), st.sampled_from(["ex", "bex"]), st.booleans())
def test_a_writer_writes_what_save_does(model: ExampleSet, format: str, one: bool) -> None:
    stdout = io.BytesIO()
    sets = [model.select([i]) for i in range(len(model))]
    with (
        patch.object(sys, "stdout", SimpleNamespace(buffer=stdout, flush=lambda: None)),
        exset.writer("-", format=format, header=model.header) as out,
    ):
        for example in model.examples if one else sets:
            out.write(example)
    assert out.count == len(model)
    assert stdout.getvalue() == exset.dumps(model, format=format)


@pytest.mark.parametrize("name", ["y.ex", "y.bex", "y.ex.gz", "y.bex.gz"])
def test_a_file_is_whole_or_untouched(folder: Path, name: str) -> None:
    Path(name).write_bytes(b"old")
    with pytest.raises(KeyError), exset.writer(name) as out:
        out.write(SET)
        raise KeyError
    assert [path.name for path in folder.iterdir()] == [name]
    assert Path(name).read_bytes() == b"old"
    with exset.writer(name) as out:
        for example in SET.examples:
            out.write(example)
    exset.save(SET, f"z{name}")
    assert Path(name).read_bytes() == Path(f"z{name}").read_bytes()


def test_what_a_writer_takes(folder: Path) -> None:
    header = exset.SetHeader(max_time=3, active_input=0.5)
    new = exset.Example([exset.Event(exset.Sparse([1, 2]), [0, 1])], name="new")
    with exset.writer("y.ex", header=header) as out:
        out.write(new)
        out.write(SET)
        out.write(SET.examples[2])
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
    with pytest.raises(ValueError, match="different procs"), exset.writer("y.ex") as out:
        out.write(SET)
        out.write(other)


def test_errors_and_findings_of_a_writer_count_through(folder: Path) -> None:
    bad = exset.loads(b"name:ok ;name:{};", model=ExampleSet, findings=exset.Findings())
    with (
        pytest.raises(FormatError, match=r"mine.*examples\[3\].name"),
        exset.writer("y.bex", name="mine") as out,
    ):
        for _ in range(2):
            out.write(bad.examples[0])
        out.write(bad)
    findings = exset.Findings()
    with exset.writer("y.bex", lossy=True, findings=findings) as out:
        for _ in range(2):
            out.write(bad)
    places = [finding.place.field for finding in findings if finding.place]
    assert places == ["examples[1].name", "examples[3].name"]
    with (
        pytest.warns(exset.FormatWarning, match="empty names") as caught,
        exset.writer("y.bex", lossy=True) as out,
    ):
        out.write(bad)
    assert [Path(warning.filename).name for warning in caught] == [Path(__file__).name]
    with pytest.raises(TypeError, match="takes no option"), exset.writer("y.bex", compact=True):
        pass


def test_what_a_proc_of_the_set_loses_is_told_once(folder: Path) -> None:
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
            for example in SET.examples:
                out.write(example)
                read.get(timeout=SECONDS)

    with meanwhile(write):
        found = []
        for example in exset.stream(name):
            found.append(example)
            read.put(None)
    assert found == list(SET.examples)


@pytest.mark.parametrize("spooled", [1 << 20, 10])
def test_a_binary_pipe_gets_all_at_the_end(
    pipe: Pipe, monkeypatch: pytest.MonkeyPatch, spooled: int
) -> None:
    monkeypatch.setattr(streaming, "_SPOOLED", spooled)
    name = pipe("y.bex")

    def write() -> None:
        with exset.writer(name) as out:
            for example in SET.examples:
                out.write(example)

    with meanwhile(write):
        assert Path(name).read_bytes() == BEX


def test_a_reader_that_goes_is_an_error_of_the_system(pipe: Pipe) -> None:
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


@given(
    example_sets(text=True, binary=True),
    st.sampled_from(["ex", "bex"]),
    st.sampled_from(["ex", "bex"]),
    st.integers(1, 50),
)
def test_conversion_in_parts_gives_the_same_bytes(
    model: ExampleSet, source: str, target: str, size: int
) -> None:
    data, out = exset.dumps(model, format=source), io.BytesIO()
    chunks = (data[at : at + size] for at in range(0, len(data), size))

    @contextmanager
    def opened(*arguments: object, **options: object) -> Iterator[files.Blocks]:
        yield files.Blocks("x", chunks, None, is_pipe=True)

    with (
        patch.object(streaming, "opened", opened),
        patch.object(sys, "stdout", SimpleNamespace(buffer=out, flush=lambda: None)),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore", exset.FormatWarning)
        assert exset.convert("x", "-", from_format=source, to=target) == len(model)
    assert out.getvalue() == exset.dumps(
        exset.loads(data, findings=exset.Findings()), format=target
    )


def test_a_file_of_many_parts(folder: Path) -> None:
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
