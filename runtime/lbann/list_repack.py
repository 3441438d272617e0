"""Copy the samples of a list into new HDF5 files of about equal size."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby, pairwise
from typing import Any, Final, Literal

import h5py
import numpy as np
from h5py import h5f, h5g, h5o, h5p

from exset.core.callers import OptionError
from exset.core.errors import Findings, FormatError
from exset.core.jobs import Jobs
from exset.core.limits import DEFAULT, Limits
from exset.grammars.columns.arrays import Longs
from exset.grammars.lbann.list_files import File as Record
from exset.grammars.lbann.list_types import Kind
from exset.grammars.lbann.sample_list import SampleList
from exset.io import folders
from exset.io.access import DEFAULT_ACCESS, Access
from exset.io.named import open_named
from exset.runtime.hdf5.file import File
from exset.runtime.hdf5.sink import Sink
from exset.runtime.lbann.hdf5_files import run_on_files
from exset.runtime.lbann.hdf5_probe import Probe
from exset.runtime.lbann.hdf5_prototype import fields_of
from exset.runtime.lbann.list_even import even_cuts, group_of, loads_of, sample_sizes
from exset.runtime.lbann.list_exclusion import to_inclusion

_SUFFIX: Final = ".h5"


@dataclass(frozen=True)
class Copied:
    """A sample to copy: its source file, and its paths in the source file and in the new file."""

    file: str
    sample: str
    name: str


@dataclass(frozen=True)
class NewFile(os.PathLike[str]):
    """A new file, and its samples."""

    path: str
    samples: tuple[Copied, ...]

    def __fspath__(self) -> str:
        return self.path


def repacked(
    samples: SampleList,
    folder: str,
    files: int,
    findings: Findings,
    *,
    by: Literal["samples", "bytes"] = "samples",
    base: str = "",
    access: Access = DEFAULT_ACCESS,
    limits: Limits = DEFAULT,
    jobs: Jobs = 1,
) -> tuple[SampleList, Longs]:
    """Write a new folder of HDF5 files with the samples of a list. Return the list of the new
    files, and the files' sizes.

    The samples keep the order of the list. A sample is copied with everything in its group, and
    keeps its path. If the new file already has this path, exset adds a number to the path. The
    folder is written completely or not at all.

    files: the number of new files. by: divide the samples so that the new files have about the same
    number of samples, or of bytes of stored values. A file differs from the mean by one sample at
    most. The returned sizes are these numbers, int64 [files]. base: the folder in which a relative
    base directory starts.

    Raises OptionError for less than one file and for more files than samples. Raises FormatError
    for a list without ids of HDF5 groups, and for a sample that does not exist or has links. Raises
    OSError.
    """
    if samples.kind.is_single or samples.has_integer_ids:
        hint = "repack a list of one of the CONDUIT_HDF5 types"
        raise FormatError("the list names no groups of HDF5 files", hint=hint, code="lbann-kind")
    probe = Probe(base, jobs, access, limits)
    if samples.kind.is_exclusion:
        samples = to_inclusion(samples, probe, findings)
    pairs = [(probe.path(file.path), str(each)) for file in samples.files for each in file.ids]
    if not 1 <= files <= len(pairs):
        message = f"files must be a number from 1 to {len(pairs):,}, the number of samples"
        raise OptionError(f"{message}, not {files}")
    names = [f"{number:0{len(str(files - 1))}}{_SUFFIX}" for number in range(files)]
    weights = np.ones(len(pairs), np.int64)
    if by == "bytes":
        weights = sample_sizes(pairs, access=access, limits=limits, jobs=jobs)
    cuts = even_cuts(weights, files)
    plans = [tuple(_named(pairs[start:end])) for start, end in pairwise(cuts)]
    with folders.writing(folder) as new:
        items = [NewFile(new.path_of(name), plan) for name, plan in zip(names, plans, strict=True)]
        work = partial(write, access=access, limits=limits)
        for outcome in run_on_files(work, items, jobs=jobs, limited=False):
            outcome.result()
    rows = [
        Record(name, [each.name for each in plan]) for name, plan in zip(names, plans, strict=True)
    ]
    made = SampleList.of(Kind.CONDUIT_HDF5_INCLUSION, folder.rstrip(os.sep) or os.sep, rows)
    return made, loads_of(weights, cuts)


def _named(pairs: Sequence[tuple[str, str]]) -> Iterator[Copied]:
    """Yield the samples of a new file. Each has its path in the new file.

    The paths are unique, and no sample is inside another sample. pairs: the source file of each
    sample, and its path there.
    """
    taken: set[str] = set()
    around: set[str] = set()
    numbers: dict[str, int] = {}
    for file, sample in pairs:
        path = name = sample.strip("/")
        wrong = next((each for each in _above(path) if each in taken), path)
        while name in taken or name in around or not taken.isdisjoint(_above(name)):
            # Each path has one count, so that many samples of a path do not try all numbers.
            numbers[path] = numbers.get(path, 1) + 1
            name = f"{wrong}_{numbers[path]}{path[len(wrong) :]}"
        taken.add(name)
        around.update(_above(name))
        yield Copied(file, sample, name)


def _above(path: str) -> list[str]:
    """Return the paths of all groups that contain the object at a path."""
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]


def write(item: NewFile, access: Access, limits: Limits) -> None:
    """Write a new file. Raises FormatError for a sample that cannot be copied, and OSError."""
    with open_named(item.path, "wb+") as out:
        sink = Sink(out)
        with h5py.File(_created(sink)) as new:
            groups = {"": h5g.open(new.id, b"/")}
            for path, some in groupby(item.samples, lambda each: each.file):
                with File(path, access, limits) as file:
                    for each in some:
                        _copy(file, each, groups)
                        sink.check()
        sink.check()


def _copy(file: File, each: Copied, groups: dict[str, Any]) -> None:
    """Copy the group of a sample into the new file.

    groups: the groups of the new file that exist already; new groups are added to it.
    """
    group = group_of(file, each.sample)
    fields_of(file, group, each.sample)  # raises FormatError for links
    above, _, name = each.name.rpartition("/")
    for path in (*_above(each.name), above):
        if path not in groups:
            outer, _, inner = path.rpartition("/")
            groups[path] = h5g.create(groups[outer], _encoded(inner), gcpl=_ordered())
    with file.guarded(each.sample):
        h5o.copy(group, b".", groups[above], _encoded(name))


def _created(sink: Sink) -> Any:
    """Return a new HDF5 file that is written to `sink`.

    Its root keeps the order of its groups, because LBANN needs this order.
    """
    access = h5p.create(h5p.FILE_ACCESS)
    access.set_fileobj_driver(h5py.h5fd.fileobj_driver, sink)
    return h5f.create(b"samples", h5f.ACC_TRUNC, _ordered(h5p.FILE_CREATE), access)


def _ordered(kind: Any = h5p.GROUP_CREATE) -> Any:
    made = h5p.create(kind)
    made.set_link_creation_order(h5p.CRT_ORDER_TRACKED | h5p.CRT_ORDER_INDEXED)
    made.set_obj_track_times(False)
    return made


def _encoded(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")
