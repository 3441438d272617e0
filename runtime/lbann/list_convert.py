"""Sample lists as lists of another kind, and as text.

Between inclusion and exclusion the files themselves are asked which samples there are. What the
other kind cannot hold is an error, or with `lossy` a finding.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from exset.core.errors import Finding, Findings, FormatError, Place, Severity
from exset.grammars.columns.arrays import constant
from exset.grammars.columns.ragged import Strings
from exset.grammars.lbann.list_findings import finding_at
from exset.grammars.lbann.list_types import Kind
from exset.grammars.lbann.sample_list import SampleList
from exset.io.access import USUAL, Access
from exset.parsers.lbann.sample_list_text import render

if TYPE_CHECKING:
    from exset.runtime.lbann.list_files import Checker


def write(
    samples: SampleList,
    *,
    findings: Findings | None = None,
    kind: Kind | str | None = None,
    expand: bool = False,
    labels: str | None = None,
    base: str = "",
    root: str = "",
    lossy: bool = False,
) -> bytes:
    """The text of a list, as one of another `kind` if that is said; the rest as in `recast`.

    root: the folder that the files must lie in that are asked for their samples.
    """
    findings = Findings() if findings is None else findings
    if kind is not None or labels is not None:
        samples = recast(
            samples,
            kind or samples.kind,
            findings,
            labels=labels,
            base=base,
            access=Access(roots=(root,)) if root else USUAL,
            lossy=lossy,
        )
    return render(samples, findings=findings, expand=expand)


def recast(
    samples: SampleList,
    kind: Kind | str,
    findings: Findings,
    *,
    labels: str | None = None,
    base: str = "",
    access: Access = USUAL,
    lossy: bool = False,
    jobs: int = 1,
) -> SampleList:
    """The list as one of another kind.

    labels: the label file of a kind that names one. base: the folder that a relative base directory
    is in. access: what may be done to get at files. Raises ValueError for no kind, FormatError for
    what the other kind cannot hold (with `lossy` a finding), and for files that LBANN would make
    other samples of; OSError.
    """
    kind = Kind(kind)
    losses = _Losses(findings, lossy)
    label_file = samples.label_file if labels is None else os.fsencode(labels)
    if samples.kind.is_single and not kind.is_single:
        one_each = np.arange(len(samples.name) + 1, dtype=np.int64)
        samples = samples.with_columns(
            kind=Kind.CONDUIT_HDF5_INCLUSION, ids=samples.name, id_offsets=one_each
        )
    if samples.kind.is_exclusion and not kind.is_exclusion:
        samples = _checker(base, jobs, access).resolved(samples, findings)
    elif kind.is_exclusion and not samples.kind.is_exclusion:
        samples = _checker(base, jobs, access).excluding(samples.with_text_ids())
    if kind.is_single and not samples.kind.is_single:
        samples = _single(samples, losses)
    if not kind.has_excluded and samples.others.any():
        losses.add("how many samples are excluded")
        samples = samples.with_columns(others=constant(0, len(samples.name), np.uint64))
    if kind.has_label_file:
        label_file = label_file or b""
        if not label_file:
            findings.add(finding_at("lbann-no-label-file", None))
    elif label_file:
        losses.add(f"the label file {os.fsdecode(label_file)}")
        label_file = None
    else:
        label_file = None
    return samples.with_columns(kind=kind, label_file=label_file, totals=None)


def _checker(base: str, jobs: int, access: Access) -> Checker:
    """What looks at files, which imports h5py."""
    from exset.runtime.lbann.list_files import Checker

    return Checker(base, jobs, access)


def _single(samples: SampleList, losses: _Losses) -> SampleList:
    """A list in which every file is one sample."""
    odd = np.flatnonzero(samples.included != 1)
    if odd.size:
        file = samples.files[int(odd[0])]
        raise FormatError(
            f"{file.included:,} samples of {file.name}: in a SINGLE-SAMPLE list a file is one",
            hint="name another type: --kind, or kind=... in Python",
            code="lbann-kind",
        )
    if samples.has_integer_ids or samples.ids != samples.name:
        losses.add("what the samples are called in their files")
    count = len(samples.name)
    return samples.with_columns(ids=Strings.none(0), id_offsets=constant(0, count + 1, np.int64))


class _Losses:
    """What another kind cannot hold: errors, or findings."""

    def __init__(self, findings: Findings, lossy: bool) -> None:
        self._findings = findings
        self._lossy = lossy

    def add(self, what: str) -> None:
        finding = Finding(
            "lbann-lost",
            Severity.WARNING,
            f"a list of this kind cannot say {what}",
            Place.of("sample list"),
            None if self._lossy else "say --lossy, or lossy=True in Python, to write it without",
        )
        if not self._lossy:
            raise FormatError.of(replace(finding, severity=Severity.ERROR))
        self._findings.add(finding)
