import bz2
import gzip
import io
import os
import pickle
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import get_args

import pytest

import exset
from exset import FormatError, FormatWarning, LimitError, Limits, Severity, formats, samples
from exset.core.kernels import Engine
from exset.families import family

LENS = ("ex", "bex")
XOR = b"I:0 0 T:0;\nI:0 1 T:1;\nI:1 0 T:1;\nI:1 1 T:0;\n"
WARNING = b"I:1 T:1;\n[max:] I:2 T:0;\n"  # a missing value is read as NaN


def test_text_and_binary_are_the_same_set(folder: Path) -> None:
    (folder / "xor.ex").write_bytes(XOR)
    assert exset.convert("xor.ex", "xor.bex") == 4
    model = exset.load("xor.ex")
    assert exset.load("xor.bex") == exset.load(folder / "xor.ex") == exset.loads(XOR) == model
    assert exset.detect("xor.bex").name == "bex"
    exset.save(model, "again.ex.gz")
    assert exset.load("again.ex") == model


def test_dumps_and_loads() -> None:
    model = exset.loads(XOR)
    for name in LENS:
        data = exset.dumps(model, format=name)
        for given in (data, bytearray(data), memoryview(data)):
            assert exset.loads(given) == exset.loads(given, format=name) == model
    assert exset.loads("name:\N{SNOWMAN} I:1;", model=exset.ExampleSet)[0].name == "\N{SNOWMAN}"


def test_the_expected_class_of_model(folder: Path) -> None:
    class Other:
        def __len__(self) -> int:
            return 0

    (folder / "xor.ex").write_bytes(XOR)
    assert exset.load("xor.ex", model=exset.ExampleSet) == exset.load("xor.ex")
    with pytest.raises(exset.FormatError, match=r"holds an example set .*, not Other") as caught:
        exset.loads(XOR, model=Other)
    assert caught.value.code == "format"


def test_a_model_made_in_python() -> None:
    made = exset.ExampleSet.from_arrays([[0, 0], [0, 1], [1, 0], [1, 1]], [[0], [1], [1], [0]])
    assert made == exset.loads(XOR)
    example = exset.Example([exset.Event(exset.Dense([0, 1]), exset.Sparse([0]))], name="one")
    text = exset.dumps(exset.ExampleSet.from_examples([example]), format="ex")
    assert exset.loads(text, model=exset.ExampleSet)[0].name == "one"


def test_one_warning_a_load() -> None:
    with pytest.warns(FormatWarning) as caught:
        exset.loads(WARNING + b"name:x [max:] I:2 T:0;\n", name="warn.ex")
    assert len(caught) == 1
    message = str(caught[0].message)
    assert message.startswith("warn.ex:2:") and "1 more" in message
    assert caught[0].filename == __file__


def test_collected_findings_issue_no_warning() -> None:
    findings = exset.Findings()
    exset.loads(WARNING, findings=findings)
    assert [finding.severity for finding in findings] == [Severity.WARNING]


def test_strict() -> None:
    with pytest.raises(FormatError, match=r"warn\.ex:2:"):
        exset.loads(WARNING, name="warn.ex", strict=True)
    with pytest.raises(ValueError, match="strict"):
        exset.loads(WARNING, strict=True, findings=exset.Findings())
    assert len(exset.loads(XOR, strict=True)) == 4


def test_validate(folder: Path) -> None:
    (folder / "warn.ex").write_bytes(WARNING)
    (folder / "bad.ex").write_bytes(WARNING + b"I:1 five;")
    (folder / "good.ex").write_bytes(XOR)
    assert exset.validate("good.ex").worst is None
    assert exset.validate("warn.ex").worst is Severity.WARNING
    findings = exset.validate("bad.ex")
    assert findings.worst is Severity.ERROR
    assert [finding.severity for finding in findings][-1] is Severity.ERROR
    with pytest.raises(FileNotFoundError):
        exset.validate("missing.ex")


def test_limits(folder: Path) -> None:
    deep = b"name:" + b"{" * 40 + b"x" + b"}" * 40 + b" I:1;"
    with pytest.raises(LimitError):
        exset.loads(deep)
    assert len(exset.loads(deep, limits=Limits(max_depth=64))) == 1
    (folder / "deep.ex").write_bytes(deep)
    (finding,) = exset.validate("deep.ex")
    assert finding.code == "limit"


