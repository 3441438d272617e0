"""Find a prototype in HDF5 files: a sample with the fields that other samples should have."""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from exset.core.errors import Finding, Findings, FormatError, Place, Severity
from exset.core.jobs import Jobs, execution
from exset.core.limits import DEFAULT, Limits
from exset.core.suggestions import nearest
from exset.core.text import counted
from exset.grammars.lbann.schema import METADATA
from exset.io.access import DEFAULT_ACCESS, Access
from exset.runtime.hdf5.file import DataType, File
from exset.runtime.hdf5.groups import guess_sample
from exset.runtime.hdf5.objects import is_group
from exset.runtime.lbann.hdf5_files import run_on_files

_FILES_COMPARED = 16
_SAMPLES_COMPARED = 8


@dataclass(frozen=True)
class Prototype:
    """The structure of a sample, with which other samples are compared.

    sample: the path of the sample. fields: the type of each field, in file order. names: the names
    of the objects directly in the sample's group.
    """

    sample: str
    fields: Mapping[str, DataType]
    names: frozenset[str]

    @property
    def structure(self) -> frozenset[tuple[str, int, str]]:
        """The name, count and dtype of each field. They are equal for samples with the same
        structure.
        """
        return frozenset((name, each.count, each.dtype) for name, each in self.fields.items())


def find_prototype(
    paths: Sequence[str],
    findings: Findings,
    *,
    sample: str | None = None,
    access: Access = DEFAULT_ACCESS,
    limits: Limits = DEFAULT,
    jobs: Jobs = 1,
) -> Prototype:
    """Return the structure of the samples in the given files.

    sample: the path of the prototype in the first file that has it. By default, exset compares some
    samples of some files, and returns the most frequent structure. So one unusual sample does not
    reject all others. If no file has a sample, raises the FormatError or OSError of the first file.
    Raises ValueError without files.
    """
    if not paths:
        raise ValueError("paths must not be empty")
    work = partial(_candidates, sample=sample, access=access, limits=limits)
    step = 1 if sample is not None else -(-len(paths) // _FILES_COMPARED)
    how = execution(jobs).first_pass if sample is None else 1
    errors: list[FormatError | OSError] = []
    found: list[tuple[Prototype, list[Finding]]] = []
    for part in (paths[::step], paths if step > 1 else ()):
        for outcome in run_on_files(work, part, jobs=how):
            found += outcome.value or ()
            errors += () if outcome.error is None else (outcome.error,)
            if found and (sample is not None or part is paths):
                break
        if found:
            break
    else:
        raise _in_no_file(errors) if sample is not None else errors[0]
    counts = Counter(prototype.structure for prototype, _ in found)
    [(most, _)] = counts.most_common(1)
    chosen, reserved = next(pair for pair in found if pair[0].structure == most)
    for finding in reserved:
        findings.add(finding)
    return chosen


def _in_no_file(errors: Sequence[FormatError | OSError]) -> FormatError | OSError:
    """Return the error for a sample that no file has. It is the error of the first file."""
    lacking = [
        error
        for error in errors
        if isinstance(error, FormatError) and error.code == "hdf5-no-sample"
    ]
    if len(lacking) < 2:
        return errors[0]
    finding, others = lacking[0].finding, counted(len(lacking) - 1, "other file")
    message = f"{finding.message}; {others} also {'lacks' if len(lacking) == 2 else 'lack'} it"
    return FormatError.of(replace(finding, message=message))


def path_hint(file: File, path: str, advice: str) -> str:
    """Return a hint for a missing group. It consists of a similar path, or the path of a sample,
    and `advice`.
    """
    with suppress(FormatError):
        near, group = "", file.find("")
        for name in filter(None, path.split("/")):
            names = file.names(group, near) if is_group(group) else []
            found = name if name in names else nearest(name, names)
            if found is None:
                break
            near = f"{near}/{found}".lstrip("/")
            group = file.find(near)
        if near and is_group(group) and near != path.strip("/"):
            return f"did you mean {near!r}? {advice}"
        return f"{advice}; the file has samples such as {guess_sample(file)!r}"
    return advice


def _candidates(
    path: str, sample: str | None, access: Access, limits: Limits
) -> list[tuple[Prototype, list[Finding]]]:
    """Return (structure, findings) for some samples of a file.

    sample: the path of the only sample to examine, or None.
    """
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


def _prototype(file: File, sample: str) -> tuple[Prototype, list[Finding]]:
    """Return the structure of a sample, and findings for fields that a schema cannot name.

    Raises FormatError if the sample is not a group, or has no fields.
    """
    group, place = file.find(sample), Place(file.path, field=sample)
    if group is None or not is_group(group):
        hint = "a sample is a group; write its path from the root of the file"
        hint = path_hint(file, sample, hint)
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
    """Return {path: type} for all datasets below a group. The paths are relative to the group."""
    return {
        name: file.data_type(each, f"{path}/{name}") for name, each in file.datasets(group, path)
    }
