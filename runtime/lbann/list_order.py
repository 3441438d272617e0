"""Sample lists in another order: that which ranks would see, at random, or several as one."""

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
    """The order in which so many ranks of LBANN come to see the files: int64 [files].

    Rank r reads the files r, r + ranks, ...; then each has what rank 0 read, rank 1, and so on.
    With `keep_order`, LBANN's --keep_sample_order, a SINGLE-SAMPLE list is put back in its order;
    of the others LBANN deals the files to piles, a pile a rank, and lays pile upon pile, which
    gives the order of the list for few numbers of files alone. Files without samples are left out.
    ValueError for less than one rank.
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
    pile = np.concatenate([np.zeros(min(gathered.size, 1), np.int64), changes]) % ranks
    dealt: Order = gathered[np.argsort(pile, kind="stable")]
    return dealt


def shuffled(samples: SampleList, seed: int, limits: Limits = DEFAULT) -> SampleList:
    """The same samples in random order: files, and each file's samples (NumPy's PCG64).

    A list says file by file, so the samples of a file stay together; those of an exclusion list
    stay in their order. LimitError for more samples than may be expanded.
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
    """One list of several, of the kind of the first; what is in two of them is in it once.

    directory: its base directory, by default the first list's if all have the same, else the
    longest that they share. Of a file that is named twice, the samples of both are included.
    Raises FormatError for exclusion lists among others, and for directories that share nothing.
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
                hint="exset convert --kind turns one into the other",
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
        message = f"{repeated:,} files are named more than once: their samples are put together"
        findings.add(Finding("list-merged", Severity.NOTE, message, Place.of("sample list")))
    made = SampleList.of(first.kind, base, rows, label_file=first.label_file)
    return made.with_integer_ids() if first.has_integer_ids else made


def _both(one: File, two: File, is_exclusion: bool) -> File:
    """The samples that one of two records of a file includes."""
    mine, theirs = list[Any](one.ids), list[Any](two.ids)
    whole = max(len(mine) + one.others, len(theirs) + two.others)
    if is_exclusion:
        left = [each for each in mine if each in set(theirs)]
        return File(one.name, left, whole - len(left))
    union = list(dict.fromkeys([*mine, *theirs]))
    others = max(whole - len(union), 0) if one.others or two.others else 0
    return File(one.name, union, others)


def _common(paths: list[str]) -> str:
    """The directory of all lists, or the longest that theirs share."""
    if len(set(paths)) == 1:
        return paths[0]
    try:
        return os.path.commonpath(paths) or "."
    except ValueError:
        raise FormatError(
            "the base directories share nothing: some are relative, some are not",
            hint="say --directory",
            code="lbann-directory",
        ) from None
