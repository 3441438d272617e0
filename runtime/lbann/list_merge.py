"""Merge sample lists into one list, in which each file and each sample occurs once."""

import os
from collections.abc import Sequence
from typing import Any

from exset.core.errors import Finding, Findings, FormatError, LimitError, Place, Severity
from exset.core.limits import DEFAULT, Limits
from exset.core.text import counted
from exset.grammars.lbann.list_files import File
from exset.grammars.lbann.sample_list import SampleList
from exset.runtime.lbann.list_convert import recast


def merged(
    lists: Sequence[SampleList],
    findings: Findings,
    *,
    directory: str | None = None,
    limits: Limits = DEFAULT,
) -> SampleList:
    """Return one list with the samples of all lists. Its kind is that of the first list.

    Each file and each sample occurs once. If several lists name the same file, it has the samples
    of all of them. directory: the base directory, by default the longest that the lists share.
    Raises FormatError for a mix of inclusion and exclusion lists, and for base directories without
    a common parent. Raises LimitError for more than `max_expand` samples.
    """
    first = lists[0]
    paths = [each.directory.decode("utf-8", "surrogateescape") for each in lists]
    base = _common(paths) if directory is None else directory
    rows: dict[str, File] = {}
    repeated = 0
    for samples, path in zip(lists, paths, strict=True):
        if samples.kind.is_exclusion != first.kind.is_exclusion:
            message = "inclusion lists and exclusion lists cannot be merged"
            hint = "convert one of them with exset convert --kind"
            raise FormatError(message, hint=hint, code="lbann-kind")
        if samples.kind is not first.kind:
            samples = recast(samples, first.kind, findings, lossy=True)
        if samples.has_integer_ids and len(samples) > limits.max_expand:
            raise LimitError(f"exset cannot merge lists of more than {limits.max_expand:,} samples")
        others = samples.others.tolist()
        for index, file in enumerate(samples.files):
            name = file.name if path == base else os.path.relpath(file.path, base)
            row = File(name, list[Any](file.ids), others[index])
            if name in rows:
                repeated += 1
                row = _both(rows[name], row, first.kind.is_exclusion)
            rows[name] = row
    if repeated:
        message = f"several lists name {counted(repeated, 'file')}: exset combines their samples"
        findings.add(Finding("list-merged", Severity.NOTE, message, Place("sample list")))
    made = SampleList.of(first.kind, base, rows.values(), label_file=first.label_file)
    return made.with_integer_ids() if first.has_integer_ids else made


def _both(one: File, two: File, is_exclusion: bool) -> File:
    """Join two records of the same file. Return one record that selects the samples of both.

    is_exclusion: whether the ids of the records are those of excluded samples.
    """
    mine, theirs = list[Any](one.ids), list[Any](two.ids)
    whole = max(len(mine) + one.others, len(theirs) + two.others)
    if is_exclusion:
        excluded = set(theirs)
        left = [each for each in mine if each in excluded]
        return File(one.name, left, whole - len(left))
    union = list(dict.fromkeys([*mine, *theirs]))
    others = max(whole - len(union), 0) if one.others or two.others else 0
    return File(one.name, union, others)


def _common(paths: list[str]) -> str:
    if len(set(paths)) == 1:
        return paths[0]
    try:
        return os.path.commonpath(paths) or "."
    except ValueError:
        message = "some base directories are relative and some absolute: they have no common folder"
        hint = "name the base directory of the new list with <--directory or directory=...>"
        raise FormatError(message, hint=hint, code="lbann-directory") from None
