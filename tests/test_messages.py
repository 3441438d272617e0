"""Every error and warning, whole, as users see it: what it says, where, and how to mend it."""

from functools import cache
from importlib import import_module

import pytest

from exset.formats import FORMATS
from tests.messages import FOLDER, Case, cases, run
from tests.watching import Site, sites, watched

CASES = [(path.stem, case) for path in sorted(FOLDER.glob("*.txt")) for case in cases(path)]
TABLES = [import_module(name) for fmt in FORMATS for name in fmt.findings]


@pytest.mark.parametrize(
    "case", [pytest.param(each, id=f"{stem}: {each.title}") for stem, each in CASES]
)
def test_what_is_said(case: Case) -> None:
    assert run(case) == case.said


def test_titles_are_unique() -> None:
    titles = [(stem, case.title) for stem, case in CASES]
    assert len(set(titles)) == len(titles)


def test_every_trap_is_seen() -> None:
    """By its stable code, in square brackets at the end of its message."""
    said = "\n".join(case.said for _, case in CASES)
    codes = {code for table in TABLES for code in table.RULES}
    assert not {code for code in codes if f"[{code}]" not in said}


@cache
def seen() -> frozenset[Site]:
    found: set[Site] = set()
    with watched(found):
        for _, case in CASES:
            run(case)
    return frozenset(found)


def test_every_place_is_seen() -> None:
    """Each call in the source that makes what is said, by which case does not matter."""
    missing = [
        f"{name}:{first}: {call}"
        for (name, first, last), call in sites().items()
        if not any((name, line) in seen() for line in range(first, last + 1))
    ]
    assert not missing, "\n".join(missing)
