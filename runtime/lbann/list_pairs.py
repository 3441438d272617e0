"""Some samples of a list, by their numbers, without expanding the others."""

import numpy as np

from exset.grammars.columns.arrays import Longs, offsets_of
from exset.grammars.columns.spans import Spans
from exset.grammars.lbann.sample_list import Id, SampleList


def pairs_at(samples: SampleList, rows: Longs) -> list[tuple[str, Id]]:
    """What `pairs` has at these rows, int64, in their order: (path, id).

    Raises FormatError for an exclusion list.
    """
    if samples.kind.is_exclusion:
        return list(samples.pairs())  # an error, but for a list of no samples
    of = np.searchsorted(np.cumsum(samples.included.astype(np.int64)), rows, side="right")
    used, of = np.unique(of, return_inverse=True)
    files = [samples.files[file] for file in used.tolist()]
    paths = [file.path for file in files]
    ids: list[Id]
    if samples.kind.is_single:
        named = [file.index if samples.has_integer_ids else file.name for file in files]
        ids = [named[file] for file in of.tolist()]
    elif isinstance(samples.ids, Spans):
        begins = offsets_of(samples.ids.counts)
        span = np.searchsorted(begins, rows, side="right") - 1
        ids = [*(samples.ids.first[span] + rows - begins[span]).tolist()]
    else:
        chosen = samples.ids.take(rows)
        ids = [(each or b"").decode("utf-8", "surrogateescape") for each in chosen]
    return [(paths[file], each) for file, each in zip(of.tolist(), ids, strict=True)]
