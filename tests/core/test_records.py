import json
from collections.abc import Mapping
from dataclasses import dataclass

import pytest

from exset.core.errors import Finding, Findings, FormatError, LimitError, Place, Severity
from exset.core.outcome import Outcome
from exset.core.records import from_json, outcome_from_json, outcome_to_json, to_json
from exset.core.source import Source, Span
from exset.core.text import Advice


@dataclass(frozen=True)
class Inner:
    name: str
    sizes: tuple[int, ...]


@dataclass(frozen=True)
class Outer:
    inner: Inner
    rows: list[tuple[str, float]]
    by_name: Mapping[str, Inner]
    data: bytes | None = None
    severity: Severity = Severity.NOTE


def again(kind: object, value: object) -> object:
    return from_json(kind, json.loads(json.dumps(to_json(value))))


def test_values_come_back() -> None:
    inner = Inner("a\udcff", (1, 2))
    value = Outer(inner, [("x", 1.5)], {"b": inner}, b"\0\xff", Severity.ERROR)
    assert again(Outer, value) == value
    assert again(Outer, Outer(inner, [], {})) == Outer(inner, [], {})
    assert again(dict[str, object], {"a": [1, None]}) == {"a": [1, None]}
    with pytest.raises(TypeError, match="cannot hold object"):
        to_json(object())


def test_findings_come_back() -> None:
    source = Source("a.ex", b"one\ntwo five\n")
    place = Place.in_text(source, Span(8, 12))
    first = Finding("x", Severity.WARNING, "it is bad", place, "use <--lossy or lossy=True>")
    findings = Findings(keep=2)
    findings.add(first, 3)
    findings.add(Finding("y", Severity.ERROR, "worse"))
    findings.stopped = True
    found = again(Findings, findings)
    assert isinstance(found, Findings) and list(found) == list(findings)
    assert (found.count("x"), found.count("y"), found.stopped) == (3, 1, True)
    hint = next(iter(found)).hint
    assert isinstance(hint, Advice) and (hint, hint.command) == ("use lossy=True", "use --lossy")
    assert str(next(iter(found))) == str(first)


def test_outcomes_come_back() -> None:
    later = Findings()
    later.add(Finding("y", Severity.ERROR, "later"))
    errors: list[FormatError | OSError] = [
        FormatError.of(Finding("x", Severity.ERROR, "first"), later),
        LimitError("too much"),
        FileNotFoundError(2, "gone", "a.ex"),
        ChildProcessError(10, "died", "a.ex"),
        OSError("no number"),
    ]
    for error in errors:
        row = json.loads(json.dumps(outcome_to_json(Outcome("a.ex", error=error))))
        found = outcome_from_json("a.ex", str, row).error
        assert type(found) is type(error)
        if isinstance(error, FormatError) and isinstance(found, FormatError):
            assert str(found) == str(error) and list(found.findings) == list(error.findings)
        elif isinstance(error, OSError) and isinstance(found, OSError) and error.errno:
            assert (found.errno, found.filename) == (error.errno, error.filename)
    assert outcome_from_json("a", int, outcome_to_json(Outcome("a", 3))) == Outcome("a", 3)


@pytest.mark.parametrize("data", [None, {}, {"name": 1}, {"name": "a", "sizes": "x", "more": 1}, 7])
def test_other_data_are_errors(data: object) -> None:
    with pytest.raises((TypeError, ValueError, KeyError, AttributeError)):
        from_json(Inner, data)