def test_errors_can_be_pickled() -> None:
    with pytest.raises(FormatError) as caught:
        exset.loads(b"I:1 five;", name="x.ex")
    copy = pickle.loads(pickle.dumps(caught.value))
    assert str(copy) == str(caught.value) and str(copy).startswith("x.ex:1:5: ")


def test_an_unknown_target_is_refused_before_anything_is_read(folder: Path) -> None:
    (folder / "xor.ex").write_bytes(XOR)
    with pytest.raises(FormatError, match=r"\.ex, \.bex"):
        exset.convert("xor.ex", "xor.txt")
    exset.convert("xor.ex", "xor.txt", to="bex")
    assert exset.detect("xor.txt").name == "bex"
    with pytest.raises(ValueError, match="choose one of ex, bex"):
        exset.save(exset.loads(XOR), "xor.ex", format="nonsense")
    assert (folder / "xor.ex").read_bytes() == XOR


def test_a_model_that_a_format_cannot_hold_leaves_the_target_alone(folder: Path) -> None:
    (folder / "x.bex").write_bytes(b"old")
    model = exset.loads(b"freq:-1 I:1;", findings=exset.Findings())
    with pytest.raises(FormatError, match="frequency"):
        exset.save(model, "x.bex")
    assert (folder / "x.bex").read_bytes() == b"old"
    with pytest.warns(FormatWarning, match=r"^example set: ") as caught:
        exset.save(model, "x.bex", lossy=True)
    assert [warning.filename for warning in caught] == [__file__]
    (folder / "x.ex").write_bytes(b"freq:-1 I:1;")
    with pytest.warns(FormatWarning, match=r"^x\.ex:1:6: (.|\n)*1 more") as caught:
        exset.convert("x.ex", "x.bex", lossy=True)
    assert [warning.filename for warning in caught] == [__file__]
    findings = exset.Findings()
    assert exset.dumps(model, format="bex", lossy=True, findings=findings)
    assert len(findings) == 1


def test_samples(folder: Path) -> None:
    for name in samples.names():
        fmt = formats.by_suffix(name)
        assert fmt is not None
        only_by_suffix = not fmt.magic and fmt.signature is None
        data = samples.read(name).data
        format = fmt.name if only_by_suffix else None
        assert exset.load(f"exset::{name}") == exset.loads(data, format=format)
    with pytest.raises(FileNotFoundError, match=r"choose one of .*xor\.ex") as caught:
        exset.load("exset::nothing.ex")
    assert caught.value.filename == "exset::nothing.ex"
    for name in ("exset::", "exset::../api.py", "exset::__init__.py"):
        with pytest.raises(FileNotFoundError):
            exset.load(name)


def test_standard_input_and_output(monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.BytesIO()
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(XOR)))
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(out))
    assert exset.convert("-", "-", to="bex") == 4
    assert exset.loads(out.getvalue()) == exset.loads(XOR)


def test_messages_name_standard_input(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"freq:-1 I:1;")))
    with pytest.raises(FormatError, match=r"^<stdin>: .*frequency"):
        exset.convert("-", "x.bex", findings=exset.Findings())
    (folder / "y.ex.gz").write_bytes(gzip.compress(b"freq:-1 I:1;"))
    with pytest.raises(FormatError, match=r"^y\.ex\.gz: .*frequency"):
        exset.convert("y.ex", "x.bex", findings=exset.Findings())
    assert not Path("x.bex").exists()


@pytest.mark.parametrize("value", [True, False, None])
def test_an_unknown_option_is_a_type_error(folder: Path, value: bool) -> None:
    model = exset.loads(XOR)
    for name in LENS:
        with pytest.raises(TypeError, match=f"unknown option 'losy' of the format {name!r}"):
            exset.dumps(model, format=name, losy=value)
        with pytest.raises(TypeError, match="'losy'"):
            exset.save(model, f"x.{name}", losy=value)
        with pytest.raises(TypeError, match="'losy'"):
            exset.convert("missing.ex", f"x.{name}", losy=value)
    assert not list(folder.iterdir())


@pytest.mark.parametrize("model", [None, "x.ex", XOR, [], exset.ExampleSet])
def test_other_objects_than_models_are_type_errors(folder: Path, model: exset.ExampleSet) -> None:
    for name in LENS:
        with pytest.raises(TypeError, match=r"must be an ExampleSet, not \w+$"):
            exset.save(model, f"x.{name}")
        with pytest.raises(TypeError, match="must be an ExampleSet"):
            exset.dumps(model, format=name)
    assert not list(folder.iterdir())


