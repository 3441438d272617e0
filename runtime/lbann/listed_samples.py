"""The samples of lists, grouped by file.

They need little more memory than the text of the lists.
"""

import os
from array import array
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from operator import itemgetter

import numpy as np

from exset.core.parts import FilePart
from exset.grammars.columns.views import Views
from exset.io.many_paths import Paths
from exset.runtime.lbann.sample_reader import Pair, joined


@dataclass(frozen=True)
class FileSamples(os.PathLike[str]):
    """The samples that lists name for one file, or a part of these samples.

    first: the id of the first sample of the file. part: which part this is, such as `2/8`. None if
    it is all samples.
    """

    path: str
    ids: tuple[str, ...]
    first: str
    part: str | None = None

    def part_of(self, rank: int, count: int) -> "FileSamples":
        """Return the part `rank` of these samples. count: the number of parts."""
        part = FilePart(self.path, rank, count)
        return replace(self, ids=self.ids[part.of(len(self.ids))], part=part.part)

    def __fspath__(self) -> str:
        return self.path


class ListedSamples:
    """All samples that lists name; `len` is their number, with repetitions."""

    def __init__(self, pairs: Iterable[Pair]) -> None:
        """Collect the samples from pairs (file, id). The pairs themselves are not kept."""
        # A run is a sequence of pairs with one file; usually a file has one run.
        names, self._ids, self._ends = Paths(), Paths(), array("q", [0])
        for name, run in groupby(pairs, itemgetter(0)):
            for _, each in run:
                self._ids.append(str(each))
            names.append(name)
            self._ends.append(len(self._ids))
        heads = names.firsts()
        self._names = names
        self._runs = np.argsort(heads, kind="stable")
        self._bounds = np.flatnonzero(np.diff(heads[self._runs], prepend=-1, append=heads.size))

    def __len__(self) -> int:
        return len(self._ids)

    def files(self, base: str = "") -> Views[FileSamples]:
        """Return the files in the order of their first samples. Each access creates a
        `FileSamples`.

        The ids of a file are in order, without repetitions. base: the folder in which the paths
        start.
        """
        return Views(partial(self._file, base), range(len(self._bounds) - 1), "files")

    def _file(self, base: str, index: int) -> FileSamples:
        runs = self._runs[slice(*self._bounds[index : index + 2])].tolist()
        ids = [each for run in runs for each in self._ids[self._ends[run] : self._ends[run + 1]]]
        path = joined(base, self._names[runs[0]])
        return FileSamples(path, tuple(dict.fromkeys(ids)), ids[0])
