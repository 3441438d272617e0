"""The totals and the files of a sample list, and checks that names and ids are single words."""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from exset.grammars.columns.inputs import check_kind, shown
from exset.grammars.columns.strings import Strings

HDF5_SUFFIXES: Final = (".h5", ".hdf5", ".hdf", ".he5", ".conduit_hdf5")
"""The usual suffixes of HDF5 files."""


class Totals(NamedTuple):
    """The numbers of included and excluded samples of a list."""

    included: int
    excluded: int


class File(NamedTuple):
    """One file of a list, for `SampleList.of`.

    ids: the ids of the included samples; in an exclusion list, the ids of the excluded samples.
    others: how many further samples the file has, whose ids the list does not name.
    """

    name: str | bytes
    ids: Sequence[str | bytes] | Sequence[int] = ()
    others: int = 0


BLANKS: Final = frozenset(" \t\n\v\f\r")
"""The white space that separates the words of a list, so that no name or id may contain it."""

_IS_BLANK: Final = np.isin(np.arange(256), [*map(ord, BLANKS)])


def check_words(what: str, column: Strings) -> None:
    """Raise ValueError unless each string is a word: present, not empty, and without white space.

    what: the name of the column, for the message.
    """
    if not column.present.all() or (column.lengths == 0).any():
        raise ValueError(f"{what}: must not be empty")
    blank = _IS_BLANK[column.data]
    if blank.any():
        row = int(np.searchsorted(column.offsets, int(blank.argmax()), side="right")) - 1
        raise ValueError(f"{what}: {shown(column.text(row))} contains a space")


def check_word(what: str, word: object) -> None:
    """Raise ValueError unless `word` is bytes that are not empty and have no white space.

    what: the name of the thing for which `word` is used, for the message.
    """
    check_kind(what, word, bytes)
    check_words(what, Strings.of([word]))  # type: ignore[list-item]