@pytest.mark.parametrize("path", [None, 3, XOR.split(), io.BytesIO(XOR)])
def test_other_objects_than_paths_are_type_errors(folder: Path, path: str) -> None:
    model = exset.loads(XOR)
    uses: list[Callable[[], object]] = [
        lambda: exset.load(path),
        lambda: exset.load(path, format="ex"),
        lambda: exset.validate(path),
        lambda: exset.detect(path),
        lambda: exset.save(model, path),
        lambda: exset.save(model, path, format="ex"),
        lambda: exset.convert(path, "x.ex"),
        lambda: exset.convert("missing.ex", path, to="ex"),
    ]
    for use in uses:
        with pytest.raises(TypeError, match=r"expected str, bytes or os\.PathLike"):
            use()
    assert not list(folder.iterdir())


def test_paths_may_be_bytes(folder: Path) -> None:
    exset.save(exset.loads(XOR), b"x\xff.ex")
    assert exset.detect(b"x\xff.ex").name == "ex"
    assert exset.convert(b"x\xff.ex", b"y.bex") == 4
    assert exset.load(b"y.bex") == exset.loads(XOR)
    assert exset.validate(b"y.bex").worst is None
    assert exset.load(b"exset::xor.ex") == exset.load("exset::xor.ex")


def test_invalid_arguments_are_refused_before_anything_is_read(folder: Path) -> None:
    with pytest.raises(ValueError, match="choose one of ex, bex"):
        exset.load("missing", format="nonsense")
    with pytest.raises(ValueError, match="choose one of ex, bex"):
        exset.convert("missing", "x.ex", from_format="nonsense")
    with pytest.raises(ValueError, match="strict"):
        exset.load("missing", strict=True, findings=exset.Findings())
    with pytest.raises(ValueError, match="choose one of auto, reference, table"):
        exset.load("missing", engine="fast")  # type: ignore[call-overload]


@pytest.mark.parametrize(
    "fmt", [exset.formats.get(name) for name in LENS], ids=lambda fmt: fmt.name
)
def test_the_engine_is_passed_on(
    monkeypatch: pytest.MonkeyPatch, folder: Path, fmt: exset.Format
) -> None:
    exset.save(exset.loads(XOR), "x", format=fmt.name)
    for engine in get_args(Engine):
        assert exset.load("x", engine=engine) == exset.loads(XOR, engine=engine)
        assert len([*exset.stream("x", engine=engine)]) == 4
        assert exset.convert("x", "y.ex", engine=engine) == 4
        assert not exset.validate("x", engine=engine).count()
    engines: list[object] = []
    make = family.load

    def reader(source: object, **options: object) -> exset.ExampleSet:
        engines.append(options["engine"])
        return exset.ExampleSet.from_examples([])

    def streamer(blocks: object, **options: object) -> Iterator[exset.ExampleSet]:
        yield reader(blocks, **options)

    others: dict[str | None, object] = {fmt.reader: reader, fmt.streamer: streamer}
    monkeypatch.setattr(
        "exset.families.format.load", lambda target: others.get(target, make(target))
    )
    exset.load("x", engine="reference")
    exset.loads(Path("x").read_bytes(), engine="table")
    exset.load("x")
    exset.validate("x", engine="table")
    exset.convert("x", "y.ex", engine="reference")
    assert not [*exset.stream("x", engine="table")]
    assert engines == ["reference", "table", "auto", "table", "reference", "table"]
    with pytest.raises(ValueError, match="choose one of auto, reference, table"):
        exset.convert("x", "y.ex", engine="fast")  # type: ignore[arg-type]


def test_detection_reads_the_head_alone(folder: Path) -> None:
    """The rest of the file may be of any size, and damaged."""
    rest = os.urandom(10**6)
    packed = gzip.compress(b"I:1;" + rest)
    (folder / "cut").write_bytes(packed[: len(packed) // 2])
    (folder / "bad").write_bytes(bz2.compress(b"\xaa" * 4 + rest) + b"garbage")
    assert [exset.detect(name).name for name in ("cut", "bad")] == ["ex", "bex"]
    for name in ("cut", "bad"):
        with pytest.raises(FormatError):
            exset.load(name)
    assert exset.detect("exset::xor-binary.bex").name == "bex"
