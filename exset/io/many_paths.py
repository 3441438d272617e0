"""Many paths as one sequence, which takes much less memory than a list of texts."""

from array import array
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, overload

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Paths(Sequence[str]):
    """A sequence of paths; each path is made on access. A slice is a view."""

    def __init__(self, paths: Iterable[str] = ()) -> None:
        self._data = bytearray()
        self._ends = array("q", [0])
        self._rows = range(0)
        for path in paths:
            self.append(path)

    def append(self, path: str) -> None:
        """Add a path at the end. Paths cannot be added to a slice."""
        self._data += path.encode("utf-8", "surrogatepass")
        self._ends.append(len(self._data))
        self._rows = range(len(self._ends) - 1)

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> "Paths": ...
    def __getitem__(self, index: int | slice) -> "str | Paths":
        if isinstance(index, slice):
            some = Paths()
            some._data, some._ends, some._rows = self._data, self._ends, self._rows[index]
            return some
        row = self._rows[index]
        return self._data[self._ends[row] : self._ends[row + 1]].decode("utf-8", "surrogatepass")

    def distinct(self) -> "Paths":
        """Return the paths without repetitions, in the order in which they first occur."""
        return Paths(dict.fromkeys(self)) if repeated(array("q", map(hash, self))) else self

    def firsts(self) -> "NDArray[np.int64]":
        """Return, for each path, the index of the first equal path: int64 [paths]."""
        import numpy as np

        hashes = np.fromiter(map(hash, self), np.int64, len(self))
        ordered = np.sort(hashes)
        if (ordered[1:] != ordered[:-1]).all():  # the usual case, which takes less memory
            return np.arange(len(self))
        _, first, codes = np.unique(hashes, return_index=True, return_inverse=True)
        heads = first[codes].astype(np.int64, copy=False)
        others = np.flatnonzero(heads != np.arange(heads.size))
        pairs = zip(others.tolist(), heads[others].tolist(), strict=True)
        if any(self[row] != self[head] for row, head in pairs):  # different paths have one hash
            seen: dict[str, int] = {}
            return np.array([seen.setdefault(path, row) for row, path in enumerate(self)], np.int64)
        return heads


def repeated(hashes: "array[int]") -> set[int]:
    """Return the hashes that occur more than once. The array must be sorted.

    Paths are first compared by hash, as a set of a million paths takes much memory.
    """
    import numpy as np

    found = np.frombuffer(hashes, np.int64)
    found.sort()
    return set(found[1:][found[1:] == found[:-1]].tolist())


def names_of(paths: Sequence[str], most: int = 8) -> str:
    """Return the first `most` paths as one text. The text also says how many more there are."""
    others = f" and {len(paths) - most:,} more" if len(paths) > most else ""
    return f"{', '.join(paths[:most])}{others}"
