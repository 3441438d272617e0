"""Look into the HDF5 files that a sample list names, perhaps in other processes."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from exset.core.errors import Finding, FormatError, LimitError
from exset.core.jobs import Outcome, Value
from exset.core.limits import DEFAULT, Limits
from exset.grammars.columns.strings import Strings
from exset.grammars.lbann.sample_list import SampleList
from exset.io.access import DEFAULT_ACCESS, Access
from exset.runtime.lbann.hdf5 import File, is_group
from exset.runtime.lbann.hdf5_files import run_in_batches
from exset.runtime.lbann.list_problems import ListedFile, exclusion_problems, file_finding


@dataclass(frozen=True)
class Probe:
    """How to find and read the files of lists. Methods that take a file raise as `File`.

    base: the folder of relative base directories, by default the current folder, as in LBANN.
    jobs: the number of processes that read files.
    """

    base: str = ""
    jobs: int = 1
    access: Access = DEFAULT_ACCESS
    limits: Limits = DEFAULT

    def path(self, path: str) -> str:
        """Return the path of a file that a list names."""
        return os.path.join(self.base, path)

    def run(
        self, work: Callable[[ListedFile], Value], samples: SampleList
    ) -> Iterator[Outcome[ListedFile, Value]]:
        """Run a function on every file of a list with text ids; yield the outcomes in order."""
        column, ends = samples.ids, samples.id_offsets
        assert isinstance(column, Strings)
        listed = [
            ListedFile(self.path(file.path), column.take(np.arange(begin, end)), *counts)
            for file, begin, end, *counts in zip(
                *(samples.files, ends[:-1], ends[1:]),
                *(samples.included.tolist(), samples.excluded.tolist()),
                strict=True,
            )
        ]
        yield from run_in_batches(work, listed, jobs=self.jobs)

    def top_level(self, listed: ListedFile) -> list[str] | None:
        """Return the top-level names in creation order, None if the file does not keep it."""
        with File(listed.path, self.access, self.limits) as file:
            root = file.find("")
            return file.names(root, "") if file.is_ordered(root, "") else None

    def exclusion_problems(self, listed: ListedFile) -> list[Finding]:
        """Return the reasons why LBANN refuses a file of an exclusion list."""
        return list(exclusion_problems(listed, self.top_level(listed)))

    def missing_ids(self, listed: ListedFile) -> list[Finding]:
        """Return a finding for each id that the file does not have, or that is no path in it."""
        findings = []
        message = "the file has no sample with this id: LBANN fails when it reads it"
        hint = "ids are exact paths in the file; exset list build finds them"
        with File(listed.path, self.access, self.limits) as file:
            parents = {"": file.find("")}
            for each in listed.texts():
                above, _, name = each.rpartition("/")
                try:
                    if above not in parents:
                        parents[above] = file.find(above)
                    parent = parents[above]
                    if not name or (is_group(parent) and file.has(parent, name, each)):
                        continue
                    found = file_finding("lbann-missing-id", message, listed.path, each, hint=hint)
                except LimitError:
                    raise
                except FormatError as error:
                    found = error.finding
                findings.append(found)
        return findings
