"""The label file that belongs to a list of images, as columns."""

from dataclasses import dataclass

import numpy as np

from exset.grammars.columns.arrays import Flags, Longs, check_column
from exset.grammars.columns.ragged import Strings
from exset.grammars.columns.rows import Rows
from exset.grammars.lbann.sample_list import SampleList


@dataclass(frozen=True, eq=False, repr=False)
class Labels(Rows):
    """The label of each file. name: Strings [n]. label: int64 [n].

    If a name is repeated, its last label counts. Raises ValueError unless the columns have n rows.
    """

    name: Strings
    label: Longs

    def __post_init__(self) -> None:
        check_column("label", self.label, np.int64, len(self.name))
        self._freeze()

    def __len__(self) -> int:
        return len(self.name)

    def of(self, samples: SampleList) -> tuple[Longs, Flags]:
        """Return the label of each file in a list, int64 [files], and whether the file has a label,
        bool [files].

        A missing label is 0.
        """
        labels = dict(zip(self.name, self.label.tolist(), strict=True))
        found = [labels.get(name) for name in samples.name]
        present = np.array([label is not None for label in found], np.bool_)
        return np.array([label or 0 for label in found], np.int64), present
