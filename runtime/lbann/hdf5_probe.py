"""What is seen of a file that a sample list names, perhaps in a process of its own."""

from __future__ import annotations

from dataclasses import dataclass

from exset.core.errors import Finding, FormatError, LimitError
from exset.core.limits import Limits
from exset.grammars.columns.strings import Strings
from exset.io.access import Access
from exset.runtime.lbann.hdf5 import File, is_group


@dataclass(frozen=True)
class Task:
    """What to look for in a file; names: whether all that is at its top is wanted."""

    path: str
    ids: Strings
    names: bool = False

    def __fspath__(self) -> str:
        """Return the path of the file."""
        return self.path

    def texts(self) -> list[str]:
        """The ids as text."""
        return [self.ids.text(row) or "" for row in range(len(self.ids))]


@dataclass(frozen=True)
class Look:
    """What was seen of a file; of its top nothing if that was not asked for."""

    count: int
    names: tuple[str, ...]
    is_ordered: bool
    missing: tuple[str, ...] = ()
    """Ids that it does not have."""
    refused: tuple[Finding, ...] = ()
    """Ids that were not looked up, and why not."""


@dataclass(frozen=True)
class Looking:
    """How files are looked at."""

    access: Access
    limits: Limits

    def __call__(self, task: Task) -> Look:
        """Look at one file; FormatError and OSError as those of `File`."""
        with File(task.path, self.access, self.limits) as file:
            root = file.find("")
            names = file.names(root, "") if task.names else []
            missing: list[str] = []
            refused: list[Finding] = []
            parents = {"": root}
            for each in task.texts():
                above, _, name = each.rpartition("/")
                try:
                    if above not in parents:
                        parents[above] = file.find(above)
                    parent = parents[above]
                    if name and (
                        parent is None or not is_group(parent) or not file.has(parent, name, each)
                    ):
                        missing.append(each)
                except LimitError:
                    raise
                except FormatError as error:
                    refused.append(error.finding)
            return Look(
                count=len(names),
                names=tuple(names),
                is_ordered=task.names and file.is_ordered(root, ""),
                missing=tuple(missing),
                refused=tuple(refused),
            )
