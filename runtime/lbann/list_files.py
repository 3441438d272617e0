"""Check sample lists against the files that they name.

An error is a problem for which LBANN refuses the list when it loads it, or fails when it reads the
sample. A warning is a problem that LBANN ignores: it drops an unreadable file of an exclusion list.
LBANN lists the top level of a file in creation order, and fails if the file does not keep this
order. h5py keeps it only with `track_order=True`.
"""

import numpy as np

from exset.core.errors import Finding, Findings, Place, Severity
from exset.core.protocols import CheckOptions
from exset.core.text import counted
from exset.grammars.lbann.sample_list import SampleList
from exset.io import files
from exset.io.access import is_folder
from exset.io.beneath import OutsideError, check_regular_file
from exset.runtime.lbann.hdf5_probe import Probe, joined_findings, outside_roots, unreadable_file

_SHOWN = 3


def check(samples: SampleList, findings: Findings, options: CheckOptions, /) -> None:
    """Add a finding for each problem with the files of a list."""
    probe = Probe(options.base, options.jobs, options.access, options.limits)
    directory = probe.path(_text(samples.directory))
    if len(samples.name) and not is_folder(directory):
        message = f"the base directory {directory} does not exist: no file was checked"
        hint = "a relative path starts at the current folder, or at <--base or base=...>"
        place = Place(options.name)
        findings.add(Finding("lbann-missing-directory", Severity.ERROR, message, place, hint))
        return
    if samples.kind.is_single or samples.has_integer_ids:
        check_names(samples, probe, findings)
    else:
        if samples.kind.is_exclusion:
            outcomes = probe.run(probe.exclusion_problems, samples, list[Finding])
        else:
            outcomes = probe.run(probe.missing_ids, samples, list[Finding], joined_findings)
        for outcome in outcomes:
            if outcome.error is not None:
                findings.add(unreadable_file(outcome.item.path, outcome.error, samples.kind))
            for finding in outcome.value or ():
                findings.add(finding)
    if samples.label_file:
        _check_labels(samples, probe.path(_text(samples.label_file)), probe, findings)


def check_names(samples: SampleList, probe: Probe, findings: Findings) -> None:
    """Add a finding for each file that cannot be opened.

    The contents of HDF5 files are not read.
    """
    for file in samples.files:
        path = probe.path(file.path)
        try:
            check_regular_file(path, probe.access.roots)
        except OutsideError:
            findings.add(outside_roots(path))
        except OSError as error:
            findings.add(unreadable_file(path, error, samples.kind))


def _check_labels(samples: SampleList, path: str, probe: Probe, findings: Findings) -> None:
    """Check the label file at `path`. It must have a label for each file of the list.

    LBANN's image readers read the label file, and its HDF5 readers do not. So for a list with ids,
    a missing label file is only a warning.
    """
    from exset.parsers.lbann.labels import parse

    place, code, roots = Place(path), "lbann-missing-labels", probe.access.roots
    try:
        check_regular_file(path, roots)
        source = files.read(files.local(path), limits=probe.limits, roots=roots)
        labels = parse(source, findings=findings)
    except OutsideError:
        findings.add(outside_roots(path))
        return
    except OSError as error:
        message = f"the label file cannot be read: {error.strerror}"
        hint = "line 4 of the list names it; a relative path starts at the same folder as in line 3"
        severity = Severity.ERROR if samples.kind.is_single else Severity.WARNING
        findings.add(Finding(code, severity, message, place, hint))
        return
    without = np.flatnonzero(~labels.of(samples)[1])
    if without.size:
        some = ", ".join(samples.name.text(row) or "" for row in without[:_SHOWN].tolist())
        what = "sample" if samples.kind.is_single else "file"
        has = "has" if without.size == 1 else "have"
        message = f"{counted(without.size, what)} {has} no label; LBANN uses label 0: {some}"
        findings.add(Finding(code, Severity.WARNING, message, place))


def _text(path: bytes) -> str:
    return path.decode("utf-8", "surrogateescape")
