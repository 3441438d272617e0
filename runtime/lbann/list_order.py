"""Reorder sample lists: as LBANN's ranks load them, at random, or several merged into one."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exset.core.errors import Finding, Findings, FormatError, LimitError, Place, Severity
from exset.core.limits import DEFAULT, Limits
from exset.grammars.lbann.list_files import File
from exset.grammars.lbann.sample_list import SampleList, duplicate_files, file_of
from exset.runtime.lbann.list_convert import recast

Order = NDArray[np.int64]


def rank_order(samples: SampleList, ranks: int, keep_order: bool = False) -> Order:
    """Return the order in which LBANN loads the files with so many ranks: int64 [files].

    Rank r reads the files r, r + ranks, ...; then LBANN concatenates the files of rank 0, of rank
    1, and so on. keep_order: LBANN's --keep_sample_order. It restores the order of a SINGLE-SAMPLE
    list; of other lists LBANN distributes the files to the ranks in turn and concatenates again,
    which restores the order only for some numbers of files. Files without samples are dropped.
    Raises ValueError for less than one rank.
    """
    if ranks < 1:
        raise ValueError(f"ranks must be at least 1, not {ranks}")
    count = len(samples.name)
    if samples.kind.is_single and keep_order:
        return np.arange(count)
    each = [np.arange(rank, count, ranks) for rank in range(min(ranks, count))]
    gathered: Order = np.concatenate([*each, np.arange(0)])
    gathered = gathered[samples.included[gathered] > 0]
    if not keep_order:
        return gathered
    names = duplicate_files(samples)[gathered]
    changes = np.cumsum(names[1:] != names[:-1])
    rank_of = np.concatenate([np.zeros(min(gathered.size, 1), np.int64), changes]) % ranks
    order: Order = gathered[np.argsort(rank_of, kind="stable")]
    return order


def shuffled(samples: SampleList, seed: int, limits: Limits = DEFAULT) -> SampleList:
    """Return the same samples with files, and the samples of each file, in random order (PCG64).

    A list goes file by file, so the samples of a file stay together; those of an exclusion list
    keep their order. Raises LimitError for more than `max_expand` samples.
    """
    random = np.random.default_rng(seed)
    files = random.permutation(len(samples.name))
    if samples.kind.is_exclusion or samples.kind.is_single:
        return samples.select_files(files)
    if len(samples) > limits.max_expand:
        raise LimitError(f"more than {limits.max_expand:,} samples cannot be shuffled")
    place = np.empty(files.size, np.int64)
    place[files] = np.arange(files.size)
    order = np.lexsort((random.random(len(samples)), place[file_of(samples)]))
    return samples.select(order)


def merged(
    lists: Sequence[SampleList],
    findings: Findings,
    *,
    directory: str | None = None,
    limits: Limits = DEFAULT,
) -> SampleList:
    """Return one list, of the kind of the first, that names each file and sample once.

    directory: the base directory, by default the longest that the lists share. A file that several
    lists name includes the samples of all. Raises FormatError for a mix of inclusion and exclusion
    lists, and for directories without a common one; LimitError for more than `max_expand` samples.
    """
    first = lists[0]
    paths = [each.directory.decode("utf-8", "surrogateescape") for each in lists]
    base = _common(paths) if directory is None else directory
    rows: list[File] = []
    places: dict[str, int] = {}
    repeated = 0
    for samples, path in zip(lists, paths, strict=True):
        if samples.kind.is_exclusion != first.kind.is_exclusion:
            raise FormatError(
                "inclusion lists and exclusion lists cannot be merged",
                hint="convert one of them with exset convert --kind",
                code="lbann-kind",
            )
        if samples.kind is not first.kind:
            samples = recast(samples, first.kind, findings, lossy=True)
        if samples.has_integer_ids and len(samples) > limits.max_expand:
            raise LimitError(f"more than {limits.max_expand:,} samples cannot be merged")
        others = samples.others.tolist()
        for index, file in enumerate(samples.files):
            name = file.name
            if path != base:
                name = os.path.relpath(samples.joined(name), base)
            row = File(name, list[Any](file.ids), others[index])
            if name not in places:
                places[name] = len(rows)
                rows.append(row)
                continue
            repeated += 1
            at = places[name]
            rows[at] = _both(rows[at], row, first.kind.is_exclusion)
    if repeated:
        message = f"several lists name {repeated:,} files: their samples are combined"
        findings.add(Finding("list-merged", Severity.NOTE, message, Place.of("sample list")))
    made = SampleList.of(first.kind, base, rows, label_file=first.label_file)
    return made.with_integer_ids() if first.has_integer_ids else made


def _both(one: File, two: File, is_exclusion: bool) -> File:
    """Return a record with all samples that one of two records of a file includes."""
    mine, theirs = list[Any](one.ids), list[Any](two.ids)
    whole = max(len(mine) + one.others, len(theirs) + two.others)
    if is_exclusion:
        left = [each for each in mine if each in set(theirs)]
        return File(one.name, left, whole - len(left))
    union = list(dict.fromkeys([*mine, *theirs]))
    others = max(whole - len(union), 0) if one.others or two.others else 0
    return File(one.name, union, others)


def _common(paths: list[str]) -> str:
    """Return the longest directory that all paths share."""
    if len(set(paths)) == 1:
        return paths[0]
    try:
        return os.path.commonpath(paths) or "."
    except ValueError:
        raise FormatError(
            "the base directories have no common one: some are relative, some absolute",
            hint="name one with --directory",
            code="lbann-directory",
        ) from None
