"""The progress of one file on a terminal: bytes, rate and time left."""

import os
import sys
from time import monotonic
from typing import TYPE_CHECKING, Final

from exset.core.progress import Task
from exset.core.text import safe

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

_PATIENCE: Final = 2.0
"""Seconds after which progress is shown."""


class ByteProgress:
    """Shows the progress of a task on standard error, and removes it at the end of the task."""

    def __init__(self) -> None:
        self._begun = monotonic()
        self._shown: tuple[Task, Progress, TaskID] | None = None

    def __call__(self, task: Task | None) -> None:
        """Show the progress of a task, if the command has run for a while. With None, remove it."""
        if self._shown is not None:
            current, bar, row = self._shown
            if current is task:
                bar.update(row, completed=task.done)
                return
            bar.stop()
            self._shown = None
        if task is not None and monotonic() - self._begun >= _PATIENCE and _is_terminal():
            self._show(task)

    def _show(self, task: Task) -> None:
        from rich import progress
        from rich.console import Console

        bar = progress.Progress(
            progress.TextColumn("{task.description}", markup=False),
            progress.BarColumn(),
            progress.DownloadColumn(),
            progress.TransferSpeedColumn(),
            progress.TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
            redirect_stdout=False,
        )
        name = safe(os.path.basename(task.name) or task.name)
        row = bar.add_task(f"{task.action} {name}", total=task.total, completed=task.done)
        bar.start()
        self._shown = task, bar, row


def _is_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()
