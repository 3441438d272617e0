"""Fields and names of sample lists, for `exset.edit`."""

from collections.abc import Callable, Iterator
from itertools import repeat

from exset.grammars.lbann.sample_list import SampleList


def files(samples: SampleList) -> Iterator[bytes]:
    """Yield the name of each sample's file."""
    for name, count in zip(samples.name, samples.included.tolist(), strict=True):
        yield from repeat(name or b"", count)


def ids(samples: SampleList) -> Iterator[bytes]:
    """Yield the id of each sample as text.

    Raises the FormatError of `pairs` for an exclusion list.
    """
    return (str(each).encode("utf-8", "surrogateescape") for _, each in samples.pairs())


def with_files(samples: SampleList, change: Callable[[str], str]) -> SampleList:
    """Return a copy of a list in which `change` has replaced the name of each file.

    `change` gets a name and returns the new name. Raises ValueError for an invalid name, and if two
    files get the same name.
    """
    names = samples.name.changed(change)
    before: dict[bytes | None, bytes | None] = {}
    for old, new in zip(samples.name, names, strict=True):
        if before.setdefault(new, old) != old:
            shown = (new or b"").decode("utf-8", "surrogateescape")
            raise ValueError(f"two files would have the name {shown!r}")
    return samples.with_columns(name=names)
