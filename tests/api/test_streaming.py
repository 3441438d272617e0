"""`stream`: files, pipes and standard input."""

import gzip
import io
import sys
from contextlib import AbstractContextManager
from pathlib import Path
from queue import Queue
from types import SimpleNamespace
from typing import Any, cast

import pytest

import exset
from exset import ExampleSet, FormatError, samples, streaming
from tests.io.pipes import BEX, SECONDS, SET, TEXT, XOR, Pipe, meanwhile

WARNING = b"I:1 T:1;\n[max:] I:2 T:0;\n"


@pytest.mark.parametrize("name", [name for name in samples.names() if name.endswith("ex")])
def test_a_stream_gives_what_load_does(name: str) -> None:
    path = samples.PREFIX + name
    whole = exset.load(path, model=ExampleSet, findings=exset.Findings())
    with exset.stream(path, findings=exset.Findings()) as examples:
        assert examples.header == whole.header
        assert list(examples) == list(whole)


@pytest.mark.parametrize("name", ["x.ex", "x.ex.gz", "x.bex.bz2", "x.ex.zst", "x.bex.xz", "x"])
def test_files_may_be_compressed(folder: Path, name: str) -> None:
    exset.save(SET, name, format="bex" if "bex" in name else "ex")
    assert list(exset.stream(name)) == list(SET)
    assert list(exset.stream(name.removesuffix(".gz").removesuffix(".zst"))) == list(SET)


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    for data in (XOR, BEX, gzip.compress(XOR)):
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data)))
        assert list(exset.stream("-")) == list(SET)
    with pytest.raises(ValueError, match="standard input cannot be read again"):
        exset.stream("-", loop=True)


def test_findings_are_collected_or_issued_as_warnings(folder: Path) -> None:
    Path("x.ex").write_bytes(WARNING)
    findings = exset.Findings()
    assert len(list(exset.stream("x.ex", findings=findings))) == 2
    assert [finding.code for finding in findings] == ["lens-missing-value"]
    with pytest.warns(exset.FormatWarning, match="x.ex:2:2: .* has no value") as caught:
        assert len(list(exset.stream("x.ex"))) == 2
    assert [Path(warning.filename).name for warning in caught] == [Path(__file__).name]
    with pytest.warns(exset.FormatWarning) as caught:  # however it is left
        with exset.stream("x.ex") as examples:
            assert [next(examples) for _ in range(2)]
        examples.close()
        examples = exset.stream("x.ex")
        assert [next(examples) for _ in range(2)]
        examples.close()
        assert not list(examples)
    assert [Path(warning.filename).name for warning in caught] == [Path(__file__).name] * 2
    with pytest.raises(FormatError, match=r"x.ex:2:2: .* has no value"):
        list(exset.stream("x.ex", strict=True))
    with pytest.raises(ValueError, match="cannot be combined"):
        exset.stream("x.ex", strict=True, findings=findings)


def test_errors_come_after_the_examples_before_them(folder: Path) -> None:
    Path("x.ex").write_bytes(b"I:1;\nI:2;\nI: five;\n")
    examples = exset.stream("x.ex")
    assert [next(examples).events[0].inputs is not None for _ in range(2)] == [True, True]
    with pytest.raises(FormatError, match=r"x.ex:3:4: expected"):
        next(examples)


@pytest.mark.parametrize("name", ["|ls", "a\0b"])
def test_names_of_commands_are_not_run(folder: Path, name: str) -> None:
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
    with pytest.raises(ValueError, match="unknown format"):
        exset.stream("missing.ex", format="nonsense")
    with pytest.raises(ValueError, match="unknown engine"):
        exset.stream("missing.ex", engine=cast(exset.core.kernels.Engine, "x"))
    with pytest.raises(ValueError, match="closed"):
        with exset.stream("exset::xor.ex") as examples:
            pass
        print(examples.header)


def test_a_loop_begins_again(folder: Path) -> None:
    for name in ("x.ex", "x.bex"):
        exset.save(SET, name)
        with exset.stream(name, loop=True) as examples:
            assert [next(examples) for _ in range(10)] == [SET[i % 4] for i in range(10)]
    Path("empty.ex").write_bytes(b"max: 3;\n")
    assert not list(exset.stream("empty.ex", loop=True))
    Path("warn.ex").write_bytes(WARNING)
    findings = exset.Findings()
    with exset.stream("warn.ex", loop=True, findings=findings) as examples:
        assert len([next(examples) for _ in range(9)]) == 9
    assert findings.count() == 1


def test_a_pipe_is_opened_again(pipe: Pipe, monkeypatch: pytest.MonkeyPatch) -> None:
    name, opened, asked = pipe("x.ex"), streaming.opened, Queue[str]()

    def watched(
        path: str, **options: Any
    ) -> AbstractContextManager[streaming.OpenFile | streaming.OpenFolder]:
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
    pipe: Pipe, suffix: str, engine: exset.core.kernels.Engine
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
    assert examples == list(SET)


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
