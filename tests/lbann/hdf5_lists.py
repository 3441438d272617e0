"""HDF5 files of samples, and lists of them, for tests."""

import os
from collections.abc import Sequence
from typing import Any

import h5py
import numpy as np

from exset import Findings, SampleList
from exset.core.protocols import CheckOptions
from exset.grammars.lbann.list_types import Kind
from exset.runtime.lbann.hdf5_prototype import Prototype
from exset.runtime.lbann.hdf5_search import Search, run_search
from exset.runtime.lbann.list_files import check


def write(path: str, samples: list[str], *, ordered: bool = True, **fields: object) -> None:
    """A file of samples, each with the same fields."""
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with h5py.File(path, "w", track_order=ordered) as file:
        for sample in samples:
            group = file.create_group(sample, track_order=ordered)
            for name, value in (fields or {"x": np.zeros(3)}).items():
                group[name] = value


def samples_like(
    prototype: Prototype, paths: Sequence[str], **options: Any
) -> dict[str, list[str]]:
    """The samples of each file, which are like a prototype."""
    found = run_search(Search(prototype, **options), paths)
    return {each.item: each.result().samples for each in found}


def codes(samples: SampleList, **options: object) -> list[str]:
    findings = Findings()
    check(samples, findings, CheckOptions("list", **options))  # type: ignore[arg-type]
    return [finding.code for finding in findings]


def listed(kind: str, *files: tuple[object, ...], directory: str = "d") -> SampleList:
    label_file = "" if Kind(kind).has_label_file else None
    return SampleList.of(kind, directory, files, label_file=label_file)
