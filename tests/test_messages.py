"""Every error and warning as users see it: the message, the place and the hint."""

import re
from functools import cache
from importlib.util import find_spec

import pytest

from exset.formats import FORMATS
from exset.grammars.columns.findings import Rules
from tests.messages import FOLDER, cases, run
from tests.watching import Site, sites, watched

NEEDS = {"arrow": "pyarrow", "elements": "cv2", "loader": "cv2"}
"""Texts whose cases need an optional library."""
MISSING = [stem for stem, library in NEEDS.items() if find_spec(library) is None]

CASES = [(path.stem, case) for path in sorted(FOLDER.glob("*.txt")) for case in cases(path)]
TEXTS = [Rules(name) for fmt in FORMATS for name in fmt.findings]
all_cases = pytest.mark.skipif(bool(MISSING), reason=f"a library is not installed: {MISSING}")


@cache
def outcome(number: int) -> tuple[str, frozenset[Site]]:
    """Run a case; return its output, and the places in the source that made messages."""
    found: set[Site] = set()
    with watched(found):
        shown = run(CASES[number][1])
    return shown, frozenset(found)


@pytest.mark.parametrize(
    "number", [pytest.param(i, id=f"{stem}: {case.title}") for i, (stem, case) in enumerate(CASES)]
)
def test_messages(number: int) -> None:
    stem, case = CASES[number]
    if stem in MISSING:
        pytest.skip(f"{NEEDS[stem]} is not installed")
    assert outcome(number)[0] == case.expected


def test_titles_are_unique() -> None:
    titles = [(stem, case.title) for stem, case in CASES]
    assert len(set(titles)) == len(titles)


@all_cases
def test_every_code_has_a_case() -> None:
    """A code is in square brackets at the end of a message."""
    text = "\n".join(case.expected for _, case in CASES)
    codes = {code for rules in TEXTS for code, rule in rules.items() if rule.message}
    assert not {code for code in codes if f"[{code}]" not in text}


@all_cases
def test_every_message_has_a_case() -> None:
    """Some case runs each call in the source that makes a message."""
    seen = {site for number in range(len(CASES)) for site in outcome(number)[1]}
    missing = [
        f"{name}:{first}: {call}"
        for (name, first, last), call in sites().items()
        if not any((name, line) in seen for line in range(first, last + 1))
    ]
    assert not missing, "\n".join(missing)


def test_advice_is_for_python_or_for_the_command_line() -> None:
    """Errors in Python name arguments, the command line names options."""
    for stem, case in CASES:
        for output in re.split(r"^\$ ", case.expected, flags=re.MULTILINE)[1:]:
            hints = "\n".join(re.findall(r"^ +hint: (.*)", output, flags=re.MULTILINE))
            hints = re.sub(r"exset [a-z ]+--\w+", "", hints)
            wrong = r"in Python|<--|(lossy|unshare)=True"
            if output.startswith("."):
                wrong = r"(?<!\S)--[a-z]"
            assert not re.search(wrong, hints), (stem, case.title, hints)
