"""Group the labels of a data set: find the items of each class."""

import os
from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from os import PathLike
from typing import Final, NoReturn, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from exset.grammars.columns.arrays import Longs
from exset.runtime.arrays import namespace_of, to_host
from exset.runtime.training.generator import Words

Labels: TypeAlias = "Sequence[Hashable] | NDArray[np.generic]"
"""A label for each item: a sequence, a tensor of torch, or an array of NumPy or CuPy."""

MOST: Final = (1 << 32) - 1
"""The most items, and the most slots."""
_SHIFT = np.uint64(32)


@dataclass(frozen=True)
class Grouping:
    """The items of each class. Classes are numbered in the order in which they first appear.

    labels: the label of each class. starts, sizes: uint64 [classes]. items: uint32, the items of
    all classes. Class c has the items `items[starts[c] : starts[c] + sizes[c]]`, in ascending
    order.
    """

    labels: Sequence[Hashable]
    starts: Words
    sizes: Words
    items: NDArray[np.uint32]

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def label_array(self) -> NDArray[np.generic]:
        """The label of each class, as an array on the host. If labels differ in type, the dtype is
        object.
        """
        if hasattr(self.labels, "dtype"):
            return to_host(cast("NDArray[np.generic]", self.labels))
        kinds = set(map(type, self.labels))
        if len(kinds) == 1 and kinds <= {bool, int, float, str}:
            plain = np.array(self.labels)
            if plain.tolist() == self.labels:  # false for a final "\0" and for huge numbers
                return plain
        array = np.empty(len(self.labels), object)
        for index, label in enumerate(self.labels):
            array[index] = label
        return array

    def members(self, index: int) -> NDArray[np.uint32]:
        """Return the items of the class with the number `index`."""
        start = int(self.starts[index])
        return self.items[start : start + int(self.sizes[index])]


def group(labels: Labels) -> Grouping:
    """Find the items of each class, given the label of each item.

    This needs one sort, on the device of the array. Tensors of torch are sorted on the host. Raises
    ValueError for labels in more than one dimension, for NaN, and for 2**32 items or more. Raises
    TypeError for labels that have no hash, and for an argument that is not a sequence, such as the
    path of a file.
    """
    if isinstance(labels, str | bytes | PathLike):
        hint = f"from exset.labels import read_labels; read_labels({os.fsdecode(labels)!r:.60})"
        what = "labels must be a sequence with the label of each item, not text"
        raise TypeError(f"{what}; to read a file: {hint}")
    detach = getattr(labels, "detach", None)
    if detach is not None:
        labels = cast("NDArray[np.generic]", detach().cpu().numpy())
    if not hasattr(labels, "dtype"):
        return _of_objects(labels)
    xp = namespace_of(labels)
    # Columns of data frames have a dtype, too.
    array = cast("NDArray[np.generic]", labels if xp is not np else np.asarray(labels))
    if array.ndim != 1:
        raise ValueError(f"labels must have one dimension, not the shape {array.shape}")
    if array.dtype.kind not in "biufSU":
        return _of_objects(array.tolist())
    if array.dtype.kind == "f" and bool((missing := xp.isnan(array)).any()):
        _reject_nan(int(missing.argmax()))
    starts, sizes, items, firsts = _sorted(_codes(array))
    return Grouping(cast("Sequence[Hashable]", array[firsts]), starts, sizes, items)


def _of_objects(labels: Iterable[Hashable]) -> Grouping:
    known: dict[Hashable, int] = {}
    codes = []
    if not isinstance(labels, Iterable) or isinstance(labels, Mapping | Set):
        what = type(labels).__name__
        raise TypeError(f"labels must be a sequence with the label of each item, not {what}")
    for item, label in enumerate(labels):
        if hasattr(label, "detach"):  # a tensor equals only itself
            label = cast("NDArray[np.generic]", label).item()
        try:
            codes.append(known.setdefault(label, len(known)))
        except TypeError:
            what = f"{type(label).__name__}: use a number, text or another value that has a hash"
            raise TypeError(f"the label of item {item} is of the type {what}") from None
        if label != label:
            _reject_nan(item)
    starts, sizes, items, _ = _sorted(np.array(codes, np.uint64))
    return Grouping(list(known), starts, sizes, items)


def _reject_nan(item: int) -> NoReturn:
    raise ValueError(f"the label of item {item} is NaN, which cannot be a class")


def _codes(labels: NDArray[np.generic]) -> Words:
    """Return a number below 2**32 for each label. Equal labels have equal numbers."""
    xp = namespace_of(labels)
    if labels.dtype.kind in "iu" and labels.size:
        low, high = int(labels.min()), int(labels.max())
        if high - low <= MOST:
            # Modulo 2**64 the difference is correct for all types.
            codes = labels.astype(np.uint64)
            codes -= np.uint64(low & (1 << 64) - 1)
            return codes
    _, codes = xp.unique(labels, return_inverse=True)
    words: Words = codes.astype(np.uint64)
    return words


def _sorted(codes: Words) -> tuple[Words, Words, NDArray[np.uint32], Longs | NDArray[np.uint32]]:
    """Return the `starts`, `sizes` and `items` of a `Grouping`, and the first item of each class.

    codes: for each item, the number of its label.
    """
    xp = namespace_of(codes)
    if len(codes) > MOST:
        raise ValueError(f"there must be at most {MOST:,} labels, not {len(codes):,}")
    keys = codes << _SHIFT
    keys |= xp.arange(len(codes), dtype=np.uint64)
    keys.sort()
    items = keys.astype(np.uint32)
    keys >>= _SHIFT
    begins = xp.flatnonzero(keys[1:] != keys[:-1]) + 1
    begins = xp.concatenate([xp.zeros(min(len(codes), 1), begins.dtype), begins])
    ends = xp.concatenate([begins[1:], xp.full(min(len(codes), 1), len(codes), begins.dtype)])
    order = xp.argsort(items[begins])
    starts = begins[order]
    sizes = ends[order] - starts
    return starts.astype(np.uint64), sizes.astype(np.uint64), items, items[starts]


def classes_of_items(grouping: Grouping) -> Longs:
    """Return the class number of each item, int64 [items], on the host."""
    starts, sizes = (to_host(each).astype(np.int64) for each in (grouping.starts, grouping.sizes))
    classes = np.empty(len(grouping.items), np.int64)
    order = np.argsort(starts)
    classes[to_host(grouping.items)] = np.repeat(order, sizes[order])
    return classes
