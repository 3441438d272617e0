"""Split sample lists into samples, and join lists, for streams and writers."""

from collections.abc import Iterable
from itertools import chain
from typing import cast

from exset.grammars.lbann.list_joiner import ListJoiner
from exset.grammars.lbann.sample_list import SampleList


def of(model: SampleList, /) -> Iterable[object]:
    """Return the samples of a list. Each is the pair (path, id)."""
    return model


def header(model: SampleList, /) -> SampleList:
    """Return a list without files, with the kind and the directory of `model`."""
    return model.select_files(slice(0))


def no_header() -> SampleList:
    """Return the header to use if no list gives a header. It is a list without files, in the
    current folder.
    """
    return SampleList.of("CONDUIT_HDF5_INCLUSION", ".", [])


def model(units: object, header: object, /) -> SampleList:
    """Return `units`, a list, unchanged. Writers of lists do not accept single samples."""
    return cast(SampleList, units)


def joined(models: Iterable[SampleList], /) -> SampleList:
    """Return a list with all files of one or more lists, in order.

    If all lists have the same `totals`, and the sums over the files differ from them, the result
    has these totals. Raises ValueError as `SampleList.concat` does.
    """
    chunks = iter(models)
    whole, second = next(chunks), next(chunks, None)
    if second is not None:
        joiner, totals = ListJoiner(), whole.totals
        for each in chain((whole, second), chunks):
            joiner.add(each)
            totals = totals if each.totals == totals else None
        whole = whole.with_unchecked(totals=totals, **joiner.columns())
    return whole.with_unchecked(totals=None) if whole.totals == whole.computed else whole
