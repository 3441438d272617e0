"""What a caller sees of an error: the line of the call, and not the lines inside exset."""

import traceback
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

import exset
from exset.core.callers import OptionError, public
from exset.core.errors import FormatError

BAD = "I: x;"


def frames(call: Callable[[], object]) -> list[str]:
    """Return the names of the functions in the traceback of the error that a call raises."""
    with pytest.raises((FormatError, OSError, OptionError)) as caught:
        call()
    return [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]


@pytest.mark.parametrize(
    "call",
    [
        lambda: exset.loads(BAD, format="ex"),
        lambda: exset.load("nothing"),
        lambda: exset.loads(b"\x1f\x8b"),
        lambda: exset.load("exset::xor.ex", ids="text"),
        lambda: exset.save(exset.load("exset::xor.ex"), "x.json"),
        lambda: exset.dumps(exset.loads("freq: -1 I: 1;", findings=exset.Findings()), format="bex"),
        lambda: exset.convert("exset::xor.ex", "x.json"),
        lambda: exset.detect("nothing"),
        lambda: exset.dataset("nothing"),
        lambda: next(exset.stream("nothing")),
        lambda: exset.LoaderConfig.from_dict({}),
        lambda: exset.to_arrays(exset.loads("i: (a) {1} 3;"), inputs={"a": 3}),  # type: ignore[arg-type]
    ],
)
def test_an_error_shows_the_line_of_the_caller(
    call: Callable[[], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert frames(call)[-2:] == ["<lambda>", "called"]


def test_causes_and_other_errors_stay() -> None:
    cause = RuntimeError("why")

    @public
    def failing(error: Exception) -> None:
        raise error from cause

    with pytest.raises(FormatError) as caught:
        failing(FormatError("m"))
    assert caught.value.__cause__ is cause
    with pytest.raises(ZeroDivisionError) as other:
        failing(ZeroDivisionError())
    assert traceback.extract_tb(other.value.__traceback__)[-1].name == "failing"


def test_a_warning_names_the_line_of_the_caller(tmp_path: Path) -> None:
    path = tmp_path / "a.ex"
    path.write_text("5 I: 1;")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        exset.save(exset.load(path), tmp_path / "b.ex")
        list(exset.stream(path))
        exset.convert(path, tmp_path / "c.bex")
    assert len(caught) == 3 and {each.filename for each in caught} == {__file__}
