"""Every kind of data in every format: what `docs/matrix.md` says is true."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

import exset
from exset import Findings, FormatError, formats
from exset.core.protocols import Model
from tests.laws.conversions import SOURCES, read_back, written
from tests.laws.matrix import CELLS, LOSSLESS, PAGE, TARGETS, WHY, page

FEW = settings(max_examples=2, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "fsync", lambda _: None)  # many small files


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize("to", CELLS)
def test_a_cell(to: str, name: str) -> None:
    source, target, verdict = SOURCES[name], formats.get(to), CELLS[to][name]
    if target.needs:
        pytest.importorskip(target.needs)
    model, findings = source.sample(), Findings()
    if verdict.startswith("no "):
        with pytest.raises(FormatError) as error:
            written(source, model, target, lossy=True, findings=findings)
        assert error.value.code == verdict.removeprefix("no ")
        return
    path = written(source, model, target, lossy=True, findings=findings)
    if verdict != LOSSLESS:
        assert {each.code for each in findings} == {*verdict.split()}
        assert not comes_back(name, model, path, to)
        return
    assert not any(each.code == "table-dropped" for each in findings)
    assert comes_back(name, model, path, to)

    @FEW
    @given(source.models())
    def all_come_back(drawn: Model) -> None:
        try:
            path = written(source, drawn, target, lossy=False, findings=Findings())
        except FormatError:
            return  # refused, not changed
        assert comes_back(name, drawn, path, to)

    all_come_back()


def comes_back(name: str, model: Model, path: str, to: str) -> bool:
    """Return whether a written file gives the same model."""
    try:
        back = read_back(SOURCES[name], path, formats.get(to))
    except FormatError:
        return False
    return not exset.diff(model, back)


def test_the_page() -> None:
    """`python -m tests.laws.matrix` writes it; no cell is empty."""
    assert page() == PAGE.read_text("utf-8")
    names = {target.name for target in TARGETS}
    assert names == CELLS.keys() == WHY.keys()
    assert all(row.keys() == SOURCES.keys() for row in CELLS.values())
