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
    """Return a list with the name of each file replaced by what `change` returns.

    Raises ValueError if two different files get one name, and for an invalid name.
    """
    names = samples.name.changed(change)
    before: dict[bytes | None, bytes | None] = {}
    for old, new in zip(samples.name, names, strict=True):
        if before.setdefault(new, old) != old:
            shown = (new or b"").decode("utf-8", "surrogateescape")
            raise ValueError(f"two files would have the name {shown!r}")
    return samples.with_columns(name=names)
