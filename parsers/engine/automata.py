"""Compile terminals to automata over bytes, and find the order in which Lark's lexers try them."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from lark.lexer import TerminalDef
from numpy.typing import NDArray

from exset.parsers.engine.expressions import (
    END,
    Automaton,
    NotRegularError,
    compile_expression,
)

_SHOWN = 100
"""How many characters of an expression a message shows."""


def automaton(terminal: TerminalDef) -> Automaton:
    """Return an automaton that matches what the terminal matches.

    Raises ValueError if the terminal is not a regular expression that an automaton can run.
    """
    pattern = terminal.pattern.to_regexp()
    try:
        return compile_expression(pattern)
    except NotRegularError as error:
        shown = pattern if len(pattern) <= _SHOWN else f"{pattern[:_SHOWN]}..."
        raise ValueError(
            f"terminal {terminal.name} has {error.what}: {shown!r}; {error.advice}"
        ) from None


class Unit(NamedTuple):
    """A terminal, and the string terminals that may replace it.

    A string terminal replaces the terminal where a match of the terminal is exactly the fixed text
    of the string terminal.
    """

    terminal: str
    embedded: tuple[str, ...]


def units(terminals: Sequence[TerminalDef]) -> list[Unit]:
    """Return the terminals of a lexer in the order in which Lark tries them.

    A string terminal, which has a fixed text, may have no place of its own in this order: it then
    replaces another terminal where a match is exactly the fixed text (`lark.lexer._create_unless`).
    """
    ordered = sorted(
        terminals, key=lambda t: (-t.priority, -t.pattern.max_width, -len(t.pattern.value), t.name)
    )
    strings = [t for t in ordered if t.pattern.type == "str"]
    embedded: dict[str, list[str]] = {}
    inside: set[str] = set()
    for terminal in ordered:
        if terminal.pattern.type == "str":
            continue
        pattern = re.compile(terminal.pattern.to_regexp().encode("latin-1"))
        for string in strings:
            match = pattern.match(value := string.pattern.value.encode("latin-1"))
            if string.priority == terminal.priority and match and match.group() == value:
                embedded.setdefault(terminal.name, []).append(string.name)
                if set(string.pattern.flags) <= set(terminal.pattern.flags):
                    inside.add(string.name)
    return [Unit(t.name, tuple(embedded.get(t.name, ()))) for t in ordered if t.name not in inside]


def byte_classes(automata: Iterable[Automaton]) -> tuple[NDArray[np.uint8], NDArray[np.intp]]:
    """Group bytes into classes: no automaton distinguishes bytes of the same class.

    Return the class of each byte, and one byte of each class.
    """
    tables = [table for one in automata for table in (one.moves, one.final[:, :END])]
    _, sample, classes = np.unique(
        np.vstack(tables), axis=1, return_index=True, return_inverse=True
    )
    return classes.reshape(256).astype(np.uint8), sample
