"""How much code each sibling format needs of its own, beside what several formats share."""

import re

import pytest

from exset.families.siblings import FORMATS
from tests.house import code_lines, imports, modules

MOST = {"kaldi": 623}
"""The most lines of code of a format, without its grammar or layout; 250 unless it is listed.
Archives and data directories of Kaldi are one."""
NAMES = {fmt.name.partition("_")[0] for fmt in FORMATS}
_OWN = re.compile(r"exset\.(parsers|codecs|runtime)\.siblings\.(?!\w+_layout$)")


def own(name: str) -> set[str]:
    """Return the modules of siblings that the code of a format imports, at any depth."""
    found = set[str]()
    left = [
        target.partition(":")[0]
        for fmt in FORMATS
        if fmt.name.partition("_")[0] == name
        for target in (fmt.reader, fmt.writer)
        if target is not None
    ]
    while left:
        module = left.pop()
        if module not in found and _OWN.match(module):
            found.add(module)
            left += [other for other, _ in imports(module)]
    return found & modules().keys()


@pytest.mark.parametrize("name", sorted(NAMES))
def test_own_code(name: str) -> None:
    """A module that no other format imports belongs to the format."""
    others = set().union(*(own(other) for other in NAMES - {name}))
    modules_of_name = own(name) - others
    assert modules_of_name
    lines = {module: code_lines(module) for module in modules_of_name}
    assert sum(lines.values()) <= MOST.get(name, 250), lines
