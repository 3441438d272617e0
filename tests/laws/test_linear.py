"""The work of reading is proportional to the size of the file, for any content.

The tests count the lines of Python that run, including kernels, which small files do not compile.
`python -m benchmarks` measures seconds.
"""

import re
import sys
from collections.abc import Callable, Iterable
from functools import partial
from types import FrameType
from typing import Any

import pytest

from exset.core.errors import FormatError
from exset.core.kernels import Kernels
from exset.core.source import Source
from exset.families.format import Format
from exset.formats import of_files
from exset.testing.contract import LIMITS
from tests.fuzz.pumps import paired, pumped

SIZE = 300
MOST = 2.6
SLACK = 2000  # lines that run only from some size on
PAIRS = 60
SMALL = [fmt for fmt in of_files() if not fmt.may_crash]  # the smallest HDF5 file is too large
TEXTS = [fmt for fmt in of_files() if not fmt.binary]


def lines(fmt: Format, data: bytes) -> int:
    """Return how many lines of Python run while a format reads some bytes."""
    count = 0

    def tracing(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal count
        count += event == "line"
        return tracing

    before = sys.gettrace()
    sys.settrace(tracing)
    try:
        fmt.read(Source("x", data), limits=LIMITS)
    except FormatError:
        pass
    finally:
        sys.settrace(before)
    return count


def slow(
    fmt: Format, files: Callable[[int], Iterable[tuple[str, bytes]]]
) -> dict[str, tuple[int, int]]:
    """Return the files whose work grows faster than their size, each with two counts of lines.

    files: a function that yields files of a size, each with its name; at least one.
    """
    dict(files(1))  # imports modules: Hypothesis draws constants of all that are imported
    once, twice = dict(files(SIZE)), dict(files(2 * SIZE))
    assert once
    for name in list(once)[:3]:
        lines(fmt, once[name])  # loads modules and fills caches
    found = {}
    for name in once:
        # ruamel.yaml looks up to 1024 characters ahead for a colon, for each open bracket: its work
        # is linear only for larger files.
        if fmt.name == "schema" and re.search(r"[\[{][^\n]*'( alternating| afterwards)?$", name):
            continue
        few, many = lines(fmt, once[name]), lines(fmt, twice[name])
        if many > MOST * few + SLACK:
            # Some work is done only for the first units: compare larger files.
            few, many = (lines(fmt, dict(files(n * SIZE))[name]) for n in (8, 16))
            if many > MOST * few:
                found[name] = (few, many)
    return found


@pytest.mark.parametrize("fmt", SMALL, ids=lambda fmt: fmt.name)
def test_work_is_linear(fmt: Format, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Kernels, "use_compiled", lambda *_: False)
    assert not slow(fmt, partial(pumped, fmt))


@pytest.mark.parametrize("fmt", TEXTS, ids=lambda fmt: fmt.name)
def test_two_words(fmt: Format, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Kernels, "use_compiled", lambda *_: False)
    assert not slow(fmt, lambda size: paired(fmt, size, PAIRS))
