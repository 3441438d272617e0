"""Find the structure of the samples in HDF5 files: the fields of a prototype."""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from exset.core.errors import Finding, Findings, FormatError, Place, Severity
from exset.core.limits import DEFAULT, Limits
from exset.grammars.lbann.schema import METADATA
from exset.io.access import DEFAULT_ACCESS, Access
from exset.runtime.lbann.hdf5 import DataType, File
from exset.runtime.lbann.hdf5_files import run_in_batches
from exset.runtime.lbann.hdf5_objects import DEEPEST, is_group

_COMPARED = 64
_FILES_COMPARED = 16
_SAMPLES_COMPARED = 8


@dataclass(frozen=True)
class Prototype:
    """The structure of a sample: the fields in file order, and the names directly below it."""

    sample: str
    fields: Mapping[str, DataType]
    names: frozenset[str]

    @property
    def structure(self) -> frozenset[tuple[str, int, str]]:
        """The name, count and dtype of each field: equal for samples with the same structure."""
        return frozenset((name, each.count, each.dtype) for name, each in self.fields.items())


def find_prototype(
    paths: Sequence[str],
    findings: Findings,
    *,
    sample: str | None = None,
    access: Access = DEFAULT_ACCESS,
    limits: Limits = DEFAULT,
    jobs: int = 1,
) -> Prototype:
    """Return the structure of the samples in some files.

    sample: the path of the prototype in the first file that has it. By default, exset compares some
    samples of some files, and takes the most frequent structure, so that one unusual sample does
    not reject all others. Raises the FormatError or OSError of the first file if no file has a
    sample.
    """
    work = partial(_candidates, sample=sample, access=access, limits=limits)
    step = 1 if sample is not None else -(-len(paths) // _FILES_COMPARED)
    first: FormatError | OSError | None = None
    found: list[tuple[Prototype, list[Finding]]] = []
    for part in (paths[::step], paths if step > 1 else ()):
        for outcome in run_in_batches(work, part, jobs=jobs if sample is None else 1):
            found += outcome.value or ()
            first = first or outcome.error
            if found and (sample is not None or part is paths):
                break
        if found:
            break
    else:
        raise first or ValueError("paths must not be empty")
    counts = Counter(prototype.structure for prototype, _ in found)
    [(most, _)] = counts.most_common(1)
    chosen, reserved = next(pair for pair in found if pair[0].structure == most)
    for finding in reserved:
        findings.add(finding)
    return chosen


def _candidates(
    path: str, sample: str | None, access: Access, limits: Limits
) -> list[tuple[Prototype, list[Finding]]]:
    """Return the structures of some samples of a file, with the findings of each."""
    with File(path, access, limits) as file:
        if sample is not None:
            return [_prototype(file, sample)]
        first = guess_sample(file)
        found = [_prototype(file, first)]
        parent = first.rpartition("/")[0]
        names = file.names(file.find(parent), parent)
        for name in names[:: -(-len(names) // _SAMPLES_COMPARED)]:
            other = f"{parent}/{name}".lstrip("/")
            with suppress(FormatError):
                found += [_prototype(file, other)] if other != first else []
        return found


def guess_sample(file: File) -> str:
    """Return the path of a group that is probably a sample.

    The search goes down from the root, always into the first group, and ends at the first group
    that contains a dataset, or groups that differ. Raises FormatError for a file without datasets.
    """
    path, group = "", file.find("")
    while True:
        names = file.names(group, path)
        step = max(1, len(names) // _COMPARED)
        children = [(name, file.find(name, group, path)) for name in names[::step]]
        if any(not is_group(child) for _, child in children):
            break
        inside = [
            {field for field, _ in file.datasets(child, f"{path}/{name}")}
            for name, child in children
        ]
        too_deep = path.count("/") >= DEEPEST  # as in a circle of hard links
        if not children or too_deep or any(each != inside[0] for each in inside):
            break
        path, group = f"{path}/{names[0]}".lstrip("/"), children[0][1]
    is_empty = next(file.datasets(group, path), None) is None
    if is_empty or path == "":
        hint = "name a sample with --sample PATH"
        raise FormatError(
            "the file contains no sample" if is_empty else "the file itself looks like one sample",
            place=Place(file.path),
            hint=hint if is_empty else f"samples are groups: {hint}",
            code="hdf5-no-sample",
        )
    return path


def _prototype(file: File, sample: str) -> tuple[Prototype, list[Finding]]:
    """Return the structure of a sample, and findings for fields that no schema can name.

    Raises FormatError if the sample is not a group, or has no fields.
    """
    group, place = file.find(sample), Place(file.path, field=sample)
    if group is None or not is_group(group):
        hint = "a sample is a group; write its path from the root of the file"
        message = "the file has no such group"
        raise FormatError(message, place=place, hint=hint, code="hdf5-no-sample")
    fields = fields_of(file, group, sample)
    findings = []
    for name in [name for name in fields if METADATA in name.split("/")]:
        message = f"no schema can name the field {name}, because {METADATA} is reserved: skipped"
        at = Place(file.path, field=f"{sample}/{name}")
        findings.append(Finding("schema-reserved", Severity.WARNING, message, at))
        del fields[name]
    if not fields:
        raise FormatError("the sample has no fields", place=place, code="hdf5-no-sample")
    names = frozenset(file.names(group, sample))
    return Prototype(sample.strip("/"), fields, names), findings


def fields_of(file: File, group: Any, path: str) -> dict[str, DataType]:
    """Return the types of all datasets below a group, by their paths relative to the group."""
    return {
        name: file.data_type(each, f"{path}/{name}") for name, each in file.datasets(group, path)
    }
