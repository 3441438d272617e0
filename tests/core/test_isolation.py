"""Work in a process of its own: crashes, time limits, and the verbs that use it."""

import os
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import pytest

from exset.core import isolation, supervisor
from exset.core.errors import FormatError
from exset.core.isolation import LateError, run_isolated
from exset.core.jobs import Execution, run
from exset.runtime.hdf5.objects import Objects
from exset.runtime.lbann.hdf5_files import failure, run_on_files
from tests.cli.command_line import run as run_command
from tests.core.deadly import is_loaded, work
from tests.lbann.hdf5_lists import write

ALONE = Execution(isolated=True)


@pytest.fixture(autouse=True)
def isolated(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv(supervisor.ENVIRONMENT)
    yield


def test_crashes_and_hangs() -> None:
    paths = ["a", "bad", "deadly", "missing", "b", "endless", "vast", "deadly", "c"]
    with patch("exset.core.supervised.SECONDS", 4):
        outcomes = list(run(work, paths, isolated=True))
    assert [each.item for each in outcomes] == paths
    assert [type(each.error) for each in outcomes] == [
        *(type(None), FormatError, ChildProcessError, FileNotFoundError, type(None)),
        *(LateError, OSError, ChildProcessError, type(None)),
    ]
    values = [each.value for each in outcomes if each.value]
    assert [path for path, _ in values] == ["a", "b", "c"]
    pids = {pid for _, pid in values}
    assert len(pids) == 3 and os.getpid() not in pids


def test_the_process_stays_for_later_work() -> None:
    [[first], [second]] = (list(run_isolated(work, ["a"])) for _ in range(2))
    assert first.value == second.value is not None
    left = run_isolated(work, ["a", "b"])
    assert next(left).value == first.value
    left.close()  # it may be at work
    assert not isolation._idle
    with pytest.raises(ZeroDivisionError):
        list(run_isolated(work, ["a", "wrong"]))


def test_the_process_starts_before_it_has_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolation, "_idle", [])
    isolation.prepare("no.such.module")  # whoever needs it raises the error
    [prepared] = isolation._idle
    isolation.prepare(__name__)
    assert isolation._idle == [prepared]
    [outcome] = run_isolated(work, ["a"])
    assert outcome.value is not None and outcome.value[1] == prepared._process.pid
    prepared._end()


def test_preparing_loads_the_module(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolation, "_idle", [])
    isolation.prepare("wave")
    outcomes = run_isolated(is_loaded, ["wave", "sunau"])
    assert [outcome.value for outcome in outcomes] == [True, False]
    isolation._idle[0]._end()


def test_the_process_follows_to_another_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Paths are relative to the folder that is the current one now, not when the process began."""
    pids = set()
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        Path("it").write_text(name)
        [outcome] = run_isolated(read_here, ["it"])
        assert outcome.value is not None and outcome.value[0] == name
        pids.add(outcome.value[1])
    assert len(pids) == 1


def read_here(path: str) -> tuple[str, int]:
    """Return the content of a file, and the process that read it."""
    return Path(path).read_text(), os.getpid()


def test_findings() -> None:
    with patch("exset.core.supervised.SECONDS", 4):
        outcomes = run_on_files(work, ["deadly", "endless"], jobs=ALONE)
        codes = [failure(each.item, each.error).code for each in outcomes]
    assert codes == ["hdf5-crash", "hdf5-timeout"]


def test_the_library_runs_in_another_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The verbs that read the HDF5 files of a list do not open them in this process."""
    monkeypatch.chdir(tmp_path)
    write("d/a.h5", ["s"])
    Path("bad.h5").write_bytes(b"bad")
    Path("s.yaml").write_text("x:\n")
    commands = [
        ("list", "build", "d", "-o", "a.sample_list"),
        ("validate", "--files", "a.sample_list"),
        ("schema", "check", "s.yaml", "s.yaml", "a.sample_list"),
    ]
    with patch.object(Objects, "__init__", side_effect=AssertionError):
        for command in commands:
            done = run_command(*command)
            assert done.exit_code == 0, done.output
        assert "not an HDF5 file" in run_command("list", "build", "bad.h5", "-o", "b").stderr
        monkeypatch.setenv(supervisor.ENVIRONMENT, "off")
        with pytest.raises(AssertionError):
            run_command(*commands[1])
