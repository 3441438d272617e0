"""The labels of a sample list of images, which a file of its own holds."""

from dataclasses import dataclass

import numpy as np

from exset.grammars.columns.arrays import Flags, Longs, check_column
from exset.grammars.columns.ragged import Strings
from exset.grammars.columns.rows import Rows
from exset.grammars.lbann.sample_list import SampleList


@dataclass(frozen=True, eq=False, repr=False)
class Labels(Rows):
    """Names of files, and a label for each: int64 [n]; of a name given twice the last one counts.

    Raises ValueError.
    """

    name: Strings
    label: Longs

    def __post_init__(self) -> None:
        check_column("label", self.label, np.int64, len(self.name))
        self._freeze()

    def __len__(self) -> int:
        return len(self.name)

    def of(self, samples: SampleList) -> tuple[Longs, Flags]:
        """The label of each file of a list, 0 where none is given, and whether one is."""
        known = dict(zip(self.name, self.label.tolist(), strict=True))
        found = [known.get(name) for name in samples.name]
        given = np.array([label is not None for label in found], np.bool_)
        return np.array([label or 0 for label in found], np.int64), given
