"""What LBANN has against the files of a sample list, as findings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from exset.core.errors import Finding, FormatError, LimitError, Place, Severity
from exset.grammars.lbann.list_types import Kind
from exset.runtime.lbann.hdf5_files import failure
from exset.runtime.lbann.hdf5_probe import Look


def missing_file(path: str, error: FormatError | OSError, kind: Kind) -> Finding:
    """The finding of a file that cannot be opened."""
    if isinstance(error, LimitError):
        return error.finding
    if isinstance(error, FormatError) and error.code == "hdf5-roots":
        return outside_roots(path)
    found = failure(path, error)
    drops = kind.is_exclusion
    then = "drops it, and has fewer samples" if drops else "fails when it reads from it"
    absent = isinstance(error, FileNotFoundError)
    hint = "mend its name or the base directory, or take it out of the list" if absent else None
    return replace(
        found,
        code="lbann-missing-file" if absent else "lbann-unreadable-file",
        severity=Severity.WARNING if drops else Severity.ERROR,
        message=f"{found.message}: LBANN {then}",
        hint=found.hint or hint,
    )


def outside_roots(path: str) -> Finding:
    """The finding of a file outside of the folders that may be read."""
    hint = "name its folder with --root, or Access(roots=...), if it is trusted"
    return file_finding("hdf5-roots", f"{path} lies outside of the roots", path, hint=hint)


def refusals(
    path: str, look: Look, ids: list[str], included: int, excluded: int
) -> Iterator[Finding]:
    """Why LBANN refuses a file of an exclusion list."""
    if not look.is_ordered:
        yield no_order(path)
        return
    if look.count != included + excluded:
        message = (
            f"{look.count:,} objects are at the top of the file; the list counts {included:,}"
            f" included and {excluded:,} excluded"
        )
        hint = "LBANN excludes only what is at the top of a file"
        yield file_finding("lbann-file-size", message, path, hint=hint)
        return
    for each in sorted(set(ids) - set(look.names)):
        message = "this id is to be excluded, and is not at the top of the file"
        yield file_finding("lbann-missing-id", message, path, each)


def no_order(path: str) -> Finding:
    """The finding of a file of which LBANN cannot list the samples."""
    return file_finding(
        "lbann-no-creation-order",
        "the file does not keep in which order its samples were made: LBANN cannot list them",
        path,
        hint="write it with track_order=True, or use an inclusion list",
    )


def why_no_exclusion(path: str, look: Look, ids: list[str]) -> Finding:
    """Why an exclusion list cannot have these samples of a file."""
    names = set(look.names)
    missing = [each for each in ids if each not in names]
    if len(set(ids)) < len(ids):
        message = "a sample is included twice, which an exclusion list cannot say"
    elif any("/" in each for each in missing):
        message = f"{missing[0]} is not at the top of the file: LBANN can exclude nothing else"
    elif missing:
        message = f"the file has no {missing[0]}"
    else:
        message = "the samples are not in the order in which they were made"
    hint = "no exclusion list is the same as this one: keep it an inclusion list"
    return file_finding("lbann-exclusion", message, path, hint=hint)


def file_finding(
    code: str,
    message: str,
    path: str,
    field: str | None = None,
    hint: str | None = None,
) -> Finding:
    """An error in a file, or with what is at a path in it."""
    return Finding(code, Severity.ERROR, message, Place(path, field=field), hint)
