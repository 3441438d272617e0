"""Progress by bytes: what a listener gets while files are read and written."""

from pathlib import Path

import pytest

import exset
from exset.core import progress
from exset.core.progress import Task

TEXT = b"I: 1 2 3 t: 4;\n" * 3000


class Heard:
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
def heard(folder: Path) -> Heard:
    Path("x.ex").write_bytes(TEXT)
    exset.save(exset.loads(TEXT), "x.ex.gz", format="ex")
    return Heard()


def test_reading_and_writing(heard: Heard) -> None:
    with progress.listening(heard):
        model = exset.load("x.ex", format="ex")
        assert heard.rows == [("parsing", "x.ex", True)] and not heard.is_shown
        exset.save(model, "y.ex")
        assert heard.rows[1:] == [("writing", "y.ex", True)] and not heard.is_shown
    exset.load("x.ex")
    assert len(heard.tasks) == 2


@pytest.mark.parametrize("name", ["x.ex", "x.ex.gz"])
def test_chunks(heard: Heard, name: str) -> None:
    """The bytes are those of the file, compressed or not."""
    with progress.listening(heard):
        exset.convert(name, "y.bex")
    assert heard.rows == [("reading", name, True)]


def test_an_error_ends_a_task(heard: Heard) -> None:
    Path("bad.ex").write_bytes(TEXT + b"@")
    with progress.listening(heard):
        kept = None
        try:
            exset.load("bad.ex")
        except exset.FormatError as error:
            kept = error  # keeps the frames of generators
        progress.end()
        assert kept is not None and not heard.is_shown
        exset.save(exset.loads(TEXT), "y.ex")
        assert [name for _, name, _ in heard.rows][-1] == "y.ex"
