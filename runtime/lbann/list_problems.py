"""The problems of the HDF5 files that a sample list names: what LBANN would refuse, and why."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from exset.core.errors import Finding, FormatError, LimitError, Place, Severity
from exset.grammars.columns.strings import Strings
from exset.grammars.lbann.list_types import Kind
from exset.runtime.lbann.hdf5_files import failure


@dataclass(frozen=True)
class ListedFile:
    """A file of a list: the ids that the list has for it, and the numbers of its samples."""

    path: str
    ids: Strings
    included: int
    excluded: int

    def __fspath__(self) -> str:
        """Return the path of the file."""
        return self.path

    def texts(self) -> list[str]:
        """Return the ids as text."""
        return [self.ids.text(row) or "" for row in range(len(self.ids))]


def unreadable_file(path: str, error: FormatError | OSError, kind: Kind) -> Finding:
    """Return the finding of a file that cannot be opened."""
    if isinstance(error, LimitError):
        return error.finding
    if isinstance(error, FormatError) and error.code == "hdf5-roots":
        return outside_roots(path)
    found = failure(path, error)
    drops = kind.is_exclusion
    consequence = "drops it and has fewer samples" if drops else "fails when it reads from it"
    absent = isinstance(error, FileNotFoundError)
    hint = "correct its name or the base directory, or remove it from the list" if absent else None
    return replace(
        found,
        code="lbann-missing-file" if absent else "lbann-unreadable-file",
        severity=Severity.WARNING if drops else Severity.ERROR,
        message=f"{found.message}: LBANN {consequence}",
        hint=found.hint or hint,
    )


def outside_roots(path: str) -> Finding:
    """Return the finding of a file outside the folders that exset may read."""
    hint = "if you trust it, add its folder with --root, or Access(roots=...) in Python"
    message = f"{path} is outside the allowed folders"
    return file_finding("hdf5-roots", message, path, hint=hint)


def exclusion_problems(listed: ListedFile, names: list[str] | None) -> Iterator[Finding]:
    """Yield the reasons why LBANN refuses a file of an exclusion list; names: its top level."""
    path, included, excluded = listed.path, listed.included, listed.excluded
    if names is None:
        yield no_creation_order(path)
        return
    if len(names) != included + excluded:
        message = (
            f"the file has {len(names):,} top-level objects, but the list counts {included:,}"
            f" included and {excluded:,} excluded"
        )
        hint = "LBANN can exclude top-level objects only"
        yield file_finding("lbann-file-size", message, path, hint=hint)
        return
    for each in sorted(set(listed.texts()).difference(names)):
        message = "the list excludes this id, but the file has no such top-level object"
        yield file_finding("lbann-missing-id", message, path, each)


def no_creation_order(path: str) -> Finding:
    """Return the finding of a file whose samples LBANN cannot list."""
    return file_finding(
        "lbann-no-creation-order",
        "the file does not keep the creation order of its groups: LBANN cannot list its samples",
        path,
        hint="write it with track_order=True in h5py, or use an inclusion list",
    )


def why_no_exclusion(path: str, names: list[str], ids: list[str]) -> Finding:
    """Return why no exclusion list can select exactly these samples of a file, in this order."""
    present = set(names)
    missing = [each for each in ids if each not in present]
    if len(set(ids)) < len(ids):
        message = "the list includes a sample twice: an exclusion list cannot"
    elif any("/" in each for each in missing):
        message = f"{missing[0]} is not at the top level: LBANN can exclude top-level objects only"
    elif missing:
        message = f"the file has no object {missing[0]}"
    else:
        message = "the samples are not in creation order: an exclusion list cannot reorder them"
    hint = "no exclusion list is equivalent: keep the inclusion list"
    return file_finding("lbann-exclusion", message, path, hint=hint)


def file_finding(
    code: str, message: str, path: str, field: str | None = None, hint: str | None = None
) -> Finding:
    """Return an error about a file, or about the object at path `field` in it."""
    return Finding(code, Severity.ERROR, message, Place(path, field=field), hint)
