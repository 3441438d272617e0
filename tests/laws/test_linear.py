"""Work grows with the size of a file, whatever is in it; seconds are for `python -m benchmarks`.

What is counted are the lines of Python that run, of kernels, too: small files are read without
compiling them.
"""

import re
import sys
from collections.abc import Callable, Iterable
from functools import partial
from types import FrameType
from typing import Any

import pytest

from exset.core import kernels
from exset.core.errors import FormatError
from exset.core.source import Source
from exset.families.format import Format
from exset.formats import FORMATS
from exset.testing.contract import LIMITS
from tests.fuzz.pumps import paired, pumped

SIZE = 300
MOST = 2.6
SLACK = 2000  # lines that are only run from some size on
PAIRS = 60
TEXTS = [known for known in FORMATS if not known.binary]


def lines(known: Format, data: bytes) -> int:
    """Return how many lines of Python run while some bytes are read."""
    count = 0

    def tracing(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal count
        count += event == "line"
        return tracing

    before = sys.gettrace()
    sys.settrace(tracing)
    try:
        known.read(Source("x", data), limits=LIMITS)
    except FormatError:
        pass
    finally:
        sys.settrace(before)
    return count


def slow(
    known: Format, files: Callable[[int], Iterable[tuple[str, bytes]]]
) -> dict[str, tuple[int, int]]:
    """Return the lines that run for those of some files of a size that are not done in proportion.

    files: those of a size, by their names; at least one.
    """
    once, twice = dict(files(SIZE)), dict(files(2 * SIZE))
    assert once
    for name in list(once)[:3]:
        lines(known, once[name])  # what is loaded or worked out once
    found = {}
    for name in once:
        # YAML looks for a colon up to 1024 characters ahead, for each bracket that is open there:
        # its work is linear from there on.
        if known.name == "schema" and re.search(r"[\[{][^\n]*'( in turn| after it)?$", name):
            continue
        few, many = lines(known, once[name]), lines(known, twice[name])
        if many > MOST * few + SLACK:
            # Some work is done once for each of the first so many.
            few, many = (lines(known, dict(files(n * SIZE))[name]) for n in (8, 16))
            if many > MOST * few:
                found[name] = (few, many)
    return found


@pytest.mark.parametrize("known", FORMATS, ids=lambda known: known.name)
def test_work_is_linear(known: Format, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "available", lambda: False)
    assert not slow(known, partial(pumped, known))


@pytest.mark.parametrize("known", TEXTS, ids=lambda known: known.name)
def test_two_words(known: Format, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "available", lambda: False)
    assert not slow(known, lambda size: paired(known, size, PAIRS))
