"""Convert between inclusion and exclusion lists. Read the names of all samples from the files."""

from functools import partial

import numpy as np

from exset.core.errors import Findings, FormatError, Place
from exset.grammars.columns.strings import Strings
from exset.grammars.lbann.list_files import BLANKS
from exset.grammars.lbann.list_types import Kind
from exset.grammars.lbann.sample_list import SampleList
from exset.runtime.lbann.hdf5_probe import (
    Probe,
    exclusion_problems,
    no_creation_order,
    unreadable_file,
    why_no_exclusion,
)


def to_inclusion(samples: SampleList, probe: Probe, findings: Findings) -> SampleList:
    """Return the CONDUIT_HDF5_INCLUSION list of the samples that an exclusion list selects.

    As in LBANN, a file that cannot be opened is dropped, with a finding. LBANN rejects a list whose
    ids are paths such as RUN/000. exset accepts such a list: the samples are then all objects at
    the same depth as the ids, and every file must exist. Raises FormatError for any other list that
    LBANN rejects, and for a file outside the roots. Raises OSError.
    """
    depth = _depth(samples)
    kept: list[int] = []
    rows: list[list[str]] = []
    for index, outcome in enumerate(probe.run(partial(probe.paths_at, depth=depth), samples)):
        listed = outcome.item
        if outcome.error is not None and depth == 0:
            finding = unreadable_file(listed.path, outcome.error, samples.kind)
            if finding.code == "hdf5-roots":
                raise FormatError.of(finding)
            findings.add(finding)
            continue
        names = outcome.result()
        for finding in exclusion_problems(listed, names, depth):
            raise FormatError.of(finding)
        excluded = set(listed.texts())
        rows.append(_storable(listed.path, [each for each in names or () if each not in excluded]))
        kept.append(index)
    part = samples.select_files(np.array(kept, np.int64))
    return _with_ids(part, Kind.CONDUIT_HDF5_INCLUSION, rows, part.excluded)


def _depth(samples: SampleList) -> int:
    """Return the number of groups that contain a sample, which is the number of slashes in its id.

    Raises FormatError if ids differ in this number.
    """
    assert isinstance(samples.ids, Strings)
    depths = {(each or b"").count(b"/"): each or b"" for each in samples.ids}
    if len(depths) > 1:
        one, two = (each.decode("utf-8", "surrogateescape") for each in [*depths.values()][:2])
        message = f"the ids {one} and {two} have different depths, so exset cannot find the samples"
        raise FormatError(
            message, hint="name only ids with the same number of slashes", code="lbann-exclusion"
        )
    return next(iter(depths), 0)


def to_exclusion(samples: SampleList, probe: Probe) -> SampleList:
    """Return the CONDUIT_HDF5_EXCLUSION list with which LBANN reads the same samples.

    Raises FormatError if no exclusion list gives the same samples, and OSError.
    """
    rows: list[list[str]] = []
    for outcome in probe.run(probe.top_level, samples):
        names, path, ids = outcome.result(), outcome.item.path, outcome.item.texts()
        included = set(ids)
        if names is None:
            raise FormatError.of(no_creation_order(path))
        if [name for name in names if name in included] != ids:
            raise FormatError.of(why_no_exclusion(path, names, ids))
        rows.append(_storable(path, [name for name in names if name not in included]))
    return _with_ids(samples, Kind.CONDUIT_HDF5_EXCLUSION, rows, samples.included)


def _storable(path: str, ids: list[str]) -> list[str]:
    """Return the ids. Raises FormatError if an id contains white space. path: of the file, for
    messages.
    """
    for each in ids:
        if not BLANKS.isdisjoint(each):
            message = "a list cannot store the id of this sample, because the id contains a space"
            raise FormatError(message, place=Place(path, field=each), code="lbann-blank")
    return ids


def _with_ids(samples: SampleList, kind: Kind, rows: list[list[str]], others: object) -> SampleList:
    """Return a list of another kind, with the same files but other ids.

    rows: the ids of each file. others: for each file, how many further samples it has.
    """
    ids = Strings.of(each for row in rows for each in row)
    offsets = np.cumsum([0, *map(len, rows)])
    return samples.with_unchecked(
        kind=kind, label_file=None, totals=None, others=others, ids=ids, id_offsets=offsets
    )
