"""Progress by bytes: what a listener gets while files are read and written."""

from pathlib import Path

import pytest

import exset
from exset.core import progress
from exset.core.progress import Task

TEXT = b"I: 1 2 3 t: 4;\n" * 3000


class Recorder:
    """The tasks that were reported, and the largest number of bytes of each."""

    def __init__(self) -> None:
        self.tasks: dict[Task, int] = {}
        self.is_shown = False

    def __call__(self, task: Task | None) -> None:
        self.is_shown = task is not None
        if task is not None:
            assert task.total is None or task.done <= task.total
            assert task.done >= self.tasks.get(task, 0)
            self.tasks[task] = task.done

    @property
    def rows(self) -> list[tuple[str, str, bool]]:
        return [(task.action, task.name, done == task.total) for task, done in self.tasks.items()]


@pytest.fixture
def recorder(folder: Path) -> Recorder:
    Path("x.ex").write_bytes(TEXT)
    exset.save(exset.loads(TEXT), "x.ex.gz", format="ex")
    return Recorder()


def test_reading_and_writing(recorder: Recorder) -> None:
    with progress.listening(recorder):
        model = exset.load("x.ex", format="ex")
        assert recorder.rows == [("parsing", "x.ex", True)] and not recorder.is_shown
        exset.save(model, "y.ex")
        assert recorder.rows[1:] == [("writing", "y.ex", True)] and not recorder.is_shown
    exset.load("x.ex")
    assert len(recorder.tasks) == 2


@pytest.mark.parametrize("name", ["x.ex", "x.ex.gz"])
def test_chunks(recorder: Recorder, name: str) -> None:
    """The bytes are those of the file, compressed or not."""
    with progress.listening(recorder):
        exset.convert(name, "y.bex")
    assert recorder.rows == [("reading", name, True)]


def test_an_error_ends_a_task(recorder: Recorder) -> None:
    Path("bad.ex").write_bytes(TEXT + b"@")
    with progress.listening(recorder):
        kept = None
        try:
            exset.load("bad.ex")
        except exset.FormatError as error:
            kept = error  # keeps the frames of generators
        progress.end()
        assert kept is not None and not recorder.is_shown
        exset.save(exset.loads(TEXT), "y.ex")
        assert [name for _, name, _ in recorder.rows][-1] == "y.ex"
