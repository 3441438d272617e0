"""Record what a fuzzer's case reaches: lines of Python, and states of grammars and layouts.

Lines need `sys.monitoring` of Python 3.12 or later. States are recorded on every Python. A state of
a grammar is a parser state with a token; a state of a layout is an instruction, or the length of a
stream. Each line or state is a number. `Reached.new` returns the numbers that are new in this
process.
"""

import os
import sys
from collections.abc import Callable, Iterator
from functools import wraps
from types import CodeType
from typing import Any, Final
from zlib import crc32

import numpy as np

import exset
from exset.codecs.engine.execution import Execution, Repeat
from exset.parsers.engine.driver import Block, Driver
from exset.parsers.engine.stream import ParseStream
from exset.parsers.engine.tables import COLUMNS
from exset.parsers.engine.transition_cache import EXTRA

_HOME: Final = os.path.join(os.path.dirname(os.path.realpath(exset.__path__[0])), "")
"""The folder above exset: a checkout, or where packages are installed."""
_FOLDERS: Final = ("exset", "grammars", "parsers", "codecs", "runtime")
_OURS: Final = tuple(os.path.join(_HOME, each, "") for each in _FOLDERS)
_MANY: Final = 3
"""Lengths from this one on count as equal."""


class Reached:
    """Records the lines and states that this process reaches, as numbers."""

    def __init__(self) -> None:
        """Begin to watch; do this only once in a process."""
        self._seen: set[int] = set()
        self._found: set[int] = set()
        setattr(Driver, "streams", self._with_states(Driver.streams))  # noqa: B010  # for mypy
        setattr(Execution, "run", self._with_instructions(Execution.run))  # noqa: B010
        if hasattr(sys, "monitoring"):
            self._watch_lines()

    def new(self) -> frozenset[int]:
        """Return the numbers that were first reached since the last call."""
        new = frozenset(self._found - self._seen)
        self._seen |= new
        self._found.clear()
        return new

    def _add(self, *what: object) -> None:
        self._found.add(crc32(repr(what).encode()))

    def _watch_lines(self) -> None:
        """Have Python report each line of exset when it first runs."""
        monitoring: Any = getattr(sys, "monitoring")  # noqa: B009  # mypy checks for 3.11
        tool = monitoring.COVERAGE_ID

        def line(code: CodeType, number: int, ours: tuple[str, ...] = _OURS) -> object:
            if code.co_filename.startswith(ours):  # Python clears globals before it ends
                self._add(code.co_filename, number)
            return monitoring.DISABLE

        monitoring.use_tool_id(tool, "exset.testing.coverage")
        monitoring.register_callback(tool, monitoring.events.LINE, line)
        monitoring.set_events(tool, monitoring.events.LINE)

    def _with_states(
        self, streams: Callable[[Driver, Any], Iterator[ParseStream]]
    ) -> Callable[[Driver, Any], Iterator[ParseStream]]:
        """Return a function that calls `streams`, a method of `Driver`, and records states.

        It records each pair of a parser state and a token.
        """

        @wraps(streams)
        def watched(driver: Driver, blocks: Iterator[Block]) -> Iterator[ParseStream]:
            try:
                yield from streams(driver, blocks)
            finally:
                width = int(driver.tables.sizes[COLUMNS]) + EXTRA
                edges = driver.cache.edges.reshape(-1, width)[:, :-EXTRA]
                rows, kinds = np.nonzero(edges)
                pairs = {*zip(driver.cache.states[rows].tolist(), kinds.tolist(), strict=True)}
                name = crc32(",".join(driver.grammar.terminals).encode())
                self._found.update(crc32(b"%d %d %d" % (name, *pair)) for pair in pairs)

        return watched

    def _with_instructions(
        self, run: Callable[[Execution, Repeat], int | None]
    ) -> Callable[[Execution, Repeat], int | None]:
        """Return a function that calls `run`, a method of `Execution`, and records states.

        It records at which instruction a layout fails, and how long its streams are.
        """

        @wraps(run)
        def watched(execution: Execution, repeat: Repeat) -> int | None:
            failed = run(execution, repeat)
            name = crc32(repr(execution.program.code).encode())
            self._add(name, failed)
            for stream, count in enumerate(execution.counts.clip(max=_MANY).tolist()):
                self._add(name, stream, count)
            return failed

        return watched
