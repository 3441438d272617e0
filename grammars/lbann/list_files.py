"""The parts of a sample list: what it counts, a file of it, and its words."""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from exset.grammars.columns.inputs import check_kind, shown
from exset.grammars.columns.strings import Strings

HDF5_SUFFIXES: Final = (".h5", ".hdf5", ".hdf", ".he5", ".conduit_hdf5")
"""How the names of HDF5 files end."""


class Totals(NamedTuple):
    """How many samples a list includes and excludes in all."""

    included: int
    excluded: int


class File(NamedTuple):
    """One file of a list, for `SampleList.of`.

    ids: those of the included samples, in an exclusion list those of the excluded ones. others: how
    many samples the ids do not speak of.
    """

    name: str | bytes
    ids: Sequence[str | bytes] | Sequence[int] = ()
    others: int = 0


_IS_BLANK: Final = np.isin(np.arange(256), list(b" \t\n\v\f\r"))


def check_words(what: str, column: Strings) -> None:
    """Raises ValueError unless every string is given, not empty and without blanks."""
    if not column.given.all() or (column.lengths == 0).any():
        raise ValueError(f"{what}: an empty word cannot be written")
    blank = _IS_BLANK[column.data]
    if blank.any():
        row = int(np.searchsorted(column.offsets, int(blank.argmax()), side="right")) - 1
        raise ValueError(f"{what}: {shown(column.text(row))} has a blank in it")


def check_word(what: str, word: object) -> None:
    """Raises ValueError unless the bytes are a word."""
    check_kind(what, word, bytes)
    check_words(what, Strings.of([word]))  # type: ignore[list-item]
