"""Convert sample lists to another kind.

To convert between inclusion and exclusion lists, exset reads the names of all samples from the
files. If the other kind cannot store some information, this is an error, or with `lossy` a finding.
"""

import os
from collections.abc import Callable, Iterable
from functools import partial
from typing import BinaryIO

import numpy as np

from exset.core.errors import Finding, Findings, FormatError, Place, Severity
from exset.core.jobs import Jobs, execution
from exset.core.text import counted
from exset.grammars.columns.arrays import constant
from exset.grammars.columns.ragged import Strings
from exset.grammars.lbann.list_findings import finding_at
from exset.grammars.lbann.list_types import Kind
from exset.grammars.lbann.sample_list import SampleList
from exset.grammars.lbann.units import joined
from exset.io.access import DEFAULT_ACCESS, Access
from exset.parsers.lbann.list_text import rendered


def write_chunks(
    models: Iterable[SampleList],
    out: BinaryIO,
    /,
    *,
    findings: Findings,
    kind: Kind | str | None = None,
    expand: bool = False,
    labels: str | None = None,
    base: str = "",
    root: str = "",
    lossy: bool = False,
) -> None:
    """Write a list that is read in chunks. If `kind` is not None, convert the list to this kind
    with `recast`.

    root: the folder that must contain all files that exset reads for the conversion. expand: write
    each number of a range. The other options are those of `recast`.
    """
    if kind is not None or labels is not None:
        samples = joined(models)
        made = recast(
            samples,
            kind or samples.kind,
            findings,
            labels=labels,
            base=base,
            access=Access(roots=(root,)) if root else DEFAULT_ACCESS,
            lossy=lossy,
        )
        models = [made]
    for block in rendered(models, expand=expand):
        out.write(block)


def recast(
    samples: SampleList,
    kind: Kind | str,
    findings: Findings,
    *,
    labels: str | None = None,
    base: str = "",
    access: Access = DEFAULT_ACCESS,
    lossy: bool = False,
    jobs: Jobs = 1,
) -> SampleList:
    """Return the list, converted to another kind.

    labels: the label file, for a kind that names a label file. base: the folder in which a relative
    base directory starts. access: how files may be read. Raises ValueError for an unknown kind, and
    OSError. Raises FormatError if LBANN would read other samples, and for information that the kind
    cannot store; with `lossy`, such information becomes a finding.
    """
    kind = Kind(kind)
    add_loss = partial(_add_loss, findings=findings, lossy=lossy)
    label_file = samples.label_file if labels is None else os.fsencode(labels)
    if samples.kind.is_single and not kind.is_single:
        one_each = np.arange(len(samples.name) + 1, dtype=np.int64)
        samples = samples.with_unchecked(
            kind=Kind.CONDUIT_HDF5_INCLUSION, ids=samples.name, id_offsets=one_each
        )
    if samples.kind.is_exclusion != kind.is_exclusion:
        # These import h5py.
        from exset.runtime.lbann.hdf5_probe import Probe
        from exset.runtime.lbann.list_exclusion import to_exclusion, to_inclusion

        probe = Probe(base, execution(jobs).first_pass, access)
        if kind.is_exclusion:
            samples = to_exclusion(samples.with_text_ids(), probe)
        else:
            samples = to_inclusion(samples, probe, findings)
    if kind.is_single and not samples.kind.is_single:
        samples = _single(samples, add_loss)
    if not kind.has_excluded and samples.others.any():
        add_loss("how many samples are excluded")
        samples = samples.with_unchecked(others=constant(0, len(samples.name), np.uint64))
    if kind.has_label_file:
        label_file = label_file or b""
        if not label_file:
            findings.add(finding_at("lbann-no-label-file", None))
    else:
        if label_file:
            add_loss(f"the label file {os.fsdecode(label_file)}")
        label_file = None
    return samples.with_unchecked(kind=kind, label_file=label_file, totals=None)


def _single(samples: SampleList, add_loss: Callable[[str], None]) -> SampleList:
    several = np.flatnonzero(samples.included != 1)
    if several.size:
        file = samples.files[int(several[0])]
        raise FormatError(
            f"{file.name} has {counted(file.included, 'sample')}, but in a SINGLE-SAMPLE list each"
            " file is one sample",
            hint="choose another type with <--kind or kind=...>",
            code="lbann-kind",
        )
    if samples.has_integer_ids or samples.ids != samples.name:
        add_loss("the ids of the samples")
    count = len(samples.name)
    return samples.with_unchecked(ids=Strings.empty(0), id_offsets=constant(0, count + 1, np.int64))


def _add_loss(what: str, findings: Findings, lossy: bool) -> None:
    """Add a finding for information that the other kind of list cannot store.

    what: the information. Raises FormatError unless `lossy`.
    """
    message, place = f"a list of this type cannot store {what}", Place("sample list")
    if not lossy:
        hint = "write the list without this information: <--lossy or lossy=True>"
        raise FormatError(message, place=place, hint=hint, code="lbann-lost")
    findings.add(Finding("lbann-lost", Severity.WARNING, message, place))
