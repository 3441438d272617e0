import io
import pickle
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import exset
from exset import FormatError, FormatWarning, LimitError, Limits, Severity, samples

XOR = b"I:0 0 T:0;\nI:0 1 T:1;\nI:1 0 T:1;\nI:1 1 T:0;\n"
TRAP = b"I:1 T:1;\n[max:] I:2 T:0;\n"  # a missing value is read as NaN


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_text_and_binary_are_the_same_set(folder: Path) -> None:
    (folder / "xor.ex").write_bytes(XOR)
    model = exset.convert("xor.ex", "xor.bex")
    assert len(model) == 4
    assert exset.load("xor.bex") == exset.load(folder / "xor.ex") == exset.loads(XOR) == model
    assert exset.detect("xor.bex").name == "bex"
    exset.save(model, "again.ex.gz")
    assert exset.load("again.ex") == model


def test_dumps_and_loads() -> None:
    model = exset.loads(XOR)
    for name in exset.formats.names():
        data = exset.dumps(model, format=name)
        for given in (data, bytearray(data), memoryview(data)):
            assert exset.loads(given) == exset.loads(given, format=name) == model
    assert exset.loads("name:\N{SNOWMAN} I:1;").examples[0].name == "\N{SNOWMAN}"


def test_a_model_made_in_python() -> None:
    made = exset.ExampleSet.from_arrays([[0, 0], [0, 1], [1, 0], [1, 1]], [[0], [1], [1], [0]])
    assert made == exset.loads(XOR)
    example = exset.Example([exset.Event(exset.Dense([0, 1]), exset.Sparse([0]))], name="one")
    text = exset.dumps(exset.ExampleSet.from_examples([example]), format="ex")
    assert exset.loads(text).examples[0].name == "one"


def test_one_warning_a_load() -> None:
    with pytest.warns(FormatWarning) as caught:
        exset.loads(TRAP + b"name:x [max:] I:2 T:0;\n", name="trap.ex")
    assert len(caught) == 1
    message = str(caught[0].message)
    assert message.startswith("trap.ex:2:") and "1 more" in message
    assert caught[0].filename == __file__


def test_findings_are_collected_in_silence() -> None:
    findings = exset.Findings()
    exset.loads(TRAP, findings=findings)
    assert [finding.severity for finding in findings] == [Severity.WARNING]


def test_strict() -> None:
    with pytest.raises(FormatError, match=r"trap\.ex:2:"):
        exset.loads(TRAP, name="trap.ex", strict=True)
    with pytest.raises(ValueError, match="strict"):
        exset.loads(TRAP, strict=True, findings=exset.Findings())
    assert len(exset.loads(XOR, strict=True)) == 4


def test_validate(folder: Path) -> None:
    (folder / "trap.ex").write_bytes(TRAP)
    (folder / "bad.ex").write_bytes(TRAP + b"I:1 five;")
    (folder / "good.ex").write_bytes(XOR)
    assert exset.validate("good.ex").worst is None
    assert exset.validate("trap.ex").worst is Severity.WARNING
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


def test_errors_travel() -> None:
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
    with pytest.raises(ValueError, match="there are ex, bex"):
        exset.save(exset.loads(XOR), "xor.ex", format="nonsense")
    assert (folder / "xor.ex").read_bytes() == XOR


def test_what_a_format_cannot_hold_leaves_the_target_alone(folder: Path) -> None:
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
        assert exset.load(f"exset::{name}") == exset.loads(samples.read(name).data)
    with pytest.raises(FileNotFoundError, match=r"there are .*xor\.ex") as caught:
        exset.load("exset::nothing.ex")
    assert caught.value.filename == "exset::nothing.ex"
    for name in ("exset::", "exset::../api.py", "exset::__init__.py"):
        with pytest.raises(FileNotFoundError):
            exset.load(name)


def test_standard_input_and_output(monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.BytesIO()
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(XOR)))
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(out))
    model = exset.convert("-", "-", to="bex")
    assert exset.loads(out.getvalue()) == model
