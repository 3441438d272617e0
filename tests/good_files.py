"""A small good file of each format of the registry, for tests of all formats."""

from functools import cache

import exset
from exset import formats, samples
from exset.core.errors import Findings, FormatError
from exset.core.source import Source
from exset.families.format import Format
from exset.testing import targets


@cache
def good_file(fmt: Format) -> bytes:
    """Return a file of at least two units, without findings: a sample if possible, else drawn."""
    for data in _candidates(fmt):
        findings = Findings()
        model = fmt.read(Source("good", data), findings=findings)
        if (check := fmt.family.model_check()) is not None:
            check(model, findings, first=0)
        if len(model) > 1 and not len(findings):
            return data
    raise AssertionError(f"the strategy of {fmt.name} draws no file of two units without findings")


def _candidates(fmt: Format) -> list[bytes]:
    found = [samples.read(name).data for name, _ in fmt.samples]
    for other in formats.of_family(fmt.family):
        for name, _ in other.samples:
            model = exset.load(f"exset::{name}", format=other.name, findings=Findings())
            try:
                found.append(fmt.write(model))
            except FormatError:  # the format holds less than its family
                continue
    return found or targets.drawn(fmt, 100, 1)
